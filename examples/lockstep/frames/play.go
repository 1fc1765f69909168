package frames

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parley-go/parley/machines/lockstep"
	"github.com/parley-go/parley/runtime/fsm"
)

// player is what the goroutine of [Client.Run] knows.
type player struct {
	*Client
	ctx     context.Context
	name    lockstep.Name
	join    bool // we want to, and have not asked
	asked   bool // for a slot
	seated  bool
	running bool
	frame   uint32        // the next command frame
	steps   uint32        // game frames until then
	length  time.Duration // of a game frame
	due     time.Time     // of the next game frame
	retry   time.Time     // when to ask once more
	parts   [][]byte      // of a snapshot that others wait for
}

// play is the loop of the game: it does what can be done, and waits for what comes or for the clock.
func (p *player) play() error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		next, err := p.turn()
		if err != nil {
			if errors.Is(err, errLeft) {
				return nil
			}
			return err
		}
		if next == 0 {
			continue
		}
		timer.Reset(next)
		select {
		case <-p.wake:
		case <-timer.C:
		case <-p.d.Done():
			return ErrLost
		case <-p.ctx.Done():
			return context.Cause(p.ctx)
		}
	}
}

var errLeft = errors.New("left")

// turn does the next thing, and returns for how long there is nothing else to do unless something comes.
func (p *player) turn() (time.Duration, error) {
	if err := p.news(); err != nil {
		return 0, err
	}
	if p.join && !time.Now().Before(p.retry) {
		p.join = false
		return 0, p.give(func(r *lockstep.ClientRunner) fsm.Result { return r.Join(lockstep.Key(p.cfg.Key), p.name) })
	}
	if p.join {
		return time.Until(p.retry), nil
	}
	if !p.running {
		return time.Hour, nil
	}
	p.mu.Lock()
	behind := p.queue.told > lockstep.M+hurry
	caughtUp := p.queue.told >= lockstep.M && p.queue.told <= lockstep.M+2
	can, sit := p.ready, !p.seated && !p.asked && p.cfg.Slot >= 0 && caughtUp
	p.mu.Unlock()
	now := time.Now()
	if sit && !now.Before(p.retry) {
		p.asked = true
		if err := p.give(func(r *lockstep.ClientRunner) fsm.Result {
			return r.Sit(lockstep.Slot(p.cfg.Slot), lockstep.Key(p.cfg.Key), p.name)
		}); err != nil {
			return 0, err
		}
	}
	if p.steps == 0 || len(p.parts) > 0 {
		if err := p.offer(); err != nil {
			return 0, err
		}
	}
	if p.steps > 0 {
		if wait := p.due.Sub(now); wait > 0 && !behind && !p.cfg.Unpaced {
			return wait, nil
		}
		p.cfg.Game.Step()
		p.steps--
		p.due = p.due.Add(p.length)
		return 0, nil
	}
	if !can && len(p.parts) > 0 {
		return p.length, nil
	} else if !can {
		return time.Hour, nil
	}
	return p.execute(now)
}

// execute executes the next command frame, if the machine agrees.
func (p *player) execute(now time.Time) (time.Duration, error) {
	sum := p.cfg.Game.Sum()
	p.mu.Lock()
	var commands lockstep.Commands
	for int(commands.Len) < len(p.pending) && int(commands.Len) < len(commands.Items) {
		commands.Items[commands.Len] = p.pending[commands.Len]
		commands.Len++
	}
	p.mu.Unlock()
	result, err := p.d.Do(p.ctx, func(r *lockstep.ClientRunner) fsm.Result {
		res := r.FrameCommand(lockstep.Checksum(sum), commands)
		p.mu.Lock()
		p.ready = ready(&r.Machine)
		p.mu.Unlock()
		return res
	})
	if result.Code == fsm.Refused {
		return time.Hour, nil // something comes
	}
	if err != nil {
		return 0, p.lost(err)
	}
	p.mu.Lock()
	if p.seated { // who watches keeps what it would say
		p.pending = append(p.pending[:0], p.pending[commands.Len:]...)
	}
	t := p.queue.take()
	p.mu.Unlock()
	p.frame = t.Frame + 1
	p.cfg.Record.Turn(t, sum, true)
	p.steps, p.length = t.Next-t.Due, t.Length
	if p.due.Before(now.Add(-hurry * t.Length)) {
		p.due = now
	}
	p.cfg.Game.Turn(t)
	return 0, nil
}

