// Package game is Skirmish itself: small tanks in an arena of steel, bricks and water, who shoot at each other until
// one is left, round after round.
//
// A [State] is a value and [State.Step] a pure function of it and of the players' inputs, in whole numbers only.
// So every computer that steps equal states with equal inputs has equal states again: that is what lockstep needs,
// and [State.Checksum] is how it is verified. The package knows no network, no clock, no terminal. Start from
// [New].
package game

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// The size of things. A tile is 4 by 4 pixels, a tank 3 by 3, and a pixel has 256 units.
const (
	TilesX, TilesY = 20, 11
	TilePixels     = 4
	Width, Height  = TilesX * TilePixels, TilesY * TilePixels // in pixels
	Unit           = 256
	tile           = TilePixels * Unit
)

// Rate is how many frames there are in a second.
const Rate = 30

// Players is the most players of a match.
const Players = 8

// Dir is a direction; 0 is none.
type Dir uint8

// The directions.
const (
	Stop Dir = iota
	Up
	Right
	Down
	Left
)

// delta is one step in a direction.
var delta = [5][2]int32{{0, 0}, {0, -1}, {1, 0}, {0, 1}, {-1, 0}}

// Input is what one player does in one frame: a direction in the low three bits, buttons, and a sign in the high three.
type Input uint8

// The buttons of an Input.
const (
	Fire Input = 8
	Mine Input = 16
)

// Dir is the direction of an input; what is none is Stop.
func (in Input) Dir() Dir {
	if d := Dir(in & 7); d <= Left {
		return d
	}
	return Stop
}

// Sign is something that a player shows to all. It does nothing in the game, and it is played as all else is: so who
// looks on, the other one of a duel, and recordings have it without another message.
type Sign uint8

// Signs are those that there are; 0 is none.
var Signs = [...]string{1: "!", 2: "?", 3: "GG", 4: "ha"}

// Showing is an input that shows a sign.
func (n Sign) Showing() Input { return Input(n&7) << 5 }

// Sign is what an input shows, 0 for nothing.
func (in Input) Sign() Sign {
	if n := Sign(in >> 5); int(n) < len(Signs) {
		return n
	}
	return 0
}

// Mask is a set of slots.
type Mask uint8

// Has reports whether a slot is in the set.
func (m Mask) Has(slot int) bool { return m&(1<<slot) != 0 }

// With is the set with a slot.
func (m Mask) With(slot int) Mask { return m | 1<<slot }

// Without is the set without a slot.
func (m Mask) Without(slot int) Mask { return m &^ (1 << slot) }

// Len is how many slots are in the set.
func (m Mask) Len() (n int) {
	for ; m != 0; m &= m - 1 {
		n++
	}
	return n
}

// Frame is all that comes into the game in one frame from outside.
type Frame struct {
	Inputs [Players]Input
	// Gone are the slots whose player has left by now: a bot drives on. Back are those whose player is there again,
	// or for the first time: who comes in a round waits for the next.
	Gone, Back Mask
}

// Config says what a match is. Equal ones give equal states.
type Config struct {
	Seed   uint32
	Arena  uint8 // which of Arenas; others are taken modulo their number
	Rounds uint8 // how many are played, at least one
	Slots  Mask  // who plays
	Bots   Mask  // which of them are driven by the game itself
}

// Phase is where a match is.
type Phase uint8

// The phases of a match.
const (
	Ready Phase = iota // three, two, one
	Fight
	Pause // who has won the round
	Over  // the match
)

// How long phases take, in frames.
const (
	readyTime = 3 * Rate
	pauseTime = 3 * Rate
	stormTime = 35 * Rate // when the arena begins to burn from its edge
	ringTime  = 4 * Rate  // and how long it takes for each ring of tiles
	roundTime = 75 * Rate
)

// Tile is what is in a place of the arena.
type Tile uint8

// The kinds of tiles.
const (
	Free   Tile = iota
	Bush        // hides who is in it, a little
	Brick       // shot away by two hits
	Broken      // a brick that was hit
	Water       // is shot across
	Steel
	tileKinds
)

// Tank is what a player has. X and Y are its middle, in units.
type Tank struct {
	X, Y   int32
	Facing Dir
	Health uint8 // 0: is not there
	Cool   uint8 // frames until it can shoot again
	Mines  uint8
	Hurt   uint8 // frames for which it shows that it was hit
	Rapid  uint16
	Shield uint16 // frames for which nothing harms it
	Kills  uint16 // in the match
	Wins   uint8  // rounds
	Score  uint16
	// Of its end in this round, if Health is 0: when in the phase, by whose doing (Players: nobody's), and how.
	Died uint16
	By   uint8
	How  How
	// Sign is shown for so many more frames.
	Sign  Sign
	Shown uint8
}

// How is how a tank came to its end.
type How uint8

