// Package seek is the player's side of a cluster: it finds the server that has a lobby or match, and finds it again
// when it has moved.
//
// Where to ask next, and whom to believe, is the business of machines/tenure. It must not know what is said to
// the server then. Start from [New] and [Seeker.Find]; [Match] plays a match wherever it goes.
package seek

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"time"

	"github.com/parley-go/parley/examples/cluster/internal/node"
	"github.com/parley-go/parley/examples/cluster/machines/tenure"
	"github.com/parley-go/parley/runtime/fsm"
)

// Seeker looks for one game. One goroutine uses it.
type Seeker struct {
	doors    []string
	next     int
	game     tenure.JoinMessage
	patience time.Duration
	r        *tenure.PlayerRunner
	// Hops is how many servers were asked, over all.
	Hops int
}

const (
	door = 1 // the number of the server that is asked; it is another one each time
	self = 2
)

// Prove has the seeker say that it is the player who has this key. A match that goes on elsewhere asks for it.
func (s *Seeker) Prove(key uint64) {
	s.game.Secret, _ = tenure.NewSecret(strconv.FormatUint(key, 16)) // never longer than the type
}

// New returns a seeker for a game, which knows these addresses of servers: one is enough. Who is the player's name,
// and may be empty; seats is how many play a match, 0 for who watches.
func New(doors []string, kind tenure.Kind, game, who string, seats int) (*Seeker, error) {
	name, ok := tenure.NewName(game)
	player, fits := tenure.NewName(who)
	if !ok || !fits || game == "" {
		return nil, fmt.Errorf("seek: names of 1 to 64 bytes: %.70q, %.70q", game, who)
	}
	if len(doors) == 0 || seats < 0 || seats > 8 {
		return nil, errors.New("seek: at least one address, and 0 to 8 players")
	}
	patience := 2 * time.Second
	r, err := tenure.NewPlayerRunner(uint32(patience/time.Millisecond), self)
	if err != nil {
		return nil, err
	}
	return &Seeker{doors: doors, next: rand.IntN(len(doors)), patience: patience, r: r,
		game: tenure.JoinMessage{Kind: kind, Game: name, Who: player, Seats: tenure.Seats(seats)}}, nil
}

// Epoch is the latest that the seeker knows of.
func (s *Seeker) Epoch() uint32 { return uint32(s.r.Machine.Epoch) }

const (
	firstPause = 20 * time.Millisecond
	lastPause  = 400 * time.Millisecond
	maxMoves   = 4 // in a row, without a pause
)

// Find asks until the game is found or ctx ends. The frame is how many the player has executed. Leads says that
// the player has the state from which the match goes on.
func (s *Seeker) Find(ctx context.Context, frame uint32) (conn *net.TCPConn, leads bool, err error) {
	s.r.Cut() // what was found before is over
	pause, moves := firstPause, 0
	there := ""
	for {
		address := there
		if address == "" {
			address = s.doors[s.next%len(s.doors)]
			s.next++
		}
		there = ""
		s.Hops++
		var m tenure.Message
		if conn, m, err = s.ask(ctx, address, frame); err != nil {
			s.r.Timeout(0, 0)
		}
		if ctx.Err() != nil {
			if conn != nil {
				conn.Close()
			}
			return nil, false, ctx.Err()
		}
		for i := range s.r.Effects() {
			if s.r.Effect(i).Kind != fsm.Report {
				continue
			}
			switch s.r.Report(i).Kind {
			case tenure.PlayerReportPlaying:
				return conn, m.Here.Leads, nil
			case tenure.PlayerReportMoved:
				there = m.Moved.There.String()
			}
		}
		if conn != nil {
			conn.Close()
		}
		if moves++; there != "" && moves <= maxMoves {
			continue
		}
		moves = 0
		select { // not all at once
		case <-time.After(pause/2 + rand.N(pause)):
			pause = min(2*pause, lastPause)
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

// ask asks one server and gives its answer to the machine.
func (s *Seeker) ask(
	ctx context.Context, address string, frame uint32,
) (conn *net.TCPConn, m tenure.Message, err error) {
	s.r.Seek(door)
	var question []byte
	for i := range s.r.Effects() {
		if s.r.Effect(i).Kind == fsm.Send {
			j := *s.r.Message(i)
			j.Join.Kind, j.Join.Game, j.Join.Who, j.Join.Seats = s.game.Kind, s.game.Game, s.game.Who, s.game.Seats
			j.Join.Frame, j.Join.Secret = tenure.Frame(frame), s.game.Secret
			if question, err = tenure.AppendMessage(nil, &j); err != nil {
				return nil, m, err
			}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, m, err
	}
	conn = c.(*net.TCPConn)
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) }) // conn is another one after a return
	if _, err = conn.Write(question); err == nil {
		m, err = node.ReadFrame(conn)
	}
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		conn.Close()
		return nil, m, err
	}
	frameBytes, err := tenure.AppendMessage(nil, &m)
	if err == nil {
		_, err = s.r.Frame(door, frameBytes)
	}
	return conn, m, err
}
