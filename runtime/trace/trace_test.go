package trace_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
)

var header = trace.Header{Protocol: "confirm", Role: "peer", Instance: "a", Hash: "00ff",
	Time: time.Date(2026, 2, 3, 4, 5, 6, 789, time.UTC)}

var steps = []trace.Step{
	{Seq: 1, Kind: trace.Start, Peer: fsm.Broadcast, Event: []byte("start"), Transition: 0, Name: "idle start",
		Before: "idle", After: "idle"},
	{Seq: 2, At: 5, Kind: trace.Up, Peer: 0, Event: []byte("up"), Transition: fsm.NoTransition, Code: fsm.Ignored,
		Before: "idle", After: "idle", Note: []byte("a:1 > b:2")},
	{Seq: 3, At: 1e9, Kind: trace.Message, Again: true, Peer: 3, Event: []byte("NOTE{text: \"a\\tb\u00e9\"}\n"),
		Frame:      []byte{0, 1, 255},
		Transition: 7, Name: "idle NOTE/2", Before: "idle", After: "done", Effects: []trace.Effect{
			{Kind: fsm.Send, Peer: fsm.Broadcast, Text: []byte("send ACK"), Frame: []byte{9}},
			{Kind: fsm.Report, Text: []byte("report noted")},
			{Kind: fsm.StartTimer, Text: []byte("start retry")},
			{Kind: fsm.Close, Peer: 3, Text: []byte("close")}}},
	{Seq: 4, At: 2e9, Kind: trace.Malformed, Peer: 1, Frame: []byte{1}, Transition: fsm.NoTransition,
		Before: "done", After: "done", Problem: []byte("bad")},
	{Seq: 5, At: 3e9, Kind: trace.Closed, Peer: fsm.Broadcast, Transition: fsm.NoTransition, Before: "done",
		After: "done", Note: []byte("stopped")},
}

