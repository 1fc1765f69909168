package remote

import (
	"encoding/binary"
	"math"
	"time"
)

// ShipSize is how many bytes the state of a ship has.
const ShipSize = 92

// Ship is the state of a ship as packets have it: everything that others always need to know.
type Ship struct {
	Matrix                            [12]float32 // three rows of four; the fourth of each is the position
	Damage, Shield                    uint16
	Speed                             int32 // in 1/65536
	Yaw, Pitch, Roll                  int32
	Horizontal, Vertical              float32 // slides
	Missiles, Homing, Mines, Particle int32
}

// Position returns where the ship is.
func (s *Ship) Position() (x, y, z float32) { return s.Matrix[3], s.Matrix[7], s.Matrix[11] }

// Append appends the state as packets have it.
func (s *Ship) Append(dst []byte) []byte {
	le := binary.LittleEndian
	for _, f := range s.Matrix {
		dst = le.AppendUint32(dst, math.Float32bits(f))
	}
	dst = le.AppendUint16(le.AppendUint16(dst, s.Damage), s.Shield)
	for _, v := range [...]int32{s.Speed, s.Yaw, s.Pitch, s.Roll, int32(math.Float32bits(s.Horizontal)),
		int32(math.Float32bits(s.Vertical)), s.Missiles, s.Homing, s.Mines, s.Particle} {
		dst = le.AppendUint32(dst, uint32(v))
	}
	return dst
}

// ParseShip reads a state; false if it is no ship's. A position that is no number is none.
func ParseShip(b []byte) (s Ship, ok bool) {
	if len(b) != ShipSize {
		return Ship{}, false
	}
	le := binary.LittleEndian
	word := func(at int) int32 { return int32(le.Uint32(b[at:])) }
	float := func(at int) float32 { return math.Float32frombits(le.Uint32(b[at:])) }
	for i := range s.Matrix {
		s.Matrix[i] = float(4 * i)
		if f := float64(s.Matrix[i]); math.IsNaN(f) || math.IsInf(f, 0) {
			return Ship{}, false
		}
	}
	s.Damage, s.Shield, s.Speed = le.Uint16(b[48:]), le.Uint16(b[50:]), word(52)
	s.Yaw, s.Pitch, s.Roll = word(56), word(60), word(64)
	s.Horizontal, s.Vertical = float(68), float(72)
	s.Missiles, s.Homing, s.Mines, s.Particle = word(76), word(80), word(84), word(88)
	return s, true
}

// Predict returns where the ship is after a time, if it goes on as it does: along its third axis, with its speed in
// units a second. Both ends may do so between packets.
func (s *Ship) Predict(after time.Duration) (x, y, z float32) {
	d := float32(after.Seconds()) * float32(s.Speed) / 65536
	x, y, z = s.Position()
	return x + d*s.Matrix[2], y + d*s.Matrix[6], z + d*s.Matrix[10]
}

// longest is how long a state may be left out.
const longest = 500 * time.Millisecond

// Reckoner says whether a packet is worth sending: it is left out if the state of the ship has not changed at all,
// nothing has happened, and the last packet is no older than half a second. The zero value sends first.
type Reckoner struct {
	sent [ShipSize]byte
	at   time.Duration
	any  bool
}

// Last returns the state that was sent last, nil before the first.
func (r *Reckoner) Last() []byte {
	if !r.any {
		return nil
	}
	return r.sent[:]
}

// Due reports whether to send the state now, and then takes it as sent.
func (r *Reckoner) Due(now time.Duration, ship []byte, events int) bool {
	if r.any && events == 0 && string(r.sent[:]) == string(ship) && now-r.at < longest {
		return false
	}
	copy(r.sent[:], ship)
	r.at, r.any = now, true
	return true
}
