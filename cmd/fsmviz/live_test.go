package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-go/parley/internal/doctest"
)

// TestLive runs the command that docs/START.md shows, on a record that is not there yet, and ends it with Ctrl-C.
func TestLive(t *testing.T) {
	shown, spec := "", ""
	for _, b := range doctest.Page(t, "../../docs/START.md") {
		if b.File == "trade/spec.yaml" {
			spec = b.Text // the last one is whole
		}
		for line := range strings.Lines(b.Text) {
			if args, ok := strings.CutPrefix(line, "go run ./cmd/fsmviz --live trade/spec.yaml "); ok {
				shown = "--live trade/spec.yaml " + args
			}
		}
	}
	if shown == "" || spec == "" {
		t.Fatal("docs/START.md does not show --live, or has no trade/spec.yaml")
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "trade"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "trade/spec.yaml"), []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("fsmviz", strings.Fields(shown)...)
	c.Dir = dir
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = os.Stderr
	// A shell lets what it starts in the background ignore interrupts, and this test may be such a thing. What a
	// process handles begins in its children as usual.
	handled := make(chan os.Signal, 1)
	signal.Notify(handled, os.Interrupt)
	err = c.Start()
	signal.Stop(handled)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() }) // it has ended, or the test has failed
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url, rest, _ := strings.Cut(line, " ")
	if rest != "shows trade live; Ctrl-C ends\n" {
		t.Fatalf("it says %q", line)
	}
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(r.Body)
	r.Body.Close()
	if err != nil || !strings.Contains(string(page), "page.js") {
		t.Errorf("%v\n%s", err, page)
	}
	if r, err = http.Get(url + "events"); err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	in := bufio.NewReader(r.Body)
	for !strings.Contains(line, "waiting for the file: ") {
		if line, err = in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Error("after Ctrl-C: ", err)
	}
}
