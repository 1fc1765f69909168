package driver_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// A report's handler may give commands: they run after the step. One that waits for them is given up.
func TestPostFromHandler(t *testing.T) {
	var a *side
	var nested, other error
	o := driver.Options[runner]{OnReport: func(r runner, i int) {
		if r.Value(i) < 3 {
			must(t, a.Post(ping(r.Value(i)+1)))
			return
		}
		_, nested = a.Do(context.Background(), barrier)
	}}
	synctest.Test(t, func(t *testing.T) {
		a = newSide(o)
		x, y := mem.Pair(mem.Config{Stream: true})
		b := newSide(driver.Options[runner]{})
		must(t, a.Attach(0, x))
		must(t, b.Attach(0, y))
		a.run(t.Context())
		b.run(t.Context())
		must(t, a.Post(ping(0)))
		synctest.Wait()
		time.Sleep(time.Second)
		go func() { _, other = a.Do(context.Background(), ping(9)) }() // the same handler runs
		time.Sleep(10 * time.Second)
		synctest.Wait()
		equal(t, "reports", a.reports(), "ponged(0)", "ponged(1)", "ponged(2)", "ponged(3)", "ponged(9)")
		if nested != driver.ErrWouldDeadlock || other != nil {
			t.Errorf("Do from the handler: %v; from somebody else, who has patience: %v", nested, other)
		}
		for _, s := range []*side{a, b} {
			s.Stop()
			<-s.Done()
		}
	})
}

func TestMailboxFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newSide(driver.Options[runner]{Mailbox: 2})
		must(t, a.Post(runner.Quit))
		must(t, a.Post(runner.Quit))
		if err := a.Post(runner.Quit); err != driver.ErrMailboxFull {
			t.Errorf("Post: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if res, err := a.Do(ctx, barrier); !errors.Is(err, context.DeadlineExceeded) ||
			!strings.Contains(err.Error(), "does not run yet") || res.String() != "not run" {
			t.Errorf("Do: %v, %v", res, err)
		}
		a.run(t.Context())
		synctest.Wait()
		if c := a.Counters(); c.MailboxFull != 2 || c.MailboxHigh != 2 || c.Refused != 2 {
			t.Errorf("%+v", c)
		}
		a.Stop()
		<-a.Done()
		if err := a.Post(barrier); err != driver.ErrStopped {
			t.Errorf("Post after the end: %v", err)
		}
		if res, err := a.Do(t.Context(), barrier); err != driver.ErrStopped || res.String() != "not run" {
			t.Errorf("Do after the end: %v, %v", res, err)
		}
		if err := a.Run(t.Context()); err != driver.ErrRunning {
			t.Errorf("second Run: %v", err)
		}
	})
}

// A Do that was given up before it began never runs.
func TestDoCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newSide(driver.Options[runner]{})
		ctx, cancel := context.WithCancel(t.Context())
		var ran atomic.Bool
		result := make(chan error)
		go func() {
			res, err := a.Do(ctx, func(r runner) fsm.Result { ran.Store(true); return r.Barrier() })
			if res.Code != fsm.NotRun || res.Transition != fsm.NoTransition {
				t.Errorf("the result is %v", res)
			}
			result <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "call Run") {
			t.Errorf("got %v", err)
		}
		a.run(t.Context())
		synctest.Wait()
		if ran.Load() {
			t.Error("the command ran")
		}
		over, cancel := context.WithCancel(t.Context())
		held := make(chan struct{})
		go a.Read(t.Context(), func(runner) { <-held })
		synctest.Wait()
		cancel()
		if res, err := a.Do(over, barrier); err != context.Canceled || res.Code != fsm.NotRun {
			t.Errorf("while the driver runs: %v, %v", res, err)
		}
		close(held)
		a.Stop()
		<-a.Done()
	})
}

// When the context ends, what was sent has left and the link is closed in good order.
func TestRunCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newSide(driver.Options[runner]{})
		x, y := mem.Pair(mem.Config{Stream: true})
		must(t, a.Attach(0, x))
		ctx, cancel := context.WithCancelCause(t.Context())
		a.run(ctx)
		must(t, a.Post(ping(1)))
		synctest.Wait()
		why := errors.New("enough")
		cancel(why)
		buf := make([]byte, 100)
		if got, err := y.Receive(buf); got.N != 7 || err != nil {
			t.Errorf("%d bytes, %v", got.N, err)
		}
		if _, err := y.Receive(buf); err == nil || errors.Is(err, transport.ErrReset) {
			t.Errorf("the end: %v", err)
		}
		y.Close()
		<-a.Done()
		synctest.Wait()
		if a.ended != why {
			t.Errorf("Run returned %v", a.ended)
		}
	})
}

func TestStopAtFinal(t *testing.T) {
	pair(t, driver.Options[runner]{StopAtFinal: true}, func(t *testing.T, a, b *side) {
		must(t, a.Post(runner.Quit))
		<-a.Done()
		<-b.Done()
		synctest.Wait()
		if a.ended != nil || b.ended != nil {
			t.Errorf("%v, %v", a.ended, b.ended)
		}
		equal(t, "b", b.states(), "off>idle", "idle>gone")
	})
}
