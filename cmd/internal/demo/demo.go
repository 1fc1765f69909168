// Package demo is `fsmgen demo`: one tour through everything Parley does, on
// real input. It checks the protocols of a game's netplay, holds a capture of two
// real games against the specification, plays a match between two generated endpoints
// over TCP, validates its own recordings, draws the diagrams, and sums up. It
// knows the commands' libraries and decides nothing itself. Start from [Run].
package demo

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/parley-go/parley/cmd/internal/traffic"
	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/specs"
)

// Protocols are the folders of the specifications that the demo checks, each
// with its literal readings, in the order in which they build on each other.
var Protocols = []string{"ready", "update", "confirm", "setup", "reset", "battle-end", "netplay"}

// tour is one run of the demo.
type tour struct {
	ctx   context.Context
	out   io.Writer
	dir   string
	began time.Time

	checked []string // the protocols that are checked
	sound   []*check.SuiteReport
	literal []*check.SuiteReport
	netplay *model.Protocol
	real    *traffic.Report
	match   matchResult
	files   []drawn
	failed  []string
}

// Run runs the demo and writes pictures, recordings and a page that shows them
// to dir, which is made if need be. It returns false if something that should
// hold does not; an error is for what kept the demo from running.
func Run(ctx context.Context, out io.Writer, dir string) (ok bool, err error) {
	return guide(ctx, out, dir, Protocols)
}

// guide is Run with the checks of some protocols alone.
func guide(ctx context.Context, out io.Writer, dir string, checked []string) (ok bool, err error) {
	t := &tour{ctx: ctx, out: out, dir: dir, checked: checked, began: time.Now()}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, err
	}
	stages := []struct {
		title string
		run   func() error
	}{
		{"Checking every interleaving of two endpoints", t.check},
		{"Replaying a capture of two real games", t.replay},
		{"Playing a match between two generated endpoints over TCP", t.play},
		{"Validating the recordings of that match", t.validate},
		{"Drawing", t.draw},
	}
	for i, s := range stages {
		fmt.Fprintf(out, "%d/%d  %s\n", i+1, len(stages), s.title)
		if err := s.run(); err != nil {
			return false, fmt.Errorf("%s: %w", s.title, err)
		}
		fmt.Fprintln(out)
	}
	page, err := t.page()
	if err != nil {
		return false, err
	}
	t.sum(page)
	return len(t.failed) == 0, nil
}

// fail notes that something does not hold that should.
func (t *tour) fail(format string, args ...any) {
	t.failed = append(t.failed, fmt.Sprintf(format, args...))
}

// options compile the specifications that are part of the program.
func options() compile.Options { return compile.Options{FS: specs.FS} }
