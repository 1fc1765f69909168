package seek

import (
	"context"
	"errors"
	"log/slog"

	"github.com/parley-go/parley/examples/cluster/machines/tenure"
	"github.com/parley-go/parley/examples/lockstep/frames"
	"github.com/parley-go/parley/machines/lockstep"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// Game is a simulation that can go on at another relay.
type Game interface {
	frames.Game
	// Resume is called in place of Start: the match goes on from the state as it is, with the player in this slot
	// alone. The others join again, and game frames are counted on. A turn may have been cut short.
	Resume(slot int)
	// Frame returns how many game frames have been executed.
	Frame() uint32
}

// MatchConfig says who plays which match.
type MatchConfig struct {
	Doors  []string // addresses of servers
	Match  string   // its name
	Seats  int      // how many play; a new match begins when all are there
	Client frames.ClientConfig
	Game   Game
	// OnFound is told each time when the match has been found. May be nil.
	OnFound func(epoch uint32, leads bool)
	Logger  *slog.Logger
}

// Match plays a match until it is over, the player leaves, or ctx ends.
type Match struct {
	cfg    MatchConfig
	seeker *Seeker
	client chan *frames.Client // the present one
}

// NewMatch returns a player who has not looked for the match yet.
func NewMatch(cfg MatchConfig) (*Match, error) {
	s, err := New(cfg.Doors, tenure.KindMatch, cfg.Match, cfg.Client.Name, cfg.Seats)
	if err != nil {
		return nil, err
	}
	s.Prove(cfg.Client.Key)
	return &Match{cfg: cfg, seeker: s, client: make(chan *frames.Client, 1)}, nil
}

// Run plays. It returns nil after Leave, and frames.ErrOver when nobody plays any more.
func (m *Match) Run(ctx context.Context) error {
	begun := false
	for {
		conn, leads, err := m.seeker.Find(ctx, m.cfg.Game.Frame())
		if err != nil {
			return err
		}
		if m.cfg.OnFound != nil {
			m.cfg.OnFound(m.seeker.Epoch(), leads)
		}
		cfg := m.cfg.Client
		g := &resumed{Game: m.cfg.Game, slot: cfg.Slot, resume: leads && begun, begun: &begun}
		cfg.Game = g
		c := frames.NewClient(cfg)
		m.offer(c)
		err = c.Run(ctx, tcp.New(conn, tcp.Config{}))
		if err == nil || errors.Is(err, frames.ErrOver) || errors.Is(err, frames.ErrTaken) || ctx.Err() != nil {
			return err
		}
		if m.cfg.Logger != nil {
			m.cfg.Logger.Info("the match is looked for again", "match", m.cfg.Match, "why", err)
		}
	}
}

// offer makes a client the present one.
func (m *Match) offer(c *frames.Client) {
	select {
	case <-m.client:
	default:
	}
	m.client <- c
}

// with calls f with the present client, if there is one.
func (m *Match) with(f func(*frames.Client)) {
	select {
	case c := <-m.client:
		f(c)
		select {
		case m.client <- c:
		default: // there is a later one
		}
	default:
	}
}

// Submit gives the player's next command. Between two relays it is lost.
func (m *Match) Submit(c lockstep.Command) { m.with(func(cl *frames.Client) { cl.Submit(c) }) }

// Leave ends the match for this player.
func (m *Match) Leave(ctx context.Context) (err error) {
	m.with(func(cl *frames.Client) { err = cl.Leave(ctx) })
	return err
}

// resumed is a game that may have begun at another relay.
type resumed struct {
	Game
	slot   int
	resume bool
	begun  *bool
}

// Start implements [frames.Game].
func (g *resumed) Start(seed uint32, players []int) {
	if g.resume {
		g.Game.Resume(g.slot)
		return
	}
	*g.begun = true
	g.Game.Start(seed, players)
}

// Restore implements [frames.Game].
func (g *resumed) Restore(b []byte) error {
	*g.begun = true
	return g.Game.Restore(b)
}
