package certify

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/model"
)

// A way is one step that is possible at a configuration of the certificate whatever its channels
// hold: the configurations to one of which it leads, however the unknown lengths turn out. Those
// that are -1 lead back to where a message was received, which is fine: it takes a message out of a
// channel that nobody fills meanwhile, so it cannot go on for ever.
type way []int

// reachable verifies that from everything the certificate stands for, or of that everything where
// the claim's `when` holds, a configuration where goal holds can be reached. A configuration of the
// certificate is good if goal holds of all that it stands for, or if one of its ways leads to good
// ones only. Where it is sure that `when` does not hold it need not be good.
func (v *verifier) reachable(c *model.Claim) {
	for _, ch := range v.check.Channels() {
		if ch.Full == model.FullLose {
			v.breaks(c.Name, "a message that a way needs may find its channel full, and be lost")
			return
		}
	}
	if v.ways == nil {
		v.findWays()
	}
	good, asked := make([]bool, len(v.ways)), make([]bool, len(v.ways))
	left := len(good)
	for n := range good {
		v.at = n
		v.locals, v.words = v.configuration(n)
		v.claimView()
		asked[n] = c.When == nil || v.may(c.When)
		if good[n] = v.holds(c.Expr); good[n] {
			left--
		}
	}
	bad := func(n int) bool { return n >= 0 && !good[n] }
	for before := left + 1; left < before; {
		before = left
		for n := len(good) - 1; n >= 0; n-- {
			if !good[n] && slices.ContainsFunc(v.ways[n], func(w way) bool { return !slices.ContainsFunc(w, bad) }) {
				good[n] = true
				left--
			}
		}
	}
	first, more := -1, -1
	for n := range good {
		if asked[n] && !good[n] {
			if more++; first < 0 {
				first = n
			}
		}
	}
	if first >= 0 {
		v.at = first
		v.breaks(c.Name, fmt.Sprintf("no way to it is known from here (and from %d more)", more))
	}
}

// findWays finds the ways of all configurations.
func (v *verifier) findWays() {
	v.ways = make([][]way, len(v.c.Configurations))
	for n := range v.ways {
		v.at = n
		v.locals, v.words = v.configuration(n)
		for i, local := range v.locals {
			for _, m := range v.own(i, local) {
				if m.fault == "" && v.allowed(i, m) == Yes {
					v.ways[n] = append(v.ways[n], way{v.reached(i, m, -1, nil)})
				}
			}
		}
		for k, word := range v.words {
			for b := range word {
				if b > 0 && v.channel(k).Ordered {
					break
				}
				if w := v.drain(k, b); w != nil {
					v.ways[n] = append(v.ways[n], w)
				}
			}
		}
	}
}

// drain is the way of receiving from block b of channel k; nil if some message of it cannot be
// received.
func (v *verifier) drain(k, b int) way {
	to, word := v.to[k], v.words[k]
	var out way
	for _, letter := range word[b][1:] {
		m, deferred := v.receive(to, v.locals[to], k, letter)
		if deferred || m.fault != "" {
			return nil
		}
		for left, rest := range v.without(word, b) {
			n := v.reached(to, m, k, rest)
			switch {
			case n < 0:
				return nil
			case left == 1 && n == v.at:
				n = -1
			}
			out = append(out, n)
		}
	}
	return out
}
