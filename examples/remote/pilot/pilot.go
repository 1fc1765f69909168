// Package pilot is a player at a gameserver of Parsec, with its two connections: lines over TCP, by which it joins and
// hears who plays, and the packets of the game over UDP. What happens comes as records, as a recording has them, so
// that a program shows a session and its playback by the same means.
//
// What is said on the wire is the business of the generated machine, what events are that of package remote. The game
// has the clock and the pace: it calls Send as often as it wants to. Start from [Dial].
package pilot

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/parley-go/parley/examples/remote"
	"github.com/parley-go/parley/machines/events"
	"github.com/parley-go/parley/machines/gameserver"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/play"
)

// GamePort is where a gameserver hears the packets of the game.
const GamePort = "6522"

// ToAll is the slot of a line that the server says to its players.
const ToAll = remote.ToAll

// Options say where the server is, and who plays.
type Options struct {
	Lines  string // host:port of the lines, over TCP
	Game   string // host:port of the packets, over UDP; "" is GamePort at the host of Lines
	Name   string // 1 to 31 characters without blanks
	System string // what the list shows as the operating system; at most 31 characters without blanks, may be empty
	// Heard gets everything that happens, what this player does included, one after another. It must not wait, and
	// calls no method of the Pilot. The data counts until it returns. May be nil.
	Heard func(remote.Record)
	// At returns where an object of this player is, false if it is gone, so that lasers and missiles are sent from
	// where they are. May be nil.
	At     func(events.Object) (events.Matrix, bool)
	Logger *slog.Logger // may be nil
}

// Player is somebody in the server's list.
type Player struct {
	Slot     uint8
	Name, IP string
	Me       bool
}

// Pilot is a player at a server. All methods may be called by any goroutine.
type Pilot struct {
	o     Options
	s     *play.Session[*gameserver.ClientRunner]
	epoch time.Time
	slot  uint8

	mu      sync.Mutex // of all below, and while Heard is called
	ready   bool       // the server has given us a key, without which it hears nothing
	name    string
	others  [16]Player
	out     remote.Outbox
	due     remote.Reckoner
	ship    []byte       // nil: no ship flies
	asked   bool         // Rename has, and there is no answer yet
	answer  chan<- error // of who waits for it in Rename; may be nil
	refused error
}

// errClosed is why a session has ended that Close has ended.
var errClosed = errors.New("the connection to the server is over")

// Dial joins at a server, and returns when there is a slot. The slot stays this player's until Close, whether its ship
// flies or not, and also when ctx has ended, which bounds the joining alone. An error says why there is none, in the
// server's words where it has answered.
func Dial(ctx context.Context, o Options) (*Pilot, error) {
	name, err := named(o.Name)
	if err != nil {
		return nil, err
	}
	system, ok := gameserver.NewSystem(o.System)
	if !ok || strings.ContainsAny(o.System, " \t\r\n") {
		return nil, fmt.Errorf("%q is no system: it has at most 31 characters, and no blanks", o.System)
	}
	host, _, err := net.SplitHostPort(o.Lines)
	if err != nil {
		return nil, err
	}
	p := &Pilot{o: o, epoch: time.Now(), name: o.Name}
	r := gameserver.NewClientRunner()
	p.s, err = Join(ctx, o.Lines, cmp.Or(o.Game, net.JoinHostPort(host, GamePort)), r, p.handlers(r),
		play.Options{Logger: o.Logger}, name, system)
	if err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		return nil, cmp.Or(p.refused, err)
	}
	return p, nil
}

// Join is for a program that has handlers of its own, without a [Pilot]: it joins at a server, and returns when
// Welcome has been handled. The session ends with its Close: ctx bounds the joining alone. Why a server refuses
// somebody is told to the handlers.
func Join(
	ctx context.Context, lines, game string, r *gameserver.ClientRunner, h *gameserver.ClientHandlers,
	o play.Options, name gameserver.Name, system gameserver.System,
) (*play.Session[*gameserver.ClientRunner], error) {
	welcome, told := make(chan struct{}), h.Welcome
	h.Welcome = func(w gameserver.ClientWelcomeReport) {
		told(w)
		close(welcome)
	}
	// The session has a context of its own.
	life, die := context.WithCancel(context.WithoutCancel(ctx))
	joined := context.AfterFunc(ctx, die)
	s, err := play.DialChannels(life, []play.Place{{Channel: "lines", Network: "tcp4", Address: lines},
		{Channel: "game", Network: "udp4", Address: game}}, r, h, o)
	if err != nil {
		die()
		return nil, errors.Join(err, context.Cause(ctx))
	}
	go func() {
		<-s.Done()
		die()
	}()
	err = s.Give(func(r *gameserver.ClientRunner) fsm.Result {
		return r.Join(gameserver.Version{Major: 1}, name, system)
	})
	if err == nil {
		select {
		case <-welcome:
			if joined() {
				return s, nil
			}
		case <-s.Done():
		case <-ctx.Done():
		}
	}
	end := s.Close()
	return nil, cmp.Or(context.Cause(ctx), err, end, errClosed)
}

