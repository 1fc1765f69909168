package refgame

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// The packet types.
const (
	tInit = iota
	tPing
	tAck
	tReady
	tFleet
	tName
	tHandshake0
	tHandshake1
	tCancel
	tCancelAck
	tSeed
	tDelay
	tSelect
	tInput
	tFrameCount
	tChecksum
	tAbort
	tReset
	types
)

var minimum = [types]int{12, 8, 8, 4, 8, 6, 4, 4, 4, 4, 8, 8, 8, 8, 8, 12, 8, 8}

// accepted says in which states a packet is none of the errors.
var accepted = map[int][]string{
	tInit: {"init"}, tReady: {"init", "preBattle", "interBattle", "selectShip", "inBattle", "endingBattle",
		"endingBattle2"},
	tFleet: {"inSetup"}, tName: {"inSetup"}, tHandshake0: {"inSetup"}, tHandshake1: {"inSetup"},
	tCancel: {"inSetup"}, tCancelAck: {"inSetup"},
	tSeed: {"preBattle"}, tDelay: {"preBattle"}, tSelect: {"selectShip"},
	tInput: {"inBattle", "endingBattle", "endingBattle2"}, tChecksum: {"inBattle", "endingBattle", "endingBattle2"},
	tFrameCount: {"endingBattle"},
}

// handle does what the game does with a packet. An error means that it would close.
func (g *game) handle(f []byte) error {
	typ, b := int(binary.BigEndian.Uint16(f[2:])), f[4:]
	if typ >= types || len(f) < minimum[typ] {
		return errors.New("no packet of the game")
	}
	if typ == tReset {
		if g.reset[1] {
			return errors.New("a second RESET")
		}
		g.reset[1] = true
		return nil
	}
	if typ == tAbort {
		return errors.New("ABORT")
	}
	if typ == tPing || typ == tAck {
		if g.state == "init" {
			return errors.New("too early")
		}
		if typ == tAck {
			g.rep.Alive = true
			return nil
		}
		id := slices.Clone(b[:4])
		slices.Reverse(id) // as the game does on most computers
		return g.send(tAck, id...)
	}
	if g.reset[0] {
		return nil
	}
	if !slices.Contains(accepted[typ], g.state) {
		return fmt.Errorf("not in state %s", g.state)
	}
	return g.handleState(typ, b)
}

func (g *game) handleState(typ int, b []byte) error {
	switch typ {
	case tInit:
		if b[0] != 0 || b[1] != 4 || b[4] == 0 && (b[5] < 6 || b[5] == 6 && b[6] < 9) {
			return errors.New("another version")
		}
		return g.remoteReady()
	case tReady:
		if g.state == "endingBattle" { // stands for FRAMECOUNT
			g.state = "endingBattle2"
			return nil
		}
		return g.remoteReady()
	case tFleet:
		return g.handleFleet(b)
	case tName:
		return g.handleName(b)
	case tHandshake0, tHandshake1, tCancel, tCancelAck:
		return g.handshake(typ)
	case tSeed:
		if g.plan.Server {
			return errors.New("the accepting side gives the seed")
		}
		g.seed = binary.BigEndian.Uint32(b)
	case tDelay:
		d := binary.BigEndian.Uint32(b)
		if d > 35 {
			return errors.New("delay too large")
		}
		g.delay = max(g.delay, d)
	case tSelect:
		return g.handleSelect(int(binary.BigEndian.Uint16(b)))
	case tInput:
		if len(g.remote) >= int(2*g.delay+2) {
			return errors.New("no room for another input")
		}
		g.remote = append(g.remote, b[0])
	case tFrameCount:
		g.state = "endingBattle2"
		g.endFrame = max(g.endFrame, binary.BigEndian.Uint32(b))
	case tChecksum:
		n := binary.BigEndian.Uint32(b)
		if n <= g.frame+g.delay+1 && n+g.delay >= g.frame {
			g.sums[n] = binary.BigEndian.Uint32(b[4:])
		}
	}
	return nil
}

func (g *game) remoteReady() error {
	if g.ready[1] {
		return errors.New("a second READY")
	}
	g.ready[1] = true
	return g.bothReady()
}

// side is whose fleet a packet is about: on the wire 0 is the receiver's.
func side(b byte) int {
	if b == 0 {
		return 1
	}
	return 0
}

