package frames

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/parley-go/parley/examples/internal/doors"
	"github.com/parley-go/parley/machines/lockstep"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// links is how many clients the machine can tell apart: its parties without the server.
const links = 32

// ServerConfig says how a game is paced.
type ServerConfig struct {
	Length  time.Duration // of a game frame, 10 to 80 ms; 0 for 50
	Spacing int           // game frames from a command frame to the next, 1 to 20; 0 for 4
	Seed    uint32
	First   uint32 // the number of the first game frame, of a game that was saved
	// Patience is how long a player may send no commands, 0 for 300 s, and Grace how long one may load, 0 for 600 s.
	Patience, Grace time.Duration
	// Keys, if it is not nil, says who may sit where: each slot is for who has its key, from the beginning, and for
	// nobody if it has none. So a stranger can neither take a player's place nor sit down and keep all waiting.
	Keys map[int]uint64
	// Watchers is how many may look on at a time, 0 for as many as there are links. The last to come goes.
	Watchers int
	// PerAddress is how many links one address may have, 0 for all. Who is one too many waits as long as Attach does.
	PerAddress int
	// OnCame, OnSat and OnWent are told who joins (to play in the slot, or with Watch), sits down in a running game,
	// and has left. They may be nil. The driver's goroutine calls them: they must not call methods of the
	// server.
	OnCame func(name string, slot int)
	OnSat  func(name string, slot int)
	OnWent func(slot int, why lockstep.Reason)
	// OnRunning is called when the first frame is announced: from then on others can join. The driver's goroutine
	// calls it.
	OnRunning func()
	// OnOver is called when nobody plays any more; Run goes on until ctx ends.
	OnOver func()
	// Record gets what happens, if it is not nil.
	Record *Recorder
	// Unpaced announces each frame as soon as everybody's commands are there: for tests and benchmarks.
	Unpaced bool
	Logger  *slog.Logger
}

// Server relays the commands of a game and paces it. It does not simulate.
type Server struct {
	cfg   ServerConfig
	d     *driver.Driver[*lockstep.ServerRunner]
	peers *doors.Numbers
	wake  chan struct{}

	mu      sync.Mutex // of what follows: the driver's goroutine writes it, that of Run reads it
	queue   queue
	running bool // OnRunning has been called
	ready   bool // the next frame, as far as we can tell
	loading bool
}

// CheckPace says why no game has such frames; nil if one may.
func CheckPace(length time.Duration, spacing int) error {
	if length < 10*time.Millisecond || length > 80*time.Millisecond || spacing < 1 || spacing > 20 {
		return fmt.Errorf("game frames of %v and %d of them to a command frame; 10 to 80 ms, and 1 to 20",
			length, spacing)
	}
	return nil
}

// NewServer returns a server that waits for players.
func NewServer(cfg ServerConfig) (*Server, error) {
	if cfg.Length == 0 {
		cfg.Length = 50 * time.Millisecond
	}
	if cfg.Spacing == 0 {
		cfg.Spacing = 4
	}
	if err := CheckPace(cfg.Length, cfg.Spacing); err != nil {
		return nil, fmt.Errorf("lockstep: %w", err)
	}
	r, err := lockstep.NewServerRunner(seconds(cfg.Patience, 300), seconds(cfg.Grace, 600), lockstep.ServerConst)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, peers: doors.New(links), wake: make(chan struct{}, 1)}
	s.peers.Each = cfg.PerAddress
	if cfg.Keys != nil { // before anybody can come
		for slot := range Slots {
			keep(r, slot, cfg.Keys)
		}
	}
	s.d = driver.New(r, driver.Options[*lockstep.ServerRunner]{
		OnReport: s.report, Logger: cfg.Logger, HandshakeLimit: 10 * time.Second,
	})
	return s, nil
}

// seconds returns whole seconds, at least one and at most what the machine takes.
func seconds(d time.Duration, most uint16) uint16 {
	if d == 0 {
		return most
	}
	return uint16(min(max((d+time.Second-1)/time.Second, 1), time.Duration(most)))
}

