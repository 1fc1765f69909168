package probe

import (
	"context"
	"slices"

	"github.com/parley-go/parley/gen/model"
)

// attack does in every state that was reached what a peer should not do, one thing at a time, and asks afterwards
// whether the program still serves who keeps to the rules. Of what comes of a hostile act itself nothing is asked
// where the specification says nothing of it: only that the program lives.
func (pr *prober) attack(ctx context.Context) {
	type try struct {
		state string
		acts  []act
	}
	var tries []try
	for _, name := range pr.order {
		reached := pr.reached[name]
		for _, acts := range pr.attacks(len(reached) > 0) {
			who := pr.attacker(reached)
			for i := range acts {
				acts[i].who = who
			}
			tries = append(tries, try{name, acts})
		}
	}
	pr.rng.Shuffle(len(tries), func(i, j int) { tries[i], tries[j] = tries[j], tries[i] })
	honest := pr.followUp()
	var before []act
	for n, x := range tries {
		if pr.o.Hostile > 0 && n >= pr.o.Hostile || pr.enough(ctx) {
			return
		}
		s, err := pr.session(ctx, before)
		if err != nil || s == nil {
			if ctx.Err() == nil && err != nil {
				pr.report.Ended = err.Error()
				return
			}
			before = nil
			continue
		}
		pr.report.Hostile++
		pr.play(s, slices.Concat(pr.reached[x.state], x.acts, honest))
		before = s.acts
		pr.close(ctx, s, pr.line(x.acts[0]))
	}
}

// attacker is who attacks where some acts have led: of several any one of ours, most often who did the last of them.
func (pr *prober) attacker(reached []act) int {
	who := pr.us[pr.rng.IntN(len(pr.us))]
	if len(reached) > 0 && pr.rng.IntN(2) == 0 {
		if last := reached[len(reached)-1].who; slices.Contains(pr.us, last) { // some acts are nobody's own
			return last
		}
	}
	return who
}

// play does acts one after the other, as far as they are possible.
func (pr *prober) play(s *session, acts []act) {
	for _, a := range acts {
		if s.finding != nil || s.ctx.Err() != nil {
			return
		}
		if s.do(a) {
			pr.report.Acts++
		}
	}
	s.settle()
	if s.finding == nil && !s.beyond && s.now != nil && s.now.Side.Accepted {
		pr.covered.add(s.now.Side.Order)
	}
}

// followUp is what an honest session does after a hostile act: the shortest acts that the program has answered. Over
// datagrams a program of several peers does not hear that one has gone and another come in its place.
func (pr *prober) followUp() []act {
	if len(pr.us) > 1 && !pr.target.stream() {
		return nil
	}
	return append([]act{{kind: resume}}, pr.asks...)
}

// mostRepeated is how often a message is said without a break.
const mostRepeated = 40

// attacks are what is tried in a state: each message with some values, the last frame again, many times, what is no
// message or a part of one, and ends of the connection. Said: we have sent something before.
func (pr *prober) attacks(said bool) (list [][]act) {
	stream := pr.target.stream()
	type piece struct {
		channel int
		bytes   []byte
	}
	var frames []piece
	for _, m := range pr.protocol.Messages {
		sent := 0
		for _, slots := range pr.arguments(m.Fields) {
			text := pr.tell(m, slots)
			b, err := pr.frame(text)
			if err != nil || pr.stage.Frames.Refuses(m, slots) != "" {
				continue
			}
			if sent++; sent > mostOfMessage {
				break
			}
			list = append(list, []act{{kind: forge, text: text}})
			if sent == 1 {
				frames = append(frames, piece{m.Channel, b})
				many := []act{{kind: forge, text: text}}
				for range mostRepeated {
					many = append(many, act{kind: forge, text: text, cross: true})
				}
				list = append(list, many)
			}
		}
	}
	if said {
		list = append(list, []act{{kind: again}}, []act{{kind: again}, {kind: again, cross: true}})
	}
	channel := 0
	bad := func(b []byte, more ...act) {
		list = append(list, append([]act{{kind: malformed, bytes: b, channel: channel}}, more...))
	}
	noise := make([]byte, 1+pr.rng.IntN(64))
	for i := range noise {
		noise[i] = byte(pr.rng.Uint32())
	}
	for channel = range pr.target.at {
		bad(noise)
		bad(slices.Repeat([]byte{0xff}, 16))
		bad(slices.Repeat([]byte{0}, 16))
		bad(slices.Repeat([]byte{'A'}, 2*pr.longest()))
	}
	for _, f := range frames {
		b := f.bytes
		channel = f.channel
		if len(b) > 1 {
			bad(b[:len(b)/2], act{kind: hangUp, cross: true})
			bad(b[:len(b)-1], act{kind: wait})
		}
		turned := slices.Clone(b)
		turned[pr.rng.IntN(len(turned))] ^= 1 << pr.rng.IntN(8)
		bad(turned)
		bad(append(slices.Clone(b), noise...))
	}
	channel = 0
	list = append(list, []act{{kind: wait}, {kind: wait}})
	if stream {
		list = append(list, []act{{kind: hangUp}}, []act{{kind: reset}}, []act{{kind: reset, cross: true}},
			[]act{{kind: hangUp}, {kind: resume}, {kind: hangUp}})
	} else {
		bad(nil)
	}
	return list
}

// mostOfMessage is how many values of a message are tried in each state.
const mostOfMessage = 3

// longest is how long a frame can be.
func (pr *prober) longest() int {
	return min(max(model.WithDefaultWire(pr.protocol).Wire.Max, 16), 1<<16) / 2
}
