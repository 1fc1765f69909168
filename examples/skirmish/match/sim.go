package match

import (
	"errors"
	"sync"

	"github.com/parley-go/parley/examples/lockstep/frames"
	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/machines/lockstep"
)

// Settings are what the players agree on.
type Settings struct{ Arena, Rounds, Bots int }

// The properties of the protocol, in the order of Settings.
const (
	arena = iota
	rounds
	bots
)

// Rounds are how many rounds a match can have, and Bots how many bots.
const (
	MaxRounds = 20
	MaxBots   = game.Players - 1
)

// clip brings settings of a stranger to what they can be.
func (s Settings) clip() Settings {
	return Settings{min(max(s.Arena, 0), len(game.Arenas)-1), min(max(s.Rounds, 1), MaxRounds),
		min(max(s.Bots, 0), MaxBots)}
}

// pack puts settings and what is left to chance into the seed of a match: so a recording has all of it.
func pack(chance uint32, s Settings) uint32 {
	s = s.clip()
	return chance<<12 | uint32(s.Rounds)<<7 | uint32(s.Arena)<<3 | uint32(s.Bots)
}

func unpack(seed uint32) (chance uint32, s Settings) {
	return seed >> 12, Settings{Arena: int(seed >> 3 & 15), Rounds: int(seed >> 7 & 31), Bots: int(seed & 7)}.clip()
}

// delay is how many frames there are from what a player does until it is played: that of the protocol.
const delay = lockstep.M

// sim plays the game as a simulation in lockstep. One goroutine plays, and others look.
type sim struct {
	me     int                          // the own slot, or frames.Watch
	source func(*game.State) game.Input // what the own player does; nil: nothing
	submit func(lockstep.Command)       // to the others
	each   func(*game.State)            // after each frame, may be nil
	over   chan struct{}                // closed when the match is over
	seed   uint32

	mu      sync.Mutex
	state   *game.State
	final   game.State // as it was when the match was over
	inputs  [game.Players]game.Input
	gone    game.Mask
	back    game.Mask
	said    game.Input        // what was last told to the others
	pending [delay]game.Input // own inputs that are not played yet, the next one first
}

func newSim(me int, seed uint32) *sim {
	return &sim{me: me, seed: seed, over: make(chan struct{}), said: 0xff}
}

// Start implements frames.Game.
func (m *sim) Start(seed uint32, players []int) {
	chance, set := unpack(seed)
	c := game.Config{Seed: chance, Arena: uint8(set.Arena), Rounds: uint8(set.Rounds)}
	for _, p := range players {
		c.Slots = c.Slots.With(p)
	}
	for i, n := 0, set.Bots; i < game.Players && n > 0; i++ {
		if !c.Slots.Has(i) {
			c.Slots, c.Bots, n = c.Slots.With(i), c.Bots.With(i), n-1
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state = game.New(c)
}

// Snapshot implements frames.Game.
func (m *sim) Snapshot() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bytes()
}

func (m *sim) bytes() []byte {
	b := m.state.Append(make([]byte, 0, game.Size+game.Players+2))
	for _, in := range m.inputs {
		b = append(b, byte(in))
	}
	return append(b, byte(m.gone), byte(m.back))
}

// Restore implements frames.Game.
func (m *sim) Restore(b []byte) error {
	if len(b) != game.Size+game.Players+2 {
		return errors.New("these bytes are no snapshot of a match")
	}
	s, err := game.Decode(b[:game.Size])
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state = s
	rest := b[game.Size:]
	for i := range m.inputs {
		m.inputs[i] = game.Input(rest[i])
	}
	m.gone, m.back = game.Mask(rest[game.Players]), game.Mask(rest[game.Players+1])
	return nil
}

// Sum implements frames.Game.
func (m *sim) Sum() uint32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return sum(m.bytes())
}

// Turn implements frames.Game. What a player holds down stays down until something else is said.
func (m *sim) Turn(t *frames.Turn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range t.Joined {
		m.back, m.gone = m.back.With(s), m.gone.Without(s)
	}
	for _, s := range t.Left {
		m.gone, m.back = m.gone.With(s), m.back.Without(s)
		m.inputs[s] = 0
	}
	for _, o := range t.Orders {
		for _, c := range o.Commands {
			if c.Keys.Present {
				m.inputs[o.Slot] = game.Input(c.Keys.Value)
			}
		}
	}
}

// Step implements frames.Game.
func (m *sim) Step() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.step(&game.Frame{Inputs: m.inputs, Gone: m.gone, Back: m.back})
	if m.source == nil || m.me < 0 {
		return
	}
	in := m.source(m.state)
	if in != m.said && m.submit != nil {
		m.said = in
		m.submit(frames.Keys(uint16(in)))
	}
	copy(m.pending[:], m.pending[1:])
	m.pending[delay-1] = in
}

func (m *sim) step(f *game.Frame) {
	m.state.Step(f)
	m.gone, m.back = 0, 0
	if m.each != nil {
		m.each(m.state)
	}
	if m.state.Phase == game.Over {
		select {
		case <-m.over:
		default:
			m.final = *m.state
			close(m.over)
		}
	}
}

// last is the state with which the match was over, or the present one.
func (m *sim) last() *game.State {
	select {
	case <-m.over:
		return &m.final
	default:
		return m.look(false)
	}
}

// look is a copy of the state, nil before the match. With ahead it is the state as it will be when what the own
// player has done by now is played, if the others go on with what they do: what is known better later is drawn
// anew then.
func (m *sim) look(ahead bool) *game.State {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state == nil {
		return nil
	}
	s := *m.state
	if ahead && m.me >= 0 && s.Phase == game.Fight {
		f := game.Frame{Inputs: m.inputs}
		for _, in := range m.pending {
			f.Inputs[m.me] = in
			s.Step(&f)
			if s.Phase != game.Fight { // the end of a round is not for one alone to tell
				break
			}
		}
		if s.Phase != game.Fight {
			s = *m.state
		}
	}
	return &s
}

// Playback is a game for frames.Play: each is called with the state after each frame.
func Playback(each func(*game.State)) frames.Game {
	m := newSim(frames.Watch, 0)
	m.each = each
	return m
}
