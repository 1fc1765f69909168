package certify

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parley-go/parley/gen/model"
)

// Result says what a certificate proves.
type Result struct {
	Header
	Configurations, Steps int
}

// Verify reads a certificate and verifies it against the specification that load
// compiles for the check it names. An error says why it proves nothing.
func Verify(r io.Reader, load func(check string) (*model.Protocol, error)) (*Result, error) {
	c, err := Read(r)
	if err != nil {
		return nil, err
	}
	p, err := load(c.Check)
	if err != nil {
		return nil, err
	}
	if p.Text != c.Hash {
		return nil, fmt.Errorf("the certificate is for another specification: its hash is %s, not %s", c.Hash, p.Text)
	}
	return c.verify(p)
}

// EndRuns are the claims whose violations end runs: a certificate has nothing of what would come
// behind them, so where one is violated it proves none of the others either.
var EndRuns = []string{UnspecifiedReception, Fault}

func (c *Certificate) verify(p *model.Protocol) (*Result, error) {
	r, broken, err := c.Audit(p)
	if err != nil {
		return nil, err
	}
	for _, name := range c.Claims {
		if why, is := broken[name]; is {
			return nil, errors.New(why)
		}
		for _, end := range EndRuns {
			if why, is := broken[end]; is {
				return nil, fmt.Errorf("it does not prove %s, as nothing behind this is in it: %s", name, why)
			}
		}
	}
	return r, nil
}

// Audit verifies that the certificate contains the beginning and is closed; if not, the error says
// why. Then it says why the claims that the certificate does not prove are not proved.
func (c *Certificate) Audit(p *model.Protocol) (*Result, map[string]string, error) {
	v, err := newVerifier(c, p)
	if err != nil {
		return nil, nil, err
	}
	if v.covered(v.initial, make([][]Block, len(v.to))) < 0 {
		return nil, nil, errors.New("the initial configuration is not in the certificate")
	}
	for n := range c.Configurations {
		v.at = n
		v.locals, v.words = v.configuration(n)
		if err := v.expand(); err != nil {
			return nil, nil, fmt.Errorf("configuration %d of the certificate: %w", n, err)
		}
	}
	r := &Result{Header: c.Header, Configurations: len(c.Configurations), Steps: v.steps}
	for _, claim := range v.reachables {
		v.reachable(claim)
	}
	return r, v.broken, nil
}

// breaks notes that a claim is not proved.
func (v *verifier) breaks(claim, why string) {
	if _, known := v.broken[claim]; !known {
		v.broken[claim] = fmt.Sprintf("configuration %d of the certificate: %s: %s", v.at, claim, why)
	}
}

// expand verifies one configuration: every step leads to a configuration of
// the certificate. Claims that are violated are noted.
func (v *verifier) expand() error {
	moves, alone := false, false // can it go on, whatever its channels hold? without a command?
	for i, local := range v.locals {
		for _, m := range v.own(i, local) {
			can := v.allowed(i, m)
			moves = moves || can == Yes
			alone = alone || can == Yes && m.command == nil && !m.forged
			if can == No {
				continue
			}
			if err := v.follow(i, m, -1, nil); err != nil {
				return err
			}
		}
	}
	for k := range v.words {
		delivered, err := v.deliver(k)
		if err != nil {
			return err
		}
		moves, alone = moves || delivered, alone || delivered
	}
	v.claims(moves, alone)
	return nil
}

// deliver follows every reception from channel k, and reports whether one is possible whatever the
// channel holds.
func (v *verifier) deliver(k int) (bool, error) {
	always := false
	to, word, ch := v.to[k], v.words[k], v.channel(k)
	for b := range word {
		if b > 0 && ch.Ordered {
			break
		}
		all := true
		for _, letter := range word[b][1:] {
			m, deferred := v.receive(to, v.locals[to], k, letter)
			all = all && !deferred
			for _, rest := range v.without(word, b) {
				if ch.Lossy && v.reached(-1, move{}, k, rest) < 0 {
					return false, fmt.Errorf("losing a message of channel %d leads out of the certificate", k)
				}
				if deferred {
					continue
				}
				if err := v.follow(to, m, k, rest); err != nil {
					return false, err
				}
			}
			if ch.Duplicates && !deferred {
				if err := v.follow(to, m, k, word); err != nil {
					return false, err
				}
			}
		}
		always = always || all
	}
	return always, nil
}

