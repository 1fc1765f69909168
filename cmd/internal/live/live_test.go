package live

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/graph"
	"github.com/parley-go/parley/machines/connection"
	"github.com/parley-go/parley/machines/update"
	"github.com/parley-go/parley/proptest/race"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport/mem"
)

type runner = *update.PeerRunner

// game is two sides that run, and record what they do.
type game struct {
	t       *testing.T
	sides   [2]*driver.Driver[runner]
	changed chan struct{}
}

func play(t *testing.T, to ...io.Writer) *game {
	t.Helper()
	g := &game{t: t, changed: make(chan struct{}, 8)}
	near, far := mem.Pair(mem.Config{})
	for i, link := range []*mem.Link{near, far} {
		g.sides[i] = driver.New(update.NewPeerRunner(i == 0), driver.Options[runner]{
			Instance: []string{"near", "far"}[i], Trace: []trace.Sink{trace.NewWriter(to[i])},
			OnReport: func(runner, int) { g.changed <- struct{}{} }})
		if err := g.sides[i].Attach(0, link); err != nil {
			t.Fatal(err)
		}
		go g.sides[i].Run(t.Context())
	}
	return g
}

// change lets one side change the value, and waits until the other one knows.
func (g *game) change(side int, v uint32) {
	g.t.Helper()
	_, err := g.sides[side].Do(g.t.Context(), func(r runner) fsm.Result { return r.Change(update.Value(v)) })
	if err != nil {
		g.t.Fatal(err)
	}
	<-g.changed
}

func (g *game) end() {
	for _, d := range g.sides {
		d.Stop()
		<-d.Done()
	}
}

// lines are those of a record of five steps or more, without their ends.
func lines(t *testing.T) []string {
	t.Helper()
	var a, b bytes.Buffer
	g := play(t, &a, &b)
	g.change(0, 7)
	g.change(1, 9)
	g.end()
	return strings.Split(strings.TrimSpace(a.String()), "\n")
}

// serve follows records, and returns the address of the page.
func serve(t *testing.T, spec string, stdin io.Reader, paths ...string) (url string, stop func() error) {
	t.Helper()
	p, list := compile.Load("../../../specs/"+spec+"/spec.yaml", compile.Options{})
	if p == nil {
		t.Fatal(list)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- New(p, graph.Options{}, paths, stdin, "").Serve(ctx, l) }()
	stop = func() error { cancel(); return <-done }
	return "http://" + l.Addr().String(), stop
}

// viewer is a page that is open.
type viewer struct {
	t        *testing.T
	in       *bufio.Reader
	body     io.Closer
	states   map[int]State
	pictures map[int]string
	chart    string
}

func look(t *testing.T, url string) *viewer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // a test that fails ends
	t.Cleanup(cancel)
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	if r.StatusCode != http.StatusOK || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
		t.Fatal(r.Status, r.Header)
	}
	t.Cleanup(func() { r.Body.Close() })
	return &viewer{t: t, in: bufio.NewReader(r.Body), body: r.Body, states: map[int]State{}, pictures: map[int]string{}}
}

// until reads events until the page shows something.
func (v *viewer) until(what string, shown func() bool) {
	v.t.Helper()
	event := ""
	for !shown() {
		text, err := v.in.ReadString('\n')
		if err != nil {
			v.t.Fatalf("no %s: %v; the page shows %+v", what, err, v.states)
		}
		name, data, _ := strings.Cut(strings.TrimSpace(text), ": ")
		switch {
		case name == "event":
			event = data
		case name != "data":
		case event == "record":
			var m message
			err = json.Unmarshal([]byte(data), &m)
			v.states[m.Record] = m.State
		case event == "drawing":
			var d drawing
			err = json.Unmarshal([]byte(data), &d)
			v.pictures[d.Record] = d.SVG
		case event == "chart":
			err = json.Unmarshal([]byte(data), &v.chart)
		}
		if err != nil {
			v.t.Fatal(err)
		}
	}
}

// value is that of a variable.
func (s State) value(name string) string {
	for _, v := range s.Values {
		if v.Name == name {
			return v.Text
		}
	}
	return ""
}

