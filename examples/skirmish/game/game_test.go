package game

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// play plays a match of bots to its end.
func play(t testing.TB, c Config) *State {
	s := New(c)
	var f Frame
	for n := 0; s.Phase != Over; n++ {
		s.Step(&f)
		if n > 10*60*Rate {
			t.Fatalf("no end after ten minutes: %+v", s)
		}
	}
	return s
}

// Bots play to the end in every arena, most rounds have a winner, and no place is much better than another.
func TestBots(t *testing.T) {
	for a := range Arenas {
		for _, slots := range []Mask{0b11, 0b1111, 0xff} {
			var wins [Players]int
			rounds, won, frames := 0, 0, 0
			for seed := range uint32(2) {
				s := play(t, Config{Seed: 77 + seed, Arena: uint8(a), Rounds: 2, Slots: slots, Bots: slots})
				frames += int(s.Frame)
				rounds += 2
				for i := range s.Tanks {
					won += int(s.Tanks[i].Wins)
					wins[i] += int(s.Tanks[i].Wins)
				}
			}
			t.Logf("%s, %d: %d of %d rounds won, %v, %d s a round", Arenas[a].Name, slots.Len(), won,
				rounds, wins, frames/rounds/Rate)
			if won*3 < rounds {
				t.Error("hardly anybody wins")
			}
		}
	}
}

// No slot is better than another one: over many rounds each of three wins about a third.
func TestFair(t *testing.T) {
	for _, a := range []int{1, 2} { // one with ways, and one of bricks
		var wins [Players]int
		won := 0
		for seed := range uint32(60) {
			s := play(t, Config{Seed: seed << 8, Arena: uint8(a), Rounds: 1, Slots: 0b10101, Bots: 0b10101})
			for i := range s.Tanks {
				wins[i] += int(s.Tanks[i].Wins)
				won += int(s.Tanks[i].Wins)
			}
		}
		for i := 0; i < 6; i += 2 {
			if wins[i]*5 < won {
				t.Errorf("%s: slot %d wins %d of %d rounds: %v", Arenas[a].Name, i, wins[i], won, wins)
			}
		}
	}
}

// Whoever is shot, blown up or burnt knows by whom.
func TestEnd(t *testing.T) {
	s := New(Config{Seed: 1, Rounds: 1, Slots: 0b1111})
	s.Phase, s.Clock = Fight, 7
	for i := range 3 {
		s.Tanks[i].Health = 1
	}
	s.harm(0, 3, Shell, 1)
	s.harm(1, 2, Blown, 2)
	s.harm(2, Players, Burnt, 1)
	for i, want := range []Tank{{By: 3, How: Shell}, {By: 2, How: Blown}, {By: Players, How: Burnt}} {
		if k := s.Tanks[i]; k.Health != 0 || k.By != want.By || k.How != want.How || k.Died != 7 {
			t.Errorf("%d: %+v", i, k)
		}
	}
	if s.Tanks[3].Score != 1 || s.Tanks[2].Score != 1 {
		t.Errorf("%+v", s.Tanks)
	}
}

// A sign is shown for a while, by those who have lost as well, and changes nothing else.
func TestSign(t *testing.T) {
	s := New(Config{Seed: 1, Rounds: 1, Slots: 0b111})
	s.Phase = Fight
	s.Tanks[1].Health = 0
	other := *s
	s.Step(&Frame{Inputs: [Players]Input{Sign(2).Showing() | 1, Sign(3).Showing(), Input(7 << 5), Sign(1).Showing()}})
	other.Step(&Frame{Inputs: [Players]Input{1}})
	for i, want := range []Sign{2, 3, 0, 0} {
		if s.Tanks[i].Sign != want || (s.Tanks[i].Shown > 0) != (want != 0) {
			t.Errorf("%d: %+v", i, s.Tanks[i])
		}
		s.Tanks[i].Sign, s.Tanks[i].Shown = 0, 0
	}
	if *s != other {
		t.Error("a sign has changed the game")
	}
	s.Tanks[0].Sign, s.Tanks[0].Shown = 1, 2
	s.Step(&Frame{})
	shown := s.Tanks[0].Sign
	if s.Step(&Frame{}); shown != 1 || s.Tanks[0].Sign != 0 {
		t.Errorf("%d, then %d", shown, s.Tanks[0].Sign)
	}
}

