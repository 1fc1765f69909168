package match

import (
	"cmp"
	"errors"
	"sync"
	"time"

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

// duels is the bit of a seed that says how the match is played.
const duels = 1 << 6

func unpack(seed uint32) (chance uint32, s Settings) {
	return seed >> 12, Settings{Arena: int(seed >> 3 & 7), Rounds: int(seed >> 7 & 31), Bots: int(seed & 7)}.clip()
}

// frameTime is how long a frame takes in a match that nobody waits for, and longestMatch more frames than any has.
const (
	frameTime    = time.Second / game.Rate
	longestMatch = 100 * game.Rate * MaxRounds
)

// delay is how many frames there are from what a player does until it is played: that of the protocol.
const delay = lockstep.M

// sim plays the game as a simulation in lockstep. One goroutine plays, and others look.
type sim struct {
	me     int                          // the own slot, or frames.Watch
	source func(*game.State) game.Input // what the own player does; nil: nothing
	submit func(lockstep.Command)       // to the others
	each   func(*game.State, *Roster)   // after each frame, may be nil
	saved  *Saved                       // a match to go on with, instead of beginning one
	name   string                       // the own one, for those who look on and for recordings
	heard  func(Said)                   // each line of talk, may be nil
	over   chan struct{}                // closed when the match is over
	seed   uint32
	key    uint64               // of the own slot
	marks  [game.Players]uint64 // of all keys
	left   bool                 // the other one of a duel has gone; of the goroutine that plays
	record *frames.Recorder     // of the turns of play; nil: none
	owed   uint32               // game frames of the last turn that are still to be played; of the goroutine that plays

	mu      sync.Mutex
	state   *game.State
	final   game.State // as it was when the match was over
	inputs  [game.Players]game.Input
	gone    game.Mask
	back    game.Mask
	said    game.Input           // what was last told to the others
	named   bool                 // the own name was told
	names   [game.Players]string // of the players of a duel, until they are told
	known   [game.Players]string // the same, to the end
	roster  Roster
	pending [delay]game.Input // own inputs that are not played yet, the next one first

	talkMu sync.Mutex // comes last
	talk   []Said     // in a duel, which is in no turn yet
}

// Roster is who plays, and what they said of late.
type Roster struct {
	Names [game.Players]string
	Talk  []Said
}

// Said is a line of talk.
type Said struct {
	Slot  int
	Text  string
	frame uint32
}

const (
	longest  = 16            // bytes of a name
	saidOf   = 255           // whom a line of talk is for: all
	nameOf   = 'N'           // the first byte of a command that tells a name
	lines    = 4             // of talk that are kept
	readable = 8 * game.Rate // frames for which they can be read
)

// snapshot is how many bytes a snapshot has.
var snapshot = game.Size + game.Players + 2 + game.Players*(1+longest)

// naming is a command that tells the own name, or nil if that is too long.
func naming(name string) []byte {
	if len(name) > longest {
		return nil
	}
	return append([]byte{nameOf}, name...)
}

// Say says something in the match, to all.
func (m *sim) say(text string) bool {
	m.mu.Lock()
	submit := m.submit
	m.mu.Unlock()
	c, ok := frames.Words(saidOf, text)
	if !ok || submit == nil {
		return false
	}
	submit(c)
	return true
}

// recent are the names, and the lines that are still to be read.
func (m *sim) recent() *Roster {
	r := Roster{Names: m.roster.Names}
	for _, s := range m.roster.Talk {
		if m.state != nil && m.state.Frame-s.frame < readable {
			r.Talk = append(r.Talk, s)
		}
	}
	return &r
}

// Saved is a match that has lost its host, as one of its players has it.
type Saved struct {
	Seed  uint32
	Slot  int       // of that player
	There game.Mask // the slots that people had, the host's among them
	// Key is the player's for its slot, and Marks are of everybody's key: by them the next host knows who comes back.
	Key   uint64
	Marks [game.Players]uint64
	state []byte
}

// save saves a match that is not over, nil if there is none.
func (m *sim) save() *Saved {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state == nil || m.state.Phase == game.Over || m.me < 0 {
		return nil
	}
	return &Saved{Seed: m.seed &^ duels, Slot: m.me, There: m.state.Slots &^ m.state.Bots,
		Key: m.key, Marks: m.marks, state: m.bytes()}
}

// resume goes on with a saved match. All others are driven by bots until they are back.
func (m *sim) resume() error {
	if err := m.Restore(m.saved.state); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gone, m.back = (m.state.Slots &^ m.state.Bots).Without(m.me), game.Mask(0).With(m.me)
	m.inputs = [game.Players]game.Input{}
	return nil
}

func newSim(me int, seed uint32) *sim {
	return &sim{me: me, seed: seed, over: make(chan struct{}), said: 0xff}
}

// Start implements frames.Game.
func (m *sim) Start(seed uint32, players []int) {
	if m.saved != nil && m.resume() == nil {
		return
	}
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
	b := m.state.Append(make([]byte, 0, snapshot))
	for _, in := range m.inputs {
		b = append(b, byte(in))
	}
	b = append(b, byte(m.gone), byte(m.back))
	for _, n := range m.roster.Names {
		b = append(b, byte(len(n)))
		b = append(append(b, n...), make([]byte, longest-len(n))...)
	}
	return b
}

// Restore implements frames.Game.
func (m *sim) Restore(b []byte) error {
	if len(b) != snapshot {
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
	rest = rest[game.Players+2:]
	for i := range m.roster.Names {
		m.roster.Names[i] = string(rest[1 : 1+min(int(rest[0]), longest)])
		rest = rest[1+longest:]
	}
	m.roster.Talk = nil
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
	m.owed = t.Next - t.Due
	for _, s := range t.Joined {
		m.back, m.gone = m.back.With(s), m.gone.Without(s)
	}
	for _, s := range t.Left {
		m.gone, m.back = m.gone.With(s), m.back.Without(s)
		m.inputs[s] = 0
	}
	for _, o := range t.Orders {
		for _, c := range o.Commands {
			m.obey(o.Slot, &c)
		}
	}
}

// obey does what a player wants done.
func (m *sim) obey(slot int, c *lockstep.Command) {
	switch d := &c.Data.Value; {
	case c.Keys.Present:
		m.inputs[slot] = game.Input(c.Keys.Value)
	case c.Words.Present && c.Words.Value.Whom == saidOf:
		s := Said{Slot: slot, Text: c.Words.Value.Words.String(), frame: m.state.Frame}
		m.roster.Talk = append(m.roster.Talk[max(0, len(m.roster.Talk)-lines+1):], s)
		if m.heard != nil {
			m.heard(s)
		}
	case c.Data.Present && d.Len > 0 && d.Len <= 1+longest && d.Data[0] == nameOf:
		m.roster.Names[slot] = string(d.Data[1:d.Len])
	}
}

// called is how a player of a duel is called.
func (m *sim) called(slot int) string { return cmp.Or(m.known[slot], "The other one") }

// tell takes a line of talk in a duel, for the next turn.
func (m *sim) tell(s Said) {
	m.talkMu.Lock()
	defer m.talkMu.Unlock()
	if len(m.talk) < lines {
		m.talk = append(m.talk, s)
	}
}

// told are the lines of talk that were in no turn yet.
func (m *sim) told() (talk []Said) {
	m.talkMu.Lock()
	defer m.talkMu.Unlock()
	talk, m.talk = m.talk, nil
	return talk
}

// turn is the turn of a frame that no server has announced: in a duel, and where somebody is left alone. The inputs are
// of the slots in who.
func (m *sim) turn(who game.Mask, inputs [game.Players]game.Input, left []int, length time.Duration) {
	m.mu.Lock()
	t := frameOf(m.state.Frame, length, who, m.inputs, inputs, &m.names, m.told())
	t.Left = left
	m.names = [game.Players]string{} // they are told once
	m.mu.Unlock()
	if m.record != nil { // else the sum is not needed
		m.record.Turn(t, m.Sum(), true)
	}
	m.Turn(t)
}

// frameOf is a frame as a turn: what of the inputs is another one than before, and names and talk where there are some.
func frameOf(
	frame uint32, length time.Duration, who game.Mask,
	before, now [game.Players]game.Input, names *[game.Players]string, talk []Said,
) *frames.Turn {
	t := &frames.Turn{Frame: frame, Due: frame, Next: frame + 1, Length: max(length, time.Millisecond)}
	for i := range now {
		o := frames.Order{Slot: i}
		if c, ok := frames.Data(naming(names[i])); ok && names[i] != "" && who.Has(i) {
			o.Commands = append(o.Commands, c)
		}
		if who.Has(i) && now[i] != before[i] {
			o.Commands = append(o.Commands, frames.Keys(uint16(now[i])))
		}
		for _, s := range talk {
			if c, ok := frames.Words(saidOf, s.Text); ok && s.Slot == i {
				o.Commands = append(o.Commands, c)
			}
		}
		if o.Commands != nil {
			t.Orders = append(t.Orders, o)
		}
	}
	return t
}

// Step implements frames.Game.
func (m *sim) Step() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.owed -= min(m.owed, 1)
	m.step(&game.Frame{Inputs: m.inputs, Gone: m.gone, Back: m.back})
	if m.source == nil || m.me < 0 {
		return
	}
	if !m.named && m.submit != nil {
		m.named = true
		if c, ok := frames.Data(naming(m.name)); ok {
			m.submit(c)
		}
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
		m.each(m.state, m.recent())
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

// now is what the own player does now.
func (m *sim) now() game.Input {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.source == nil || m.state.Phase == game.Over {
		return 0
	}
	return m.source(m.state)
}

// exchange plays a frame of a duel, with the first of the own inputs and that of the other player.
func (m *sim) exchange(own []game.Input, other int, in game.Input, length time.Duration) {
	var inputs [game.Players]game.Input
	inputs[m.me], inputs[other] = own[0], in
	m.turn(game.Mask(0).With(m.me).With(other), inputs, nil, length)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.owed = 0
	m.step(&game.Frame{Inputs: m.inputs, Gone: m.gone, Back: m.back})
	n := copy(m.pending[:], own[1:])
	clear(m.pending[n:])
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
func Playback(each func(*game.State, *Roster)) frames.Game {
	m := newSim(frames.Watch, 0)
	m.each = each
	return m
}