// TestRunning follows two machines that run.
func TestRunning(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "near.jsonl"), filepath.Join(dir, "far.jsonl")}
	url, stop := serve(t, "update", nil, paths...)
	v := look(t, url)
	v.until("files that are waited for", func() bool {
		return strings.Contains(v.states[0].Note, "waiting") && strings.Contains(v.states[1].Note, "waiting")
	})
	var files [2]io.Writer
	for i, path := range paths {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	g := play(t, files[0], files[1])
	g.change(0, 7)
	v.until("value of both", func() bool {
		return v.states[0].value("own") == "7" && v.states[1].value("own") == "7"
	})
	g.change(1, 9)
	g.end()
	v.until("end of both", func() bool {
		return v.states[0].Closed != "" && v.states[1].Closed != "" && v.chart != "" &&
			strings.Contains(v.chart, "UPDATE{value: 9}")
	})
	s := v.states[0]
	if s.Name != "near" || s.Role != "update.peer" || s.value("wins") != "true" || s.value("own") != "9" ||
		s.Path != "settled" || s.Control != 0 || s.Problem != "" || s.Note != "" || int(s.Total) != len(s.Steps) {
		t.Errorf("near at its end: %+v", s)
	}
	if !slices.ContainsFunc(s.Steps, func(l Line) bool {
		return l.Kind == "command" && l.Event == "change{value: 7}" && l.Move == "settled → open" && !l.Bad &&
			slices.Contains(l.Effects, "send UPDATE{value: 7}")
	}) {
		t.Errorf("no command in %+v", s.Steps)
	}
	for i, want := range []string{`id="m0-name"`, `id="m1-name"`} {
		if !strings.Contains(v.pictures[i], want) || !strings.Contains(v.pictures[i], `data-state="2"`) ||
			!strings.Contains(v.pictures[i], "data-transitions=") {
			t.Errorf("the picture of %d: %.300s", i, v.pictures[i])
		}
	}
	if !strings.Contains(v.chart, ">near<") || !strings.Contains(v.chart, ">far<") {
		t.Errorf("the chart: %.600s", v.chart)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// written is a file that a test writes piece by piece.
type written struct {
	t    *testing.T
	path string
}

func (w written) add(text string) {
	w.t.Helper()
	f, err := os.OpenFile(w.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// TestSteps: the page follows a record line by line: where the machine is, which transition it took, and lines that
// are not whole.
func TestSteps(t *testing.T) {
	t.Parallel()
	record := lines(t)
	w := written{t, filepath.Join(t.TempDir(), "a.jsonl")}
	w.add(record[0] + "\n")
	url, _ := serve(t, "update", nil, w.path)
	v := look(t, url)
	v.until("beginning", func() bool { return v.states[0].Path == "settled" && v.states[0].Total == 0 })
	for i, text := range record[1:] {
		var step struct{ Kind, After, Name string }
		if err := json.Unmarshal([]byte(text), &step); err != nil {
			t.Fatal(err)
		}
		w.add(text[:20])
		v.until("half line", func() bool { return v.states[0].Half })
		if s := v.states[0]; s.Total != uint64(i) || s.Problem != "" {
			t.Fatalf("half of line %d: %+v", i+2, s)
		}
		w.add(text[20:] + "\n")
		v.until("whole line", func() bool { return v.states[0].Total == uint64(i+1) && !v.states[0].Half })
		s := v.states[0]
		if s.Problem != "" || len(s.Steps) != i+1 || step.After != "" && s.Path != step.After ||
			(len(s.Taken) > 0) != (step.Name != "") {
			t.Fatalf("after %s: %+v", text, s)
		}
		for _, id := range s.Taken {
			mark := regexp.MustCompile(fmt.Sprintf(`data-transitions="(\d+ )*%d( \d+)*"`, id))
			if !mark.MatchString(v.pictures[0]) && s.Steps[i].Move != "" {
				t.Errorf("the picture does not have transition %d of %s", id, text)
			}
		}
	}
}

// TestHalf: a line that begins at once where another one ends is known to be half, too.
func TestHalf(t *testing.T) {
	t.Parallel()
	record := lines(t)
	w := written{t, filepath.Join(t.TempDir(), "a.jsonl")}
	w.add(record[0] + "\n" + record[1][:20])
	url, _ := serve(t, "update", nil, w.path)
	v := look(t, url)
	for i := 1; i < 3; i++ {
		v.until("half line", func() bool { return v.states[0].Half && v.states[0].Total == uint64(i-1) })
		w.add(record[i][20:] + "\n" + record[i+1][:20])
	}
	v.until("half line at the end", func() bool { return v.states[0].Half && v.states[0].Total == 2 })
}

// TestAnew: a file that is cut, replaced by another, or taken away and written again holds a new record.
func TestAnew(t *testing.T) {
	t.Parallel()
	record := lines(t)
	short := strings.Join(record[:2], "\n") + "\n"
	long := strings.Join(record, "\n") + "\n"
	other := strings.Replace(long, `"instance":"near"`, `"instance":"nigh"`, 1) // as long as the one before
	w := written{t, filepath.Join(t.TempDir(), "a.jsonl")}
	w.add(long)
	url, _ := serve(t, "update", nil, w.path)
	v := look(t, url)
	total := uint64(len(record) - 1)
	v.until("record", func() bool { return v.states[0].Total == total })
	begun := func(name string, n uint64) func() bool {
		return func() bool {
			s := v.states[0]
			return s.Total == n && s.Name == name && strings.Contains(s.Note, "anew") && s.Problem == ""
		}
	}
	if err := os.WriteFile(w.path, []byte(short), 0o600); err != nil {
		t.Fatal(err)
	}
	v.until("shorter record", begun("near", 1))
	// Longer than what was read, and in the very file: known by its first line.
	if err := os.WriteFile(w.path, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	v.until("other record", begun("nigh", total))
	rotate := func(text string) {
		next := w.path + ".next"
		if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, w.path); err != nil {
			t.Fatal(err)
		}
	}
	rotate(long)
	v.until("replaced file", begun("near", total))
	if err := os.Remove(w.path); err != nil {
		t.Fatal(err)
	}
	rotate(other)
	v.until("file that came back", begun("nigh", total))
}

// TestWrong: whatever is wrong with a record is said, and does not end anything: another record may come.
func TestWrong(t *testing.T) {
	t.Parallel()
	record := lines(t)
	at := slices.IndexFunc(record, func(l string) bool { return strings.Contains(l, `"kind":"command"`) })
	if at < 1 {
		t.Fatal(record)
	}
	for _, test := range []struct {
		name, old, new string
		line           int
		problem        string
		steps          int // that are shown
	}{
		{"no JSON", `"seq"`, `seq`, at, fmt.Sprintf("cannot be followed any further: line %d", at+1), at - 1},
		{"a line is missing", fmt.Sprintf(`"seq":%d`, at), `"seq":77`, at, "lines are missing", at - 1},
		{"a line without end", `"seq"`, strings.Repeat(" ", trace.MaxLine) + `"seq"`, at, "longer than", at - 1},
		{"no record", `"parley"`, `"parsley"`, 0, "not a record", 0},
		{"another version", `"version":1`, `"version":2`, 0, "format version 2", 0},
		{"another specification", `"hash":"`, `"hash":"0`, 0, "has changed since", len(record) - 1},
		{"no such role", `"role":"peer"`, `"role":"pear"`, 0, "no role pear", len(record) - 1},
		{"a deviation", `"event":"change{value: 7}"`, `"event":"change{value: 6}"`, at,
			fmt.Sprintf("line %d is no step of the specification", at+1), len(record) - 1},
		{"an unknown event", `"event":"change{value: 7}"`, `"event":"<b>\u001b[2J"`, at, "no step", len(record) - 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			bad := slices.Clone(record)
			bad[test.line] = strings.Replace(bad[test.line], test.old, test.new, 1)
			if bad[test.line] == record[test.line] {
				t.Fatal("nothing was changed in ", record[test.line])
			}
			w := written{t, filepath.Join(t.TempDir(), "a.jsonl")}
			w.add(strings.Join(bad, "\n") + "\n")
			url, _ := serve(t, "update", nil, w.path)
			v := look(t, url)
			v.until("problem", func() bool {
				return strings.Contains(v.states[0].Problem, test.problem) && len(v.states[0].Steps) == test.steps
			})
			for _, l := range v.states[0].Steps {
				if strings.ContainsRune(l.Event, '\x1b') {
					t.Errorf("%q", l.Event)
				}
				if l.Bad != (test.steps == len(record)-1 && test.line > 0 && int(l.Seq) == test.line) {
					t.Errorf("step %d is bad: %t", l.Seq, l.Bad)
				}
			}
			if err := os.WriteFile(w.path, []byte(strings.Join(record, "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			v.until("good record", func() bool {
				s := v.states[0]
				return s.Problem == "" && int(s.Total) == len(record)-1 && s.value("own") == "9"
			})
		})
	}
}

// TestBounds: only so many steps are kept, however long they are.
func TestBounds(t *testing.T) {
	t.Parallel()
	r := &record{changed: func() {}}
	for n := range 3 * mostSteps {
		r.keep(kept{trace.Step{Seq: uint64(n), Event: []byte("x")}, ""})
	}
	if len(r.steps) != mostSteps || r.size != mostSteps || r.steps[0].Seq != 2*mostSteps {
		t.Errorf("%d steps of %d bytes from %d on", len(r.steps), r.size, r.steps[0].Seq)
	}
	for range mostSteps {
		r.keep(kept{trace.Step{Frame: make([]byte, mostBytes/4)}, ""})
	}
	if r.size > mostBytes || len(r.steps) != 4 {
		t.Errorf("%d steps of %d bytes", len(r.steps), r.size)
	}
	if got := clean(strings.Repeat("ä", 5000)); got != strings.Repeat("ä", mostText)+"…" {
		t.Errorf("%d bytes", len(got))
	}
	if got := clean("a\x1bb\u202ec\nd"); got != "a\uFFFDb\uFFFDc\uFFFDd" {
		t.Errorf("%q", got)
	}
}

// TestTimers: the timers that run are shown. The record comes from standard input, which ends.
func TestTimers(t *testing.T) {
	t.Parallel()
	out, in := io.Pipe()
	url, _ := serve(t, "connection", out, "-")
	v := look(t, url)
	s, err := connection.NewServerRunner(connection.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	d := driver.New(s, driver.Options[*connection.ServerRunner]{Trace: []trace.Sink{trace.NewWriter(in)}})
	near, _ := mem.Pair(mem.Config{})
	if err := d.Attach(0, near); err != nil {
		t.Fatal(err)
	}
	go d.Run(t.Context())
	v.until("running timer", func() bool { return len(v.states[0].Timers) > 0 })
	if s := v.states[0]; !slices.Equal(s.Timers, []string{"patience"}) || s.File != "standard input" {
		t.Errorf("%+v", s)
	}
	d.Stop()
	<-d.Done()
	in.Close()
	v.until("end", func() bool { return strings.Contains(v.states[0].Note, "standard input has ended") })
	if p := v.states[0].Problem; p != "" {
		t.Error(p)
	}
}

// TestDoor: what a browser gets, from whom it may come, and how many pages there may be.
func TestDoor(t *testing.T) {
	t.Parallel()
	url, _ := serve(t, "update", nil, filepath.Join(t.TempDir(), "a.jsonl"))
	for _, test := range []struct {
		method, path, host string
		code               int
		kind               string
	}{
		{"GET", "/", "", 200, "text/html"},
		{"GET", "/page.js", "", 200, "text/javascript"},
		{"GET", "/page.css", "localhost:1", 200, "text/css"},
		{"GET", "/nothing", "", 404, "text/plain"},
		{"POST", "/", "", 405, "text/plain"},
		{"GET", "/", "evil.example:80", 403, "text/plain"},
		{"GET", "/events", "evil.example", 403, "text/plain"},
	} {
		q, err := http.NewRequestWithContext(t.Context(), test.method, url+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if test.host != "" {
			q.Host = test.host
		}
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode != test.code || !strings.HasPrefix(r.Header.Get("Content-Type"), test.kind) ||
			!strings.Contains(r.Header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s %s of %q: %s %v %v", test.method, test.path, test.host, r.Status, r.Header, err)
		}
		if bytes.Contains(text, []byte("//")) && test.kind == "text/html" {
			t.Errorf("%s names something elsewhere:\n%s", test.path, text)
		}
	}
	open := make([]*viewer, mostPages)
	for i := range open {
		open[i] = look(t, url)
	}
	r, err := http.Get(url + "/events")
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusServiceUnavailable {
		t.Error(r.Status)
	}
	open[0].body.Close()
	for r.StatusCode == http.StatusServiceUnavailable { // until the server has seen that it has gone
		if r, err = http.Get(url + "/events"); err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
	}
	if r.StatusCode != http.StatusOK {
		t.Error(r.Status)
	}
}

// TestBrowser has a browser show the page.
func TestBrowser(t *testing.T) {
	t.Parallel()
	if !race.Long() {
		t.Skip("PARLEY_LONG=1 starts a browser")
	}
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no Chromium here")
	}
	record := lines(t)
	w := written{t, filepath.Join(t.TempDir(), "a.jsonl")}
	at := slices.IndexFunc(record, func(l string) bool { return strings.Contains(l, `"kind":"command"`) })
	w.add(strings.Join(record[:at+1], "\n") + "\n")
	url, _ := serve(t, "update", nil, w.path)
	look(t, url).until("nothing", func() bool { return true })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var missing []string
	for { // Chromium prints the page when it is loaded, which may be before the first event has come
		c := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu",
			"--user-data-dir="+t.TempDir(), "--timeout=15000", "--dump-dom", url+"/")
		text, err := c.Output()
		if err != nil {
			t.Fatalf("%v; the page did not have %q", err, missing)
		}
		missing = nil
		for _, want := range []string{`data-state="1" class="now"`, `class="taken"`, `<span class="state">open</span>`,
			"send UPDATE{value: 7}", "Sequence of the last steps"} {
			if !bytes.Contains(text, []byte(want)) {
				missing = append(missing, want)
			}
		}
		if missing == nil {
			return
		}
	}
}