// Attach lets a client in over a link, which belongs to the server from then on. It waits for a number to be free.
func (s *Server) Attach(ctx context.Context, link transport.Link) error {
	peer, err := s.peers.Take(ctx, doors.From(link))
	if err != nil {
		link.Abort()
		return err
	}
	return s.d.Attach(peer, s.peers.Door(peer, link))
}

// Serve lets in who connects, until ctx ends, which is no error.
func (s *Server) Serve(ctx context.Context, listener *tcp.Listener) error {
	defer listener.Close()
	return doors.Accept(ctx, listener, s.peers, s.d)
}

// Begin ends the lobby: who has joined to play plays. It fails if nobody has, or if the game has begun.
func (s *Server) Begin(ctx context.Context) error {
	c := &s.cfg
	_, err := s.d.Do(ctx, func(r *lockstep.ServerRunner) fsm.Result {
		return r.Begin(lockstep.Seed(c.Seed), lockstep.GameFrame(c.First),
			lockstep.Length(c.Length/time.Millisecond), lockstep.Spacing(c.Spacing))
	})
	return err
}

// Keep gives a slot in which nobody sits to who has a key.
func (s *Server) Keep(ctx context.Context, slot int, key uint64) error {
	_, err := s.d.Do(ctx, func(r *lockstep.ServerRunner) fsm.Result {
		return keep(r, slot, map[int]uint64{slot: key})
	})
	return err
}

// Shut keeps the slots that nobody has for nobody.
func (s *Server) Shut(ctx context.Context) error {
	for slot := range Slots {
		if _, err := s.d.Do(ctx, func(r *lockstep.ServerRunner) fsm.Result {
			if r.Machine.Seat[slot].Present || r.Machine.Keys[slot].Present {
				return fsm.Result{Code: fsm.NotRun, Transition: fsm.NoTransition}
			}
			return keep(r, slot, nil)
		}); err != nil {
			return err
		}
	}
	return nil
}

// Keys returns the keys of those who sit in a slot, for [ServerConfig].
func (s *Server) Keys(ctx context.Context) (keys map[int]uint64, err error) {
	err = s.d.Read(ctx, func(r *lockstep.ServerRunner) {
		keys = map[int]uint64{}
		for i, k := range r.Machine.Keys {
			if k.Present && r.Machine.Seat[i].Present {
				keys[i] = uint64(k.Value)
			}
		}
	})
	return keys, err
}

func keep(r *lockstep.ServerRunner, slot int, keys map[int]uint64) fsm.Result {
	k := lockstep.Optional[lockstep.Key]{}
	if key, ok := keys[slot]; ok {
		k = lockstep.Some(lockstep.Key(key))
	}
	return r.Keep(lockstep.Slot(slot), k)
}

// Run runs the server until ctx ends, which is no error.
func (s *Server) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.d.Run(ctx) }()
	err := s.pace(ctx)
	cancel()
	if e := <-ended; err == nil && ctx.Err() == nil {
		err = e
	}
	return err
}

