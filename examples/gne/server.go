package main

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/parley-go/parley/examples/gne/internal/board"
	"github.com/parley-go/parley/examples/gne/internal/player"
	"github.com/parley-go/parley/examples/internal/doors"
	"github.com/parley-go/parley/examples/internal/pipe"
	"github.com/parley-go/parley/examples/internal/ports"
	"github.com/parley-go/parley/examples/internal/typed"
	"github.com/parley-go/parley/machines/gne"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/tcp"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// maxClients is how many connections the machine can tell apart.
const maxClients = len(gne.Server{}.Keys) - 1

// Of what one player asks for, burst may come at once and perSecond in the long run; who asks for more is sent away. It
// is the same with movesBurst and movesPerSecond for where it is, which the machine counts for all players together.
const (
	burst          = 100
	perSecond      = 50
	movesBurst     = 400
	movesPerSecond = 100
)

// rate is how many bytes a second are read of one connection, so that who floods the server floods nobody else.
const rate = 16 << 10

// patience is how often a player may have been silent for the machine's time (30 s) before it is given up.
const patience = 3

// job is one command for the machine. It returns false if there is nothing to do any more.
type job func(*gne.ServerRunner) (fsm.Result, bool)

// server is a game server. What follows `board` belongs to the machine's goroutine: the board and the machine change
// there together, so a copy of the board is that of one moment, which is what the document wants its mutex for.
type server struct {
	game       string
	edition    uint
	handshake  time.Duration // for who says nothing
	perAddress int
	often      int // connections a second of one address; 0 for the link's own limit, -1 for none at all
	log        *slog.Logger

	d       *driver.Driver[*gne.ServerRunner]
	ports   *ports.Ports
	board   *board.Board
	clients [maxClients + 1]client
	jobs    []job
	working bool
	joins   int
	leaves  int
	flooded int
	// changed is told of each change when it is made. A test compares.
	changed func(change string, b *board.Board)
}

// client is one connection.
type client struct {
	address string
	number  int // of the player; 0: is none
	name    string
	silent  int
	asks    budget
	moves   budget
	flooded bool // is being sent away
}

// budget is how much of something a player may still do.
type budget struct {
	left  float64
	since time.Time
}

// take reports whether there is something left, and takes one of it.
func (b *budget) take(perSecond, most float64) bool {
	now := time.Now()
	b.left = min(b.left+perSecond*now.Sub(b.since).Seconds(), most) - 1
	b.since = now
	return b.left >= 0
}

// open opens the server's port of TCP at address, and that of UDP at socket.
func (s *server) open(address, socket string) (*tcp.Listener, error) {
	listener, err := tcp.Listen("tcp", address,
		tcp.Config{MaxLinks: maxClients - 4, PerAddress: s.perAddress, AddressRate: s.often,
			AcceptRate: min(s.often, 0), Logger: s.log})
	if err != nil {
		return nil, err
	}
	s.ports, err = ports.Open(socket, maxClients, udp.Limits{FrameRate: 200, ByteRate: 20 << 10, Logger: s.log},
		player.KeyOf)
	if err != nil {
		listener.Close()
		return nil, err
	}
	return listener, nil
}

// serve runs the server until ctx ends, which is no error.
func (s *server) serve(ctx context.Context, listener *tcp.Listener) error {
	settings, err := player.Settings(s.game, s.edition, player.PortOf(s.ports.LocalAddr()))
	if err == nil {
		var r *gne.ServerRunner
		if r, err = gne.NewServerRunner(settings); err == nil {
			return s.run(ctx, listener, r)
		}
	}
	listener.Close()
	s.ports.Abort()
	return err
}

