package world

import "slices"

// Held is one deferred message.
type Held[M comparable] struct {
	From    int
	Message M
}

// Hold sets a message aside. full reports that as many as may be held are held already; then rest
// is held itself.
func Hold[M comparable](held []Held[M], most int, x Held[M]) (rest []Held[M], full bool) {
	if len(held) >= most {
		return held, true
	}
	return append(slices.Clip(held), x), false
}

// Oldest returns the place of the message that has to be handled before anything else: the oldest
// that is not deferred any more. It is -1 if all still are.
func Oldest[M comparable](held []Held[M], defers func(x M) bool) int {
	return slices.IndexFunc(held, func(h Held[M]) bool { return !defers(h.Message) })
}

// Release returns what is still held when the message at a place is handled.
func Release[M comparable](held []Held[M], at int) []Held[M] {
	if len(held) == 1 {
		return nil
	}
	return append(held[:at:at], held[at+1:]...)
}

// Forget returns what is still held when a link is lost or closed: nothing of that peer.
func Forget[M comparable](held []Held[M], peer int) []Held[M] {
	of := func(h Held[M]) bool { return h.From == peer }
	if !slices.ContainsFunc(held, of) {
		return held
	}
	var kept []Held[M]
	for _, h := range held {
		if h.From != peer {
			kept = append(kept, h)
		}
	}
	return kept
}
