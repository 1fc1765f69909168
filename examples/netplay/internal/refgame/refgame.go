// Package refgame is a peer for tests that behaves like the game itself as far
// as the wire shows it, bugs included.
//
// It is written by hand from the documented behaviour of the game, byte by
// byte, and must not use Parley's machines, codecs or transports: it is what they are compared
// with. It is as strict as the game: whatever the game would close the
// connection for is an error. Start from [Play].
package refgame

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Vacant is the code of an empty slot.
const Vacant = 255

// Plan says what this side does.
type Plan struct {
	Server bool // it accepted the connection
	Fleet  []byte
	Name   string
	Delay  uint32
	Seed   uint32
	FPS    int // 0: as fast as possible
	// Before are done in the setup of the first match, before confirming.
	Before []Edit
	// Later are done in each setup after the first.
	Later []Edit
	// Rename is another name for the own team in each setup after the first; empty: none.
	Rename string
	// Waver: confirm, cancel, and confirm again in the first setup.
	Waver bool
	// Random: choose ships by chance.
	Random bool
	// Battles are fought one after another; when they are used up this side closes in the setup.
	Battles []Battle
	// At is called, if set, wherever this side is about to go on; it may do something else instead.
	At func(m Moment) Instead
	// Ping makes it ask for a sign of life before its first confirmation.
	Ping bool
}

// Edit changes a slot of either fleet.
type Edit struct {
	Own  bool
	Slot int
	Ship byte
}

// Battle says how a battle ends.
type Battle struct {
	OwnDies, OtherDies bool
	After              int // frames until its end has been shown
	Lag                int // by how many frames this side's READY comes later than that
	Special            []int
}

// Moment is a place in the course of a run.
type Moment struct {
	// Point is one of Points, or "over" in a setup behind a match.
	Point string
	// Battle counts the battles of the run and Frame the frames of this battle, from 0.
	Battle, Frame int
}

// Points lists the places where Plan.At is asked, in the order in which they come up first.
var Points = []string{"init", "inSetup", "preBattle", "interBattle", "selectShip", "chosen", "spawning",
	"inBattle", "endingBattle",
	"endingBattle2", "ended", "checkpoint"}

// Instead is an alternative to going on; the zero value is to go on.
type Instead struct {
	Leave  bool   // leave the match by RESET
	Say    []byte // send these bytes, and nothing any more
	Close  bool   // close the connection (after Say)
	Silent bool   // send nothing any more
	Mute   bool   // do nothing more but take what comes, as the game does whose player looks on
}

// Report is one thing that has happened.
type Report struct {
	Ended, Left, Battles, Frames int
	Alive                        bool // a PING was answered
	OtherFleet                   [14]byte
	OwnFleet                     [14]byte
	OtherName                    string
	Delay, Seed                  uint32
	OtherSlots                   []int // chosen by the other side, -1 for a random one
}

// errClosed says that the other side has closed; errReset that a RESET has ended the match.
// ErrCrashed says that the game has crashed: the other side has left it at the end of a battle.
var ErrCrashed = errors.New("the game crashes: the other side has left at the end of a battle")

var (
	errClosed = errors.New("the other side has closed")
	errReset  = errors.New("the match was left")
	errStop   = errors.New("closing as planned")
)

type game struct {
	ctx   context.Context
	conn  net.Conn
	in    chan []byte
	inErr error
	plan  Plan
	rep   Report

	state     string
	ready     [2]bool // local, remote
	ok        [2]bool // local, remote: the handshake
	canceling bool
	fleet     [2][14]byte // 0 the other's, 1 ours
	sent      [2][14]int  // -1: none
	name      [2]string
	sentName  [2]string
	nameOpen  [2]bool
	reset     [2]bool // local, remote
	delay     uint32
	seed      uint32
	selecting [2]bool
	dead      [2][14]bool
	slot      [2]int
	frame     uint32
	sim       uint32
	remote    []byte
	local     []byte
	sums      map[uint32]uint32 // the other side's, by frame
	own       map[uint32]uint32
	endFrame  uint32
	battle    int
}

