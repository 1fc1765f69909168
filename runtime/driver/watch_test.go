package driver_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/internal/pingpong"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// observer keeps the last counters it was told.
type observer struct {
	last  driver.Counters
	calls int
}

func (o *observer) Observe(c *driver.Counters) { o.last = *c; o.calls++ }

func TestObserver(t *testing.T) {
	var seen observer
	var end driver.Counters
	alone(t, driver.Options[runner]{Observer: &seen}, func(t *testing.T, a *side, peer transport.Link) {
		must(t, a.Post(ping(1)))
		synctest.Wait()
		say(t, peer, 0, 7, pingpong.PONG, 0, 0, 0, 1)
		say(t, peer, note("four")...)
		end = a.Counters()
	})
	want := driver.Counters{Steps: 5, Commands: 1, FramesIn: 2, FramesOut: 1, BytesIn: 14, BytesOut: 7,
		Reports: 2, LinksUp: 1, MailboxHigh: 1}
	if end != want {
		t.Errorf("got  %+v\nwant %+v", end, want)
	}
	if want.LinksLost = 1; seen.last.Steps != want.Steps+1 || seen.last.LinksLost != 1 || seen.calls < 4 {
		t.Errorf("observed %d times, at last %+v", seen.calls, seen.last)
	}
}

func TestLogger(t *testing.T) {
	var text bytes.Buffer
	o := driver.Options[runner]{Instance: "a",
		Logger: slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	alone(t, o, func(t *testing.T, a *side, peer transport.Link) {
		must(t, a.Post(barrier))
		synctest.Wait()
		say(t, peer, 0xff, 0xff, 0xff)
	})
	for _, want := range []string{
		`level=INFO msg="parley: link up" protocol=pingpong role=peer instance=a peer=0 note="mem:a > mem:b"`,
		`level=DEBUG msg="parley: step" protocol=pingpong role=peer instance=a event=barrier peer=-1 code=took before=idle after=ready`,
		`level=WARN msg="parley: pingpong.peer in state ready: malformed frame from peer 0: bad frame at byte 2: no message has type 255`,
		`level=INFO msg="parley: link lost"`,
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %s in\n%s", want, text.String())
		}
	}
}

// Two machines in one program, joined in memory: one pings, the other answers.
func ExampleDriver() {
	answered := make(chan uint32)
	a := driver.New(pingpong.New(), driver.Options[*pingpong.Runner]{
		OnReport: func(r *pingpong.Runner, i int) { answered <- r.Value(i) },
	})
	b := driver.New(pingpong.New(), driver.Options[*pingpong.Runner]{StopAtFinal: true})
	left, right := mem.Pair(mem.Config{Stream: true})
	a.Attach(0, left)
	b.Attach(0, right)
	ctx, cancel := context.WithCancel(context.Background())
	go a.Run(ctx)
	go b.Run(ctx)

	res, err := a.Do(ctx, func(r *pingpong.Runner) fsm.Result { return r.Ping(42) })
	fmt.Println(res.Code, err, <-answered)
	a.Post((*pingpong.Runner).Quit)
	<-b.Done()
	cancel()
	<-a.Done()
	// Output: took <nil> 42
}
