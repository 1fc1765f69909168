package door

import (
	"container/list"
	"time"
)

// HalfOpen are those who have a place and have not shown yet that they deserve it, in the order in
// which they came. Its zero value is empty. One goroutine at a time may use it.
type HalfOpen[K comparable] struct {
	order list.List
	at    map[K]*list.Element
}

type waiting[K comparable] struct {
	who   K
	since time.Duration
}

// Add notes somebody who came just now.
func (h *HalfOpen[K]) Add(who K, now time.Duration) {
	if h.at == nil {
		h.at = map[K]*list.Element{}
	}
	h.at[who] = h.order.PushBack(waiting[K]{who, now})
}

// Remove takes somebody out, and reports whether it was there.
func (h *HalfOpen[K]) Remove(who K) bool {
	e, ok := h.at[who]
	if ok {
		h.order.Remove(e)
		delete(h.at, who)
	}
	return ok
}

// Oldest returns who came first, and when.
func (h *HalfOpen[K]) Oldest() (who K, since time.Duration, ok bool) {
	e := h.order.Front()
	if e == nil {
		return who, 0, false
	}
	w := e.Value.(waiting[K])
	return w.who, w.since, true
}

// Len is how many there are.
func (h *HalfOpen[K]) Len() int { return len(h.at) }
