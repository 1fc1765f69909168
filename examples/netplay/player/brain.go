package player

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/parley-go/parley/machines/netplay"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
)

// brain is the player. All of it belongs to the goroutine of Play but the
// queue, which the driver's handlers fill.
type brain struct {
	cfg Config
	d   *driver.Driver[runner]
	q   *queue
	res Result

	m     netplay.Peer  // the machine as of the last look
	state netplay.State // as of the event that is being listened to
	last  netplay.State // the last state before closed
	now   time.Time     // of the last look
	wake  time.Time     // when to look again at the latest; zero: when something happens
	tries int           // commands refused in a row

	leaving  bool // we have closed the connection
	failure  *Failure
	lost     error // why the link was lost, if it was
	gone     bool  // the link was lost
	traceErr error

	stake    stake
	brought  bool
	named    bool
	changed  time.Time // when something last changed in the setup
	pings    netplay.Id
	deaf     bool // the match was left and the other side may not hear yet
	way      way
	match    match
	battle   battle
	position position // in the script
}

func newBrain(cfg Config) *brain {
	b := &brain{cfg: cfg, q: newQueue()}
	b.battle.mode = cfg.Checksums
	b.position.script = cfg.Script
	return b
}

// command is something to be told to the machine.
type command struct {
	give func(r runner) fsm.Result
	done func() // once the machine has taken it; may be nil
	// frame: one of the many, shown only when everything is.
	frame bool
}

// play goes on until the machine has closed.
func (b *brain) play(ctx context.Context) error {
	for {
		if err := b.look(); err != nil {
			return b.outcome()
		}
		if b.m.State == netplay.StateClosed {
			return b.outcome()
		}
		if err := b.limits(ctx); err != nil {
			return err
		}
		b.wake = time.Time{}
		if c := b.due(); c != nil {
			if err := b.command(c); err != nil {
				return err
			}
			continue
		}
		b.wait(ctx)
	}
}

// look takes the machine and everything told up to that moment. The error says that the driver has
// stopped.
func (b *brain) look() error {
	var events []event
	err := b.d.Read(context.Background(), func(r runner) {
		b.m = r.Machine
		events = b.q.take()
	})
	if err != nil {
		events = b.q.take()
	}
	b.now = time.Now()
	b.listen(events)
	return err
}

func (b *brain) limits(ctx context.Context) error {
	if ctx.Err() != nil {
		return &Failure{State: b.m.State.String(), Reason: "stopped", Err: context.Cause(ctx)}
	}
	if _, overflow := b.q.state(); overflow {
		return &Failure{State: b.m.State.String(), Reason: "too much happened at once"}
	}
	return b.position.err
}

// wait sleeps until something is told, or it is time for something.
func (b *brain) wait(ctx context.Context) {
	var alarm <-chan time.Time
	if !b.wake.IsZero() {
		t := time.NewTimer(time.Until(b.wake))
		defer t.Stop()
		alarm = t.C
	}
	select {
	case <-b.q.signal:
	case <-alarm:
	case <-ctx.Done():
	}
}

// at asks to look again at a time.
func (b *brain) at(t time.Time) {
	if b.wake.IsZero() || t.Before(b.wake) {
		b.wake = t
	}
}

// since reports whether a time span has passed since t, and asks to look again when it will have.
func (b *brain) since(t time.Time, span time.Duration) bool {
	if b.now.Sub(t) >= span {
		return true
	}
	b.at(t.Add(span))
	return false
}

// maxTries is how many commands in a row may be refused. One now and then is
// refused because a message came between the look and the command.
const maxTries = 100

func (b *brain) command(c *command) error {
	var text string
	res, err := b.d.Do(context.Background(), func(r runner) fsm.Result {
		res := c.give(r)
		if !c.frame || b.cfg.Verbose {
			text = string(r.AppendEvent(nil))
		}
		return res
	})
	var refused *driver.Error
	switch {
	case err == nil && res.Code == fsm.Took:
		b.tries = 0
		if text != "" {
			b.line("command %s", text)
		}
		if c.done != nil {
			c.done()
		}
		return nil
	case errors.As(err, &refused) && b.tries < maxTries:
		b.tries++
		b.res.Refusals++
		return nil
	case errors.Is(err, driver.ErrStopped):
		return nil // the next look says why
	case err == nil:
		err = fmt.Errorf("%s was %s", text, res.Code)
	}
	return &Failure{State: b.m.State.String(), Reason: "a command that is due is refused again and again", Err: err}
}

