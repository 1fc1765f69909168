package frames

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/parley-go/parley/machines/lockstep"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
)

// Watch is the slot of who does not play.
const Watch = -1

// The ways in which [Client.Run] ends.
var (
	ErrLost  = errors.New("lockstep: the link to the server is lost")
	ErrTaken = errors.New("lockstep: somebody else has the slot")
	ErrOver  = errors.New("lockstep: nobody plays any more")
	ErrLarge = errors.New("lockstep: the snapshot is too large")
)

const (
	partsPerTurn = 16              // of a snapshot; a player goes on playing meanwhile
	again        = 1 * time.Second // until a wish is repeated that the server was too busy for
	hurry        = 5               // game frames; who is further behind does not wait for the clock
)

// EventKind says what a [Client] tells its program beside the game.
type EventKind uint8

// The kinds of events.
const (
	Began     EventKind = iota + 1 // the game begins, with us
	Joining                        // the game runs already; a snapshot is on its way
	Joined                         // the snapshot is here: we watch
	Seated                         // we play, from a frame soon on
	Refused                        // the slot is somebody else's: we go on watching
	Paused                         // or not any more
	OutOfStep                      // the simulation in this slot is another one, and the player is removed
)

// Event is something that a program may want to show.
type Event struct {
	Kind EventKind
	Slot int  // for Seated, Refused, OutOfStep
	On   bool // for Paused
}

// ClientConfig says who plays what.
type ClientConfig struct {
	Slot int    // to play in, or Watch
	Key  uint64 // a secret: who knows it has the slot again after the link was lost
	Name string // at most 32 bytes of UTF-8
	Game Game
	// OnEvent is called by the goroutine of Run; may be nil.
	OnEvent func(Event)
	// Record gets what happens, if it is not nil.
	Record *Recorder
	// MaxSnapshot is the size of the largest snapshot taken from others, 0 for 16 MiB.
	MaxSnapshot int
	// Unpaced executes game frames as soon as it can: for tests and for programs that only follow.
	Unpaced bool
	Logger  *slog.Logger
}

// Client takes part in a game. It is for one link: who comes again makes another one, with the same slot and key.
type Client struct {
	cfg  ClientConfig
	d    *driver.Driver[*lockstep.ClientRunner]
	wake chan struct{}

	mu       sync.Mutex // of what follows: the driver's goroutine writes it, that of Run reads it
	queue    queue
	events   []Event
	start    *lockstep.ClientStartedReport
	snapshot []byte // as far as it has come
	restore  bool   // it is here
	joining  bool   // it is on its way
	wanted   bool   // by others
	wantedAt uint32
	refused  *lockstep.No
	ready    bool // the next frame, as far as we can tell
	over     bool
	began    bool           // the game, or it ran when we came
	plays    lockstep.Slots // who does, as far as we have been told
	ended    bool           // for all: nobody played any more
	gone     bool           // Leave was called
	pending  []lockstep.Command
	err      error
}

// NewClient returns a client that has no link yet.
func NewClient(cfg ClientConfig) *Client {
	if cfg.MaxSnapshot == 0 {
		cfg.MaxSnapshot = 16 << 20
	}
	return &Client{cfg: cfg, wake: make(chan struct{}, 1)}
}

// Submit gives the player's next command. It goes with the next command frame, or with a later one if there are more
// than the protocol has room for.
func (c *Client) Submit(command lockstep.Command) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending) < 1024 { // nobody means more
		c.pending = append(c.pending, command)
	}
}

// Pause asks the server to stop the game or to go on. Only the first player's wish counts.
func (c *Client) Pause(ctx context.Context, on bool) error {
	return c.do(ctx, func(r *lockstep.ClientRunner) fsm.Result { return r.Pause(on) })
}

// Speed asks the server for another length of game frames, 10 to 80 ms.
func (c *Client) Speed(ctx context.Context, length time.Duration) error {
	return c.do(ctx, func(r *lockstep.ClientRunner) fsm.Result {
		return r.Speed(lockstep.Length(length / time.Millisecond))
	})
}

// Leave ends the game for this client. Run returns nil then, and the slot is free for others.
func (c *Client) Leave(ctx context.Context) error {
	err := c.do(ctx, func(r *lockstep.ClientRunner) fsm.Result { return r.Leave() })
	c.mu.Lock()
	c.gone = true
	c.mu.Unlock()
	c.notify()
	return err
}

func (c *Client) do(ctx context.Context, f func(*lockstep.ClientRunner) fsm.Result) error {
	c.mu.Lock()
	d := c.d
	c.mu.Unlock()
	if d == nil {
		return errors.New("lockstep: Run has not been called")
	}
	_, err := d.Do(ctx, f)
	return err
}

