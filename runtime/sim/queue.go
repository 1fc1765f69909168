package sim

import "time"

const noTime = time.Duration(1<<63 - 1)

// kind is the kind of an event of the simulation.
type kind uint8

const (
	kindUp kind = iota
	kindFrame
	kindLost
	kindBreak
	kindReturn
	kindAsked
	kindCrash // of member, here and below
	kindRestart
	kindCome
	kindGo
)

// happening is an event to come.
type happening struct {
	at    time.Duration
	seq   uint64 // what is due at the same time happens in the order it was caused
	path  *path
	frame []byte
	kind  kind
	epoch uint32 // of path: how often its link has come back
	// member is a machine that crashes, begins anew, comes or goes, torn after how many sends it does.
	member *member
	torn   int
}

// queue is a heap of happenings, the next one at list[0].
type queue struct {
	list []happening
	free [][]byte
	seq  uint64
}

func (q *queue) next() time.Duration {
	if len(q.list) == 0 {
		return noTime
	}
	return q.list[0].at
}

func (h *happening) before(g *happening) bool {
	return h.at < g.at || h.at == g.at && h.seq < g.seq
}

// push adds a happening with a copy of frame.
func (q *queue) push(at time.Duration, k kind, p *path, frame []byte) {
	var buf []byte
	if n := len(q.free); n > 0 && k == kindFrame {
		buf, q.free = q.free[n-1][:0], q.free[:n-1]
	}
	q.add(happening{at: at, path: p, kind: k, frame: append(buf, frame...), epoch: p.link.epoch})
}

// add adds a happening.
func (q *queue) add(h happening) {
	q.seq++
	h.seq = q.seq
	q.list = append(q.list, h)
	i := len(q.list) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !h.before(&q.list[up]) {
			break
		}
		q.list[i] = q.list[up]
		i = up
	}
	q.list[i] = h
}

func (q *queue) pop() happening {
	first, last := q.list[0], len(q.list)-1
	h := q.list[last]
	q.list[last] = happening{}
	q.list = q.list[:last]
	if last == 0 {
		return first
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && q.list[child+1].before(&q.list[child]) {
			child++
		}
		if !q.list[child].before(&h) {
			break
		}
		q.list[i] = q.list[child]
		i = child
	}
	q.list[i] = h
	return first
}
