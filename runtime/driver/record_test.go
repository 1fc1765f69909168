package driver_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/machines/ready"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/internal/pingpong"
	"github.com/parley-go/parley/runtime/internal/race"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// eventful plays everything that can happen to a machine, recorded by sinks.
func eventful(t *testing.T, sinks ...trace.Sink) *side {
	var a *side
	alone(t, driver.Options[runner]{Trace: sinks, KeepMalformed: true, KeepRefused: true, Instance: "a"},
		func(t *testing.T, s *side, peer transport.Link) {
			a = s
			must(t, a.Post(ping(1)))
			must(t, a.Post(ping(2)))
			must(t, a.Post(barrier))
			must(t, a.Post(barrier)) // ignored
			synctest.Wait()
			say(t, peer, note(`quoted "text"`)...)             // deferred
			say(t, peer, 0, 7, pingpong.PONG, 0, 0, 0, 1)      // answers the first ping
			say(t, peer, 0, 4, pingpong.PING, 1)               // malformed
			say(t, peer, 0, 7, pingpong.PING, 0, 0, 0, 9)      // is answered
			time.Sleep(2 * time.Second)                        // the second ping times out
			say(t, peer, append(readyFrame, readyFrame...)...) // passes; the note is redelivered
			say(t, peer, readyFrame...)                        // refused
			must(t, peer.Close())                              // lost
			synctest.Wait()
		})
	return a
}

// A record suffices to repeat the run: same results, same effects, same machine.
func TestReplay(t *testing.T) {
	var file bytes.Buffer
	a := eventful(t, trace.NewWriter(&file))
	r, err := trace.NewReader(&file)
	must(t, err)
	if h := r.Header(); h.Protocol != "pingpong" || h.Role != "peer" || h.Instance != "a" || h.Hash != a.r.Info().Hash {
		t.Errorf("header: %+v", h)
	}
	again, seen := pingpong.New(), map[string]bool{}
	var s trace.Step
	for err = r.Next(&s); err == nil; err = r.Next(&s) {
		seen[s.Kind.String()+" "+s.Code.String()] = true
		if s.Again {
			seen["again"] = true
		}
		if s.Kind == trace.Closed {
			continue
		}
		replayStep(t, again, &s, r.Line())
	}
	if err != io.EOF || r.Truncated() {
		t.Fatal(err)
	}
	if again.M != a.r.M {
		t.Errorf("the machine is %s, not %s", again.AppendMachine(nil), a.r.AppendMachine(nil))
	}
	for _, what := range []string{"start took", "up took", "lost took", "timeout took", "message took",
		"message deferred", "message refused",
		"command took", "command ignored", "malformed took", "closed took", "again"} {
		if !seen[what] {
			t.Errorf("the run had no %q", what)
		}
	}
}

func replayStep(t *testing.T, again *pingpong.Runner, s *trace.Step, line int) {
	t.Helper()
	info := again.Info()
	if got := info.States[again.State()]; got != s.Before {
		t.Fatalf("line %d: state %s before, recorded %s", line, got, s.Before)
	}
	res, err := again.Replay(string(s.Event), s.Frame)
	if s.Kind == trace.Malformed {
		if err == nil || err.Error() != string(s.Problem) {
			t.Errorf("line %d: error %v, recorded %q", line, err, s.Problem)
		}
		return
	}
	if err != nil || res.Code != s.Code || res.Transition != s.Transition || info.States[again.State()] != s.After {
		t.Fatalf("line %d: %v %v, recorded %+v", line, res, err, s)
	}
	for i := range s.Effects {
		e := &s.Effects[i]
		if got := again.AppendEffect(nil, i); !bytes.Equal(got, e.Text) {
			t.Errorf("line %d: effect %q, recorded %q", line, got, e.Text)
		}
		if e.Kind != fsm.Send {
			continue
		}
		if got, err := again.AppendFrame(nil, i); err != nil || !bytes.Equal(got, e.Frame) {
			t.Errorf("line %d: frame % x, recorded % x", line, got, e.Frame)
		}
	}
}

