package graph

import (
	"bytes"
	"strings"
	"testing"

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
			{Kind: fsm.Send, Text: []byte("send READY"), Frame: []byte{1}}, {Kind: fsm.Report, Text: []byte("report passed")}}},
		{Kind: trace.Message, Event: []byte("READY"), Frame: []byte{1}, Before: "done", After: "done", Code: fsm.Refused},
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

func TestFromTrace(t *testing.T) {
	c, err := FromTrace(recording(t), 2, 100)
	if err != nil {
		t.Fatal(err)
	}
	want := `ready.peer, recorded by a

   a              peer 0
   [notReady]
1                 → READY (#1)
2  ← READY (#1)
   [remoteReady]
3  ready
   → READY (#2)
   report passed
   [done]
4                 ← READY (#2)
5                 → READY (#3)
6  ← READY (#3)
   ✗ refused
`
	if got := c.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	wellFormed(t, c.SVG())
	if !strings.Contains(c.Mermaid(), "p1->>p0: READY") {
		t.Errorf("the peer's message is missing:\n%s", c.Mermaid())
	}
}

func TestFromTraceStretch(t *testing.T) {
	c, err := FromTrace(recording(t), 3, 3)
	if err != nil || len(c.Steps) != 2 || c.Steps[0].Event != "ready" || c.Start[0] != "remoteReady" {
		t.Errorf("%+v, %v; want the step ready, its message's arrival, and the state before it", c, err)
	}
}