// pace gives the machine its frames when they are due and the commands for them are there.
func (s *Server) pace(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var due time.Time // of the next command frame
	for {
		select { // whoever has a frame that is due, and no machine to give it to, would go round for ever
		case <-s.d.Done():
			return nil
		case <-ctx.Done():
			return nil
		default:
		}
		s.mu.Lock()
		ready, loading := s.ready, s.loading
		s.mu.Unlock()
		wait := time.Hour
		if ready {
			now := time.Now()
			if wait = due.Sub(now); wait <= 0 || loading || s.cfg.Unpaced {
				t, err := s.frame(ctx, loading)
				if err != nil {
					return err
				}
				if t != nil {
					s.cfg.Record.Turn(t, 0, false)
				}
				switch {
				case loading:
					due = now
				case t == nil: // the machine knows better
				case due.Before(now.Add(-(hurry - 1) * t.Length)):
					due = now.Add(time.Duration(t.Next-t.Due-1) * t.Length) // a frame of debt is enough
				default:
					due = due.Add(time.Duration(t.Next-t.Due) * t.Length)
				}
				continue
			}
		}
		timer.Reset(wait)
		select {
		case <-s.wake:
		case <-timer.C:
		case <-s.d.Done():
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// frame gives the machine its next frame, and returns it if it took it in the game.
func (s *Server) frame(ctx context.Context, loading bool) (*Turn, error) {
	result, err := s.d.Do(ctx, func(r *lockstep.ServerRunner) fsm.Result {
		res := r.FrameCommand()
		s.mu.Lock()
		s.look(&r.Machine)
		s.mu.Unlock()
		return res
	})
	if result.Code == fsm.Refused || ctx.Err() != nil || errors.Is(err, driver.ErrStopped) {
		return nil, nil
	}
	if err != nil || loading {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue.take(), nil
}

// look tells when it is worth giving the machine its next frame. The machine decides.
func (s *Server) look(m *lockstep.Server) {
	s.loading = m.State == lockstep.ServerStateLoading
	s.ready = s.loading || m.State == lockstep.ServerStateGame
	some := false
	for i := range Slots {
		if m.Seat[i].Present {
			some = true
			s.ready = s.ready && m.Sums[i].Len > 0
		}
	}
	s.ready = s.ready && some && !m.Paused.Present
}

// report is called by the driver's goroutine.
func (s *Server) report(r *lockstep.ServerRunner, i int) {
	v := r.Report(i)
	if v.Kind == lockstep.ServerReportCame && s.crowded(&r.Machine) && !v.Came.Slot.Present {
		go s.d.Detach(v.Came.Who)
	}
	s.tell(v)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch v.Kind {
	case lockstep.ServerReportSat:
		s.queue.joined(v.Sat.Slot, v.Sat.Frame)
	case lockstep.ServerReportWent:
		s.queue.left(v.Went.Slot, v.Went.Frame)
	case lockstep.ServerReportCommands:
		s.queue.commands(v.Commands.Slot, v.Commands.Frame, &v.Commands.Commands)
	case lockstep.ServerReportAnnounced:
		s.queue.announced(v.Announced.Frame, v.Announced.Due, v.Announced.Length, v.Announced.Next)
		if !s.running && s.cfg.OnRunning != nil {
			defer s.cfg.OnRunning()
		}
		s.running = true
	}
	s.look(&r.Machine)
	if s.ready {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

// crowded reports whether more look on than may.
func (s *Server) crowded(m *lockstep.Server) bool {
	n := 0
	for p := range links + 1 {
		if m.There.Has(fsm.Peer(p)) {
			n++
		}
	}
	for i := range m.Seat {
		if m.Seat[i].Present {
			n--
		}
	}
	return s.cfg.Watchers > 0 && n > s.cfg.Watchers
}

// tell tells the program what it may want to know.
func (s *Server) tell(v *lockstep.ServerReport) {
	c := &s.cfg
	switch v.Kind {
	case lockstep.ServerReportCame:
		slot := Watch
		if v.Came.Slot.Present {
			slot = int(v.Came.Slot.Value)
		}
		if c.OnCame != nil {
			c.OnCame(v.Came.Name.String(), slot)
		}
	case lockstep.ServerReportBegan:
		c.Record.Begin(uint32(v.Began.Seed), players(v.Began.Players))
	case lockstep.ServerReportSat:
		if c.OnSat != nil {
			c.OnSat(v.Sat.Name.String(), int(v.Sat.Slot))
		}
	case lockstep.ServerReportWent:
		if c.OnWent != nil {
			c.OnWent(int(v.Went.Slot), v.Went.Reason)
		}
	case lockstep.ServerReportOver:
		if c.OnOver != nil {
			c.OnOver()
		}
	}
}
