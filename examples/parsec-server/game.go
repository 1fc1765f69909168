package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/parley-go/parley/examples/internal/doors"
	"github.com/parley-go/parley/examples/internal/ports"
	"github.com/parley-go/parley/examples/remote"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/machines/events"
	"github.com/parley-go/parley/machines/gameserver"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport/tcp"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// maxPilots is how many connections the gameserver can tell apart.
const maxPilots = len(gameserver.Server{}.List) - 1

// game is a gameserver: who plays is agreed in lines over TCP as with a slotserver, and the packets of the game go
// through it. The machine knows who may see what; when it is sent is the business of crowd.
type game struct {
	*server
	ports  *ports.Ports
	crowd  crowd
	record *remote.Recorder // nil: nothing is recorded
	file   *os.File         // of the recording; may be nil
	broken error            // why the recording ended

	d      *driver.Driver[*gameserver.ServerRunner]
	epoch  time.Time
	posted int // commands that wait in the mailbox
	listed [16]gameserver.Player
}

func (g *game) now() time.Duration { return time.Since(g.epoch) }

// serve runs the server until ctx ends, which is no error.
func (g *game) serve(ctx context.Context, listener *tcp.Listener) error {
	name, _ := gameserver.NewName(g.name)
	lines := gameserver.LineList{Len: uint8(len(g.greeting))}
	for i, l := range g.greeting {
		lines.Items[i], _ = gameserver.NewLine(l)
	}
	r, err := gameserver.NewServerRunner(name, lines)
	if err != nil {
		listener.Close()
		g.discard()
		return err
	}
	g.epoch = time.Now()
	peers := doors.New(maxPilots)
	h := gameserver.ServerHandlers{
		Asks:    func(a gameserver.ServerAsksReport) { g.d.Post(g.answer(a.Client, peers.Address(int(a.Client)))) },
		Changed: func() { g.changedList(&r.Machine) },
		State: func(s gameserver.ServerStateReport) {
			slot := r.Machine.List[s.Client].Value.Slot
			g.flown(slot, s.Ship)
			g.happened(slot, s.Events)
			g.pump()
		},
		Old: func(o gameserver.ServerOldReport) {
			g.happened(r.Machine.List[o.Client].Value.Slot, o.Events)
			g.pump()
		},
		Idle: func(i gameserver.ServerIdleReport) {
			slot := r.Machine.List[i.Client].Value.Slot
			if g.crowd.land(slot) {
				g.keep(remote.HiddenRecord, slot, nil)
			}
			g.happened(slot, i.Events)
			g.pump()
		},
		Silent: func(s gameserver.ServerSilentReport) {
			g.log.Info("nothing is heard of a player any more", "address", peers.Address(int(s.Client)))
		},
	}
	g.d = driver.New(r, driver.Options[*gameserver.ServerRunner]{
		HandshakeLimit: g.handshake, IdleLimit: g.idle, Logger: g.log, OnReport: h.OnReport, Mailbox: 4096,
		KeepMalformedBeside: true, // a datagram's source can be forged
	})
	if err := g.d.AttachOn(1, "game", g.ports); err != nil {
		listener.Close()
		g.discard()
		return err
	}
	err = doors.Serve(ctx, listener, peers, g.d, nil)
	return errors.Join(err, g.finish())
}

// finish ends the recording: what it has is on the disk then. It returns an error if something is missing there.
func (g *game) finish() error {
	if g.file == nil {
		return nil
	}
	if err := errors.Join(g.broken, g.file.Sync(), g.file.Close()); err != nil {
		return fmt.Errorf("-record: the end is missing: %w", err)
	}
	return nil
}

// discard gives up what open has opened, for a server that does not serve. So the recording can be begun again.
func (g *game) discard() {
	g.ports.Abort()
	if g.file != nil {
		g.file.Close()
		os.Remove(g.file.Name())
	}
}

// answer looks up whether a client may play, and gives it a key.
func (g *game) answer(client fsm.Peer, address string) func(*gameserver.ServerRunner) fsm.Result {
	ip, ok := gameserver.NewAddress(address)
	banned := g.banned(address)
	return func(r *gameserver.ServerRunner) fsm.Result {
		if banned || !ok {
			return r.Ban(client)
		}
		return r.Admit(client, ip, gameserver.Key(g.ports.Admit(int(client)-1, address)))
	}
}

// changedList takes the list over from the machine: for the page, the crowd and the recording.
func (g *game) changedList(m *gameserver.Server) {
	var list []player
	var now [16]gameserver.Player
	var clients [16]fsm.Peer
	for i := range m.List {
		if p := &m.List[i]; p.Present {
			now[p.Value.Slot], clients[p.Value.Slot] = p.Value, fsm.Peer(i)
			v := &p.Value
			list = append(list, player{int(v.Slot), v.Name.String(), v.Ip.String(), v.Os.String()})
		}
	}
	g.note(list)
	for slot := range now {
		before, p := &g.listed[slot], &now[slot]
		if before.Key != p.Key {
			g.crowd.enter(gameserver.Slot(slot), clients[slot])
		}
		if before.Key != 0 && before.Key != p.Key {
			g.line(gameserver.Slot(slot), gameserver.Message{Kind: gameserver.MessageGone,
				Gone: gameserver.GoneMessage{Ip: before.Ip}})
		}
		if p.Key != 0 && (before.Key != p.Key || before.Name != p.Name) {
			g.line(gameserver.Slot(slot), gameserver.Message{Kind: gameserver.MessageAdd,
				Add: gameserver.AddMessage{Ip: p.Ip, Name: p.Name, Slot: p.Slot}})
		}
	}
	g.listed = now
}

