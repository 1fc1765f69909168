package impair

import "time"

// heldFrame is a frame on its way.
type heldFrame struct {
	at    time.Duration
	seq   uint64 // frames due at the same time leave in the order of sending
	peer  int
	bytes []byte
}

func (f *heldFrame) before(g *heldFrame) bool {
	return f.at < g.at || f.at == g.at && f.seq < g.seq
}

// queue is a heap of frames, the first to leave at list[0]. It uses its
// buffers again, so that a steady stream does not allocate.
type queue struct {
	list  []heldFrame
	free  [][]byte
	seq   uint64
	bytes int
}

// maxFree is how many buffers are kept for later.
const maxFree = 64

func (q *queue) empty() bool { return len(q.list) == 0 }

func (q *queue) push(at time.Duration, peer int, frame []byte) {
	var buf []byte
	if n := len(q.free); n > 0 {
		buf, q.free = q.free[n-1], q.free[:n-1]
	}
	q.seq++
	q.bytes += len(frame)
	q.list = append(q.list, heldFrame{at: at, seq: q.seq, peer: peer, bytes: append(buf[:0], frame...)})
	for i := len(q.list) - 1; i > 0; {
		up := (i - 1) / 2
		if !q.list[i].before(&q.list[up]) {
			return
		}
		q.list[i], q.list[up] = q.list[up], q.list[i]
		i = up
	}
}

func (q *queue) pop() heldFrame {
	first, last := q.list[0], len(q.list)-1
	q.list[0] = q.list[last]
	q.list[last] = heldFrame{}
	q.list = q.list[:last]
	q.bytes -= len(first.bytes)
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if q.list[child].before(&q.list[least]) {
				least = child
			}
		}
		if least == i {
			return first
		}
		q.list[i], q.list[least] = q.list[least], q.list[i]
		i = least
	}
}

func (q *queue) recycle(f heldFrame) {
	if len(q.free) < maxFree {
		q.free = append(q.free, f.bytes)
	}
}
