package replay

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/run"
	"github.com/parley-go/parley/runtime/trace"
)

const keeping = `
protocol: keeping
tick: 1ms
types: {N: 0..3}
messages: {SHOT: {fields: {n: N}}, FLAG: , PING: , PONG: , HIT: {fields: {n: N}}, OVER: }
roles:
  keeper:
    deferred: 3
    commands: {half: {}, back: {}, ready: {}, leave: {}, rest: {}}
    timers: {nap: {ticks: 5}}
    initial: loading
    states:
      loading: {defer: [SHOT, FLAG], PING: {send: PONG}, half: {goto: half}, ready: {goto: open}, leave: {send: OVER, close: , goto: gone}, nap: ignore}
      half: {defer: [FLAG], SHOT: {send: "HIT{n}"}, PING: {send: PONG}, ready: {goto: open}, back: {goto: loading}, nap: ignore}
      open: {SHOT: {when: n != 3, send: "HIT{n}"}, FLAG: {send: OVER}, PING: {send: PONG}, nap: ignore, rest: {start: nap}}
      gone: {nap: ignore}
  player:
    commands: {shoot: {fields: {to: N}}, flag: {}, ping: {}}
    initial: playing
    states:
      playing: {shoot: {send: "SHOT{n: to}"}, flag: {send: FLAG}, ping: {send: PING}, ignore: [PONG, HIT, OVER]}
`

func keeper(t *testing.T) *model.Protocol {
	t.Helper()
	file := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(file, []byte(keeping), 0o666); err != nil {
		t.Fatal(err)
	}
	p, list := compile.Load(file, compile.Options{})
	if p == nil {
		t.Fatal(list)
	}
	return p
}

