package run

import (
	"bytes"
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

func TestMergeTwoProtocols(t *testing.T) {
	_, err := Merge([]*trace.Reader{recording(t), record(t, "b", 0)}, 1, 100)
	if err == nil || !strings.Contains(err.Error(), "record 2 is of the protocol ring, record 1 of ready") {
		t.Error(err)
	}
}