func record(t *testing.T) []byte {
	t.Helper()
	var file bytes.Buffer
	w := trace.NewWriter(&file)
	w.Begin(header)
	for i := range steps {
		w.Step(&steps[i])
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func readAll(b []byte) (h trace.Header, out []trace.Step, truncated bool, err error) {
	r, err := trace.NewReader(bytes.NewReader(b))
	if err != nil {
		return h, nil, false, err
	}
	for {
		var s trace.Step
		if err := r.Next(&s); err == io.EOF {
			return r.Header(), out, r.Truncated(), nil
		} else if err != nil {
			return h, out, false, err
		}
		out = append(out, s)
	}
}

var emptyIsNil = cmp.Transformer("emptyIsNil", func(b []byte) string { return string(b) })

func TestRoundTrip(t *testing.T) {
	b := record(t)
	h, got, truncated, err := readAll(b)
	if err != nil || truncated {
		t.Fatal(err, truncated)
	}
	if d := cmp.Diff(header, h); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(steps, got, emptyIsNil, cmp.Transformer("effects",
		func(e []trace.Effect) string { return fmt.Sprint(e) })); d != "" {
		t.Error(d)
	}
	const third = `{"seq":3,"at":1000000000,"kind":"message","again":true,"peer":3,"event":"NOTE{text: \"a\\tbé\"}\u000a","frame":"0001ff",` +
		`"code":"took","transition":7,"name":"idle NOTE/2","before":"idle","after":"done","effects":[` +
		`{"kind":"send","peer":-1,"do":"send ACK","frame":"09"},{"kind":"report","do":"report noted"},` +
		`{"kind":"start","do":"start retry"},{"kind":"close","peer":3,"do":"close"}]}`
	if line := strings.Split(string(b), "\n")[3]; line != third {
		t.Errorf("got  %s\nwant %s", line, third)
	}
}

// A record may be cut at any byte: what was whole is read, the rest is left out.
func TestTruncated(t *testing.T) {
	b := record(t)
	head := bytes.IndexByte(b, '\n') + 1
	for n := head; n < len(b); n++ {
		_, got, truncated, err := readAll(b[:n])
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		whole := bytes.Count(b[:n], []byte("\n")) - 1
		if len(got) != whole && (len(got) != whole+1 || truncated) {
			t.Fatalf("cut at %d: %d steps, %d whole lines, truncated %v", n, len(got), whole, truncated)
		}
		if len(got) == whole && b[n-1] != '\n' && !truncated {
			t.Fatalf("cut at %d: not noticed", n)
		}
	}
}

func TestReaderErrors(t *testing.T) {
	lines := strings.SplitAfter(string(record(t)), "\n")
	join := func(s ...string) string { return strings.Join(s, "") }
	tests := map[string]struct{ in, want string }{
		"empty":      {"", "the record is empty"},
		"no record":  {"hello\n", "line 1: not a record"},
		"other JSON": {`{"a":1}` + "\n", "line 1: not a record: the first line"},
		"cut header": {lines[0][:20], "line 1: the header is cut off"},
		"newer": {strings.Replace(lines[0], `"version":1`, `"version":2`, 1),
			"format version 2, this program reads version 1"},
		"garbage":      {join(lines[0], lines[1], "?\n", lines[2]), "line 3: invalid"},
		"missing line": {join(lines[0], lines[1], lines[3]), "line 3: seq is 3, 2 expected"},
		"bad kind": {join(lines[0], strings.Replace(lines[1], `"start"`, `"begin"`, 1)),
			`line 2: unknown kind "begin"`},
		"bad code": {join(lines[0], strings.Replace(lines[1], `"took"`, `"done"`, 1)),
			`line 2: unknown code "done"`},
		"bad hex": {join(lines[0], lines[1], lines[2], strings.Replace(lines[3], "0001ff", "0001f", 1)),
			"line 4: frame: "},
		"bad effect": {join(lines[0], lines[1], lines[2],
			strings.Replace(lines[3], `"kind":"send"`, `"kind":"x"`, 1)), `line 4: effect 0: unknown kind "x"`},
		"very long line": {join(lines[0], `{"event":"`, strings.Repeat("x", trace.MaxLine), `"}`),
			"line 2: longer than"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, _, err := readAll([]byte(tt.in))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

type fullDisk struct{ room int }

func (d *fullDisk) Write(b []byte) (int, error) {
	n := min(len(b), d.room)
	d.room -= n
	if n < len(b) {
		return n, errFull
	}
	return n, nil
}

var errFull = errors.New("no space left")

func TestFullDisk(t *testing.T) {
	w := trace.NewWriter(&fullDisk{room: 10})
	w.Begin(header)
	w.Step(&steps[0])
	w.Step(&steps[1])
	if err := w.Flush(); !errors.Is(err, errFull) {
		t.Errorf("first Flush: %v", err)
	}
	w.Step(&steps[2])
	for range 2 {
		if err := w.Flush(); !errors.Is(err, errFull) {
			t.Errorf("Flush: %v", err)
		}
	}
	if w.Lost() != 4 {
		t.Errorf("lost %d", w.Lost())
	}
}

func TestWriterDoesNotAllocate(t *testing.T) {
	w := trace.NewWriter(io.Discard)
	if n := testing.AllocsPerRun(1000, func() { w.Step(&steps[2]) }); n >= 1 {
		t.Errorf("%v allocations for a line", n)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(`{"parley":"trace","version":1}` + "\n" + `{"seq":1,"kind":"start","code":"took"}` + "\n"))
	f.Add([]byte(`{"parley":"trace","version":1}` + "\n" +
		`{"seq":1,"kind":"message","code":"took","frame":"00","effects":[{"kind":"send","do":"x"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, steps, _, err := readAll(b)
		if err != nil {
			return
		}
		// What was read can be written, and reads the same.
		var file bytes.Buffer
		w := trace.NewWriter(&file)
		w.Begin(h)
		for i := range steps {
			w.Step(&steps[i])
		}
		if h.Time.Year() < 0 || h.Time.Year() > 9999 {
			return
		}
		w.Flush()
		_, again, _, err := readAll(file.Bytes())
		if err != nil {
			t.Fatalf("%v in\n%s", err, file.Bytes())
		}
		if len(again) != len(steps) {
			t.Fatalf("%d steps of %d", len(again), len(steps))
		}
	})
}