// wild is a frame of inputs that nobody would make.
func wild(r *rand.Rand) (f Frame) {
	for i := range f.Inputs {
		f.Inputs[i] = Input(r.Uint32())
	}
	if r.IntN(50) == 0 {
		f.Gone, f.Back = Mask(r.Uint32()), Mask(r.Uint32())
	}
	return f
}

// Equal inputs give equal states, whatever they are, and a state that was written and read goes on as the one that
// it was.
func TestSame(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := Config{Seed: r.Uint32(), Arena: uint8(seed), Rounds: 2, Slots: Mask(r.Uint32()) | 3,
			Bots: Mask(r.Uint32())}
		a, b := New(c), New(c)
		for n := 0; n < 3000 && a.Phase != Over; n++ {
			f := wild(r)
			a.Step(&f)
			b.Step(&f)
			if n%37 == 0 {
				read, err := Decode(b.Append(nil))
				if err != nil {
					t.Fatal(err)
				}
				b = read
			}
			if a.Checksum() != b.Checksum() {
				t.Fatalf("seed %d: out of step in frame %d", seed, n)
			}
		}
	}
}

// The arena burns whoever does nothing, and a round ends.
func TestIdle(t *testing.T) {
	s := New(Config{Seed: 1, Rounds: 1, Slots: 0b111})
	for s.Phase != Over && s.Frame < 100*Rate {
		s.Step(&Frame{})
	}
	if s.Phase != Over || s.Ring == 0 || s.Frame >= readyTime+roundTime ||
		s.Tanks[0].Wins+s.Tanks[1].Wins+s.Tanks[2].Wins != 0 {
		t.Errorf("%+v", s)
	}
}

// Whoever leaves is driven on, and whoever is back drives.
func TestLeave(t *testing.T) {
	s := New(Config{Seed: 1, Rounds: 2, Slots: 0b11})
	s.Step(&Frame{Gone: 0b10})
	if s.Bots != 0b10 || s.Slots != 0b11 {
		t.Errorf("%b %b", s.Bots, s.Slots)
	}
	s.Step(&Frame{Back: 0b110})
	if s.Bots != 0 || s.Slots != 0b111 {
		t.Errorf("%b %b", s.Bots, s.Slots)
	}
}

// Whatever byte of a state is another one, it is refused, or it plays on.
func TestDecode(t *testing.T) {
	s := New(Config{Seed: 9, Rounds: 3, Slots: 0xff, Bots: 0xf0})
	for range 250 {
		s.Step(&Frame{Inputs: [Players]Input{1 | Fire | Mine, 2 | Fire, 3}})
	}
	b := s.Append(nil)
	refused := 0
	for i := range b {
		was := b[i]
		b[i] = 0xff
		if read, err := Decode(b); err != nil {
			refused++
		} else {
			for range 40 {
				read.Step(&Frame{Inputs: [Players]Input{4 | Fire, 3 | Fire, 2}})
			}
		}
		b[i] = was
	}
	if refused < TilesX*TilesY {
		t.Errorf("%d of %d bytes are looked at", refused, len(b))
	}
	if _, err := Decode(b[1:]); err == nil {
		t.Error("a state without its first byte")
	}
}

// Bytes that are no state are refused, and others play on without harm.
func FuzzDecode(f *testing.F) {
	s := New(Config{Seed: 9, Rounds: 3, Slots: 0xff, Bots: 0xf0})
	for n := range 400 {
		s.Step(&Frame{Inputs: [Players]Input{1 | Fire | Mine, 2 | Fire, 3}})
		if n%100 == 99 {
			f.Add(s.Append(nil))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Decode(b)
		if err != nil {
			return
		}
		r := rand.New(rand.NewPCG(1, 1))
		for range 200 {
			in := wild(r)
			s.Step(&in)
		}
		if _, err := Decode(s.Append(nil)); err != nil {
			t.Error("a state that cannot be read again")
		}
	})
}

func ExampleState_Step() {
	s := New(Config{Seed: 1, Rounds: 1, Slots: 0b11, Bots: 0b11})
	for s.Phase != Over {
		s.Step(&Frame{})
	}
	fmt.Println(s.Tanks[0].Wins+s.Tanks[1].Wins, s.Round)
	// Output: 1 1
}