// named returns a name as the machine has it.
func named(s string) (gameserver.Name, error) {
	n, ok := gameserver.NewName(s)
	if !ok || s == "" || strings.ContainsAny(s, " \t\r\n") {
		return n, fmt.Errorf("%q is no name: it has 1 to 31 characters, and no blanks", s)
	}
	return n, nil
}

// refusals are the server's words.
var refusals = map[gameserver.Why]string{
	gameserver.WhyFull:         "server full",
	gameserver.WhyInvalid:      "you sent an invalid request, or somebody has this name",
	gameserver.WhyIncompatible: "server version incompatible",
	gameserver.WhyBanned:       "you're banned from this server",
}

// handlers are what the machine reports.
func (p *Pilot) handlers(r *gameserver.ClientRunner) *gameserver.ClientHandlers {
	return &gameserver.ClientHandlers{
		Welcome: func(w gameserver.ClientWelcomeReport) {
			p.slot = uint8(w.Slot) // before anybody has the Pilot
			p.hear(remote.LineRecord, p.slot, addLine(Player{Slot: p.slot, Name: p.o.Name}))
		},
		Says: func(s gameserver.ClientSaysReport) { p.hear(remote.LineRecord, ToAll, []byte(s.Text.String())) },
		Refused: func(f gameserver.ClientRefusedReport) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.refused = errors.New(refusals[f.Why])
		},
		Changed: func() { p.changed(&r.Machine) },
		Renamed: func(n gameserver.ClientRenamedReport) { p.renamed(n.Name.String()) },
		Taken:   func() { p.reply(errors.New("name already taken")) },
		Rejected: func() {
			p.reply(errors.New("the server could not make anything of it"))
		},
		Ship: func(s gameserver.ClientShipReport) { p.hear(remote.ShipRecord, uint8(s.Slot), s.Ship.Data[:]) },
		Hidden: func(h gameserver.ClientHiddenReport) {
			p.hear(remote.HiddenRecord, uint8(h.Slot), nil)
		},
		Happened: func(h gameserver.ClientHappenedReport) {
			if h.Events.Len == 0 {
				return
			}
			owner := ToAll // the list says whose its events are
			if h.Slot.Present {
				owner = uint8(h.Slot.Value)
			}
			p.hear(remote.EventsRecord, owner, h.Events.Data[:h.Events.Len])
		},
	}
}

func (p *Pilot) hear(k remote.Kind, slot uint8, data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tell(k, slot, data)
}

// tell passes a record on; p.mu is held, so that one follows the other.
func (p *Pilot) tell(k remote.Kind, slot uint8, data []byte) {
	if p.o.Heard != nil {
		p.o.Heard(remote.Record{Kind: k, At: time.Since(p.epoch), Slot: slot, Data: data})
	}
}

// changed takes over who plays beside us.
func (p *Pilot) changed(m *gameserver.Client) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range m.Others {
		var now Player
		if o := &m.Others[i]; o.Present {
			now = Player{Slot: uint8(i), Name: o.Value.Name.String(), IP: o.Value.Ip.String()}
		}
		before := p.others[i]
		if p.others[i] = now; before == now {
			continue
		}
		if before.IP != "" && before.IP != now.IP {
			p.tell(remote.LineRecord, uint8(i), fmt.Appendf(nil, "remove ip: %s", before.IP))
		}
		if now.IP != "" {
			p.tell(remote.LineRecord, uint8(i), addLine(now))
		}
	}
}

// addLine is how a server tells of a player.
func addLine(p Player) []byte {
	return fmt.Appendf(nil, "add ip: %s name: %s in %d", cmp.Or(p.IP, "0.0.0.0"), p.Name, p.Slot)
}

func (p *Pilot) renamed(name string) {
	p.mu.Lock()
	p.name = name
	p.tell(remote.LineRecord, p.slot, addLine(Player{Slot: p.slot, Name: name}))
	// The document has it told once more, among the events.
	p.out.Add(&events.Message{Kind: events.MessagePlayerName,
		PlayerName: events.PlayerNameMessage{Name: remote.Name(name)}})
	p.mu.Unlock()
	p.reply(nil)
}

// reply answers Rename. A refusal that nobody waits for any more is told among what the server says; a new name is in
// the list anyway.
func (p *Pilot) reply(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = false
	switch {
	case p.answer != nil:
		p.answer <- err // it has room
		p.answer = nil
	case err != nil:
		p.tell(remote.LineRecord, ToAll, []byte(err.Error()))
	}
}

// Slot is this player's.
func (p *Pilot) Slot() uint8 { return p.slot }

