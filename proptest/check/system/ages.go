package system

import (
	"fmt"

	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/proptest/explore"
)

// Where a message may take several beats, its age is how many its receiver has felt since it was
// sent. Channels keep the order, so ages fall from front to back, and it is enough to know of each
// channel how many of its messages are of age 1 and more, how many of age 2 and more, and so on.
// The receiver keeps these numbers: a reception takes the oldest message, and a beat makes all one
// older, for which it looks at how many there are.

// maxAged is how many steps one beat may be: one for each combination of how many messages are
// under way.
const maxAged = 1 << 12

// layAges makes room in an instance's local value for the ages of what comes to it.
func (p *Process) layAges() {
	d := p.sys.Check.Time.Delay
	if d < 2 {
		return
	}
	for _, q := range p.quietInput {
		c := &p.sys.System.Channels[q.Channel]
		p.ages = append(p.ages, age{channel: q.Channel, at: p.bounded, most: c.Cap + p.sys.mostNews(c.From, c.To)})
		p.bounded += d - 1
	}
}

// mostNews is how many pieces of news may be under way from one instance to another at most: one Cut
// for each time that its link has come up, one Ask for each of its restarts, and one Answer for each
// of the other's, behind which an instance that is down says that it is gone.
func (s *Machines) mostNews(from, to int) int {
	if s.Rules.Peers(from)>>to&1 == 0 {
		return 0
	}
	restarts := func(i int) int {
		if r := s.Rules.Faults.Restart; i < len(r) {
			return r[i]
		}
		return 0
	}
	return 1 + 2*restarts(from) + 3*restarts(to)
}

// tooOld says why ages cannot be counted, or "".
func (p *Process) tooOld() error {
	steps := 1
	for _, a := range p.ages {
		if steps *= a.most + 1; steps > maxAged {
			return fmt.Errorf("%s: %s has too many channels of too many messages to count their ages; "+
				"make the beat as long as the delay, or the channels smaller",
				p.sys.Check.Time.Span, p.Inst.Name)
		}
	}
	return nil
}

// arrived counts a message that leaves a channel.
func (p *Process) arrived(l codec.Local, channel int) {
	for _, a := range p.ages {
		if a.channel != channel {
			continue
		}
		for k := range l.Used[a.at : a.at+p.sys.Check.Time.Delay-1] {
			if n := &l.Used[a.at+k]; *n > 0 {
				*n--
			}
		}
	}
}

// aged makes everything from channel i on one beat older, once for each number of messages that can
// be under way. If one of them would be too old the beat is not felt.
func (p *Process) aged(l codec.Local, i int, lens []explore.LenRange, felt func(codec.Local, []explore.LenRange)) {
	if i == len(p.ages) {
		felt(l, lens)
		return
	}
	a, d := p.ages[i], p.sys.Check.Time.Delay
	counts := l.Used[a.at : a.at+d-1]
	if counts[d-2] > 0 {
		return
	}
	for n := int(counts[0]); n <= a.most; n++ {
		next := l.Own()
		older := next.Used[a.at : a.at+d-1]
		copy(older[1:], counts)
		older[0] = int64(n)
		exact := append([]explore.LenRange{}, lens...)
		exact[i].Lo, exact[i].Hi = n, n
		p.aged(next, i+1, exact, felt)
	}
}
