package driver_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/internal/pingpong"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// alone runs one driver in virtual time; the test plays the peer.
func alone(t *testing.T, o driver.Options[runner], test func(t *testing.T, a *side, peer transport.Link)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		a := newSide(o)
		x, y := mem.Pair(mem.Config{Stream: true})
		must(t, a.Attach(0, x))
		a.run(t.Context())
		synctest.Wait()
		test(t, a, y)
		y.Abort()
		a.Stop()
		<-a.Done()
		synctest.Wait()
	})
}

func say(t *testing.T, peer transport.Link, bytes ...byte) {
	t.Helper()
	must(t, peer.Send(0, bytes))
	must(t, peer.Flush())
	synctest.Wait()
}

func note(text string) []byte { return append([]byte{0, byte(3 + len(text)), pingpong.NOTE}, text...) }

var readyFrame = []byte{0, 3, pingpong.READY}

// kinds lists the kinds of errors seen.
func (s *side) kinds() (out []string) {
	names := map[driver.ErrorKind]string{driver.Refused: "refused", driver.Malformed: "malformed",
		driver.Unsendable:   "unsendable",
		driver.DeferredFull: "deferred", driver.Silent: "silent", driver.NoHandshake: "handshake",
		driver.TraceFailed: "trace", driver.BadLink: "link", driver.NoLink: "no link"}
	for _, e := range s.errs() {
		out = append(out, names[e.Kind])
	}
	return out
}

// What a state puts off is delivered after the state has changed, in order.
func TestDeferred(t *testing.T) {
	alone(t, driver.Options[runner]{}, func(t *testing.T, a *side, peer transport.Link) {
		must(t, a.Post(barrier))
		synctest.Wait()
		say(t, peer, append(note("one"), note("three")...)...)
		equal(t, "while ready", a.reports())
		say(t, peer, readyFrame...)
		equal(t, "after", a.reports(), "passed(1)", "noted(3)", "noted(5)")
		if c := a.Counters(); c.Deferred != 2 || c.FramesIn != 3 || c.Steps != 3+1+1+1+2 {
			t.Errorf("%+v", c)
		}
	})
}

// A peer that goes in the middle of a frame did not close in good order.
func TestHalfAFrame(t *testing.T) {
	alone(t, driver.Options[runner]{}, func(t *testing.T, a *side, peer transport.Link) {
		say(t, peer, 0, 7)
		peer.Close()
		synctest.Wait()
		equal(t, "links", a.links(), "up", "lost: closed in the middle of a frame (2 bytes of it): unexpected EOF")
	})
}

func TestDeferredFull(t *testing.T) {
	alone(t, driver.Options[runner]{}, func(t *testing.T, a *side, peer transport.Link) {
		must(t, a.Post(barrier))
		synctest.Wait()
		n := 0
		for ; n < 20 && len(a.errs()) == 0; n++ {
			say(t, peer, note("x")...)
		}
		equal(t, "errors", a.kinds(), "deferred")
		equal(t, "reports", a.reports(), "parted(0)")
		if c := a.Counters(); n != fsm.DefaultDeferred+1 || c.DeferredDropped != fsm.DefaultDeferred+1 {
			t.Errorf("%d notes sent, %d dropped", n, c.DeferredDropped)
		}
		const want = "pingpong.peer in state ready: cannot defer NOTE{text: \"x\"} from peer 0: 8 deferred " +
			"messages are held, " +
			"and the specification allows no more (let the state handle it, or raise `deferred` of the role " +
			"and check again)"
		if e := a.errs()[0].Error(); !strings.HasPrefix(e, want) {
			t.Errorf("got %s\nwant %s", e, want)
		}
	})
}

func TestMalformed(t *testing.T) {
	tests := map[string]struct {
		bytes string
		o     driver.Options[runner]
		want  string
		up    bool
	}{
		"unknown type": {bytes: "\x00\x07\x09",
			want: "malformed frame from peer 0: bad frame at byte 2: no message has type 9; bytes 000709; " +
				"legal here: messages PING, PONG, NOTE, READY, BYE; commands ping, say, barrier, quit; " +
				"timers wait; events lost"},
		"long":  {bytes: "\x01\x07\x00", want: "263 bytes, at most 43 allowed"},
		"short": {bytes: "\x00\x02\x00", want: "2 bytes, at least 3 needed"},
		"bad field": {bytes: "\x00\x04\x00\x01",
			want: "bad PING frame, field n at byte 3: 1 bytes, at least 4 needed"},
		"bad field, kept": {bytes: "\x00\x04\x00\x01", o: driver.Options[runner]{KeepMalformed: true},
			want: "bad PING frame", up: true},
		"lost, not kept": {bytes: "\x00\x07\x09", o: driver.Options[runner]{KeepMalformed: true},
			want: "no message has type 9"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			alone(t, tt.o, func(t *testing.T, a *side, peer transport.Link) {
				say(t, peer, []byte(tt.bytes)...)
				if len(a.errs()) != 1 || a.errs()[0].Kind != driver.Malformed ||
					!strings.Contains(a.errs()[0].Error(), tt.want) {
					t.Fatalf("errors: %v", a.errs())
				}
				if up := len(a.reports()) == 0; up != tt.up {
					t.Errorf("reports: %v", a.reports())
				}
			})
		})
	}
}