// Players are those in the server's list, by slot.
func (p *Pilot) Players() (list []Player) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, o := range p.others {
		switch {
		case uint8(i) == p.slot:
			list = append(list, Player{Slot: p.slot, Name: p.name, Me: true})
		case o.IP != "":
			list = append(list, o)
		}
	}
	return list
}

// Fly has the ship of this player somewhere: it has joined the game.
func (p *Pilot) Fly(s remote.Ship) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ship = s.Append(p.ship[:0])
}

// Land takes the ship out of the game. The player watches, and keeps its slot.
func (p *Pilot) Land() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ship = nil
}

// Allowed reports whether an event of this kind has room in the next packet.
func (p *Pilot) Allowed(kind events.MessageKind) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Allowed(kind)
}

// Add has an event sent with the next packet, once, and reports whether there was room.
func (p *Pilot) Add(m *events.Message) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Add(m)
}

// Say says something to all others with the next packet.
func (p *Pilot) Say(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := remote.Text(p.name, text)
	return p.out.Add(&m)
}

// noShip differs from all ships, so that a landing is sent at once.
var noShip = bytes.Repeat([]byte{0xff}, remote.ShipSize)

// Send sends the state of the ship and what has happened, if anything is new or half a second is over. A game calls
// it at its pace; who never does is given up by the server after 20 s.
func (p *Pilot) Send() error {
	select {
	case <-p.s.Done():
		return p.Err()
	default:
	}
	if ready, err := p.hasKey(); !ready {
		return err
	}
	p.mu.Lock()
	state := p.ship
	if state == nil {
		state = noShip
	}
	landed, last := p.ship == nil, p.due.Last()
	flew := last != nil && !bytes.Equal(last, noShip)
	if !p.due.Due(time.Since(p.epoch), state, p.out.Len()) {
		p.mu.Unlock()
		return nil
	}
	var list gameserver.Events
	b, _ := p.out.Flush(list.Data[:0], remote.MaxList, p.o.At)
	list.Len = uint16(len(b))
	var ship gameserver.Optional[gameserver.Ship]
	if !landed {
		ship.Present = true
		ship.Value, _ = gameserver.NewShip(string(state))
		p.tell(remote.ShipRecord, p.slot, state)
	} else if flew {
		p.tell(remote.HiddenRecord, p.slot, nil)
	}
	if list.Len > 0 {
		p.tell(remote.EventsRecord, p.slot, list.Data[:list.Len])
	}
	p.mu.Unlock()
	return p.give(func(r *gameserver.ClientRunner) fsm.Result { return r.Tell(ship, list) })
}

// hasKey finds out whether the key has come, which is sent behind the greeting.
func (p *Pilot) hasKey() (ready bool, err error) {
	p.mu.Lock()
	ready = p.ready
	p.mu.Unlock()
	if ready {
		return true, nil
	}
	err = p.s.Look(func(r *gameserver.ClientRunner) { ready = r.Machine.Key.Present })
	p.mu.Lock()
	p.ready = p.ready || ready
	p.mu.Unlock()
	return ready, p.why(err)
}

// Rename asks for another name, and waits for the answer until ctx ends. An answer that comes later counts all the
// same: it is told to Heard.
func (p *Pilot) Rename(ctx context.Context, name string) error {
	n, err := named(name)
	if err != nil {
		return err
	}
	p.mu.Lock()
	asked := p.asked
	p.mu.Unlock()
	if asked {
		return errors.New("the server has not answered the last request for a name yet")
	}
	answer := make(chan error, 1)
	err = p.give(func(r *gameserver.ClientRunner) fsm.Result {
		res := r.Rename(n)
		if res.Code == fsm.Took {
			p.mu.Lock()
			p.asked, p.answer = true, answer
			p.mu.Unlock()
		}
		return res
	})
	if err != nil {
		return err
	}
	select {
	case err := <-answer:
		return err
	case <-p.s.Done():
		return p.Err()
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case err := <-answer: // just now
		return err
	default:
		p.answer = nil
		return fmt.Errorf("the server has not answered yet: %w", context.Cause(ctx))
	}
}

func (p *Pilot) give(f func(*gameserver.ClientRunner) fsm.Result) error { return p.why(p.s.Give(f)) }

// why says what it means that a command was not taken.
func (p *Pilot) why(err error) error {
	if errors.Is(err, driver.ErrStopped) {
		<-p.s.Done()
		return p.Err()
	}
	return err
}

// Done is closed when the connection to the server is over.
func (p *Pilot) Done() <-chan struct{} { return p.s.Done() }

// Err waits until the connection is over, and says why.
func (p *Pilot) Err() error { return cmp.Or(p.s.Wait(), errClosed) }

// Close leaves the server, and waits for its answer until ctx ends. The slot is free then.
func (p *Pilot) Close(ctx context.Context) error {
	err := p.s.Give(func(r *gameserver.ClientRunner) fsm.Result { return r.Leave() })
	if err == nil {
		select {
		case <-p.s.Done():
		case <-ctx.Done():
		}
	}
	return p.s.Close()
}
