package driver

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// A puppet is a machine written as a table: what a state does with an event, by their names. `to
// done, send X, close, start` are effects; `defer` and `ignore` are what they say. A frame is the
// name of its message. What the table does not mention is refused, but up and lost are ignored.
type puppet struct {
	table   map[string]map[string]string
	info    *fsm.Info
	state   uint16
	event   string
	from    fsm.Peer // who is answered
	effects []fsm.Effect
	sends   []string
}

func newPuppet(bound int, table map[string]map[string]string) *puppet {
	p := &puppet{table: table, info: &fsm.Info{Protocol: "puppet", Role: "peer", States: []string{"begin"},
		Timers:   []string{"t"},
		MaxFrame: 8, TickNanos: 1, Deferred: bound}}
	for name := range table {
		if name != "begin" {
			p.info.States = append(p.info.States, name)
		}
	}
	p.info.Final = make([]bool, len(p.info.States))
	return p
}

func (p *puppet) do(event string) fsm.Result {
	p.event, p.effects, p.sends = event, p.effects[:0], p.sends[:0]
	line, ok := p.table[p.info.States[p.state]][event]
	switch {
	case line == "defer":
		return fsm.Result{Code: fsm.Deferred, Transition: fsm.NoTransition}
	case line == "ignore" || !ok && (event == "up" || event == "lost" || event == "start"):
		return fsm.Result{Code: fsm.Ignored, Transition: fsm.NoTransition}
	case !ok:
		return fsm.Result{Code: fsm.Refused, Transition: fsm.NoTransition}
	}
	for part := range strings.SplitSeq(line, ", ") {
		verb, what, _ := strings.Cut(part, " ")
		e, text := fsm.Effect{Ticks: 10}, ""
		switch verb {
		case "to":
			p.state = uint16(slices.Index(p.info.States, what))
			continue
		case "send":
			e.Kind, e.Peer, text = fsm.Send, p.from, what
		case "report":
			e.Kind = fsm.Report
		case "close":
			e.Kind, e.Peer = fsm.Close, 0
		case "start":
			e.Kind = fsm.StartTimer
		}
		p.effects, p.sends = append(p.effects, e), append(p.sends, text)
	}
	return fsm.Result{Code: fsm.Took, Transition: fsm.NoTransition}
}

func (p *puppet) Info() *fsm.Info                     { return p.info }
func (p *puppet) Start() fsm.Result                   { return p.do("start") }
func (p *puppet) LinkUp(fsm.Peer) fsm.Result          { return p.do("up") }
func (p *puppet) LinkLost(fsm.Peer) fsm.Result        { return p.do("lost") }
func (p *puppet) Timeout(uint16, uint32) fsm.Result   { return p.do("t") }
func (p *puppet) Effects() int                        { return len(p.effects) }
func (p *puppet) Effect(i int) fsm.Effect             { return p.effects[i] }
func (p *puppet) State() uint16                       { return p.state }
func (p *puppet) AppendEvent(b []byte) []byte         { return append(b, p.event...) }
func (p *puppet) AppendEffect(b []byte, i int) []byte { return append(b, "send "+p.sends[i]...) }
func (p *puppet) AppendMachine(b []byte) []byte       { return append(b, p.info.States[p.state]...) }
func (p *puppet) AppendLegal(b []byte) []byte         { return b }
func (p *puppet) Refusal() fsm.Refusal                { return fsm.Refusal{} }
func (p *puppet) FrameSize([]byte) (int, error)       { return 0, errors.New("frames only") }

func (p *puppet) Frame(from fsm.Peer, frame []byte) (fsm.Result, error) {
	p.from = from
	return p.do(string(frame)), nil
}

func (p *puppet) AppendFrame(b []byte, i int) ([]byte, error) { return append(b, p.sends[i]...), nil }

// stage runs a puppet in a core and writes down what comes of it. It closes links as a driver does.
type stage struct {
	*Core[*puppet]
	now    time.Duration
	closed map[fsm.Peer]bool
	log    []string
}

func newStage(bound int, table map[string]map[string]string) *stage {
	s := &stage{closed: map[fsm.Peer]bool{}}
	s.Core = NewCore(newPuppet(bound, table),
		Options[*puppet]{OnError: func(_ *puppet, e *Error) { s.note("error: %v", e) }}, s)
	s.Start(time.Time{})
	return s
}

func (s *stage) note(format string, args ...any) { s.log = append(s.log, fmt.Sprintf(format, args...)) }

