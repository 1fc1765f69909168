package door

// Queue keeps frames of many senders until they are taken. Each sender's come in their order, and
// the senders have turns, one frame each, so that whoever sends much delays and displaces nobody
// but itself. One goroutine at a time may use it.
//
// K tells senders apart and V is what goes with a frame.
type Queue[K comparable, V any] struct {
	limit  int // frames that may be lost
	frames int // of these
	lines  map[K]*line[K, V]
	turn   *line[K, V] // whose turn is next, in a ring of those that have something
	active int         // lines in the ring
	spare  [][]byte
	idle   []*line[K, V]
}

// line is what one sender has sent.
type line[K comparable, V any] struct {
	key        K
	items      []queued[V]
	first      int // of items
	frames     int // items that are frames
	next, prev *line[K, V]
}

type queued[V any] struct {
	value V
	frame []byte
	news  bool // is never lost
}

// spareFrames bounds the memory that is kept for frames to come, spareLines that for senders.
const spareFrames, spareLines = 256, 64

// NewQueue returns a queue of up to limit frames.
func NewQueue[K comparable, V any](limit int) *Queue[K, V] {
	return &Queue[K, V]{limit: limit, lines: map[K]*line[K, V]{}}
}

// Len is how many entries wait.
func (q *Queue[K, V]) Len() int {
	n := 0
	for l := range q.ring {
		n += len(l.items) - l.first
	}
	return n
}

// Empty reports whether nothing waits.
func (q *Queue[K, V]) Empty() bool { return q.turn == nil }

func (q *Queue[K, V]) ring(yield func(*line[K, V]) bool) {
	l := q.turn
	for range q.active {
		if !yield(l) {
			return
		}
		l = l.next
	}
}

// News queues something that is never lost, behind what the sender has sent.
func (q *Queue[K, V]) News(from K, v V) {
	l := q.line(from)
	l.items = append(l.items, queued[V]{value: v, news: true})
}

// Put queues a copy of a frame. If there is no room, the sender that has most in the queue loses
// one: the newest if that is the present one, else its oldest. It reports whether nothing was lost.
func (q *Queue[K, V]) Put(from K, v V, frame []byte) bool {
	whole := true
	if q.frames >= q.limit {
		whole = false
		if own := q.lines[from]; own != nil && own.frames > 0 && own.frames*q.active >= q.limit || !q.displace(from) {
			return false
		}
	}
	l := q.line(from)
	var b []byte
	if n := len(q.spare); n > 0 {
		b, q.spare = q.spare[n-1], q.spare[:n-1]
	}
	l.items = append(l.items, queued[V]{value: v, frame: append(b[:0], frame...)})
	l.frames++
	q.frames++
	return whole
}

// displace takes the oldest frame of the sender that has most. It fails if that is the given one.
func (q *Queue[K, V]) displace(from K) bool {
	var longest *line[K, V]
	for l := range q.ring {
		if longest == nil || l.frames > longest.frames {
			longest = l
		}
	}
	if longest == nil || longest.frames == 0 || longest.key == from {
		return false
	}
	for i := longest.first; i < len(longest.items); i++ {
		if it := &longest.items[i]; !it.news {
			q.recycle(it.frame)
			copy(longest.items[longest.first+1:i+1], longest.items[longest.first:i])
			longest.frames--
			q.frames--
			q.shift(longest)
			return true
		}
	}
	return false
}

// Take gives out the next entry. The frame is valid until the next call of any method; news has none.
func (q *Queue[K, V]) Take() (v V, frame []byte, ok bool) {
	l := q.turn
	if l == nil {
		return v, nil, false
	}
	it := l.items[l.first]
	q.turn = l.next
	if !it.news {
		l.frames--
		q.frames--
		q.recycle(it.frame)
	}
	q.shift(l)
	return it.value, it.frame, true
}

// shift takes the first entry out of a line, and the line out of the ring if it was the last one.
func (q *Queue[K, V]) shift(l *line[K, V]) {
	l.items[l.first] = queued[V]{}
	if l.first++; l.first < len(l.items) {
		if l.first > 32 && 2*l.first > len(l.items) {
			n := copy(l.items, l.items[l.first:])
			clear(l.items[n:])
			l.items, l.first = l.items[:n], 0
		}
		return
	}
	if q.active--; q.active == 0 {
		q.turn = nil
	} else {
		l.prev.next, l.next.prev = l.next, l.prev
		if q.turn == l {
			q.turn = l.next
		}
	}
	delete(q.lines, l.key)
	if len(q.idle) < spareLines && cap(l.items) <= 256 {
		*l = line[K, V]{items: l.items[:0]}
		q.idle = append(q.idle, l)
	}
}

// line returns that of a sender, which gets one, with the last turn, if it has none.
func (q *Queue[K, V]) line(from K) *line[K, V] {
	if l, ok := q.lines[from]; ok {
		return l
	}
	var l *line[K, V]
	if n := len(q.idle); n > 0 {
		l, q.idle = q.idle[n-1], q.idle[:n-1]
	} else {
		l = new(line[K, V])
	}
	l.key = from
	q.lines[from] = l
	q.active++
	if q.turn == nil {
		q.turn, l.next, l.prev = l, l, l
		return l
	}
	l.next, l.prev = q.turn, q.turn.prev
	l.prev.next, l.next.prev = l, l
	return l
}

func (q *Queue[K, V]) recycle(b []byte) {
	if len(q.spare) < spareFrames {
		q.spare = append(q.spare, b)
	}
}