// The ways in which tanks end.
const (
	Shell How = iota
	Blown     // by a mine
	Burnt
	hows
)

// Shot flies straight on.
type Shot struct {
	X, Y  int32
	Dir   Dir // Stop: there is none
	Owner uint8
}

// Trap is a mine that lies somewhere.
type Trap struct {
	X, Y  int32
	Owner uint8
	Armed uint8 // frames until it is
	Here  bool
}

// Kind is a kind of thing to pick up.
type Kind uint8

// What lies around to be picked up.
const (
	Nothing Kind = iota
	Repair
	Rapid
	Shield
	Mines
	kinds
)

// Item is a thing to pick up, in the middle of a tile.
type Item struct {
	X, Y uint8
	Kind Kind
}

// Blast is shown and does nothing.
type Blast struct {
	X, Y int32
	Size uint8
	Age  uint8 // frames that are left of it
}

// What there can be at one time.
const (
	MaxShots  = 3 * Players
	MaxTraps  = 2 * Players
	MaxItems  = 4
	MaxBlasts = 12
)

// corners are the places where tanks begin that are in corners of the arena: the first of them.
const corners = 4

// fullHealth is what a tank begins a round with.
const fullHealth = 4

// State is a match between two frames. It is plain data: a copy is a snapshot.
type State struct {
	Frame  uint32
	Seed   uint64 // of what is left to chance
	Arena  uint8
	Rounds uint8
	Round  uint8 // from 0
	Phase  Phase
	Clock  uint16 // frames in this phase
	Ring   uint8  // how many rings of tiles burn
	Winner uint8  // of the round or match, Players for nobody
	Slots  Mask
	Bots   Mask // are driven by the game: who has left, too
	Tiles  [TilesY][TilesX]Tile
	Tanks  [Players]Tank
	Shots  [MaxShots]Shot
	Traps  [MaxTraps]Trap
	Items  [MaxItems]Item
	Blasts [MaxBlasts]Blast
}

// New is a match before its first frame.
func New(c Config) *State {
	s := &State{Seed: (uint64(c.Seed)<<1 | 1) * 0x9e3779b97f4a7c15, // not 0, and with all its bits in use
		Arena: c.Arena % uint8(len(Arenas)), Rounds: max(1, c.Rounds), Slots: c.Slots, Bots: c.Bots & c.Slots,
		Winner: Players}
	s.begin()
	return s
}

// begin puts everything to the start of a round.
func (s *State) begin() {
	s.Phase, s.Clock, s.Ring, s.Winner = Ready, 0, 0, Players
	var spawns [Players][2]int32
	s.Tiles, spawns = Arenas[s.Arena].tiles()
	s.Shots, s.Traps, s.Items, s.Blasts = [MaxShots]Shot{}, [MaxTraps]Trap{}, [MaxItems]Item{}, [MaxBlasts]Blast{}
	places, next := s.places(), 0
	for i := range s.Tanks {
		t := &s.Tanks[i]
		*t = Tank{Kills: t.Kills, Wins: t.Wins, Score: t.Score, Sign: t.Sign, Shown: t.Shown}
		if !s.Slots.Has(i) {
			continue
		}
		at := spawns[places[next]]
		next++
		t.X, t.Y = middle(at[0]), middle(at[1])
		t.Health, t.Mines, t.Facing = fullHealth, 1, Up
		if t.Y < Height*Unit/2 {
			t.Facing = Down
		}
	}
}

// places are the places where the slots begin this round, by chance, for they are not equally good. As long as there
// are corners nobody begins elsewhere.
func (s *State) places() (p [Players]int) {
	for i := range p {
		p[i] = i
	}
	n := Players
	if s.Slots.Len() <= corners {
		n = corners
	}
	for i := n - 1; i > 0; i-- {
		j := s.random(uint32(i + 1))
		p[i], p[j] = p[j], p[i]
	}
	return p
}

func middle(n int32) int32 { return n*tile + tile/2 }

// random is the next random number below n: xorshift, which is the same on every computer.
func (s *State) random(n uint32) uint32 {
	x := s.Seed
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	s.Seed = x
	return uint32(x>>33) % n
}

// Step plays one frame.
func (s *State) Step(f *Frame) {
	s.Frame++
	s.Bots |= f.Gone & s.Slots
	s.Bots &^= f.Back
	s.Slots |= f.Back
	if s.Phase == Over {
		return
	}
	s.Clock++
	for i := range s.Blasts {
		if b := &s.Blasts[i]; b.Age > 0 {
			b.Age--
		}
	}
	s.sign(f)
	switch s.Phase {
	case Ready:
		if s.Clock >= readyTime {
			s.Phase, s.Clock = Fight, 0
		}
	case Fight:
		s.fight(f)
		s.judge()
	case Pause:
		if s.Clock < pauseTime {
			return
		}
		if s.Round++; s.Round < s.Rounds {
			s.begin()
			return
		}
		s.Phase, s.Winner = Over, s.first()
	}
}

