package traffic

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/machines/update"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// record lets two sides change a value and returns the record of the first.
func record(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	near, far := mem.Pair(mem.Config{})
	changed := make(chan struct{}, 8)
	type runner = *update.PeerRunner
	d := driver.New(update.NewPeerRunner(true),
		driver.Options[runner]{Instance: "near", Trace: []trace.Sink{trace.NewWriter(&b)},
			OnReport: func(runner, int) { changed <- struct{}{} }})
	e := driver.New(update.NewPeerRunner(false),
		driver.Options[runner]{OnReport: func(runner, int) { changed <- struct{}{} }})
	if err := d.Attach(0, near); err != nil {
		t.Fatal(err)
	}
	if err := e.Attach(0, far); err != nil {
		t.Fatal(err)
	}
	go e.Run(t.Context())
	go d.Run(t.Context())
	change := func(d *driver.Driver[runner], v uint32) {
		if _, err := d.Do(t.Context(), func(r runner) fsm.Result { return r.Change(update.Value(v)) }); err != nil {
			t.Fatal(err)
		}
		<-changed
	}
	change(d, 7)
	change(e, 9)
	d.Stop()
	<-d.Done()
	e.Stop()
	<-e.Done()
	return b.String()
}

func replayTrace(t *testing.T, text string) (*Report, error) {
	t.Helper()
	p, diags := compile.Load("../../../specs/update/spec.yaml", compile.Options{})
	if p == nil {
		t.Fatal(diags)
	}
	name := filepath.Join(t.TempDir(), "near.jsonl")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Replay(t.Context(), p, name, Options{})
}

func TestARecordIsARun(t *testing.T) {
	r, err := replayTrace(t, record(t))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	r.WriteText(&text, false)
	if !r.Accepted() || r.Trace.Frames < 4 {
		t.Errorf("accepted: %v, %d frames\n%s", r.Accepted(), r.Trace.Frames, text.String())
	}
}

// TestStepsOfARecord: a trace has nothing to list that its lines do not say, and the report says
// where they are drawn.
func TestStepsOfARecord(t *testing.T) {
	r, err := replayTrace(t, record(t))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	r.WriteText(&text, true)
	if want := "those of a trace are its lines: fsmviz --seq " + r.File +
		" shows them"; !strings.Contains(text.String(), want) {
		t.Errorf("no %q in\n%s", want, text.String())
	}
}

// Whatever is changed in a record, it is no longer a run, and the report says where and why.
func TestTamperedRecords(t *testing.T) {
	good := record(t)
	for _, test := range []struct{ name, old, new, wants string }{
		{"another value was sent", `send UPDATE{value: 7}`, `send UPDATE{value: 8}`, `has "send UPDATE{value: 7}"`},
		{"other bytes were sent", `"frame":"0008000000000007"`, `"frame":"0008000000000008"`, "00 00 00 07"},
		{"another event", `"event":"change{value: 7}"`, `"event":"change{value: 6}"`, "has effect"},
		{"an event that does not exist", `"event":"change{value: 7}"`, `"event":"chance{value: 7}"`, "chance"},
		{"a terminal is commanded", `"after":"open"`, `"after":"o\u001b[2Jpen"`, `o\u001b[2Jpen`},
		{"another state afterwards", `"after":"open"`, `"after":"changed"`, "went to state changed"},
		{"another state before", `"before":"open"`, `"before":"settled"`, "in state settled"},
		{"it was refused", `"event":"change{value: 7}","code":"took"`,
			`"event":"change{value: 7}","code":"refused"`, "refused"},
		{"a message without its bytes", `"event":"UPDATE{value: 7}","frame":"0008000000000007",`,
			`"event":"UPDATE{value: 7}",`, "no frame"},
		{"back in time", `"seq":3,"at":`, `"seq":3,"at":-`, "back in time"},
		{"the machine began otherwise", `settled{wins: true`, `settled{wins: 3`, "machine in the header"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if !strings.Contains(good, test.old) {
				t.Fatalf("the record has no %s:\n%s", test.old, good)
			}
			r, err := replayTrace(t, strings.Replace(good, test.old, test.new, 1))
			if err != nil {
				if !strings.Contains(err.Error(), test.wants) {
					t.Errorf("%v: does not speak of %s", err, test.wants)
				}
				return
			}
			var text strings.Builder
			r.WriteText(&text, false)
			if r.Accepted() || !strings.Contains(text.String(), test.wants) {
				t.Errorf("accepted: %v; wanted %q in\n%s", r.Accepted(), test.wants, text.String())
			}
		})
	}
}

func TestRecordsOfOthers(t *testing.T) {
	good := record(t)
	hash := good[strings.Index(good, `"hash":"`)+8:][:64]
	for name, test := range map[string]struct{ text, wants string }{
		"another protocol": {strings.Replace(good, `"protocol":"update"`, `"protocol":"confirm"`, 1),
			"of protocol confirm"},
		"another hash": {strings.Replace(good, hash, strings.Repeat("0", 64), 1), "has changed since"},
		"another role": {strings.Replace(good, `"role":"peer"`, `"role":"pear"`, 1), "no role pear"},
		"empty":        {"", "capture"},
		"no record":    {"{}\n", "not a record"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := replayTrace(t, test.text); err == nil || !strings.Contains(err.Error(), test.wants) {
				t.Errorf("error %v, wanted one with %q", err, test.wants)
			}
		})
	}
}

func TestACutRecordIsARunAsFarAsItGoes(t *testing.T) {
	good := record(t)
	r, err := replayTrace(t, good[:len(good)-20])
	if err != nil || !r.Accepted() || !r.Trace.Cut || !r.Trace.Unclosed {
		t.Errorf("%v %+v", err, r)
	}
}

// A program that does not wait for its driver leaves a record whose last lines were never written.
// What is there is a run, and the report says that it may not be all.
func TestARecordWithoutItsEndSaysSo(t *testing.T) {
	whole := record(t)
	lines := strings.SplitAfter(whole, "\n")
	lines = lines[:len(lines)-1] // behind the last newline is nothing
	for _, test := range []struct {
		name     string
		lines    []string
		unclosed bool
	}{
		{"whole", lines, false},
		{"without the closing line", lines[:len(lines)-1], true},
		{"without half of its steps", lines[:len(lines)/2], true},
		{"the header alone", lines[:1], true},
	} {
		r, err := replayTrace(t, strings.Join(test.lines, ""))
		if err != nil {
			t.Fatal(err)
		}
		var text, data strings.Builder
		r.WriteText(&text, false)
		if err := r.WriteJSON(&data); err != nil {
			t.Fatal(err)
		}
		said := strings.Contains(text.String(), "  the record has no closing line: steps behind it may be "+
			"missing (wait for Done before the program ends)\n")
		field := strings.Contains(data.String(), `"unclosed": true`)
		if said != test.unclosed || field != test.unclosed || !r.Accepted() {
			t.Errorf("%s: accepted %v\n%s%s", test.name, r.Accepted(), text.String(), data.String())
		}
	}
	wrong := strings.Replace(strings.Join(lines[:len(lines)-1], ""), `"after":"open"`, `"after":"changed"`, 1)
	if r, err := replayTrace(t, wrong); err != nil || r.Accepted() || r.Trace.Unclosed {
		t.Errorf("a record that was not read to its end: %v %+v", err, r.Trace)
	}
}
