package driver

import (
	"time"

	"github.com/parley-go/parley/runtime/fsm"
)

// agenda is a heap of the sessions that have a deadline, the earliest first;
// of equal ones, the one with the lower number.
type agenda[R fsm.Runner, M any] struct{ list []*session[R, M] }

func (a *agenda[R, M]) next() time.Duration {
	if len(a.list) == 0 {
		return noTime
	}
	return a.list[0].deadline
}

// set gives a session a deadline, or with noTime takes it out.
func (a *agenda[R, M]) set(s *session[R, M], at time.Duration) {
	if s.place < 0 {
		if at == noTime {
			return
		}
		s.place = len(a.list)
		a.list = append(a.list, s)
	} else if at == s.deadline {
		return
	}
	s.deadline = at
	if at != noTime {
		a.fix(s.place)
		return
	}
	i, last := s.place, len(a.list)-1
	a.swap(i, last)
	a.list[last] = nil
	a.list = a.list[:last]
	s.place = -1
	if i < last {
		a.fix(i)
	}
}

func (a *agenda[R, M]) before(i, k int) bool {
	x, y := a.list[i], a.list[k]
	return x.deadline < y.deadline || x.deadline == y.deadline && x.peer < y.peer
}

func (a *agenda[R, M]) swap(i, k int) {
	a.list[i], a.list[k] = a.list[k], a.list[i]
	a.list[i].place, a.list[k].place = i, k
}

// fix moves the session at i to where it belongs.
func (a *agenda[R, M]) fix(i int) {
	for i > 0 && a.before(i, (i-1)/2) {
		a.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
	for {
		child := 2*i + 1
		if child >= len(a.list) {
			return
		}
		if child+1 < len(a.list) && a.before(child+1, child) {
			child++
		}
		if !a.before(child, i) {
			return
		}
		a.swap(i, child)
		i = child
	}
}