// record makes the record of a keeper that does each step by itself as specified, in whatever order
// they stand. A step is an event; one that begins with + was deferred before, with ! it is dropped;
// "lost" and "closed" are the link's and the record's end.
func record(t *testing.T, p *model.Protocol, steps string) string {
	t.Helper()
	var out bytes.Buffer
	strs, m := &interp.Strings{}, p.Roles[0]
	value, err := interp.NewValue(m, strs)
	if err != nil {
		t.Fatal(err)
	}
	w := trace.NewWriter(&out)
	w.Begin(trace.Header{Protocol: p.Name, Role: m.Name, Hash: p.Hash,
		Machine: string(interp.AppendMachine(nil, strs, m, value)), Time: time.Unix(0, 0)})
	codec, machine := newCodec(p, strs), interp.New(m, strs)
	for i, text := range strings.Split(steps, ", ") {
		var s trace.Step
		s.Reset()
		s.Seq, s.Again = uint64(i+1), strings.HasPrefix(text, "+")
		if strings.HasPrefix(text, "!") {
			s.Problem = []byte(trace.TooManyDeferred + "three are held")
		}
		text = strings.TrimLeft(text, "+!")
		s.Before = m.States[value[0]].Name
		if s.After = s.Before; text == "closed" {
			s.Kind = trace.Closed
			w.Step(&s)
			continue
		}
		ev, err := interp.ParseEvent(m, strs, text)
		if err != nil {
			t.Fatal(err)
		}
		switch ev.Event.Kind {
		case model.EventStart:
			s.Kind = trace.Start
		case model.EventLost:
			s.Kind, s.Peer = trace.Lost, 0
		case model.EventCommand:
			s.Kind = trace.Command
		case model.EventTimer:
			s.Kind = trace.Timeout
		default:
			s.Kind, s.Peer = trace.Message, 0
			if s.Frame, err = codec.encode(ev.Event.Message, ev.Args); err != nil {
				t.Fatal(err)
			}
		}
		next, effects, res, _ := machine.Step(value, ev)
		s.Event, s.Code, s.Transition = []byte(text), res.Code, res.Transition
		for i := range effects {
			e := s.AddEffect()
			e.Kind, e.Text = effects[i].Kind, interp.AppendEffect(nil, strs, &effects[i])
		}
		if res.Code == fsm.Took {
			value = append(interp.Value(nil), next...)
		}
		if res.Code == fsm.Ignored && ev.Event.Kind == model.EventTimer {
			value = append(interp.Value(nil), next...)
		}
		s.After = m.States[value[0]].Name
		w.Step(&s)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestHeldInRecords: what a machine has deferred it handles before anything else, the oldest first,
// and nothing else is offered again.
func TestHeldInRecords(t *testing.T) {
	p := keeper(t)
	for _, test := range []struct {
		steps   string
		refused int
		why     string // empty: the record is a run
		line    int
	}{
		{steps: "start, SHOT{n: 1}, PING, SHOT{n: 2}, ready, +SHOT{n: 1}, +SHOT{n: 2}, PING, closed"},
		{steps: "start, FLAG, SHOT{n: 1}, FLAG, half, +SHOT{n: 1}, PING, ready, +FLAG, +FLAG, closed"},
		{steps: "start, FLAG, half, back, ready, +FLAG, closed"},
		{steps: "start, SHOT{n: 1}, lost, ready, PING, closed"},
		{steps: "start, SHOT{n: 1}, leave, closed"},
		{steps: "start, SHOT{n: 3}, SHOT{n: 1}, ready, +SHOT{n: 3}, lost, closed", refused: 1},
		{steps: "start, FLAG, FLAG, FLAG, !SHOT{n: 1}, lost, closed", refused: 1},
		{steps: "SHOT{n: 1}, ready, +FLAG, +SHOT{n: 1}, closed"}, // it goes on from a snapshot
		{steps: "start, SHOT{n: 1}, ready, PING, +SHOT{n: 1}",
			why: "SHOT{n: 1} is held, and state open no longer defers it: it comes before", line: 5},
		{steps: "start, SHOT{n: 1}, ready, SHOT{n: 1}", why: "it comes before anything else", line: 5},
		{steps: "start, SHOT{n: 1}, ready, closed", why: "the record ends, but SHOT{n: 1} is held", line: 5},
		{steps: "start, SHOT{n: 1}, SHOT{n: 2}, ready, +SHOT{n: 2}",
			why: "SHOT{n: 1} was deferred before this message", line: 6},
		{steps: "start, SHOT{n: 1}, FLAG, half, +FLAG", why: "SHOT{n: 1} was deferred before this message", line: 6},
		{steps: "start, SHOT{n: 1}, ready, +SHOT{n: 2}", why: "holds no such message", line: 5},
		{steps: "start, SHOT{n: 1}, ready, +SHOT{n: 1}, +SHOT{n: 1}", why: "holds no such message", line: 6},
		{steps: "start, SHOT{n: 1}, lost, ready, +SHOT{n: 1}", why: "holds no such message", line: 6},
		{steps: "start, SHOT{n: 1}, leave, +SHOT{n: 1}", why: "holds no such message", line: 5},
		{steps: "start, FLAG, half, +FLAG", why: "state half still defers it", line: 5},
		{steps: "start, ready, rest, nap, rest, nap, closed"},
		{steps: "start, ready, rest, nap, nap", why: "the timer expired, but it is not armed", line: 6},
		{steps: "start, leave, SHOT{n: 1}", why: "has closed the link to that peer", line: 4},
		{steps: "start, leave, lost", why: "has closed the link to that peer", line: 4},
		{steps: "start, +ready", why: "only messages are deferred", line: 3},
		{steps: "start, FLAG, FLAG, FLAG, SHOT{n: 1}", why: "3 are held already and the role may hold no more",
			line: 6},
		{steps: "start, FLAG, FLAG, !SHOT{n: 1}", why: "2 are held and the role may hold 3", line: 5},
	} {
		r, err := trace.NewReader(strings.NewReader(record(t, p, test.steps)))
		if err != nil {
			t.Fatal(err)
		}
		out, err := Check(p, r)
		switch d := out.Deviation; {
		case err != nil:
			t.Errorf("%s: %v", test.steps, err)
		case test.why == "" && d != nil:
			t.Errorf("%s: line %d: %s", test.steps, d.Line, d.Reason)
		case test.why != "" && (d == nil || d.Line != test.line || !strings.Contains(d.Reason, test.why)):
			t.Errorf("%s: %+v, expected line %d: %s", test.steps, d, test.line, test.why)
		case out.Refused != test.refused:
			t.Errorf("%s: %d refused, expected %d", test.steps, out.Refused, test.refused)
		}
	}
}

// TestHeldInCaptures explains what a keeper sent. Frames with > came to it, those with < are its own.
func TestHeldInCaptures(t *testing.T) {
	p := keeper(t)
	for _, test := range []struct {
		frames string
		steps  string // of the run, if there is one
		why    string // the next frame cannot be handled
		none   bool   // there is no run
	}{
		{frames: ">SHOT{n: 1}, >PING, <PONG, <HIT{n: 1}", steps: "SHOT{n: 1}, PING, half, again SHOT{n: 1}"},
		{frames: ">SHOT{n: 1}, >SHOT{n: 2}, >PING, <PONG, <HIT{n: 1}, <HIT{n: 2}"},
		{frames: ">FLAG, >SHOT{n: 1}, <HIT{n: 1}, >PING, <PONG, <OVER",
			steps: "FLAG, SHOT{n: 1}, half, again SHOT{n: 1}, PING, back, leave"},
		{frames: ">SHOT{n: 1}, >SHOT{n: 2}, >PING, <PONG, <HIT{n: 2}, <HIT{n: 1}",
			why: "SHOT{n: 1} would be answered by HIT{n: 1}"},
		{frames: ">SHOT{n: 1}, >PING, <HIT{n: 1}, <PONG"},
		{frames: ">FLAG, >FLAG, >FLAG, >SHOT{n: 1}, <HIT{n: 1}"},
		{frames: ">FLAG, >FLAG, >FLAG, >FLAG, >PING, <PONG, <OVER",
			why: "FLAG would be deferred, but 3 deferred messages are held already, and the role may hold no more"},
		// What is held of the peer is discarded.
		{frames: ">SHOT{n: 3}, >PING, <PONG, <OVER", steps: "SHOT{n: 3}, PING, leave"},
		// Who closes hears nothing more, and sends nothing more.
		{frames: ">PING, <PONG, <OVER, >PING, >SHOT{n: 1}", steps: "PING, leave, PING, SHOT{n: 1}"},
		{frames: ">PING, <PONG, <OVER, <PONG", none: true},
		{frames: ">SHOT{n: 3}, >PING, <PONG, <HIT{n: 1}", why: "state open refuses SHOT{n: 3}"},
	} {
		rec := &Recording{Protocol: p, Strings: &interp.Strings{}, Names: SideNames[:]}
		for i, text := range strings.Split(test.frames, ", ") {
			from := strings.Index("<>", text[:1])
			m, slots := message(t, p, rec.Strings, text[1:])
			rec.Frames = append(rec.Frames, Frame{From: from, To: 1 - from, Packet: i + 1, Message: m, Slots: slots})
		}
		s, err := Explain(context.Background(), rec, 0, p.Roles[:1], Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run.Validate(); err != nil {
			t.Errorf("%s: %v", test.frames, err)
		}
		var got []string
		for _, step := range s.Run.Of(0) {
			text := step.Event
			if step.Kind == run.Offer {
				text = "again " + text
			}
			got = append(got, text)
		}
		text, accepted := strings.Join(got, ", "), test.why == "" && !test.none
		if s.Accepted != accepted || test.steps != "" && text != test.steps {
			t.Errorf("%s: accepted %v, %s", test.frames, s.Accepted, text)
		}
		refuses := func(a At) bool { return strings.Contains(a.Refuses, test.why) }
		if test.why != "" && !slices.ContainsFunc(s.Machines, refuses) {
			t.Errorf("%s: %+v", test.frames, s.Machines)
		}
	}
}

// message reads a message as text.
func message(t *testing.T, p *model.Protocol, strs *interp.Strings, text string) (*model.Message, []int64) {
	t.Helper()
	name, _, _ := strings.Cut(text, "{")
	for _, role := range p.Roles {
		if ev, err := interp.ParseEvent(role, strs, text); err == nil && ev.Event.Message != nil &&
			ev.Event.Message.Name == name {
			return ev.Event.Message, ev.Args
		}
	}
	t.Fatalf("no message %s", text)
	return nil, nil
}