// line records what a player is told.
func (g *game) line(slot gameserver.Slot, m gameserver.Message) {
	if b, err := gameserver.AppendMessage(nil, &m); err == nil && len(b) > 0 {
		g.keep(remote.LineRecord, slot, b[:len(b)-1])
	}
}

// keep records something. A recording that cannot go on is given up, and the game goes on.
func (g *game) keep(k remote.Kind, slot gameserver.Slot, data []byte) {
	if g.record == nil {
		return
	}
	if err := g.record.Add(k, g.now(), uint8(slot), data); err != nil {
		g.log.Error("the recording ends here", "error", err)
		g.record, g.broken = nil, err
	}
}

// flown takes the newest state of a ship. One that is nowhere is not passed on.
func (g *game) flown(slot gameserver.Slot, ship gameserver.Ship) {
	s, ok := remote.ParseShip(ship.Data[:])
	if !ok {
		g.crowd.refused++
		return
	}
	g.keep(remote.ShipRecord, slot, ship.Data[:])
	g.crowd.fly(slot, ship, &s)
}

// happened takes the events of a player, up to the first that is malformed.
func (g *game) happened(slot gameserver.Slot, list gameserver.Events) {
	if list.Len == 0 {
		return
	}
	if taken := g.crowd.hear(g.now(), slot, list.Data[:list.Len]); len(taken) > 0 {
		g.keep(remote.EventsRecord, slot, taken)
	}
}

// pump has what is due sent, behind all that has come together with it: so of a burst of packets the critical events
// leave first, and only the newest state of each ship.
func (g *game) pump() { g.post(1) }

// post has so many commands in the mailbox. If there is no room the next packet does it.
func (g *game) post(n int) {
	for g.posted < n && g.d.Post(g.work) == nil {
		g.posted++
	}
}

// work gives the machine one command of those that are due. The first has all others follow at once, so that they leave
// together.
func (g *game) work(r *gameserver.ServerRunner) fsm.Result {
	job := g.crowd.next(g.now())
	g.posted--
	g.post(g.crowd.left())
	switch {
	case job.client == 0:
		return r.Spread(job.seen, job.events)
	case job.sight:
		return r.Sight(job.client, job.seen)
	}
	return r.Relay(job.client, job.seen, job.ship, job.events)
}

// gameFlags are what -mode game has beside the flags of both modes.
type gameFlags struct {
	udp, record string
	reach       float64
	rate        int
}

// frameRate and byteRate bound what is taken from one player.
const (
	frameRate = 200
	byteRate  = 200 << 10
)

// keyAt is where the key stands from the end of a player's datagram: the key, the number of lines, the ships shown.
const keyAt = 9

func keyOf(frame []byte) uint64 {
	if len(frame) < keyAt {
		return 0
	}
	b := frame[len(frame)-keyAt:]
	return uint64(binary.LittleEndian.Uint32(b)) | uint64(b[4])<<32
}

// open opens the socket and the recording.
func (f *gameFlags) open(s *server) (*game, error) {
	g := &game{server: s, crowd: crowd{reach: f.reach, rate: f.rate}}
	switch {
	case f.reach < 0:
		return nil, errors.New("-range: a distance is not negative")
	case f.rate < 0 || f.rate > 0 && f.rate < 500:
		return nil, errors.New("-rate: at least 500 bytes a second, or 0")
	}
	var err error
	limits := udp.Limits{FrameRate: frameRate, ByteRate: byteRate, Logger: s.log}
	g.ports, err = ports.Open(f.udp, maxPilots, limits, keyOf)
	if err != nil {
		return nil, fmt.Errorf("-udp: %w", err)
	}
	if f.record != "" {
		if g.file, err = os.OpenFile(f.record, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644); err != nil {
			g.ports.Abort()
			return nil, fmt.Errorf("-record: %w", err)
		}
		if g.record, err = remote.NewRecorder(g.file); err != nil {
			g.discard()
			return nil, fmt.Errorf("-record: %w", err)
		}
	}
	return g, nil
}

// show prints a recording, a line for each thing that happened. One that was cut off is shown up to there.
func show(ctx context.Context, name string, stdout, stderr io.Writer) int {
	file, err := files.Open(name)
	if err != nil {
		fmt.Fprintf(stderr, "parsec-server: -play: %v\n", err)
		return 2
	}
	defer file.Close()
	defer context.AfterFunc(ctx, func() { file.Close() })() // who waits for a pipe is woken
	p, err := remote.NewPlayback(file)
	for err == nil {
		var r remote.Record
		if r, err = p.Next(); err != nil {
			break
		}
		at := fmt.Sprintf("%9.3f s  slot %-2d ", r.At.Seconds(), r.Slot)
		switch r.Kind {
		case remote.ShipRecord:
			if s, ok := remote.ParseShip(r.Data); ok {
				x, y, z := s.Position()
				fmt.Fprintf(stdout, "%s at %g %g %g\n", at, x, y, z)
			}
		case remote.EventsRecord:
			remote.Each(r.Data, r.Slot, func(_ uint8, _ []byte, m *events.Message) {
				fmt.Fprintf(stdout, "%s %v\n", at, m)
			})
		case remote.LineRecord:
			fmt.Fprintf(stdout, "%s %q\n", at, r.Data)
		case remote.HiddenRecord:
			fmt.Fprintf(stdout, "%s has landed\n", at)
		}
	}
	if err != io.EOF && ctx.Err() == nil {
		fmt.Fprintf(stderr, "parsec-server: -play: %v\n", err)
		return 1
	}
	return 0
}