// without lists what a word may be when a message of block b has been taken out.
func (v *verifier) without(word []Block, b int) [][]Block {
	gone := slices.Concat(word[:b], word[b+1:])
	switch {
	case !word[b].Open():
		return [][]Block{gone}
	case word[b].Least() > 1:
		fewer := slices.Clone(word[b])
		fewer[0]--
		return [][]Block{slices.Concat(word[:b], []Block{fewer}, word[b+1:])}
	}
	return [][]Block{gone, word}
}

// follow asks for the configuration behind a step. A step that is an error is noted; nothing is
// behind it.
func (v *verifier) follow(i int, m move, k int, rest []Block) error {
	v.steps++
	if m.fault != "" {
		v.breaks(m.fault, m.text)
		return nil
	}
	if v.reached(i, m, k, rest) < 0 {
		return fmt.Errorf("%s leads out of the certificate", m.text)
	}
	return nil
}

// reached finds the configuration of the certificate that covers what there is after a move of
// instance i (-1: none), with channel k (-1: none) at rest. It is negative if there is none.
func (v *verifier) reached(i int, m move, k int, rest []Block) int {
	locals, words := slices.Clone(v.locals), slices.Clone(v.words)
	if k >= 0 {
		words[k] = rest
	}
	if i >= 0 {
		locals[i] = m.next
	}
	wide := slices.Clone(words)
	for _, s := range m.sends {
		sorted := !v.channel(s.channel).Ordered
		words[s.channel] = push(words[s.channel], s.letter, 1, sorted)
		wide[s.channel] = push(wide[s.channel], s.letter, 0, sorted)
	}
	if n, have := v.exact[key(locals, wide)]; have {
		return n // nearly all are found so; wide stands for more than words
	}
	return v.covered(locals, words)
}

// push appends a message; where the order does not matter messages are sorted. One more in a block
// that stands for sequences of at least n of them makes it one of at least n + more.
func push(word []Block, letter, more int, sorted bool) []Block {
	at := len(word)
	for sorted && at > 0 && word[at-1][1] > letter {
		at--
	}
	if at > 0 && word[at-1].Open() && slices.Contains(word[at-1][1:], letter) {
		longer := slices.Clone(word)
		longer[at-1] = slices.Clone(word[at-1])
		longer[at-1][0] += more
		return longer
	}
	return slices.Concat(word[:at], []Block{{0, letter}}, word[at:])
}

// covered finds a configuration of the certificate that stands for all that locals and words stand for;
// it is negative if there is none.
func (v *verifier) covered(locals []int, words [][]Block) int {
	list := v.byLocals[key(locals, nil)]
	i := slices.IndexFunc(list, func(n int) bool {
		for k, id := range v.c.Configurations[n][len(locals):] {
			if !within(words[k], v.c.Words[id]) {
				return false
			}
		}
		return true
	})
	if i < 0 {
		return -1
	}
	return list[i]
}

// within reports whether every sequence that a stands for is one that b stands for.
func within(a, b []Block) bool {
	if len(b) == 0 {
		return len(a) == 0
	}
	if !b[0].Open() {
		return len(a) > 0 && !a[0].Open() && a[0][1] == b[0][1] && within(a[1:], b[1:])
	}
	least := 0
	for i, x := range a { // b[0] takes the first i+1 blocks of a
		if slices.ContainsFunc(x[1:], func(m int) bool { return !slices.Contains(b[0][1:], m) }) {
			return false
		}
		if least += x.Least(); least >= b[0].Least() && within(a[i+1:], b[1:]) {
			return true
		}
	}
	return false
}
