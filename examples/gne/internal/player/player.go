// Package player is a player of the protocol gne: it comes into the game with two sockets, keeps a board that is like
// the server's, and does what lines say. It knows no terminal: who uses it is told what to show. Start from [Join].
package player

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/parley-go/parley/examples/gne/internal/board"
	"github.com/parley-go/parley/examples/internal/typed"
	"github.com/parley-go/parley/machines/gne"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/tcp"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// Version is that of GNE whose bytes these are: 0.0.7.
const Version gne.Version = 0x00070000

// Settings are what a program says of itself; without a UDP port (0) all goes over TCP.
func Settings(game string, edition uint, port int) (s gne.Settings, err error) {
	name, ok := gne.NewGame(game)
	switch {
	case !ok || strings.Contains(game, "\x00"):
		return s, errors.New("-game: a name has at most 31 bytes, and no zero in it")
	case edition > 1<<32-1:
		return s, errors.New("-edition: a number of 32 bits")
	}
	s = gne.Settings{Version: Version, Game: name, Edition: gne.Edition(edition)}
	if port > 0 {
		s.Port = gne.Optional[gne.Port]{Present: true, Value: gne.Port(port)}
	}
	return s, nil
}

// PortOf is the port of an address.
func PortOf(a net.Addr) int {
	_, port, _ := net.SplitHostPort(a.String())
	n, _ := strconv.Atoi(port)
	return n
}

// KeyOf is the key in a datagram of a player, 0 if there is none.
func KeyOf(frame []byte) uint64 {
	if len(frame) < 6 || frame[0] != 27 {
		return 0
	}
	return uint64(binary.LittleEndian.Uint32(frame[1:])) | uint64(frame[5])<<32
}

// Options are what a player has of its own.
type Options struct {
	Name     string
	Game     string
	Edition  uint
	NoUDP    bool
	Show     func(line string) // is told what to read; called by the machine's goroutine and by who calls Type
	Changed  func(change string, b *board.Board)
	Datagram func(transport.Link) (transport.Link, error) // what the UDP link is put behind; nil: nothing
}

// Player is one player with its connection.
type Player struct {
	Board *board.Board // belongs to the machine's goroutine
	o     Options
	d     *driver.Driver[*gne.ClientRunner]
	host  string
	link  *tcp.Link
	udp   *udp.Link
	inner bool // is in the game
	place gne.Place
	end   error
	joins chan struct{}
	seen  int
}

// refresh is how often a player says where it is, though it has not moved: so the server knows that it is there.
const refresh = 10 * time.Second

// Join connects to a server. Run plays then.
func Join(ctx context.Context, address string, o Options) (*Player, error) {
	p := &Player{Board: board.New(), o: o, joins: make(chan struct{})}
	if p.o.Show == nil {
		p.o.Show = func(string) {}
	}
	name, ok := gne.NewName(o.Name)
	if !ok {
		return nil, fmt.Errorf("-name: a name has at most %d bytes", len(name.Data))
	}
	var err error
	if p.host, _, err = net.SplitHostPort(address); err != nil {
		return nil, err
	}
	if p.link, err = tcp.Dial(ctx, "tcp4", address, tcp.Config{}); err != nil {
		return nil, err
	}
	port := 0
	if !o.NoUDP {
		if p.udp, err = udp.Open("udp4", ":0", udp.Config{Limits: udp.Limits{MaxPeers: 1}}); err != nil {
			p.link.Abort()
			return nil, err
		}
		port = PortOf(p.udp.LocalAddr())
	}
	settings, err := Settings(o.Game, o.Edition, port)
	if err != nil {
		p.abort()
		return nil, err
	}
	p.d = driver.New(gne.NewClientRunner(), driver.Options[*gne.ClientRunner]{
		OnReport: p.handlers(settings, name).OnReport, StopAtFinal: true, KeepMalformed: true,
	})
	return p, nil
}

func (p *Player) abort() {
	p.link.Abort()
	if p.udp != nil {
		p.udp.Abort()
	}
}

func (p *Player) handlers(settings gne.Settings, name gne.Name) *gne.ClientHandlers {
	give := func(f command) { p.d.Post(f) }
	return &gne.ClientHandlers{
		Reached: func() { give(func(r *gne.ClientRunner) fsm.Result { return r.Connect(settings) }) },
		Opened:  p.opened,
		Wanted: func() {
			give(func(r *gne.ClientRunner) fsm.Result { return r.Describe(name, gne.About{}) })
		},
		Suggested: func(s gne.ClientSuggestedReport) {
			p.show("the server calls you %s", s.Name)
			give((*gne.ClientRunner).Agree)
		},
		Accepted: func(a gne.ClientAcceptedReport) { p.show("you are player %d", a.Id) },
		Piece:    func(r gne.ClientPieceReport) { p.changed(r.Data.String()) },
		Changed: func(r gne.ClientChangedReport) {
			p.changed(r.Data.String())
			if p.o.Changed != nil {
				p.o.Changed(r.Data.String(), p.Board)
			}
		},
		Joined: func() {
			p.inner = true
			close(p.joins)
			p.show("you are in the game; " + Help)
		},
		Said: func(s gne.ClientSaidReport) { p.show("%s", s.Data) },
		Moved: func(m gne.ClientMovedReport) {
			p.seen++
			p.show("%s is at %d %d", p.Board.Players[int(m.Id)], int32(m.Place>>32), int32(m.Place))
		},
		Refused: func(r gne.ClientRefusedReport) { p.ends(fmt.Errorf("refused: %s", refusals[r.Why])) },
		Failed:  func(f gne.ClientFailedReport) { p.ends(fmt.Errorf("no connection: %v", f.Why)) },
		Exited:  func() { p.ends(errors.New("the server has ended the connection")) },
		Failure: func() { p.ends(errors.New("the connection has broken")) },
		TimeOut: func() { p.show("nothing is heard of the server") },
	}
}

