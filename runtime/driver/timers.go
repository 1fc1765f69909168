package driver

import "time"

// timer is an armed timer of the machine.
type timer struct {
	at  time.Duration
	seq uint64 // order of arming, so that equal deadlines expire in one order in every run
	id  uint16
	key uint32
}

// timers holds the armed timers, the next to expire first. A machine has few
// (its specification bounds them), so a sorted list is the fastest there is.
type timers struct {
	list []timer
	seq  uint64
}

// start arms a timer, or arms it anew.
func (t *timers) start(id uint16, key uint32, at time.Duration) {
	t.stop(id, key)
	t.seq++
	i := len(t.list)
	for i > 0 && t.list[i-1].at > at {
		i--
	}
	t.list = append(t.list, timer{})
	copy(t.list[i+1:], t.list[i:])
	t.list[i] = timer{at: at, seq: t.seq, id: id, key: key}
}

// stop disarms a timer; one that is not armed is left alone.
func (t *timers) stop(id uint16, key uint32) {
	for i := range t.list {
		if t.list[i].id == id && t.list[i].key == key {
			t.list = append(t.list[:i], t.list[i+1:]...)
			return
		}
	}
}

// next returns the earliest deadline.
func (t *timers) next() (time.Duration, bool) {
	if len(t.list) == 0 {
		return 0, false
	}
	return t.list[0].at, true
}

// due removes and returns the first timer whose deadline has come.
func (t *timers) due(now time.Duration) (timer, bool) {
	if len(t.list) == 0 || t.list[0].at > now {
		return timer{}, false
	}
	first := t.list[0]
	t.list = append(t.list[:0], t.list[1:]...)
	return first, true
}