func (s *server) run(ctx context.Context, listener *tcp.Listener, r *gne.ServerRunner) error {
	s.board = board.New()
	peers := doors.New(maxClients)
	h := gne.ServerHandlers{
		Arrived: func(a gne.ServerArrivedReport) {
			s.clients[a.Client] = client{address: peers.Address(int(a.Client)),
				asks: budget{burst, time.Now()}, moves: budget{movesBurst, time.Now()}}
		},
		Failed: func(f gne.ServerFailedReport) {
			s.log.Info("no connection", "address", peers.Address(int(f.Client)), "why", f.Why)
		},
		Judge:    s.judge,
		Accepted: s.accepted,
		Joined: func(j gne.ServerJoinedReport) {
			c := &s.clients[j.Client]
			s.joins++
			s.change(board.Change{Kind: board.Comes, Player: c.number, Name: c.name})
		},
		Asked: s.asked,
		Spoke: s.spoke,
		Moved: func(m gne.ServerMovedReport) {
			s.may(m.Client, s.clients[m.Client].moves.take(movesPerSecond, movesBurst))
		},
		TimeOut: s.timeOut,
		Left:    s.left,
	}
	s.d = driver.New(r, driver.Options[*gne.ServerRunner]{
		HandshakeLimit: s.handshake, Logger: s.log, OnReport: h.OnReport,
		KeepMalformedBeside: true, // a datagram's source can be forged
	})
	if err := s.d.AttachOn(1, "udp", s.ports); err != nil {
		listener.Close()
		s.ports.Abort()
		return err
	}
	slowed := func(l transport.Link) transport.Link { return pipe.Slowed(l, rate) }
	return doors.Serve(ctx, listener, peers, s.d, slowed)
}

// do has the machine take a command when the present step is over. Commands keep their order, and wait in a list, so
// that no handler has to give one up because the driver's mailbox is full.
func (s *server) do(j job) {
	s.jobs = append(s.jobs, j)
	s.pump()
}

func (s *server) pump() {
	if !s.working && len(s.jobs) > 0 {
		s.working = s.d.Post(s.work) == nil // without room the next command does it
	}
}

func (s *server) work(r *gne.ServerRunner) fsm.Result {
	s.working = false
	defer s.pump()
	for len(s.jobs) > 0 {
		j := s.jobs[0]
		s.jobs = s.jobs[1:]
		if res, ok := j(r); ok {
			return res
		}
	}
	return fsm.Result{Code: fsm.Ignored, Transition: fsm.NoTransition}
}

// judge lets a client in under its name, or suggests another one: what can be shown of it, with a number behind it if
// somebody else has it.
func (s *server) judge(j gne.ServerJudgeReport) {
	s.do(func(r *gne.ServerRunner) (fsm.Result, bool) {
		if r.Machine.Desk.Session[j.Client].State != gne.ServerDeskSessionStateJudging {
			return fsm.Result{}, false
		}
		name := board.CleanName(j.Name.String())
		if name == "" {
			name = "player"
		}
		if name == j.Name.String() {
			if res := r.Accept(j.Client); res.Code == fsm.Took {
				return res, true
			}
		}
		for n := 1; n <= 2*maxClients; n++ {
			other := name
			if n > 1 {
				number := strconv.Itoa(n)
				other = strings.ToValidUTF8(name[:min(len(name), board.MaxName-len(number))], "") + number
			}
			if t, ok := gne.NewName(other); ok {
				if res := r.Suggest(j.Client, t, j.About); res.Code == fsm.Took {
					return res, true
				}
			}
		}
		return r.Refuse(j.Client), true
	})
}

// accepted makes the copy of the board for a new player, and feeds it to the machine.
func (s *server) accepted(a gne.ServerAcceptedReport) {
	s.clients[a.Client].number, s.clients[a.Client].name = int(a.Id), a.Name.String()
	s.do(func(r *gne.ServerRunner) (fsm.Result, bool) {
		if r.Machine.Game.Session[a.Client].State != gne.ServerGameSessionStateAccepted {
			return fsm.Result{}, false // has gone meanwhile
		}
		key := gne.Key(s.ports.Admit(int(a.Client)-1, s.clients[a.Client].address))
		res := r.Copy(a.Client, key)
		if res.Code == fsm.Took {
			s.feed(a.Client, key, s.board.Copy())
		}
		return res, true
	})
}

