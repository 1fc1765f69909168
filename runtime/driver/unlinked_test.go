package driver_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/internal/pingpong"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// A link attached under another number than the machine sends to: the first message says so, the
// others are counted.
func TestSendWithoutLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines strings.Builder
		a := newSide(driver.Options[runner]{Logger: slog.New(slog.NewTextHandler(&lines, nil))})
		x, y := mem.Pair(mem.Config{Stream: true})
		must(t, a.Attach(5, x))
		a.run(t.Context())
		for n := range uint32(3) {
			if res, err := a.Do(t.Context(), ping(n)); err != nil || res.Code != fsm.Took {
				t.Errorf("%v, %v", res, err)
			}
		}
		equal(t, "errors", a.kinds(), "no link")
		const want = "pingpong.peer in state idle: send PING{n: 0}: there is no link to peer 0; peers with " +
			"a link so far: 5 ("
		for _, e := range a.errs() {
			if !strings.HasPrefix(e.Error(), want) || !errors.Is(e, driver.ErrNoLink) || e.Peer != 0 ||
				e.Transition == nil {
				t.Errorf("got %v, want %s", e, want)
			}
		}
		near, far := mem.Pair(mem.Config{Stream: true})
		must(t, a.Detach(5)) // the machine knows one peer at a time
		must(t, a.Attach(0, near))
		synctest.Wait()
		must(t, a.Post(ping(3)))
		synctest.Wait()
		if got, err := far.Receive(make([]byte, 100)); err != nil || got.N != 7 {
			t.Errorf("%d bytes, %v: the link that came later is not used", got.N, err)
		}
		a.Stop()
		<-a.Done()
		if c := a.Counters(); c.SendsDropped != 3 || len(a.errs()) != 1 {
			t.Errorf("%+v, errors %v", c, a.errs())
		}
		if n := strings.Count(lines.String(), "there is no link to peer 0"); n != 1 {
			t.Errorf("logged %d times:\n%s", n, lines.String())
		}
		y.Abort()
		far.Abort()
		synctest.Wait()
	})
}

// A peer that was there and is lost is no error of the program, whoever ended the link.
func TestSendToLostPeer(t *testing.T) {
	for _, end := range []func(a *side, peer interface{ Abort() error }){
		func(_ *side, peer interface{ Abort() error }) { peer.Abort() },
		func(a *side, _ interface{ Abort() error }) { a.Detach(0) },
	} {
		synctest.Test(t, func(t *testing.T) {
			a := newSide(driver.Options[runner]{})
			x, y := mem.Pair(mem.Config{Stream: true})
			other, far := mem.Pair(mem.Config{Stream: true})
			must(t, a.Attach(0, x))
			a.run(t.Context())
			synctest.Wait()
			end(a, y)
			synctest.Wait()
			must(t, a.Attach(1, other)) // brings the machine back to where it sends
			synctest.Wait()
			for n := range uint32(2) {
				must(t, a.Post(ping(n)))
			}
			synctest.Wait()
			equal(t, "errors", a.kinds())
			a.Stop()
			<-a.Done()
			if c := a.Counters(); c.SendsDropped != 2 || c.LinksLost != 1 {
				t.Errorf("%+v", c)
			}
			y.Abort()
			far.Abort()
			synctest.Wait()
		})
	}
}

// Nobody knows which links a machine had before it was saved.
func TestSendWithoutLinkAfterRestore(t *testing.T) {
	for _, restored := range []bool{false, true} {
		var got []string
		at := func(r runner) *pingpong.Machine { return &r.M }
		c := driver.NewCore(pingpong.New(),
			driver.Options[runner]{OnError: func(_ runner, e *driver.Error) { got = append(got, e.Error()) }},
			unlinked{})
		c.Runner().M.State = pingpong.Idle
		if restored {
			s := driver.Save(c, 0, at)
			must(t, driver.Restore(c, 0, time.Time{}, s, at, 0))
		}
		_, err := c.Command(0, ping(1), true)
		must(t, err)
		_, err = c.Command(0, ping(2), true)
		must(t, err)
		want := []string{"pingpong.peer in state idle: send PING{n: 1}: there is no link to peer 0; no peer " +
			"has had a link so far"}
		if restored {
			want = nil
		}
		if len(got) != len(want) || len(got) > 0 && !strings.HasPrefix(got[0], want[0]) {
			t.Errorf("restored %v: %q", restored, got)
		}
	}
}

// unlinked has no link to anybody.
type unlinked struct{}

func (unlinked) Send(fsm.Peer, []byte) error         { return driver.ErrNoLink }
func (unlinked) Close(fsm.Peer, *driver.Error) error { return nil }