func TestKeepRefused(t *testing.T) {
	alone(t, driver.Options[runner]{KeepRefused: true}, func(t *testing.T, a *side, peer transport.Link) {
		say(t, peer, 0, 7, pingpong.PONG, 0, 0, 0, 9)
		say(t, peer, note("still here")...)
		equal(t, "errors", a.kinds(), "refused")
		equal(t, "reports", a.reports(), "noted(10)")
	})
}

func TestKeepDeferredFull(t *testing.T) {
	alone(t, driver.Options[runner]{KeepRefused: true}, func(t *testing.T, a *side, peer transport.Link) {
		must(t, a.Post(barrier))
		synctest.Wait()
		for range fsm.DefaultDeferred + 2 {
			say(t, peer, note("x")...)
		}
		equal(t, "errors", a.kinds(), "deferred", "deferred")
		equal(t, "reports", a.reports())
		if c := a.Counters(); c.DeferredDropped != 2 || c.LinksLost != 0 {
			t.Errorf("%d notes dropped, %d links lost", c.DeferredDropped, c.LinksLost)
		}
	})
}

func TestRefusedCommand(t *testing.T) {
	alone(t, driver.Options[runner]{}, func(t *testing.T, a *side, peer transport.Link) {
		must(t, a.Post(runner.Quit))
		res, err := a.Do(t.Context(), ping(1))
		var e *driver.Error
		if res.Code != fsm.Refused || !errors.As(err, &e) || e.State != "gone" || e.Event != "ping{n: 1}" {
			t.Errorf("%v, %v", res, err)
		}
		equal(t, "errors after Do", a.kinds())
		must(t, a.Post(ping(2)))
		synctest.Wait()
		equal(t, "errors after Post", a.kinds(), "refused")
	})
}

func TestUnsendable(t *testing.T) {
	alone(t, driver.Options[runner]{}, func(t *testing.T, a *side, peer transport.Link) {
		_, err := a.Do(t.Context(), func(r runner) fsm.Result { return r.Say("\x00") })
		must(t, err)
		if len(a.errs()) != 1 || !strings.Contains(a.errs()[0].Error(),
			`cannot encode send NOTE{text: "\x00"}: bad NOTE frame, field text`) {
			t.Errorf("errors: %v", a.errs())
		}
		equal(t, "reports", a.reports(), "parted(0)")
	})
}

func TestLimits(t *testing.T) {
	o := driver.Options[runner]{IdleLimit: 10 * time.Second, HandshakeLimit: 3 * time.Second}
	t.Run("handshake", func(t *testing.T) {
		alone(t, o, func(t *testing.T, a *side, peer transport.Link) {
			time.Sleep(2999 * time.Millisecond)
			say(t, peer, 0, 7) // part of a frame does not count
			equal(t, "before", a.kinds())
			time.Sleep(2 * time.Millisecond)
			synctest.Wait()
			equal(t, "after", a.kinds(), "handshake")
			equal(t, "reports", a.reports(), "parted(0)")
		})
	})
	t.Run("silent from the start", func(t *testing.T) {
		alone(t, o, func(t *testing.T, a *side, peer transport.Link) {
			time.Sleep(3001 * time.Millisecond)
			synctest.Wait()
			equal(t, "after", a.kinds(), "handshake")
		})
	})
	t.Run("idle", func(t *testing.T) {
		alone(t, o, func(t *testing.T, a *side, peer transport.Link) {
			for range 5 {
				time.Sleep(2 * time.Second)
				say(t, peer, note("x")...)
			}
			time.Sleep(9999 * time.Millisecond)
			synctest.Wait()
			equal(t, "before", a.kinds())
			time.Sleep(2 * time.Millisecond)
			synctest.Wait()
			equal(t, "after", a.kinds(), "silent")
			if got := a.errs()[0].Error(); got != "pingpong.peer in state idle: nothing heard from peer 0: for 10s" {
				t.Error(got)
			}
		})
	})
}