// news does what the server has said.
func (p *player) news() error {
	p.mu.Lock()
	start, restore, refused, events, err, over := p.start, p.restore, p.refused, p.events, p.err, p.over
	if p.gone {
		err = errLeft
	}
	p.start, p.restore, p.refused, p.events = nil, false, nil, nil
	if p.joining {
		p.running = false
	}
	var snapshot []byte
	if restore {
		snapshot, p.snapshot, p.joining = p.snapshot, nil, false
	}
	first := p.queue.first
	p.mu.Unlock()
	if err != nil {
		return err
	}
	if start != nil {
		list := players(start.Players)
		p.cfg.Game.Start(uint32(start.Seed), list)
		p.cfg.Record.Begin(uint32(start.Seed), list)
		p.begin(0)
		p.seated = p.cfg.Slot >= 0
		if p.seated {
			sum := p.cfg.Game.Sum()
			loaded := func(r *lockstep.ClientRunner) fsm.Result { return r.Loaded(lockstep.Checksum(sum)) }
			if err := p.give(loaded); err != nil {
				return err
			}
		}
		p.tell(Event{Kind: Began})
	}
	if restore {
		if err := p.cfg.Game.Restore(snapshot); err != nil {
			return fmt.Errorf("lockstep: the snapshot: %w", err)
		}
		p.cfg.Record.snapshot(snapshot)
		p.begin(first)
		p.tell(Event{Kind: Joined})
	}
	for _, e := range events {
		if e.Kind == Seated {
			p.seated = true
		}
		p.tell(e)
	}
	if refused != nil {
		return p.refuse(*refused)
	}
	if over {
		return p.lost(ErrLost)
	}
	return nil
}

func (p *player) begin(frame uint32) {
	p.running, p.frame, p.steps, p.due = true, frame, 0, time.Now()
	p.notify()
}

// refuse takes the server's no, which a busy one may take back.
func (p *player) refuse(why lockstep.No) error {
	p.retry = time.Now().Add(again)
	switch {
	case why == lockstep.NoOver:
		return ErrOver
	case p.running && why == lockstep.NoBusy:
		p.asked = false
	case p.running: // and asks no more
		p.tell(Event{Kind: Refused, Slot: p.cfg.Slot})
	case why == lockstep.NoBusy:
		p.join = true
	default:
		return ErrTaken
	}
	return nil
}

// offer makes a snapshot if it is wanted of the state now, and says some more of one that was.
func (p *player) offer() error {
	p.mu.Lock()
	now := p.wanted && p.wantedAt == p.frame
	if now {
		p.wanted = false
	}
	p.mu.Unlock()
	if now {
		b := p.cfg.Game.Snapshot()
		for {
			n := min(len(b), len(lockstep.Part{}.Data))
			p.parts = append(p.parts, b[:n])
			if b = b[n:]; len(b) == 0 {
				break
			}
		}
	}
	for range min(partsPerTurn, len(p.parts)) {
		part, _ := lockstep.NewPart(string(p.parts[0]))
		p.parts = p.parts[1:]
		last := len(p.parts) == 0
		if err := p.give(func(r *lockstep.ClientRunner) fsm.Result { return r.Snapshot(last, part) }); err != nil {
			return err
		}
	}
	return nil
}

// give gives the machine a command that it must take.
func (p *player) give(f func(*lockstep.ClientRunner) fsm.Result) error {
	if _, err := p.d.Do(p.ctx, f); err != nil {
		return p.lost(err)
	}
	return nil
}

// lost says why the game has ended for us, if there is a better reason than err.
func (p *player) lost(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.err != nil:
		return p.err
	case p.gone:
		return errLeft
	case p.ctx.Err() != nil:
		return context.Cause(p.ctx)
	case p.ended:
		return ErrOver
	case p.over:
		return ErrLost
	}
	return err
}

func (p *player) tell(e Event) {
	if p.cfg.OnEvent != nil {
		p.cfg.OnEvent(e)
	}
}