var refusals = map[gne.Why]string{gne.WhyFull: "the server is full", gne.WhyUnwanted: "the server does not want you",
	gne.WhyUndecided: "there was no agreement on a name", gne.WhySlow: "that took too long"}

func (p *Player) ends(err error) {
	if p.end == nil {
		p.end = err
	}
}

// opened gives the machine its UDP socket: the server's port is known now.
func (p *Player) opened(o gne.ClientOpenedReport) {
	if p.udp == nil || !o.Port.Present {
		return
	}
	_, err := p.udp.AddPeer(net.JoinHostPort(p.host, strconv.Itoa(int(o.Port.Value))))
	var l transport.Link = p.udp
	if err == nil && p.o.Datagram != nil {
		l, err = p.o.Datagram(l)
	}
	if err == nil {
		err = p.d.AttachOn(0, "udp", l)
	}
	if err != nil {
		p.show("no UDP: %v", err)
	}
}

func (p *Player) show(format string, args ...any) {
	p.o.Show(typed.Clean(fmt.Sprintf(format, args...)))
}

// changed makes a change of the server's here, too.
func (p *Player) changed(change string) {
	if change == "" {
		return // the copy of an empty board
	}
	c, err := board.Parse(change)
	if err == nil {
		err = p.Board.Apply(c)
	}
	switch {
	case err != nil:
		p.show("the server says what is not possible, %q: %v", change, err)
	case p.inner && c.Kind == board.Comes:
		p.show("%s is in the game", c.Name)
	case p.inner && c.Kind == board.Goes:
		p.show("player %d has left", c.Player)
	case p.inner && c.Kind != board.Remove:
		p.show("%s is %s", c.Name, p.Board.Objects[c.Name])
	case p.inner:
		p.show("%s is gone", c.Name)
	}
}

// Joined is closed when the player is in the game.
func (p *Player) Joined() <-chan struct{} { return p.joins }

// Seen is how many places of others the player was told.
func (p *Player) Seen(ctx context.Context) (n int) {
	p.d.Read(ctx, func(*gne.ClientRunner) { n = p.seen })
	return n
}

// Run plays until the connection is over or ctx ends. The error says why the player is not in the game any more; it is
// nil if it has left.
func (p *Player) Run(ctx context.Context) error {
	if err := p.d.Attach(0, p.link); err != nil {
		p.abort()
		return err
	}
	stop := p.keep(ctx)
	err := p.d.Run(ctx)
	stop()
	if p.udp != nil {
		p.udp.Abort()
	}
	if p.end != nil {
		return p.end
	}
	return err
}

// keep says again and again where the player is.
func (p *Player) keep(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		t := time.NewTicker(refresh)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				p.d.Post(func(r *gne.ClientRunner) fsm.Result {
					if !p.inner {
						return fsm.Result{Code: fsm.Ignored, Transition: fsm.NoTransition}
					}
					return r.Move(p.place)
				})
			case <-ctx.Done():
				return
			}
		}
	}()
	return cancel
}

// Break ends the connection without a word, as a power cut does.
func (p *Player) Break() { p.abort() }

type command = func(*gne.ClientRunner) fsm.Result

// Help is what can be typed.
const Help = "/set NAME VALUE  /add NAME NUMBER  /remove NAME  /move X Y  /board  /quit; anything else is said to all"

// Type does what a line says. The error is for who has typed it.
func (p *Player) Type(ctx context.Context, line string) error {
	line = strings.TrimRight(line, "\r\n")
	word, arg, _ := strings.Cut(line, " ")
	var do command
	var err error
	switch word {
	case "":
		return nil
	case "/set":
		do, err = p.act(board.Set, arg)
	case "/add":
		do, err = p.act(board.Add, arg)
	case "/remove":
		do, err = p.act(board.Remove, arg)
	case "/move":
		do, err = p.move(arg)
	case "/board":
		return p.d.Read(ctx, func(*gne.ClientRunner) { p.show("%s", p.Board) })
	case "/quit":
		do = (*gne.ClientRunner).Leave
	default:
		data, ok := gne.NewData(line)
		switch {
		case strings.HasPrefix(word, "/"):
			return fmt.Errorf("there is no %s; %s", word, Help)
		case !ok:
			return errors.New("that is too long to be said")
		}
		do = func(r *gne.ClientRunner) fsm.Result { return r.Say(data) }
	}
	if err != nil {
		return err
	}
	_, err = p.d.Do(ctx, do)
	return typed.Answer(err)
}

func (p *Player) act(kind board.Kind, arg string) (command, error) {
	c, err := board.Parse(string(kind) + strings.TrimSpace(arg))
	if err != nil {
		return nil, err
	}
	data, _ := gne.NewData(c.String())
	return func(r *gne.ClientRunner) fsm.Result {
		if err := p.Board.Possible(c); err != nil {
			p.show("%v", err) // the server decides, and its board may be another one by then
		}
		return r.Act(data)
	}, nil
}

func (p *Player) move(arg string) (command, error) {
	first, second, _ := strings.Cut(strings.TrimSpace(arg), " ")
	x, err := strconv.ParseInt(first, 10, 32)
	y, err2 := strconv.ParseInt(second, 10, 32)
	if errors.Join(err, err2) != nil {
		return nil, errors.New("a place is two numbers of 32 bits: /move X Y")
	}
	return func(r *gne.ClientRunner) fsm.Result {
		p.place = gne.Place(uint64(uint32(x))<<32 | uint64(uint32(y)))
		return r.Move(p.place)
	}, nil
}