// feed gives the machine one piece of a copy after another, and then what has changed since. Each waits its turn
// among the other commands, so the game goes on meanwhile.
func (s *server) feed(client fsm.Peer, key gne.Key, rest []board.Change) {
	s.do(func(r *gne.ServerRunner) (fsm.Result, bool) {
		if r.Machine.Keys[client] != key {
			return fsm.Result{}, false // another client is there now
		}
		switch r.Machine.Game.Session[client].State {
		case gne.ServerGameSessionStateDownloading:
			var data gne.Data
			if len(rest) > 0 {
				data, _ = gne.NewData(rest[0].String())
				rest = rest[1:]
			}
			res := r.Piece(client, data, len(rest) == 0)
			s.feed(client, key, rest)
			return res, true
		case gne.ServerGameSessionStateCatching:
			res := r.Next(client)
			s.feed(client, key, nil)
			return res, true
		}
		return fsm.Result{}, false // is in the game, or has gone
	})
}

// change changes the board and tells all.
func (s *server) change(c board.Change) {
	s.do(func(r *gne.ServerRunner) (fsm.Result, bool) {
		if err := s.board.Apply(c); err != nil {
			s.log.Info("not possible", "change", c, "error", err)
			return fsm.Result{}, false
		}
		if s.changed != nil {
			s.changed(c.String(), s.board)
		}
		data, _ := gne.NewData(c.String())
		return r.Change(data), true
	})
}

// asked has a change that a player wants made.
func (s *server) asked(a gne.ServerAskedReport) {
	if !s.may(a.Client, s.clients[a.Client].asks.take(perSecond, burst)) {
		return
	}
	c, err := board.Parse(a.Data.String())
	if err != nil || c.Kind == board.Comes || c.Kind == board.Goes {
		s.log.Info("asks for what there is not", "player", s.clients[a.Client].name, "what", a.Data, "error", err)
		return
	}
	s.change(c)
}

// spoke has what a player says told to all.
func (s *server) spoke(p gne.ServerSpokeReport) {
	if !s.may(p.Client, s.clients[p.Client].asks.take(perSecond, burst)) {
		return
	}
	line := typed.Clean(s.clients[p.Client].name + ": " + p.Data.String())
	data, _ := gne.NewData(strings.ToValidUTF8(line[:min(len(line), len(gne.Data{}.Data))], ""))
	s.do(func(r *gne.ServerRunner) (fsm.Result, bool) { return r.Say(data), true })
}

// may reports whether a player may go on, who has something left or not; who floods the server is sent away.
func (s *server) may(peer fsm.Peer, left bool) bool {
	c := &s.clients[peer]
	c.silent = 0
	if left || c.flooded {
		return !c.flooded
	}
	c.flooded = true
	s.flooded++
	s.log.Info("a player asks for too much", "player", c.name)
	s.drop(peer)
	return false
}

func (s *server) drop(peer fsm.Peer) {
	key := gne.Key(s.ports.Key(int(peer) - 1))
	s.do(func(r *gne.ServerRunner) (fsm.Result, bool) {
		if r.Machine.Link[peer].State != gne.ServerLinkStateConnected || key != 0 && r.Machine.Keys[peer] != key {
			return fsm.Result{}, false
		}
		return r.Drop(peer), true
	})
}

// timeOut gives up a player of whom nothing is heard.
func (s *server) timeOut(t gne.ServerTimeOutReport) {
	if s.clients[t.Client].silent++; s.clients[t.Client].silent >= patience {
		s.log.Info("nothing is heard any more", "player", s.clients[t.Client].name)
		s.drop(t.Client)
	}
}

// left takes a player off the board.
func (s *server) left(l gne.ServerLeftReport) {
	c := s.clients[l.Client]
	s.clients[l.Client] = client{}
	if c.number == 0 {
		return
	}
	s.do(func(r *gne.ServerRunner) (fsm.Result, bool) {
		if s.board.Players[c.number] != c.name {
			return fsm.Result{}, false // was not in the game yet
		}
		s.leaves++
		s.change(board.Change{Kind: board.Goes, Player: c.number})
		return fsm.Result{}, false
	})
}
