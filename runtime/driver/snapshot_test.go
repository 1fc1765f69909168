package driver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/internal/pingpong"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/mem"
)

type pingSnapshot = Snapshot[pingpong.Machine]

// diary is a carrier and handlers that write down what happens.
type diary struct{ lines []string }

func (d *diary) Send(_ fsm.Peer, frame []byte) error {
	d.lines = append(d.lines, fmt.Sprintf("send % x", frame))
	return nil
}
func (d *diary) Close(fsm.Peer, *Error) error {
	d.lines = append(d.lines, "close")
	return nil
}

func (d *diary) core() *Core[*pingpong.Runner] {
	return NewCore(pingpong.New(), Options[*pingpong.Runner]{OnReport: func(r *pingpong.Runner, i int) {
		d.lines = append(d.lines, fmt.Sprint(r.Info().Reports[r.Effect(i).ID], " ", r.Value(i)))
	}}, d)
}

// begin brings a core to where two pings wait for their answers and a note is deferred.
func begin(c *Core[*pingpong.Runner]) {
	c.Start(time.Time{})
	c.LinkUp(0, 0, "")
	c.Command(0, func(r *pingpong.Runner) fsm.Result { return r.Ping(7) }, true)
	c.Command(300*time.Millisecond, func(r *pingpong.Runner) fsm.Result { return r.Ping(8) }, true)
	c.Command(400*time.Millisecond, func(r *pingpong.Runner) fsm.Result { return r.Barrier() }, true)
	c.Frame(450*time.Millisecond, 0, appendNote(nil))
}

// finish goes on from there at a time.
func finish(c *Core[*pingpong.Runner], now time.Duration) {
	c.Frame(now, 0, []byte{0, 3, pingpong.READY})
	for {
		at, ok := c.NextTimer()
		if !ok {
			return
		}
		c.Expire(at)
	}
}

// A machine that was saved, written down, read and restored goes on as if nothing had been.
func TestSnapshot(t *testing.T) {
	var whole, first, second diary
	c := whole.core()
	begin(c)
	finish(c, 500*time.Millisecond)

	c = first.core()
	begin(c)
	s := Save(c, 500*time.Millisecond, where)
	if len(s.Timers) != 2 || s.Timers[0].Left != 500*time.Millisecond || len(s.Deferred) != 1 {
		t.Fatalf("%+v", s)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	read := new(pingSnapshot)
	if err := json.Unmarshal(text, read); err != nil {
		t.Fatal(err)
	}
	again := second.core()
	if err := Restore(again, time.Hour, time.Time{}, read, where, 0); err != nil {
		t.Fatal(err)
	}
	if at, ok := again.NextTimer(); !ok || at != time.Hour+500*time.Millisecond {
		t.Errorf("the next timer expires at %v", at)
	}
	finish(again, time.Hour)
	if got, want := fmt.Sprint(append(first.lines, second.lines...)), fmt.Sprint(whole.lines); got != want {
		t.Errorf("with a snapshot in between:\n%s\nwithout:\n%s", got, want)
	}
	if again.Runner().M != c.Runner().M && again.Runner().M.State != pingpong.Idle {
		t.Errorf("%+v", again.Runner().M)
	}
	for _, absolute := range []bool{false, true} {
		late := (&diary{}).core()
		info := *late.info // as if the specification said `deadline: absolute`
		info.Absolute = []bool{absolute}
		late.info = &info
		if err := Restore(late, 0, time.Time{}, read, where, 700*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		var left []time.Duration
		for _, timer := range late.timers.list {
			left = append(left, timer.at)
		}
		want := map[bool]string{false: "[500ms 800ms]", true: "[0s 100ms]"}[absolute]
		if fmt.Sprint(left) != want {
			t.Errorf("absolute %t: after 700 ms away %v are left, want %s", absolute, left, want)
		}
	}
}

func TestSnapshotRefused(t *testing.T) {
	c := (&diary{}).core()
	begin(c)
	good := Save(c, 500*time.Millisecond, where)
	for want, spoil := range map[string]func(s *pingSnapshot){
		"has changed since":     func(s *pingSnapshot) { s.Hash = strings.Repeat("0", 64) },
		"it is of other.peer":   func(s *pingSnapshot) { s.Protocol = "other" },
		"there is no timer 9":   func(s *pingSnapshot) { s.Timers = []SavedTimer{{ID: 9}} },
		"no state 77":           func(s *pingSnapshot) { s.Machine.State = 77 },
		"9 deferred messages":   func(s *pingSnapshot) { s.Deferred = make([]SavedMessage, 9) },
		"70000 timers":          func(s *pingSnapshot) { s.Timers = make([]SavedTimer, 70000) },
		"message of 1000 bytes": func(s *pingSnapshot) { s.Deferred = []SavedMessage{{Frame: make([]byte, 1000)}} },
	} {
		bad := *good
		spoil(&bad)
		fresh := (&diary{}).core()
		if err := Restore(fresh, 0, time.Time{}, &bad, where, 0); !errors.Is(err, ErrSnapshot) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if fresh.Runner().M != (pingpong.Machine{}) {
			t.Errorf("%s: the machine was touched", want)
		}
	}
}

// A driver saves its machine while it runs, and another one goes on with it.
func TestDriverSnapshot(t *testing.T) {
	run := func(d *Driver[*pingpong.Runner]) (mine transport.Link, stop func()) {
		x, y := mem.Pair(mem.Config{Stream: true, Linger: time.Millisecond})
		if err := d.Attach(0, x); err != nil {
			t.Fatal(err)
		}
		go d.Run(context.Background())
		return y, func() { d.Stop(); <-d.Done() }
	}
	d := New(pingpong.New(), Options[*pingpong.Runner]{})
	_, stop := run(d)
	for d.Counters().LinksUp == 0 {
		if err := d.Read(t.Context(), func(*pingpong.Runner) {}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Do(t.Context(), func(r *pingpong.Runner) fsm.Result { return r.Barrier() }); err != nil {
		t.Fatal(err)
	}
	s, err := SaveDriver(t.Context(), d, where)
	if err != nil || s.Machine.State != pingpong.Ready {
		t.Fatal(s, err)
	}
	if err := RestoreDriver(d, s, where, 0); !errors.Is(err, ErrRunning) {
		t.Errorf("into a driver that runs: %v", err)
	}
	stop()
	second := New(pingpong.New(), Options[*pingpong.Runner]{})
	if err := RestoreDriver(second, s, where, 0); err != nil {
		t.Fatal(err)
	}
	go second.Run(context.Background())
	if err := second.Read(t.Context(), func(r *pingpong.Runner) {
		if r.M.State != pingpong.Ready {
			t.Errorf("restored in state %d", r.M.State)
		}
	}); err != nil {
		t.Fatal(err)
	}
	second.Stop()
	<-second.Done()
}

// FuzzSnapshot restores whatever was read, and goes on with it.
func FuzzSnapshot(f *testing.F) {
	c := (&diary{}).core()
	begin(c)
	s := Save(c, 0, where)
	text, err := json.Marshal(s)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text, int64(time.Second))
	f.Fuzz(func(t *testing.T, text []byte, elapsed int64) {
		s := new(pingSnapshot)
		if json.Unmarshal(text, s) != nil {
			return
		}
		c := (&diary{}).core()
		if Restore(c, time.Second, time.Time{}, s, where, time.Duration(elapsed)) != nil {
			return
		}
		for range 100 {
			at, ok := c.NextTimer()
			if !ok {
				return
			}
			if at < time.Second {
				t.Fatalf("a timer expires at %v, before the restoration", at)
			}
			c.Expire(at)
		}
	})
}