func (g *game) handleFleet(b []byte) error {
	if err := g.changed(); err != nil {
		return err
	}
	t, n := side(b[0]), int(binary.BigEndian.Uint16(b[2:]))
	if 4+2*n > len(b) {
		return errors.New("too many entries")
	}
	for i := range n {
		s, v := int(b[4+2*i]), b[5+2*i]
		if s >= 14 || v > 24 && v != Vacant {
			return errors.New("no such slot or ship")
		}
		if err := g.update(t, s, v); err != nil {
			return err
		}
	}
	return nil
}

// update is the turn for one slot; the owner of a fleet loses the tie break.
// What is kept as sent after an own value was sent again is the wrong one, as in the game.
func (g *game) update(t, s int, v byte) error {
	own, sent := &g.fleet[t][s], &g.sent[t][s]
	switch {
	case *sent < 0:
		*own = v
		return g.sendShip(t, s)
	case int(v) == *sent || t == 0:
		if int(*own) != *sent {
			*sent = int(v)
			return g.sendShip(t, s)
		}
		*sent = -1
	default:
		*own, *sent = v, -1
	}
	return nil
}

func (g *game) sendShip(t, s int) error {
	return g.send(tFleet, byte(t), 0, 0, 1, byte(s), g.fleet[t][s], 0, 0)
}

func (g *game) handleName(b []byte) error {
	if err := g.changed(); err != nil {
		return err
	}
	t := side(b[0])
	name, _, _ := bytes.Cut(b[2:], []byte{0})
	v := string(name[:min(len(name), 30)])
	switch {
	case !g.nameOpen[t]:
		g.name[t] = v
		return g.sendName(t)
	case v != g.sentName[t]: // the game compares the wrong way round: both sides keep their own
		g.nameOpen[t] = false
	default:
		g.nameOpen[t] = false
		if t == 1 {
			g.name[t] = v
		}
	}
	return nil
}

func (g *game) sendName(t int) error {
	b := append([]byte{byte(t), 0}, g.name[t]...)
	b = append(b, 0)
	for (len(b)-2)%4 != 0 {
		b = append(b, 0)
	}
	return g.send(tName, b...)
}

// changed takes the own confirmation back: the game does so even for an echo.
func (g *game) changed() error {
	if !g.ok[0] {
		return nil
	}
	return g.cancel()
}

func (g *game) cancel() error {
	g.ok[0] = false
	if g.canceling {
		return nil
	}
	g.canceling = true
	return g.send(tCancel)
}

// confirm does what the player does to confirm.
func (g *game) confirm() error {
	g.ok[0] = true
	switch {
	case g.canceling:
		return nil
	case g.ok[1]:
		return g.send(tHandshake1)
	}
	return g.send(tHandshake0)
}

func (g *game) handshake(typ int) error {
	local, remote := g.ok[0], g.ok[1]
	switch typ {
	case tHandshake0:
		if remote {
			return errors.New("a second HANDSHAKE0")
		}
		g.ok[1] = true
		if local && !g.canceling {
			return g.send(tHandshake1)
		}
	case tHandshake1:
		if !local && !g.canceling {
			return errors.New("HANDSHAKE1 out of place")
		}
		g.ok[1] = true
		if g.canceling {
			return nil
		}
		if !remote {
			if err := g.send(tHandshake1); err != nil {
				return err
			}
		}
		g.ok, g.state = [2]bool{}, "preBattle"
	case tCancel:
		if !remote {
			return errors.New("HANDSHAKECANCEL out of place")
		}
		g.ok[1] = false
		return g.send(tCancelAck)
	case tCancelAck:
		if !g.canceling {
			return errors.New("HANDSHAKECANCELACK out of place")
		}
		g.canceling = false
		if local {
			return g.confirm()
		}
	}
	return nil
}

func (g *game) handleSelect(slot int) error {
	if !g.selecting[0] {
		return errors.New("the other side has no ship to choose")
	}
	if slot == 0xffff {
		g.rep.OtherSlots = append(g.rep.OtherSlots, -1)
		slot = g.chance(0)
	} else {
		g.rep.OtherSlots = append(g.rep.OtherSlots, slot)
	}
	if slot < 0 || slot >= 14 || g.dead[0][slot] || g.fleet[0][slot] == Vacant {
		return errors.New("no living ship in this slot")
	}
	g.selecting[0], g.slot[0] = false, slot
	return nil
}
