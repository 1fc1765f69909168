package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/proptest/check"
)

// stage is a session whose events and whose time are the test's.
type stage struct {
	t      *testing.T
	file   string
	events chan string
	settle chan time.Time
	out    chan string
	ended  chan error
	stop   context.CancelFunc
}

// Write takes what the session prints; the test goes on when it comes.
func (s *stage) Write(b []byte) (int, error) {
	s.out <- string(b)
	return len(b), nil
}

func play(t *testing.T, file string, judge func(context.Context, string) Verdict) *stage {
	s := &stage{t: t, file: file, events: make(chan string), settle: make(chan time.Time),
		out: make(chan string, 16), ended: make(chan error, 1)}
	if judge == nil {
		judge = func(ctx context.Context, f string) Verdict { return Judge(ctx, f, check.Config{}) }
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	session := &Session{Files: []string{file}, Out: s, Judge: judge, Events: s.events,
		Watch:  func(string) error { return nil },
		Settle: func() <-chan time.Time { return s.settle },
		Now:    func() time.Time { return time.Date(2000, 1, 2, 3, 4, 5, 0, time.UTC) }}
	go func() { s.ended <- session.Run(ctx) }()
	t.Cleanup(stop)
	return s
}

// save writes a file as careful editors do, and lets the events settle.
func (s *stage) save(file, text string) string {
	s.t.Helper()
	temp := file + "~"
	if err := os.WriteFile(temp, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(temp, file); err != nil {
		s.t.Fatal(err)
	}
	s.events <- temp // nobody's
	s.events <- file
	s.events <- file
	s.settle <- time.Time{}
	return <-s.out
}

func TestSession(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../../specs/confirm")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "spec.yaml")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	whole := string(b)
	s := play(t, file, nil)
	expect := func(got string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("no %q in\n%s", w, got)
			}
		}
	}
	expect(<-s.out, "03:04:05 "+file+"\n  ✓ pair: holds (2122 configurations)\n")
	expect(s.save(file, whole+"\n# a comment\n"), "  nothing changed: ", " checks as expected, 0 warnings\n")
	spare := whole + "types: {Spare: 0..3}\n"
	at := fmt.Sprintf(":%d:9", strings.Count(whole, "\n")+1)
	expect(s.save(file, spare), at+": warning: the type `Spare` is not used [FSM045]\n  the checks are as before")
	expect(s.save(file, "# moved\n"+spare), "  nothing changed: ", " checks as expected, 1 warning\n")
	expect(s.save(file, strings.Replace(whole, "goto: remoteOk", "goto: remotOk", 1)),
		"  + "+file+":30:26: there is no state `remotOk` [FSM051]",
		"did you mean `remoteOk`?", "1 error; not checked until that is mended")
	// The verdict before the error is what the next one is compared with.
	got := s.save(file, strings.Replace(whole, "CANCEL: {send: CANCELACK, goto: waiting}",
		"CANCEL: {goto: waiting}", 1))
	expect(got, "  - there is no state `remotOk` [FSM051]", "✗ pair: holds → violated",
		"can-end: holds → violated", "1. b: confirm")
	got = s.save(file, whole)
	expect(got, "✓ pair: violated → holds", "can-end: violated → holds")
	if strings.Contains(got, "1. ") {
		t.Errorf("a run where nothing is violated:\n%s", got)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	s.events <- file
	s.settle <- time.Time{}
	expect(<-s.out, "cannot be read", "[FSM001]")
	expect(s.save(file, whole), "  - ", "cannot be read", "the checks are as before: ")
	close(s.events)
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
}

// TestChangeWhileJudging: a verdict that is old before it is there is not told.
func TestChangeWhileJudging(t *testing.T) {
	file := filepath.Join(t.TempDir(), "spec.yaml")
	begun := make(chan bool)
	n := 0
	s := play(t, file, func(ctx context.Context, f string) Verdict {
		if n++; n == 1 {
			begun <- true
			<-ctx.Done() // the search goes on until it is stopped
			return Verdict{Files: []string{f}, Problem: "old"}
		}
		return Verdict{Files: []string{f}, Problem: "new"}
	})
	<-begun
	s.events <- file
	s.settle <- time.Time{}
	if got := <-s.out; strings.Contains(got, "old") || !strings.Contains(got, "not checked: new") {
		t.Errorf("told: %s", got)
	}
	s.stop()
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
}

// TestWatchFails: a folder that cannot be watched ends the session with the reason.
func TestWatchFails(t *testing.T) {
	gone := errors.New("gone")
	s := &Session{Files: []string{"x/spec.yaml"}, Watch: func(string) error { return gone }}
	if err := s.Run(context.Background()); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
}

// TestNotifier: a file that is replaced in a real folder is noticed.
func TestNotifier(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	n, err := NewNotifier(ctx)
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	if err := n.Watch(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "new"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "spec.yaml")); err != nil {
		t.Fatal(err)
	}
	for name := range n.Events {
		if name == filepath.Join(dir, "spec.yaml") {
			return
		}
	}
}