// due says which command is due: the script's, else the default.
func (b *brain) due() *command {
	if b.cfg.Idle || b.leaving {
		return nil
	}
	if c, only := b.position.due(b); c != nil || only {
		return c
	}
	switch b.m.State {
	case netplay.StateInSetup:
		return b.dueSetup()
	case netplay.StatePreBattle:
		return b.dueStart()
	case netplay.StateInterBattle:
		return b.dueNext()
	case netplay.StateUndecided:
		return b.dueUndecided()
	case netplay.StateSelectShip:
		return b.dueSelect()
	case netplay.StateSpawning:
		return b.dueSpawning()
	case netplay.StateInBattle, netplay.StateEndingBattle, netplay.StateEndingBattle2:
		return b.dueFrame()
	}
	return nil
}

// listen goes through what was told.
func (b *brain) listen(events []event) {
	for i := range events {
		e := &events[i]
		switch e.kind {
		case eventReport:
			if e.text != "" {
				b.line("%s", e.text)
			}
			b.heard(&e.report)
		case eventState:
			b.line("state %v -> %v", e.from, e.to)
			b.state, b.last = e.to, e.from
			b.entered(e.from, e.to)
			b.position.entered(b, e.to)
		case eventLink:
			if !e.up {
				b.gone, b.lost = true, e.err
			}
		case eventError:
			b.line("error %v", e.err)
			var de *driver.Error
			switch {
			case traceOnly(e.err):
				b.traceErr = e.err
			case b.failure == nil && errors.As(e.err, &de):
				b.failure = &Failure{State: de.State, Reason: b.blame("the other side deviated"), Err: e.err}
			}
		}
	}
}

// fail notes the first reason why this match is no good.
func (b *brain) fail(reason string, err error) {
	if b.failure == nil {
		b.failure = &Failure{State: b.state.String(), Reason: reason, Err: err}
		b.line("error netplay.peer %v", b.failure)
	}
}

// outcome judges the run when the machine has closed.
func (b *brain) outcome() error {
	switch {
	case b.position.err != nil:
		return b.position.err
	case b.failure != nil:
		return b.failure
	case b.leaving && b.stake.guess:
		b.fail(b.stake.what+", and left before the other side had shown that it was right", nil)
		return b.failure
	case b.leaving:
		b.line("left in good order")
		return nil
	case b.stake.guess:
		// whatever ended the connection may be our own fault
	case b.cfg.Idle && b.orderly():
		b.line("the other side left")
		return nil
	case b.orderly() && b.last == netplay.StateInSetup && b.res.Matches() >= b.cfg.Matches:
		b.line("the other side left in good order")
		return nil
	}
	f := &Failure{State: b.last.String(), Reason: "the connection was lost", Err: b.lost}
	switch {
	case errors.Is(b.lost, io.EOF):
		f.Reason, f.Err = "the other side closed the connection", nil
	case errors.Is(b.lost, transport.ErrReset):
		f.Reason, f.Err = "the other side broke off the connection", nil
	}
	if b.last == netplay.StateUndecided {
		f.Reason += fmt.Sprintf(", and nothing has told whether match %d is over", b.res.Matches()+1)
	}
	f.Reason = b.blame(f.Reason)
	if n := b.cfg.Matches; n > 0 && f.Err == nil {
		f.Reason += fmt.Sprintf(" after %d of %d matches", b.res.Matches(), n)
	}
	b.line("error netplay.peer %v", f)
	return f
}

// orderly says that the other side closed, however hastily.
func (b *brain) orderly() bool {
	return b.gone && (errors.Is(b.lost, io.EOF) || errors.Is(b.lost, transport.ErrReset))
}

// played says that everything asked for has been done.
func (b *brain) played() bool {
	return b.res.Matches() >= b.cfg.Matches && b.position.over()
}

func (b *brain) line(format string, args ...any) { b.cfg.OnLine(fmt.Sprintf(format, args...)) }

func (b *brain) sum() {
	if l := b.position.line(); l != nil {
		b.line("note script %s:%d: %s: not done", b.position.script.file, l.no, l.text)
	}
	b.res.Machine, b.res.Mode = b.m, b.battle.mode
	b.res.Dropped, _ = b.q.state()
	b.line("played %d matches to the end, %d left, %d battles, %d frames, checksums %v",
		b.res.Ended, b.res.Left, b.res.Battles, b.res.Frames, b.battle.mode)
}
