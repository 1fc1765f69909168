package driver_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/internal/pingpong"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/mem"
)

type runner = *pingpong.Runner

// side is a driver under test and what its handlers saw.
type side struct {
	*driver.Driver[runner]
	r     runner
	mu    sync.Mutex // guards log
	log   log
	ended error // what Run returned
}

type log struct {
	reports, states, links []string
	errs                   []*driver.Error
}

func (s *side) seen() log {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log
}

func (s *side) reports() []string     { return s.seen().reports }
func (s *side) states() []string      { return s.seen().states }
func (s *side) links() []string       { return s.seen().links }
func (s *side) errs() []*driver.Error { return s.seen().errs }
func (s *side) note(write func(l *log)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	write(&s.log)
}

func newSide(o driver.Options[runner]) *side {
	s := &side{r: pingpong.New()}
	o.OnState = func(r runner, from, to uint16) {
		s.note(func(l *log) { l.states = append(l.states, r.Info().States[from]+">"+r.Info().States[to]) })
	}
	inner := o.OnReport
	o.OnReport = func(r runner, i int) {
		text := strings.TrimPrefix(string(r.AppendEffect(nil, i)), "report ")
		s.note(func(l *log) { l.reports = append(l.reports, text) })
		if inner != nil {
			inner(r, i)
		}
	}
	o.OnLink = func(_ runner, _ fsm.Peer, up bool, why error) {
		text := "lost"
		if up {
			text = "up"
		}
		if why != nil {
			text += ": " + why.Error()
		}
		s.note(func(l *log) { l.links = append(l.links, text) })
	}
	o.OnError = func(_ runner, err *driver.Error) { s.note(func(l *log) { l.errs = append(l.errs, err) }) }
	s.Driver = driver.New(s.r, o)
	return s
}

func (s *side) run(ctx context.Context) { go func() { s.ended = s.Run(ctx) }() }

// pair runs two drivers joined by a link in memory, in virtual time.
func pair(t *testing.T, o driver.Options[runner], test func(t *testing.T, a, b *side)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		a, b := newSide(o), newSide(o)
		x, y := mem.Pair(mem.Config{Stream: true})
		must(t, a.Attach(0, x))
		must(t, b.Attach(0, y))
		a.run(t.Context())
		b.run(t.Context())
		synctest.Wait()
		test(t, a, b)
		a.Stop()
		b.Stop()
		<-a.Done()
		<-b.Done()
		synctest.Wait()
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func ping(n uint32) func(runner) fsm.Result {
	return func(r runner) fsm.Result { return r.Ping(n) }
}

func barrier(r runner) fsm.Result { return r.Barrier() }

func TestMatch(t *testing.T) {
	pair(t, driver.Options[runner]{}, func(t *testing.T, a, b *side) {
		res, err := a.Do(t.Context(), ping(7))
		must(t, err)
		if res.Code != fsm.Took {
			t.Fatalf("ping: %v", res.Code)
		}
		must(t, a.Post(barrier))
		synctest.Wait()
		must(t, b.Post(barrier))
		synctest.Wait()
		must(t, a.Post(runner.Quit))
		synctest.Wait()
		equal(t, "reports of a", a.reports(), "ponged(7)", "passed(1)")
		equal(t, "states of b", b.states(), "off>idle", "idle>behind", "behind>idle", "idle>gone")
		equal(t, "links of b", b.links(), "up", "lost: EOF")
		if c := b.Counters(); c.FramesIn != 3 || c.FramesOut != 2 || c.Refused != 0 || c.Ignored != 1 {
			t.Errorf("counters of b: %+v", c)
		}
	})
}

// Timers expire at their deadline, in order, unless stopped.
func TestTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newSide(driver.Options[runner]{})
		x, y := mem.Pair(mem.Config{Stream: true})
		must(t, a.Attach(0, x))
		a.run(t.Context())
		for n := range uint32(3) {
			must(t, a.Post(ping(n)))
			time.Sleep(100 * time.Millisecond)
		}
		must(t, y.Send(0, []byte{0, 7, pingpong.PONG, 0, 0, 0, 1}))
		must(t, y.Flush())
		time.Sleep(699 * time.Millisecond)
		synctest.Wait()
		equal(t, "before the first deadline", a.reports(), "ponged(1)")
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		equal(t, "after the first deadline", a.reports(), "ponged(1)", "late(0)")
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		equal(t, "after all", a.reports(), "ponged(1)", "late(0)", "late(2)")
		a.Stop()
		<-a.Done()
	})
}

func TestRefusedMessage(t *testing.T) {
	pair(t, driver.Options[runner]{}, func(t *testing.T, a, b *side) {
		must(t, b.Post(barrier))
		synctest.Wait()
		must(t, b.Post(ping(1)))
		synctest.Wait()
		c := newSide(driver.Options[runner]{})
		x, y := mem.Pair(mem.Config{Stream: true})
		must(t, c.Attach(0, x))
		c.run(t.Context())
		must(t, y.Send(0, []byte{0, 7, pingpong.PONG, 0, 0, 0, 9}))
		must(t, y.Flush())
		synctest.Wait()
		if len(c.errs()) != 1 {
			t.Fatalf("errors: %v", c.errs())
		}
		const want = "pingpong.peer in state idle: PONG{n: 9} from peer 0 is refused: no guard holds for it " +
			"now (idle PONG at pingpong.yaml:22:3); bytes 00070100000009"
		if got := c.errs()[0].Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		equal(t, "reports", c.reports(), "parted(0)")
		if _, err := y.Receive(make([]byte, 9)); err != io.EOF {
			t.Errorf("the peer sees %v, not an orderly close", err)
		}
		equal(t, "the other pair", b.reports(), "ponged(1)")
		y.Abort()
		c.Stop()
		<-c.Done()
	})
}

func TestWeakLink(t *testing.T) {
	a := newSide(driver.Options[runner]{})
	x, _ := mem.Pair(mem.Config{})
	if err := a.Attach(0, weak{x}); !errors.Is(err, driver.ErrLinkTooWeak) {
		t.Fatalf("got %v", err)
	}
}

type weak struct{ *mem.Link }

func (weak) Properties() transport.Properties { return transport.Properties{Ordered: true} }
