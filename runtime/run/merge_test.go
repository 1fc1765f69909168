package run

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
)

func recording(t *testing.T) *trace.Reader {
	t.Helper()
	var b bytes.Buffer
	w := trace.NewWriter(&b)
	w.Begin(trace.Header{Protocol: "ready", Role: "peer", Instance: "a"})
	for i, s := range []trace.Step{
		{Kind: trace.Start, Event: []byte("start"), Before: "notReady", After: "notReady", Code: fsm.Ignored},
		{Kind: trace.Message, Event: []byte("READY"), Frame: []byte{1}, Before: "notReady", After: "remoteReady"},
		{Kind: trace.Command, Event: []byte("ready"), Before: "remoteReady", After: "done", Effects: []trace.Effect{
			{Kind: fsm.Send, Text: []byte("send READY"), Frame: []byte{1}},
			{Kind: fsm.Report, Text: []byte("report passed")}}},
		{Kind: trace.Message, Event: []byte("READY"), Frame: []byte{1}, Before: "done", After: "done",
			Code: fsm.Refused},
	} {
		s.Seq = uint64(i + 1)
		w.Step(&s)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	r, err := trace.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestMergeOne(t *testing.T) {
	c, err := Merge([]*trace.Reader{recording(t)}, 2, 100)
	if err != nil {
		t.Fatal(err)
	}
	want := `ready.peer, recorded by a

   a               peer 0
   [notReady]
1                  → READY (#1)
2  ← READY (#1)
   [remoteReady]
3  ready
   → READY (#2)
   reports passed
   [done]
4                  ← READY (#2)
5                  → READY (#3)
6  ← READY (#3)
   ✗ refused
`
	if got := c.Chart().Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestMergeStretch(t *testing.T) {
	c, err := Merge([]*trace.Reader{recording(t)}, 3, 3)
	if err != nil || len(c.Steps) != 2 || c.Steps[0].Event != "ready" || c.Instances[0].Start != "remoteReady" {
		t.Errorf("%+v, %v; want the step ready, its message's arrival, and the state before it", c, err)
	}
}

// record is a record of what a machine of three did; what it sends goes to peers by number.
func record(t *testing.T, name string, at time.Duration, steps ...trace.Step) *trace.Reader {
	t.Helper()
	var b bytes.Buffer
	w := trace.NewWriter(&b)
	w.Begin(trace.Header{Protocol: "ring", Role: "node", Instance: name, Time: time.Unix(0, 0).Add(at)})
	for i, s := range steps {
		s.Seq = uint64(i + 1)
		w.Step(&s)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	r, err := trace.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func sends(peer fsm.Peer, text string) []trace.Effect {
	return []trace.Effect{{Kind: fsm.Send, Peer: peer, Text: []byte("send " + text), Frame: []byte{1}}}
}

// TestMergeSeveral: a message is sent before it is received, whatever the clocks of the machines
// say; peers of each number are found by what went between them, and a machine that nobody recorded
// has a column of its own.
func TestMergeSeveral(t *testing.T) {
	a := record(t, "a", time.Hour,
		trace.Step{Kind: trace.Command, Event: []byte("go"), Before: "idle", After: "busy", Peer: fsm.Broadcast,
			Effects: sends(4, "TOKEN{n: 1}")},
		trace.Step{Kind: trace.Message, Event: []byte("TOKEN{n: 2}"), Peer: 9, Frame: []byte{1}, Before: "busy",
			After: "idle", Effects: sends(5, "AUDIT")})
	b := record(t, "b", 0,
		trace.Step{Kind: trace.Message, Event: []byte("TOKEN{n: 1}"), Peer: 0, Frame: []byte{1}, Before: "idle",
			After: "idle", Effects: sends(1, "TOKEN{n: 3}")})
	c := record(t, "c", 0,
		trace.Step{Kind: trace.Message, Event: []byte("TOKEN{n: 3}"), Peer: 0, Frame: []byte{1}, Before: "idle",
			After: "idle", Effects: sends(1, "TOKEN{n: 2}")})
	r, err := Merge([]*trace.Reader{a, b, c}, 1, 100)
	if err != nil {
		t.Fatal(err)
	}
	want := `ring, recorded by 3

   a                   b                   c                   peer 5 of a
   [idle]              [idle]              [idle]
1  go
   → TOKEN{n: 1} (#1)
   [busy]
2                      ← TOKEN{n: 1} (#1)
                       → TOKEN{n: 3} (#2)
3                                          ← TOKEN{n: 3} (#2)
                                           → TOKEN{n: 2} (#3)
4  ← TOKEN{n: 2} (#3)
   → AUDIT (#4)
   [idle]
5                                                              ← AUDIT (#4)
`
	if got := r.Chart().Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestMergeReceivers: an effect that names its receivers is joined with what they record.
func TestMergeReceivers(t *testing.T) {
	to := func(peer fsm.Peer, text string) []trace.Effect {
		return []trace.Effect{{Kind: fsm.Send, Peer: peer, Text: []byte("send " + text), Frame: []byte{1}}}
	}
	a := record(t, "a", time.Hour,
		trace.Step{Kind: trace.Command, Event: []byte("go"), Before: "idle", After: "idle", Peer: fsm.Broadcast,
			Effects: to(7, `SAY{text: "from 6 to 7"} to 7`)},
		trace.Step{Kind: trace.Command, Event: []byte("go"), Before: "idle", After: "idle", Peer: fsm.Broadcast,
			Effects: to(fsm.Broadcast, "BYE to all")})
	b := record(t, "b", 0,
		trace.Step{Kind: trace.Message, Event: []byte(`SAY{text: "from 6 to 7"}`), Peer: 0, Frame: []byte{1},
			Before: "idle", After: "idle"},
		trace.Step{Kind: trace.Message, Event: []byte("BYE"), Peer: 0, Frame: []byte{1}, Before: "idle",
			After: "idle"})
	r, err := Merge([]*trace.Reader{a, b}, 1, 100)
	if err != nil {
		t.Fatal(err)
	}
	want := `ring, recorded by 2

   a                                b
   [idle]                           [idle]
1  go
   → SAY{text: "from 6 to 7"} (#1)
2                                   ← SAY{text: "from 6 to 7"} (#1)
3  go
   → BYE (#2)
4                                   ← BYE (#2)
`
	if got := r.Chart().Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestMergeAddresses: three machines send the same texts, so that only the addresses of their links say who
// is who; a datagram that came twice is a copy, and nobody is shown to have sent it again.
func TestMergeAddresses(t *testing.T) {
	up := func(peer fsm.Peer, ends string) trace.Step {
		return trace.Step{Kind: trace.Up, Event: []byte("up"), Peer: peer, Before: "lobby", After: "lobby",
			Note: []byte(ends)}
	}
	join := func(peer fsm.Peer) trace.Step {
		return trace.Step{Kind: trace.Message, Event: []byte("JOIN"), Peer: peer, Frame: []byte{1}, Before: "lobby",
			After: "lobby", Effects: sends(peer, fmt.Sprint("IN to ", peer))}
	}
	guest := func(name, ends string) *trace.Reader {
		return record(t, name, 0, up(0, ends),
			trace.Step{Kind: trace.Command, Event: []byte("join"), Peer: fsm.Broadcast, Before: "out", After: "out",
				Effects: sends(0, "JOIN to 0")})
	}
	h := record(t, "h", time.Hour,
		up(1, "0.0.0.0:70 > 10.0.0.2:1000"), join(1), up(2, "0.0.0.0:70 > 10.0.0.3:1000"), join(2), join(2))
	r, err := Merge([]*trace.Reader{h, guest("g[2]", "10.0.0.3:1000 > 10.0.0.1:70"),
		guest("g[1]", "10.0.0.2:1000 > 10.0.0.1:70")}, 1, 100)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range r.Steps {
		switch s.Kind {
		case LinkUp:
			got = append(got, r.Instances[s.Who].Name+" up "+r.Instances[s.From].Name)
		case Message, Copy:
			got = append(got, fmt.Sprint(s.Kind, " ", s.Message, " of ", r.Instances[s.From].Name))
		case Unseen:
			t.Errorf("%s is said to have sent %v", r.Instances[s.Who].Name, s.Sent)
		}
	}
	want := []string{"g[2] up h", "g[1] up h", "h up g[1]", "message 2 of g[1]", "h up g[2]", "message 1 of g[2]",
		"copy 1 of g[2]"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

// TestMergeAbsent: without addresses a number belongs to one machine, and what is left over is somebody
// whom nobody recorded.
func TestMergeAbsent(t *testing.T) {
	talk := func(name string, peers ...fsm.Peer) *trace.Reader {
		var steps []trace.Step
		for _, p := range peers {
			steps = append(steps, trace.Step{Kind: trace.Command, Event: []byte("go"), Peer: fsm.Broadcast, Before: "s",
				After: "s", Effects: sends(p, fmt.Sprint("HI to ", p))})
		}
		for _, p := range peers {
			steps = append(steps, trace.Step{Kind: trace.Message, Event: []byte("HI"), Peer: p, Frame: []byte{1},
				Before: "s", After: "s"})
		}
		return record(t, name, 0, steps...)
	}
	r, err := Merge([]*trace.Reader{talk("h", 1, 2, 3), talk("a", 0), talk("b", 0)}, 1, 100)
	if err != nil {
		t.Fatal(err)
	}
	var from []string
	for _, s := range r.Of(0) {
		if s.Kind == Message {
			from = append(from, r.Instances[s.From].Name)
		}
	}
	if want := []string{"a", "b", "peer 3 of h"}; !slices.Equal(from, want) {
		t.Errorf("h hears %q, want %q", from, want)
	}
}

func TestMergeTwoProtocols(t *testing.T) {
	_, err := Merge([]*trace.Reader{recording(t), record(t, "b", 0)}, 1, 100)
	if err == nil || !strings.Contains(err.Error(), "record 2 is of the protocol ring, record 1 of ready") {
		t.Error(err)
	}
}

// TestMergeChannels: of several channels each message has the name of its own, which the record says.
func TestMergeChannels(t *testing.T) {
	record := func(name string, steps ...trace.Step) *trace.Reader {
		var b bytes.Buffer
		w := trace.NewWriter(&b)
		w.Begin(trace.Header{Protocol: "game", Role: "peer", Instance: name, Channels: []string{"control", `"state"`}})
		for i, s := range steps {
			s.Seq = uint64(i + 1)
			w.Step(&s)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		r, err := trace.NewReader(&b)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	a := record("a", trace.Step{Kind: trace.Command, Event: []byte("go"), Peer: fsm.Broadcast, Effects: []trace.Effect{
		{Kind: fsm.Send, Text: []byte("send JOIN"), Frame: []byte{1}},
		{Kind: fsm.Send, Channel: 1, Text: []byte("send MOVE"), Frame: []byte{2}}}})
	b := record("b", trace.Step{Kind: trace.Message, Channel: 1, Event: []byte("MOVE"), Frame: []byte{2}},
		trace.Step{Kind: trace.Message, Event: []byte("JOIN"), Frame: []byte{1}},
		trace.Step{Kind: trace.Message, Channel: 1, Event: []byte("OTHER"), Frame: []byte{3}})
	r, err := Merge([]*trace.Reader{a, b}, 1, 100)
	if err != nil {
		t.Fatal(err)
	}
	text := r.Chart().Text()
	for _, want := range []string{"→ JOIN (#1, control)", "← JOIN (#1, control)", `→ MOVE (#2, "state")`,
		`← MOVE (#2, "state")`, `→ OTHER (#3, "state")`, `← OTHER (#3, "state")`} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
}
