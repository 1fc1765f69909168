package certify

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/model"
)

// reachable verifies that from everything the certificate stands for a configuration where goal holds can
// be reached. A configuration of the certificate is good if goal holds of all that it stands for, or if there
// is a step that is possible whatever its channels hold and that leads to good ones, however the unknown lengths turn
// out. A reception may also lead back to where it was received, since it takes a message out of a
// channel that nobody fills meanwhile: that cannot go on for ever.
func (v *verifier) reachable(c *model.Claim) {
	good := make([]bool, len(v.c.Configurations))
	isGood := func(n int) bool { return good[n] }
	left := len(good)
	for before := left + 1; left < before; {
		before = left
		for n := len(good) - 1; n >= 0; n-- {
			if good[n] {
				continue
			}
			v.at = n
			v.locals, v.words = v.configuration(n)
			v.claimView()
			if v.holds(c.Expr) || v.forced(isGood) {
				good[n] = true
				left--
			}
		}
	}
	if n := slices.Index(good, false); n >= 0 {
		v.at = n
		v.breaks(c.Name, fmt.Sprintf("no way to it is known from here (and from %d more)", left-1))
	}
}

// forced says whether some step leads to good configurations whatever the channels hold.
func (v *verifier) forced(good func(int) bool) bool {
	for i, local := range v.locals {
		for _, m := range v.own(i, local) {
			if m.fault == "" && v.allowed(i, m) == Yes && v.reached(i, m, -1, nil, good) {
				return true
			}
		}
	}
	for k, word := range v.words {
		for b := range word {
			if b > 0 && v.check.Channel.Ordered {
				break
			}
			if v.drains(k, b, good) {
				return true
			}
		}
	}
	return false
}

// drains says whether receiving from block b of channel k leads to good configurations in every case.
func (v *verifier) drains(k, b int, good func(int) bool) bool {
	to, word := v.to[k], v.words[k]
	here := v.at
	for _, letter := range word[b][1:] {
		m, deferred := v.receive(to, v.locals[to], k, letter)
		if deferred || m.fault != "" {
			return false
		}
		for n, rest := range v.without(word, b) {
			back := func(x int) bool { return good(x) || n == 1 && x == here }
			if !v.reached(to, m, k, rest, back) {
				return false
			}
		}
	}
	return true
}