func (s *stage) Send(to fsm.Peer, frame []byte) error {
	if s.closed[to] {
		return ErrNoLink
	}
	s.note("%s", frame)
	return nil
}

func (s *stage) Close(to fsm.Peer, why *Error) error {
	s.closed[to] = true
	s.note("close %d", to)
	return nil
}

// play gives events by name, as many as a string has: a message from peer 0, or from peer 1 with a
// 1 before it.
func (s *stage) play(events string) {
	for e := range strings.FieldsSeq(events) {
		s.now++
		peer := fsm.Peer(0)
		if rest, ok := strings.CutPrefix(e, "1"); ok {
			peer, e = 1, rest
		}
		switch e {
		case "up":
			s.LinkUp(s.now, peer, "")
		case "lost":
			s.LinkLost(s.now, peer, nil)
		case "t":
			s.now += 10
			s.Expire(s.now)
		default:
			s.Frame(s.now, peer, []byte(e))
		}
	}
}

// What lies between machines and their links, as docs/LANGUAGE.md has it.
func TestMeanings(t *testing.T) {
	const overflow = "error: puppet.peer in state begin: cannot defer C from peer 0: 3 deferred messages " +
		"are held, and the specification allows no more " +
		"(let the state handle it, or raise `deferred` of the role and check again); bytes 43"
	tests := map[string]struct {
		table  map[string]map[string]string
		events string
		want   string // what is sent and closed, then the state
		left   int    // messages held at the end
	}{
		"the oldest first, whoever sent it, before anything new": {map[string]map[string]string{
			"begin": {"A": "defer", "B": "defer", "GO": "to x"},
			"x":     {"A": "send a", "B": "send b", "C": "send c"}}, "B 1A B GO C", "b a b c x", 0},
		"what is deferred does not hold up what follows": {map[string]map[string]string{
			"begin": {"A": "defer", "B": "send b"}}, "A B B", "b b begin", 1},
		"from the beginning after each change": {map[string]map[string]string{
			"begin": {"A": "defer", "B": "defer", "GO": "to x"},
			"x":     {"A": "defer", "B": "send b, to y"},
			"y":     {"A": "send a", "B": "send c"}}, "A B B GO", "b a c y", 0},
		"a step that stays in its state changes nothing for what is deferred": {map[string]map[string]string{
			"begin": {"A": "defer", "GO": "send g, to begin"}}, "A GO GO", "g g begin", 1},
		"one more than the bound closes the link, and lost forgets what is held of it": {map[string]map[string]string{
			"begin": {"C": "defer", "GO": "to x", "lost": "to x"}, "x": {"C": "send c"}}, "C 1C C C",
			overflow + " close 0 c x", 0},
		"lost is heard at once, however much is deferred": {map[string]map[string]string{
			"begin": {"A": "defer", "lost": "to x"}, "x": {"A": "send a"}}, "A 1A A lost", "a x", 0},
		"who closes forgets what it holds of that peer, and hears nothing": {map[string]map[string]string{
			"begin": {"A": "defer", "GO": "close, to x"}, "x": {"A": "send a", "lost": "send l"}}, "A 1A A GO",
			"close 0 a x", 0},
		"closing while a deferred message is handled": {map[string]map[string]string{
			"begin": {"A": "defer", "B": "defer", "GO": "to x"}, "x": {"A": "defer", "B": "close, to y"},
			"y": {"A": "send a"}},
			"A 1A 1B GO", "close 0 a y", 0},
		"what is sent to a closed link is gone": {map[string]map[string]string{
			"begin": {"GO": "close, send a, to x"}, "x": {"A": "send b"}}, "up GO 1A", "close 0 b x", 0},
		"up comes in any state, once for each link": {map[string]map[string]string{
			"begin": {"GO": "to x"}, "x": {"up": "send u"}}, "GO up 1up", "u u x", 0},
		"a timer goes on while something is deferred": {map[string]map[string]string{
			"begin": {"start": "start", "A": "defer", "t": "to x"}, "x": {"A": "send a"}}, "A t", "a x", 0},
		"an expiry that is ignored is spent": {map[string]map[string]string{
			"begin": {"start": "start", "t": "ignore", "GO": "to x"}, "x": {"t": "send t"}}, "t GO t", "x", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStage(3, test.table)
			s.play(test.events)
			got := strings.Join(append(s.log, string(s.Runner().AppendMachine(nil))), " ")
			if got != test.want || len(s.held.list) != test.left {
				t.Errorf("%s: got  %s, %d held\nwant %s, %d held", test.events, got, len(s.held.list),
					test.want, test.left)
			}
		})
	}
}