// Run joins over a link to the server, which belongs to it, and plays until the game is over, ctx ends or the link is
// lost. It returns nil after Leave.
func (c *Client) Run(ctx context.Context, link transport.Link) error {
	wish := lockstep.Optional[lockstep.Slot]{}
	if c.cfg.Slot >= 0 {
		wish.Present, wish.Value = true, lockstep.Slot(c.cfg.Slot)
	}
	name, ok := lockstep.NewName(c.cfg.Name)
	r, err := lockstep.NewClientRunner(wish)
	if err == nil && !ok {
		err = fmt.Errorf("lockstep: the name %q has more than 32 bytes", c.cfg.Name)
	}
	if err != nil {
		link.Abort()
		return err
	}
	d := driver.New(r, driver.Options[*lockstep.ClientRunner]{OnReport: c.report, Logger: c.cfg.Logger})
	c.mu.Lock()
	c.d = d
	c.mu.Unlock()
	if err := d.Attach(lockstep.ServerConst, link); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	defer func() {
		cancel()
		<-ended
	}()
	p := player{Client: c, ctx: ctx, name: name, join: true}
	return p.play()
}

// report is called by the driver's goroutine.
func (c *Client) report(r *lockstep.ClientRunner, i int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch v := r.Report(i); v.Kind {
	case lockstep.ClientReportStarted:
		s := v.Started
		c.start, c.began, c.plays = &s, true, s.Players
		c.queue.reset(0)
	case lockstep.ClientReportJoining:
		c.queue.reset(uint32(v.Joining.Frame))
		c.joining, c.restore, c.snapshot, c.began = true, false, c.snapshot[:0], true
		c.plays = v.Joining.Players
		c.events = append(c.events, Event{Kind: Joining})
	case lockstep.ClientReportSnapshot:
		p := &v.Snapshot.Part
		if len(c.snapshot)+int(p.Len) > c.cfg.MaxSnapshot {
			c.err = ErrLarge
			break
		}
		c.snapshot = append(c.snapshot, p.Data[:p.Len]...)
		c.restore = v.Snapshot.Last
	case lockstep.ClientReportRefused:
		why := v.Refused.Why
		c.refused = &why
	case lockstep.ClientReportCommands:
		c.queue.commands(v.Commands.Slot, v.Commands.Frame, &v.Commands.Commands)
	case lockstep.ClientReportAnnounced:
		c.queue.announced(v.Announced.Frame, v.Announced.Due, v.Announced.Length, v.Announced.Next)
	case lockstep.ClientReportExecute:
		return
	case lockstep.ClientReportJoined:
		c.queue.joined(v.Joined.Slot, v.Joined.Frame)
		c.plays = c.plays.With(v.Joined.Slot)
	case lockstep.ClientReportSeated:
		c.queue.joined(v.Seated.Slot, v.Seated.Frame)
		c.plays = c.plays.With(v.Seated.Slot)
		c.events = append(c.events, Event{Kind: Seated, Slot: int(v.Seated.Slot)})
	case lockstep.ClientReportLeft:
		c.queue.left(v.Left.Slot, v.Left.Frame)
		c.plays = c.plays.Without(v.Left.Slot)
	case lockstep.ClientReportSnapshotWanted:
		c.wanted, c.wantedAt = true, uint32(v.SnapshotWanted.Frame)
	case lockstep.ClientReportOutOfStep:
		for _, s := range players(v.OutOfStep.Slots) {
			c.events = append(c.events, Event{Kind: OutOfStep, Slot: s})
		}
	case lockstep.ClientReportPaused:
		c.events = append(c.events, Event{Kind: Paused, On: v.Paused.On})
	case lockstep.ClientReportOver:
		c.over, c.ended = true, c.began && c.plays == 0
	}
	c.ready = ready(&r.Machine)
	if k := r.Report(i).Kind; c.ready || k != lockstep.ClientReportCommands && k != lockstep.ClientReportAnnounced {
		c.notify()
	}
}

// ready tells when it is worth asking the machine for the next frame. The machine decides.
func ready(m *lockstep.Client) bool {
	if m.State != lockstep.ClientStateGame {
		return m.Done > lockstep.M
	}
	for i := range Slots {
		if m.Playing.Has(lockstep.Slot(i)) && m.Have[i] == 0 {
			return false
		}
	}
	return m.Done > 0
}

func (c *Client) notify() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// String says what has happened.
func (e Event) String() string {
	switch e.Kind {
	case Began:
		return "the game begins"
	case Joining:
		return "the game runs already: waiting for a snapshot"
	case Joined:
		return "watching"
	case Seated:
		return fmt.Sprintf("playing in slot %d", e.Slot)
	case Refused:
		return fmt.Sprintf("slot %d is somebody else's", e.Slot)
	case Paused:
		if e.On {
			return "the game stands still"
		}
		return "the game goes on"
	case OutOfStep:
		return fmt.Sprintf("slot %d is out of step and has been removed", e.Slot)
	}
	return "nothing"
}