// A recorder that cannot write is reported once; the machine goes on.
func TestTraceFails(t *testing.T) {
	a := eventful(t, trace.NewWriter(brokenFile{}))
	equal(t, "errors", a.kinds(), "malformed", "trace", "refused")
	if c := a.Counters(); c.TraceFailures != 1 {
		t.Errorf("%d failures", c.TraceFailures)
	}
	equal(t, "reports", a.reports(), "ponged(1)", "late(2)", "passed(1)", "noted(13)", "parted(0)")
}

type brokenFile struct{}

func (brokenFile) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// A capture holds every frame with the name of its transition.
func TestCapture(t *testing.T) {
	var file bytes.Buffer
	a := eventful(t, trace.NewCapture(&file, trace.PcapMeta{Proto: "tcp"}))
	for _, want := range []string{"off up", "idle ping", "idle PONG", "idle PING", "idle READY", "ready READY",
		"refused in state behind: the state does not mention it; legal here: messages PING, PONG, NOTE, " +
			"BYE; commands ping, say, barrier, quit; timers wait; events lost", "malformed: bad PING frame",
		"pingpong.peer a", "\x00\x07\x01\x00\x00\x00\x09"} {
		if !bytes.Contains(file.Bytes(), []byte(want)) {
			t.Errorf("no %q in the capture", want)
		}
	}
	equal(t, "errors", a.kinds(), "malformed", "refused")
}

// Receive, step, send and record without an allocation.
func TestNoAllocation(t *testing.T) {
	for name, o := range map[string]driver.Options[runner]{
		"plain": {}, "recorded": {Trace: []trace.Sink{trace.NewWriter(io.Discard)}},
		"limits": {IdleLimit: time.Minute, HandshakeLimit: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			x, y := mem.Pair(mem.Config{Stream: true, Linger: time.Millisecond})
			stop := answering(t, x, o)
			round := memRound(t, y)
			if n := testing.AllocsPerRun(200, round); n >= 1 && !race.Enabled {
				t.Errorf("%v allocations for %d messages", n, window)
			}
			y.Abort()
			stop()
		})
	}
}

// The error of a refused event names the branch that refused.
func TestErrorText(t *testing.T) {
	e := driver.Error{Kind: driver.Refused, Protocol: "p", Role: "r", State: "s", Peer: 2, Event: "X{a: 1}",
		Frame: make([]byte, 40),
		Legal: "Y, Z", Transition: &fsm.Transition{Name: "s X/2", File: "spec.yaml", Line: 3, Col: 4}, Cause: io.EOF}
	want := "p.r in state s: X{a: 1} from peer 2 is refused: EOF (s X/2 at spec.yaml:3:4); bytes " +
		strings.Repeat("00", 32) + "… (40 in all); legal here: Y, Z"
	if got := e.Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !errors.Is(&e, io.EOF) {
		t.Error("the cause is hidden")
	}
	e = driver.Error{Kind: driver.Refused, Protocol: "p", Role: "r", State: "s", Peer: fsm.Broadcast,
		Event: "bid{price: 9}",
		Legal: "Y, Z", Refusal: fsm.Refusal{Reason: fsm.OutOfRange, Field: "price", Type: "0..3"}}
	if got, want := e.Error(), "p.r in state s: bid{price: 9} is refused: price is outside 0..3"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// An owner may look at its clock within a turn and go on with the time of its beginning: the record
// does not go back.
func TestRecordKeepsItsTime(t *testing.T) {
	var log bytes.Buffer
	r := ready.NewPeerRunner()
	c := driver.NewCore(r, driver.Options[*ready.PeerRunner]{Trace: []trace.Sink{trace.NewWriter(&log)}}, nowhere{})
	c.Start(time.Unix(0, 0))
	c.LinkUp(5, 0, "a"+trace.EndsSeparator+"b")
	c.Command(3, (*ready.PeerRunner).Ready, true)
	c.End(9, "over")
	in, err := trace.NewReader(&log)
	if err != nil {
		t.Fatal(err)
	}
	last := time.Duration(0)
	var s trace.Step
	for in.Next(&s) == nil {
		if s.At < last {
			t.Errorf("from %v back to %v", last, s.At)
		}
		last = s.At
	}
	if last < 5 {
		t.Errorf("the record ends at %v", last)
	}
}

type nowhere struct{}

func (nowhere) Send(fsm.Peer, []byte) error         { return nil }
func (nowhere) Close(fsm.Peer, *driver.Error) error { return nil }