// A bad peer of one driver is no concern of another.
func TestIndependent(t *testing.T) {
	pair(t, driver.Options[runner]{}, func(t *testing.T, a, b *side) {
		bad := newSide(driver.Options[runner]{})
		x, y := mem.Pair(mem.Config{Stream: true})
		must(t, bad.Attach(0, x))
		bad.run(t.Context())
		for n := range uint32(10) {
			must(t, a.Post(ping(n)))
			y.Send(0, []byte{0xff, 0xff, 0xff, 0xff})
			y.Flush()
			synctest.Wait()
		}
		equal(t, "the bad one", bad.kinds(), "malformed")
		if len(a.reports()) != 10 || len(b.errs())+len(a.errs()) > 0 {
			t.Errorf("the good ones: %v %v %v", a.reports(), a.errs(), b.errs())
		}
		y.Abort()
		bad.Stop()
		<-bad.Done()
	})
}

// Several links of one driver, each with its own goroutine that receives.
func TestSeveralLinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newSide(driver.Options[runner]{})
		a.run(t.Context())
		var peers, ours []*mem.Link
		for i := range 3 {
			x, y := mem.Pair(mem.Config{Stream: i != 1})
			must(t, a.Attach(fsm.Peer(i), x))
			peers, ours = append(peers, y), append(ours, x)
			synctest.Wait()
		}
		// This machine knows one peer: it refuses the second up, takes the loss of that
		// link as its own, and is ready for the third.
		equal(t, "errors", a.kinds(), "refused")
		say(t, peers[0], note("one")...)
		say(t, peers[2], note("two")...)
		ours[0].Interrupt(time.Now()) // as somebody does who comes too late to wake the owner
		synctest.Wait()
		say(t, peers[0], note("three")...)
		equal(t, "reports", a.reports(), "parted(0)", "noted(3)", "noted(3)", "noted(5)")
		x, _ := mem.Pair(mem.Config{Stream: true})
		must(t, a.Attach(2, x))
		synctest.Wait()
		equal(t, "errors at the end", a.kinds(), "refused", "link")
		for _, p := range peers {
			p.Abort()
		}
		a.Stop()
		<-a.Done()
	})
}

// stopsIn is a link in whose Interrupt, once it is armed, the driver comes to its end.
type stopsIn struct {
	*mem.Link
	a     *side
	armed atomic.Bool
}

func (l *stopsIn) Interrupt(at time.Time) {
	if !l.armed.CompareAndSwap(true, false) {
		l.Link.Interrupt(at)
		return
	}
	l.a.Post(func(r runner) fsm.Result { l.a.Stop(); return r.Quit() })
	l.Link.Interrupt(at)
	<-l.a.Done()
}

// A link that was taken into use is attached, although the driver has ended before Attach returns.
func TestAttachedAndStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newSide(driver.Options[runner]{})
		x, _ := mem.Pair(mem.Config{Stream: true})
		first := &stopsIn{Link: x, a: a}
		must(t, a.Attach(0, first))
		a.run(t.Context())
		synctest.Wait() // it waits for the first link, which Attach interrupts
		second, _ := mem.Pair(mem.Config{Stream: true})
		first.armed.Store(true)
		must(t, a.Attach(1, second))
		third, _ := mem.Pair(mem.Config{Stream: true})
		if err := a.Attach(2, third); err != driver.ErrStopped {
			t.Errorf("after the end: %v", err)
		}
	})
}

// The core alone, in a time of the test's own: equal deadlines expire in the order of arming.
func TestCoreInVirtualTime(t *testing.T) {
	var reports []string
	o := driver.Options[runner]{OnReport: func(r runner, i int) {
		reports = append(reports, string(r.AppendEffect(nil, i)))
	}}
	w := &world{}
	c := driver.NewCore(pingpong.New(), o, w)
	c.Start(time.Unix(0, 0))
	c.LinkUp(0, 0, "")
	for _, n := range []uint32{5, 3, 4, 3} { // the second 3 arms its timer anew
		c.Command(time.Second, ping(n), false)
	}
	if at, ok := c.Next(); !ok || at != 2*time.Second {
		t.Fatalf("next at %v, %v", at, ok)
	}
	c.Expire(2*time.Second - 1)
	equal(t, "too early", reports)
	c.Expire(2 * time.Second)
	equal(t, "in time", reports, "report late(5)", "report late(4)", "report late(3)")
	c.Frame(3*time.Second, 0, []byte{0, 3, pingpong.READY})
	c.Frame(3*time.Second, 0, []byte{0, 3, pingpong.READY})
	equal(t, "carrier", w.log, "send 0000000005", "send 0000000003", "send 0000000004", "send 0000000003", "close 0")
}

type world struct{ log []string }

func (w *world) Send(_ fsm.Peer, frame []byte) error {
	w.log = append(w.log, fmt.Sprintf("send %x", frame[2:]))
	return nil
}

func (w *world) Close(peer fsm.Peer, _ *driver.Error) error {
	w.log = append(w.log, fmt.Sprintf("close %d", peer))
	return nil
}