// Play plays a plan on a connection and closes it. The error says how the
// other side has deviated; nil also if it has closed in the setup.
func Play(ctx context.Context, conn net.Conn, plan Plan) (Report, error) {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	g := &game{ctx: ctx, conn: conn, plan: plan, in: make(chan []byte, 64), state: "init"}
	for i := range 2 {
		for s := range 14 {
			g.fleet[i][s], g.sent[i][s] = Vacant, -1
		}
	}
	copy(g.fleet[1][:], plan.Fleet)
	g.name[1] = plan.Name
	done := make(chan struct{})
	defer close(done)
	go g.read(done)
	err := g.run()
	switch {
	case errors.Is(err, errClosed) && g.state == "inSetup" || errors.Is(err, errStop):
		err = nil
	case errors.Is(err, errClosed) && (g.state == "endingBattle" || g.state == "endingBattle2"):
		err = fmt.Errorf("%w (%w)", ErrCrashed, err)
	}
	g.rep.OtherFleet, g.rep.OwnFleet, g.rep.OtherName = g.fleet[0], g.fleet[1], g.name[0]
	g.rep.Delay, g.rep.Seed = g.delay, g.seed
	if err != nil {
		err = fmt.Errorf("in state %s, battle %d, frame %d: %w", g.state, g.battle, g.frame, err)
	}
	return g.rep, err
}

// read cuts the stream into frames.
func (g *game) read(done chan struct{}) {
	defer close(g.in)
	for {
		h := make([]byte, 4)
		if _, err := io.ReadFull(g.conn, h); err != nil {
			g.inErr = err
			return
		}
		n := int(binary.BigEndian.Uint16(h))
		if n < 4 || n > 2048 {
			g.inErr = fmt.Errorf("length %d", n)
			return
		}
		f := append(h, make([]byte, n-4)...)
		if _, err := io.ReadFull(g.conn, f[4:]); err != nil {
			g.inErr = err
			return
		}
		select {
		case g.in <- f:
		case <-done:
			return
		}
	}
}

func (g *game) send(typ int, body ...byte) error {
	f := binary.BigEndian.AppendUint16(nil, uint16(4+len(body)))
	f = append(binary.BigEndian.AppendUint16(f, uint16(typ)), body...)
	if _, err := g.conn.Write(f); err != nil {
		return fmt.Errorf("%w (%v)", errClosed, err)
	}
	return nil
}

func u16(n int) []byte    { return binary.BigEndian.AppendUint16(nil, uint16(n)) }
func u32(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

// until handles frames until cond holds.
func (g *game) until(cond func() bool) error {
	for !cond() {
		f, open := <-g.in
		if err := g.took(f, open); err != nil {
			return err
		}
	}
	return nil
}

// poll handles what has arrived.
func (g *game) poll() error {
	for {
		select {
		case f, open := <-g.in:
			if err := g.took(f, open); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// quiet handles frames until none has come for d.
func (g *game) quiet(d time.Duration) error {
	for {
		t := time.NewTimer(d)
		select {
		case f, open := <-g.in:
			t.Stop()
			if err := g.took(f, open); err != nil {
				return err
			}
		case <-t.C:
			return nil
		}
	}
}

func (g *game) took(f []byte, open bool) error {
	if !open {
		if errors.Is(g.inErr, io.EOF) {
			return errClosed
		}
		return fmt.Errorf("%w: %v", errClosed, g.inErr)
	}
	was := g.reset
	if err := g.handle(f); err != nil {
		return fmt.Errorf("frame %x: %w", f, err)
	}
	if g.reset[1] && !was[1] {
		return errReset
	}
	return nil
}

// at asks the plan whether to go on.
func (g *game) at(point string, frame int) error {
	if g.plan.At == nil {
		return nil
	}
	do := g.plan.At(Moment{Point: point, Battle: g.battle, Frame: frame})
	switch {
	case do.Leave:
		return g.leave()
	case do.Mute:
		return g.until(func() bool { return false })
	case do.Close:
		g.conn.Write(do.Say)
		return errStop
	case do.Say != nil || do.Silent:
		g.conn.Write(do.Say)
		for range g.in { // until the other side has enough
		}
		return errStop
	}
	return nil
}

// barrier sends READY and waits for the other side's.
func (g *game) barrier(next string) error {
	if err := g.send(tReady); err != nil {
		return err
	}
	g.ready[0] = true
	if err := g.until(func() bool { return g.ready[1] }); err != nil {
		return err
	}
	g.ready = [2]bool{}
	g.state = next
	return nil
}