// lines is a sink that keeps what a line says, in short.
type lines struct{ list []string }

func (l *lines) Begin(trace.Header) {}
func (l *lines) Flush() error       { return nil }
func (l *lines) Step(s *trace.Step) {
	l.list = append(l.list, fmt.Sprintf("%s %s%s", s.Event, map[bool]string{true: "again "}[s.Again], s.Code))
}

// An offer that changes nothing is no step of the run: it is neither recorded nor counted.
func TestOfferOfWhatIsStillDeferred(t *testing.T) {
	for _, recorded := range []bool{false, true} {
		s := newStage(3, map[string]map[string]string{
			"begin": {"A": "defer", "B": "defer", "GO": "to x"},
			"x":     {"A": "defer", "B": "send b", "GO": "to y"},
			"y":     {"A": "send a"}})
		var l lines
		if recorded {
			s.recordWith(newRecorder([]trace.Sink{&l}))
		}
		s.play("A B GO GO")
		want := "A deferred, B deferred, GO took, B again took, GO took, A again took"
		if got := strings.Join(l.list, ", "); recorded && got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if c := s.Counters(); c.Steps != 1+6 || c.Deferred != 2 || strings.Join(s.log, " ") != "b a" {
			t.Errorf("%d steps, %d deferred, %q", c.Steps, c.Deferred, s.log)
		}
	}
}

// Only messages can be deferred. Whatever else a machine says that of is refused.
func TestDeferredCommand(t *testing.T) {
	s := newStage(3, map[string]map[string]string{"begin": {"c": "defer", "A": "to x"}, "x": {"c": "send c"}})
	res, err := s.Command(0, func(p *puppet) fsm.Result { return p.do("c") }, true)
	s.play("A")
	if res.Code != fsm.Refused || err == nil || len(s.log) > 0 || len(s.held.list) > 0 {
		t.Errorf("%v, %v, %q", res, err, s.log)
	}
}

// What a machine sends at its start leaves by the links that were given before Run; of these it
// hears afterwards, in the order in which they and the commands were given.
func TestLinksBeforeStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var errs []error
		d := New(newPuppet(0,
			map[string]map[string]string{"begin": {"start": "send hello", "up": "send up", "go": "send go"}}),
			Options[*puppet]{OnError: func(_ *puppet, e *Error) { errs = append(errs, e) }})
		x, y := mem.Pair(mem.Config{})
		if err := d.Post(func(p *puppet) fsm.Result { return p.do("go") }); err != nil {
			t.Fatal(err)
		}
		if err := d.Attach(0, x); err != nil {
			t.Fatal(err)
		}
		go d.Run(t.Context())
		synctest.Wait()
		var got []string
		buf := make([]byte, 8)
		for range 3 {
			a, err := y.Receive(buf)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(buf[:a.N]))
		}
		if s := strings.Join(got, " "); s != "hello go up" || errs != nil {
			t.Errorf("%s, %v", s, errs)
		}
		y.Abort()
		d.Stop()
		<-d.Done()
		synctest.Wait()
	})
}

// mortal is a carrier on which the program dies when it has sent so much.
type mortal struct {
	sends int
	out   []string
}

func (m *mortal) Send(_ fsm.Peer, frame []byte) error {
	if len(m.out) == m.sends {
		panic(m)
	}
	m.out = append(m.out, string(frame))
	return nil
}

func (m *mortal) Close(fsm.Peer, *Error) error { return nil }

// TestReportsComeLast: a program sees what a step reports when all of it has gone out, so that of a step
// which a crash cuts short it sees no report.
func TestReportsComeLast(t *testing.T) {
	table := map[string]map[string]string{"begin": {"A": "report it, send X, send Y"}}
	for sends := range 3 {
		out := &mortal{sends: sends}
		var seen [][]string
		o := Options[*puppet]{OnReport: func(*puppet, int) { seen = append(seen, slices.Clone(out.out)) }}
		c := NewCore(newPuppet(1, table), o, out)
		func() {
			defer func() {
				if r := recover(); r != nil && r != any(out) {
					panic(r)
				}
			}()
			c.Start(time.Time{})
			c.Frame(0, 0, []byte("A"))
		}()
		switch {
		case sends < 2 && len(seen) > 0:
			t.Errorf("after %d sends the program sees %v", sends, seen)
		case sends == 2 && (len(seen) != 1 || len(seen[0]) != 2):
			t.Errorf("the program sees %v", seen)
		}
	}
}
