package demo

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/parley-go/parley/examples/netplay/player"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/machines/netplay"
	"github.com/parley-go/parley/runtime/trace"
)

// matchResult is the result of the match.
type matchResult struct {
	traces  []string // in the demo's folder
	capture string
	frames  int // sent and received, of one side
	took    time.Duration
	lines   []string // the account of one side
}

// The match is given up after so many steps of one side, or if one side hears nothing for so long.
// How long it takes as a whole depends on the computer.
const (
	matchSteps   = 100_000
	matchSilence = 2 * time.Minute
)

var errTooLong = fmt.Errorf("the match was not over after %d steps", matchSteps)

// limit is a sink that ends a match of too many steps.
type limit struct {
	left int
	end  context.CancelCauseFunc
}

func (l *limit) Begin(trace.Header) {}
func (l *limit) Flush() error       { return nil }
func (l *limit) Step(*trace.Step) {
	if l.left--; l.left == 0 {
		l.end(errTooLong)
	}
}

// play lets two generated endpoints play a match over TCP on loopback and records it.
func (t *tour) play() error {
	ctx, cancel := context.WithCancelCause(t.ctx)
	defer cancel(nil)
	began := time.Now()
	address := make(chan net.Addr, 1)
	acceptor := player.Config{Listen: "127.0.0.1:0", Name: "Acceptors", Seed: 2026, Delay: 2, Matches: 1,
		Checksums: player.Own, Silence: matchSilence,
		Sinks:    []trace.Sink{&limit{matchSteps, cancel}},
		Fleet:    []netplay.Ship{netplay.ShipOrz, netplay.ShipSpathi, netplay.ShipVux},
		OnListen: func(a net.Addr) { address <- a },
		OnLine:   func(line string) { t.match.lines = append(t.match.lines, line) }}
	connector := player.Config{Name: "Connectors", Delay: 1, Matches: 1, Checksums: player.Own,
		Silence: matchSilence, Wait: -1, Sinks: []trace.Sink{&limit{matchSteps, cancel}},
		Fleet: []netplay.Ship{netplay.ShipPkunk, netplay.ShipShofixti, netplay.ShipYehat}}
	records := append(t.record(&acceptor, "acceptor", true), t.record(&connector, "connector", false)...)
	var wg sync.WaitGroup
	var results [2]player.Result
	var errs [2]error
	wg.Go(func() {
		if results[0], errs[0] = player.Play(ctx, acceptor); errs[0] != nil {
			cancel(errs[0]) // nobody is there to connect to
		}
	})
	wg.Go(func() {
		select {
		case a := <-address:
			connector.Connect = a.String()
			results[1], errs[1] = player.Play(ctx, connector)
		case <-ctx.Done():
			errs[1] = context.Cause(ctx)
		}
	})
	wg.Wait()
	t.match.took = time.Since(began)
	var list []files.File
	for _, r := range records {
		list = append(list, files.File{Path: filepath.Join(t.dir, r.name), Content: r.content.Bytes()})
	}
	if err := files.WriteAll(list); err != nil {
		return err
	}
	for i, name := range []string{"acceptor", "connector"} {
		if errs[i] != nil {
			t.fail("the %s: %v", name, errs[i])
		}
	}
	return t.account(results[0])
}

// recording is one that is written when the match is over, whole or not at all. A match has a bound,
// matchSteps, and so has this.
type recording struct {
	name    string
	content bytes.Buffer
}

// record begins the recordings of one side: a trace, and for one of them a capture.
func (t *tour) record(c *player.Config, name string, capture bool) []*recording {
	r := &recording{name: name + ".jsonl"}
	t.match.traces = append(t.match.traces, r.name)
	c.Sinks = append(c.Sinks, trace.NewWriter(&r.content))
	if !capture {
		return []*recording{r}
	}
	p := &recording{name: "match.pcapng"}
	t.match.capture = p.name
	c.Sinks = append(c.Sinks, trace.NewCapture(&p.content, trace.PcapMeta{Proto: "tcp", Accepted: true}))
	return []*recording{r, p}
}

// account prints what was played: the states one side went through, and the sums.
func (t *tour) account(r player.Result) error {
	f, err := os.Open(filepath.Join(t.dir, t.match.traces[0]))
	if err != nil {
		return err
	}
	defer f.Close()
	tr, err := trace.NewReader(f)
	if err != nil {
		return err
	}
	var s trace.Step
	states := []string{}
	for tr.Next(&s) == nil {
		if len(s.Frame) > 0 {
			t.match.frames++
		}
		for _, e := range s.Effects {
			if len(e.Frame) > 0 {
				t.match.frames++
			}
		}
		if s.Before != s.After {
			states = append(states, s.After)
		}
	}
	fmt.Fprintf(t.out, "     %s\n", wrap(strings.Join(states, " → "), 100, "     "))
	fmt.Fprintf(t.out, "     %d battles, %d frames in step with equal checksums, %s network frames, %s\n",
		r.Battles, r.Checked, diag.Thousands(uint64(t.match.frames)), t.match.took.Round(time.Millisecond))
	if r.Matches() < 1 {
		t.fail("no match was played to its end")
	}
	return nil
}

// wrap breaks a line at spaces after at most width characters.
func wrap(s string, width int, indent string) string {
	var b strings.Builder
	n := 0
	for i, word := range strings.Fields(s) {
		if size := len([]rune(word)) + 1; i > 0 && n+size > width {
			b.WriteString("\n" + indent)
			n = 0
		} else if i > 0 {
			b.WriteString(" ")
		}
		b.WriteString(word)
		n += len([]rune(word)) + 1
	}
	return b.String()
}