// sign shows the signs of players, of those who have lost, too, for three seconds.
func (s *State) sign(f *Frame) {
	for i := range s.Tanks {
		t := &s.Tanks[i]
		if t.Shown = t.Shown - min(t.Shown, 1); t.Shown == 0 {
			t.Sign = 0
		}
		if n := f.Inputs[i].Sign(); n != 0 && s.Slots.Has(i) && !s.Bots.Has(i) {
			t.Sign, t.Shown = n, 3*Rate
		}
	}
}

// fight is one frame of a round. Slots act in an order that is another one in each frame, and the reverse in every
// second one: nobody is before another one more often than behind.
func (s *State) fight(f *Frame) {
	for k := range Players {
		i := (k + int(s.Frame/2)) % Players
		if s.Frame%2 == 1 {
			i = Players - 1 - i
		}
		t := &s.Tanks[i]
		if t.Health == 0 {
			continue
		}
		in := f.Inputs[i]
		if s.Bots.Has(i) {
			in = s.think(i)
		}
		t.Cool, t.Hurt = t.Cool-min(t.Cool, 1), t.Hurt-min(t.Hurt, 1)
		t.Rapid, t.Shield = t.Rapid-min(t.Rapid, 1), t.Shield-min(t.Shield, 1)
		s.drive(i, in.Dir())
		if in&Fire != 0 {
			s.shoot(i)
		}
		if in&Mine != 0 {
			s.lay(i)
		}
	}
	s.fly()
	s.trip()
	s.burn()
	s.supply()
}

// judge ends the round when one is left, or its time is up.
func (s *State) judge() {
	alive, last := 0, Players
	for i := range s.Tanks {
		if s.Tanks[i].Health > 0 {
			alive, last = alive+1, i
		}
	}
	if alive > 1 && s.Clock < roundTime {
		return
	}
	s.Phase, s.Clock, s.Winner = Pause, 0, Players
	if alive == 1 {
		t := &s.Tanks[last]
		t.Wins++
		t.Score += 3
		s.Winner = uint8(last)
	}
}

// first is who has the most points, Players if that are several.
func (s *State) first() uint8 {
	best, who := -1, uint8(Players)
	for i := range s.Tanks {
		if !s.Slots.Has(i) {
			continue
		}
		switch n := int(s.Tanks[i].Score); {
		case n > best:
			best, who = n, uint8(i)
		case n == best:
			who = Players
		}
	}
	return who
}

// Append appends the state as bytes.
func (s *State) Append(b []byte) []byte {
	b, err := binary.Append(b, binary.LittleEndian, s)
	if err != nil {
		panic(err) // a State has fixed fields alone
	}
	return b
}

// Size is how many bytes a state has.
var Size = binary.Size(State{})

// Checksum is equal for equal states.
func (s *State) Checksum() uint32 {
	var buf [4096]byte
	return crc32.ChecksumIEEE(s.Append(buf[:0]))
}

// ErrState says that bytes are no state of the game.
var ErrState = errors.New("these bytes are no state of the game")

// Decode reads what Append has written. Bytes that no match can lead to may be accepted, but never make Step fail.
func Decode(b []byte) (*State, error) {
	s := new(State)
	if n, err := binary.Decode(b, binary.LittleEndian, s); err != nil || n != len(b) || !s.sane() {
		return nil, ErrState
	}
	return s, nil
}

// sane reports whether everything is where Step expects it to be.
func (s *State) sane() bool {
	ok := s.Phase <= Over && int(s.Arena) < len(Arenas) && s.Winner <= Players && s.Rounds > 0 && s.Seed != 0
	for y := range s.Tiles {
		for _, t := range s.Tiles[y] {
			ok = ok && t < tileKinds
		}
	}
	for i := range s.Tanks {
		t := &s.Tanks[i]
		ok = ok && t.Facing <= Left && t.By <= Players && t.How < hows && int(t.Sign) < len(Signs)
		ok = ok && (t.Health == 0 || t.X >= reach && t.X <= Width*Unit-reach &&
			t.Y >= reach && t.Y <= Height*Unit-reach)
	}
	for _, t := range s.Shots {
		ok = ok && t.Dir <= Left && t.Owner < Players && (t.Dir == Stop || inside(t.X, t.Y))
	}
	for _, t := range s.Traps {
		ok = ok && t.Owner < Players && (!t.Here || inside(t.X, t.Y))
	}
	for _, t := range s.Items {
		ok = ok && t.Kind < kinds && t.X < TilesX && t.Y < TilesY
	}
	for _, t := range s.Blasts {
		ok = ok && t.Size <= 5 && (t.Age == 0 || inside(t.X, t.Y))
	}
	return ok
}

func inside(x, y int32) bool { return x >= 0 && y >= 0 && x < Width*Unit && y < Height*Unit }
