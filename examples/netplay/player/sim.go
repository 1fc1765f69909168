package player

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"

	"github.com/parley-go/parley/machines/netplay"
)

// Input bits, as on the wire.
const (
	inputLeft    = 1
	inputRight   = 2
	inputThrust  = 4
	inputWeapon  = 8
	inputSpecial = 16
	inputEscape  = 32
	inputDown    = 64
)

// dittyFrames is how long the end of a ship is shown.
const dittyFrames = 24

// sim is a battle of two ships, simple and deterministic: given equal seeds,
// ships and inputs, two copies are in equal states after every frame. It knows
// the sides as the accepting one (0) and the connecting one (1), so that both
// sides of a match compute the same.
type sim struct {
	rng   uint32
	frame uint32
	ships [2]fighter
	ditty int // frames since a ship was lost, 0 if none was
}

// fighter is one ship in battle.
type fighter struct {
	kind         netplay.Ship
	crew, energy int32
	x, y, vx, vy uint16
	angle, cool  uint8
}

// newSim begins a match.
func newSim(seed uint32) sim {
	return sim{rng: seed*2654435761 + 0x9e3779b9 | 1}
}

// roll draws a number in 0..n-1.
func (s *sim) roll(n uint32) uint32 {
	s.rng ^= s.rng << 13
	s.rng ^= s.rng >> 17
	s.rng ^= s.rng << 5
	return s.rng % n
}

// chance draws one of the slots in set for a side that leaves it to chance.
func (s *sim) chance(set netplay.Picks) int {
	n := bits.OnesCount64(uint64(set))
	if n == 0 {
		return -1
	}
	rest := uint64(set)
	for range s.roll(uint32(n)) {
		rest &= rest - 1
	}
	return bits.TrailingZeros64(rest)
}

// enter puts a ship into the battle.
func (s *sim) enter(i int, kind netplay.Ship) {
	s.ships[i] = fighter{kind: kind, crew: 6 + int32(kind)*5%13, energy: 10,
		x: uint16(s.roll(1 << 16)), y: uint16(s.roll(1 << 16)), angle: uint8(s.roll(16))}
}

// begin starts the next battle.
func (s *sim) begin() { s.ditty = 0 }

// step plays a frame with the inputs of both sides.
func (s *sim) step(in [2]netplay.Input) {
	var hits [2]int32
	for i := range s.ships {
		if s.ships[i].crew > 0 {
			s.act(i, uint8(in[i]), &hits)
		}
	}
	for i := range s.ships {
		f := &s.ships[i]
		f.x, f.y = f.x+f.vx, f.y+f.vy
		f.crew = max(0, f.crew-hits[i])
	}
	if s.dead(0) || s.dead(1) {
		s.ditty++
	}
	s.frame++
}

// act does what a player wants; hits collects what it costs the crews.
func (s *sim) act(i int, in uint8, hits *[2]int32) {
	f := &s.ships[i]
	switch {
	case in&inputLeft != 0:
		f.angle = (f.angle + 15) % 16
	case in&inputRight != 0:
		f.angle = (f.angle + 1) % 16
	}
	if in&inputThrust != 0 {
		f.vx, f.vy = f.vx+uint16(f.angle), f.vy+uint16(16-f.angle)
	}
	if s.frame%8 == 0 && f.energy < 10 {
		f.energy++
	}
	if f.cool > 0 {
		f.cool--
		return
	}
	switch {
	case in&inputSpecial != 0 && f.kind == netplay.ShipShofixti:
		hits[i] += f.crew
		hits[1-i] += int32(s.roll(6))
	case in&inputWeapon != 0 && f.energy > 0:
		f.energy--
		f.cool = 5
		if s.roll(4) > 0 {
			hits[1-i] += 1 + int32(f.kind)%3
		}
	case in&inputSpecial != 0 && f.energy > 3:
		f.energy -= 3
		f.cool = 12
		f.crew++
	}
}

func (s *sim) dead(i int) bool { return s.ships[i].crew <= 0 }

// over says that a ship is gone and its end has been shown.
func (s *sim) over() bool { return s.ditty >= dittyFrames }

// checksum is that of the state before the next frame.
func (s *sim) checksum() netplay.Crc {
	var b [64]byte
	p := binary.BigEndian.AppendUint32(b[:0], s.rng)
	p = binary.BigEndian.AppendUint32(p, s.frame)
	for i := range s.ships {
		f := &s.ships[i]
		p = append(p, byte(f.kind), f.angle, f.cool)
		p = binary.BigEndian.AppendUint32(p, uint32(f.crew))
		p = binary.BigEndian.AppendUint32(p, uint32(f.energy))
		for _, v := range [4]uint16{f.x, f.y, f.vx, f.vy} {
			p = binary.BigEndian.AppendUint16(p, v)
		}
	}
	return netplay.Crc(crc32.ChecksumIEEE(p))
}

// fight returns the built-in player's input in a frame: it turns about and fires.
func fight(r *uint32, frame uint32) netplay.Input {
	*r ^= *r << 13
	*r ^= *r >> 17
	*r ^= *r << 5
	in := netplay.Input(*r & (inputLeft | inputRight | inputThrust))
	if frame%4 != 0 {
		in |= inputWeapon
	}
	return in
}
