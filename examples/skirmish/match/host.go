package match

import (
	"context"
	crypto "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/parley-go/parley/examples/internal/doors"
	"github.com/parley-go/parley/examples/lockstep/frames"
	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/machines/skirmish"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport"
)

// Version is that of the game: others are refused.
const Version = 3

// Door lets others in, as those of package carrier do.
type Door interface {
	Accept(ctx context.Context) (transport.Link, error)
}

// HostConfig says how a host behaves.
type HostConfig struct {
	// Control is the door for players, and Frames that for the matches; Place is the port of Frames, or the number
	// of its socket.
	Control, Frames Door
	Place           uint16
	// Back is the door for those who were in the match of Resume; nil if there is none.
	Back Door
	// Settings are those of the first match.
	Settings Settings
	// Least is how many players there have to be for a match, 0 for one.
	Least int
	// Length is how long a frame takes, 0 for as long as the game means.
	Length time.Duration
	// Patience is how long somebody may be waited for who does not load, finish or agree, though others wait; 0
	// for 15 s.
	Patience time.Duration
	// Hesitation is how long those who have agreed wait for the others, who then wait for the next match; 0 for 20 s.
	Hesitation time.Duration
	// Resume is a match that has lost its host, and goes on here: it is the first one, and begins as soon as those who
	// were in it are back, or Return has passed, 0 for 5 s, and the player who saved it is there.
	Resume *Saved
	Return time.Duration
	// PerAddress is how many connections one address may have, of the sixteen for players, 0 for seven: so nobody has
	// all places of a match. At the door for frames it is four more, of those who look on. Links without an
	// address are not counted.
	PerAddress int
	// Duel has matches of two played as duels: the two are in step with each other.
	Duel bool
	// Sinks record each step of the host's machine.
	Sinks  []trace.Sink
	Logger *slog.Logger
}

// Host is where the players of a match meet: it makes them agree, and relays what they do.
type Host struct {
	cfg   HostConfig
	d     *driver.Driver[*skirmish.HostRunner]
	peers *doors.Numbers
	wake  chan struct{}

	// Of the goroutine of Run.
	m      skirmish.Host  // as of the last look
	since  time.Time      // since when it is in this state
	ripe   time.Time      // since when somebody waits at the end of a match, or has agreed where others have not
	first  time.Time      // since when somebody wants to go on with the match of Resume
	idle   time.Time      // since when somebody waits for a place, and of those who have one nobody agrees
	keys   map[int]uint64 // of the slots in this match
	play   *playing
	begun  bool
	attach chan transport.Link
	said   chan Said // for those who look on at a duel
	back   *returning
}

// playing is the server of one match.
type playing struct {
	*frames.Server // nil for a duel
	pair           *pair
	ctx            context.Context
	stop           func()
	over           chan struct{}
	came           chan int // slots
	here           game.Mask
}

// NewHost returns a host; Run runs it.
func NewHost(cfg HostConfig) (*Host, error) {
	if cfg.Patience == 0 {
		cfg.Patience = 15 * time.Second
	}
	if cfg.Hesitation == 0 {
		cfg.Hesitation = 20 * time.Second
	}
	if cfg.Return == 0 {
		cfg.Return = 5 * time.Second
	}
	if cfg.Resume != nil {
		_, cfg.Settings = unpack(cfg.Resume.Seed)
	}
	if cfg.Length == 0 {
		cfg.Length = time.Second / game.Rate
	}
	if cfg.PerAddress == 0 {
		cfg.PerAddress = game.Players - 1
	}
	r, err := skirmish.NewHostRunner(Version, skirmish.Place(cfg.Place), skirmish.HostConst)
	if err != nil {
		return nil, err
	}
	h := &Host{cfg: cfg, peers: doors.New(16), wake: make(chan struct{}, 1), attach: make(chan transport.Link),
		said: make(chan Said, 16)}
	h.peers.Each = cfg.PerAddress
	h.back = newReturning(cfg.Resume)
	h.d = driver.New(r, driver.Options[*skirmish.HostRunner]{HandshakeLimit: 10 * time.Second, Logger: cfg.Logger,
		Trace: cfg.Sinks, Instance: "host",
		OnReport: func(r *skirmish.HostRunner, i int) {
			if v := r.Report(i); v.Kind == skirmish.HostReportSaid {
				select {
				case h.said <- Said{Slot: int(v.Said.Slot), Text: v.Said.Text.String()}:
				default: // more than anybody reads
				}
			}
			h.nudge()
		},
		OnState: func(*skirmish.HostRunner, uint16, uint16) { h.nudge() },
		OnLink:  func(*skirmish.HostRunner, fsm.Peer, bool, error) { h.nudge() }})
	return h, nil
}

func (h *Host) nudge() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// Run runs the host until ctx ends, which is no error.
func (h *Host) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	const parts = 4
	ended := make(chan error, parts)
	go func() { ended <- h.d.Run(ctx) }()
	go func() { ended <- h.accept(ctx, h.cfg.Control, h.knock) }()
	go func() {
		if h.cfg.Back == nil {
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return
		}
		ended <- h.accept(ctx, h.cfg.Back, h.comeBack)
	}()
	go func() {
		ended <- h.accept(ctx, h.cfg.Frames, func(ctx context.Context, l transport.Link) {
			select {
			case h.attach <- l:
			case <-ctx.Done():
				l.Abort()
			}
		})
	}()
	for p, v := range [...]int{h.cfg.Settings.Arena, h.cfg.Settings.Rounds, h.cfg.Settings.Bots} {
		if v != 0 {
			h.d.Do(ctx, func(r *skirmish.HostRunner) fsm.Result {
				return r.Set(skirmish.Property(p),
					skirmish.Value(v))
			})
		}
	}
	defer func() { h.finish() }()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-h.wake:
		case <-tick.C:
		case s := <-h.said:
			if h.play != nil && h.play.pair != nil {
				h.play.pair.tap.say(s)
			}
		case l := <-h.attach:
			h.look(ctx) // who comes may know of a match before we do
			h.seat(ctx, l)
		case err := <-ended:
			cancel()
			for range parts - 1 {
				<-ended
			}
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		}
		h.look(ctx)
	}
}

// accept lets in who comes through a door.
func (h *Host) accept(ctx context.Context, d Door, each func(context.Context, transport.Link)) error {
	for {
		l, err := d.Accept(ctx)
		if err != nil {
			return err
		}
		each(ctx, l)
	}
}

func (h *Host) admit(ctx context.Context, l transport.Link) { h.let(ctx, l, nobody) }

// let lets somebody in, who has shown the key of a slot unless that is nobody.
func (h *Host) let(ctx context.Context, l transport.Link, slot int) {
	if p, ok := h.peers.Try(doors.From(l)); ok {
		h.back.note(p, slot)
		h.d.Attach(p, h.peers.Door(p, l))
		return
	}
	go func() { // so that a flood from one address holds nobody else up
		wait, cancel := context.WithTimeout(ctx, 50*time.Millisecond) // for the end of one who has just gone
		defer cancel()
		p, err := h.peers.Take(wait, doors.From(l))
		if err != nil {
			refuse(l)
			return
		}
		h.back.note(p, slot)
		h.d.Attach(p, h.peers.Door(p, l))
	}()
}

// refuse tells somebody for whom there is no number that there is no room.
func refuse(l transport.Link) {
	m := skirmish.Message{Kind: skirmish.MessageRefused, Refused: skirmish.RefusedMessage{Why: skirmish.WhyFull}}
	if b, err := skirmish.AppendMessage(nil, &m); err == nil && l.Send(0, b) == nil && l.Flush() == nil {
		l.Close()
		return
	}
	l.Abort()
}

// seat gives a link for frames to the match that there is.
func (h *Host) seat(ctx context.Context, l transport.Link) {
	if h.play == nil {
		l.Abort() // who wants to look on asks again
		return
	}
	play := h.play
	if play.pair != nil {
		go play.pair.sit(play.ctx, l)
		return
	}
	go func() {
		wait, cancel := context.WithTimeout(ctx, h.cfg.Patience)
		defer cancel()
		play.Attach(wait, l)
	}()
}

// look looks at the machine and does what is due.
func (h *Host) look(ctx context.Context) {
	was := h.m.State
	if h.d.Read(ctx, func(r *skirmish.HostRunner) { h.m = r.Machine }) != nil {
		return
	}
	now := time.Now()
	if h.play != nil && h.play.pair != nil {
		h.play.pair.look(now)
	}
	if h.cfg.Resume == nil {
		h.back.over()
	}
	if h.m.State != was || h.since.IsZero() {
		h.since, h.ripe = now, time.Time{}
	}
	late := now.Sub(h.since) > h.cfg.Patience
	switch h.m.State {
	case skirmish.HostStateGathering:
		h.finish()
		h.gather(ctx, now)
	case skirmish.HostStateClosing, skirmish.HostStateUnwinding:
		if late {
			h.drop(func(p int) bool {
				if h.m.State == skirmish.HostStateUnwinding {
					return h.m.Bound.Has(fsm.Peer(p))
				}
				return !h.m.Agreed.Has(fsm.Peer(p))
			})
		}
	case skirmish.HostStateStarting:
		h.start(ctx)
		h.count()
		ready := func(p int) bool {
			slot := int(h.m.Seats[p].Value.Slot)
			return h.ready(p) && (h.play.here.Has(slot) || h.cfg.Resume != nil && slot != h.cfg.Resume.Slot)
		}
		switch {
		case h.all(ready):
			if !h.begun {
				h.begun = h.begin(ctx)
			}
			if h.begun {
				h.d.Do(ctx, (*skirmish.HostRunner).Go)
				h.nudge()
			}
		case late:
			h.drop(func(p int) bool { return !ready(p) })
		}
	case skirmish.HostStatePlaying:
		switch {
		case h.all(h.ready):
			h.d.Do(ctx, (*skirmish.HostRunner).End)
			h.nudge()
		case h.some(h.ready):
			if h.ripe.IsZero() {
				h.ripe = now
			}
			long := h.cfg.Patience
			if h.play != nil && h.play.pair != nil && h.play.pair.parted() {
				long *= 20 // the two play on apart, and one to a later end
			}
			if now.Sub(h.ripe) > long {
				h.drop(func(p int) bool { return !h.ready(p) })
			}
		}
	}
}

// gather makes one agreement of all. Who does not agree is waited for only so long where others have agreed.
func (h *Host) gather(ctx context.Context, now time.Time) {
	if h.cfg.Resume != nil && h.count() == 0 && h.back.late(now, 2*h.cfg.Return) {
		h.cfg.Resume = nil // nobody comes back
	}
	agreed := func(p int) bool { return h.m.Setup[p].Confirm.State == skirmish.HostSetupConfirmStateRemoteOk }
	n := 0
	h.some(func(p int) bool {
		if agreed(p) {
			n++
		}
		return false
	})
	h.clear(now, n)
	if h.cfg.Resume != nil {
		h.drop(func(p int) bool { return !h.back.has(p, int(h.m.Seats[p].Value.Slot)) })
	}
	switch {
	case n < max(1, h.cfg.Least):
		h.ripe = time.Time{}
		return
	case n == h.count():
	case h.cfg.Resume != nil: // who was not in the match is not waited for
	case h.ripe.IsZero():
		h.ripe = now
		return
	case now.Sub(h.ripe) < h.cfg.Hesitation:
		return
	}
	all, resume := n == h.count(), h.cfg.Resume
	if resume != nil {
		if h.first.IsZero() {
			h.first = now
		}
		there := game.Mask(0)
		h.some(func(p int) bool {
			if agreed(p) {
				there = there.With(int(h.m.Seats[p].Value.Slot))
			}
			return false
		})
		late := now.Sub(h.first) > h.cfg.Return
		switch has := there.Has(resume.Slot); {
		case !late && (!has || resume.There&^there != 0):
			return
		case !has: // nobody here has the match
			resume, h.cfg.Resume = nil, nil
			if !all {
				return
			}
		}
	}
	var keys skirmish.Keys
	h.keys = map[int]uint64{}
	for slot := range keys {
		h.keys[slot] = secret()
		keys[slot] = skirmish.Key(h.keys[slot])
	}
	var marks skirmish.Marks
	for slot, key := range h.keys {
		marks[slot] = skirmish.Mark(mark(key))
	}
	h.d.Do(ctx, func(r *skirmish.HostRunner) fsm.Result {
		if resume != nil && !h.back.all(&r.Machine) {
			return fsm.Result{Code: fsm.NotRun, Transition: fsm.NoTransition}
		}
		seed := skirmish.Seed(pack(rand.Uint32(), settings(r.Machine.Values)))
		switch {
		case resume != nil:
			seed = skirmish.Seed(resume.Seed &^ duels)
		case h.cfg.Duel && n == 2:
			seed |= duels
		}
		if all {
			return r.Agree(seed, keys, marks)
		}
		return r.Press(seed, keys, marks)
	})
	h.nudge()
}

// clear takes a place from somebody if all are taken, others wait, and nobody has agreed for long.
func (h *Host) clear(now time.Time, agreed int) {
	waits := slices.ContainsFunc(h.m.Waiting[:], func(w skirmish.Optional[skirmish.Name]) bool { return w.Present })
	switch {
	case agreed > 0 || h.count() < game.Players || !waits:
		h.idle = time.Time{}
	case h.idle.IsZero():
		h.idle = now
	case now.Sub(h.idle) >= h.cfg.Hesitation:
		h.idle = time.Time{}
		h.some(func(p int) bool { // the first one
			h.d.Detach(fsm.Peer(p))
			return true
		})
	}
}

// secret is a number that nobody guesses.
func secret() uint64 {
	var b [8]byte
	crypto.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:])
}

// mark tells a key from others, and does not tell the key.
func mark(key uint64) uint64 {
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte("skirmish slot "), key))
	return binary.LittleEndian.Uint64(sum[:])
}

func settings(v [3]skirmish.Value) Settings {
	return Settings{int(v[arena]), int(v[rounds]), int(v[bots])}.clip()
}

func (h *Host) ready(p int) bool { return h.m.Ready[p].State == skirmish.HostReadyStateRemoteReady }

func (h *Host) count() (n int) {
	for _, s := range h.m.Seats {
		if s.Present {
			n++
		}
	}
	return n
}

func (h *Host) all(f func(p int) bool) bool {
	return h.count() > 0 && !h.some(func(p int) bool { return !f(p) })
}

func (h *Host) some(f func(p int) bool) bool {
	for p, s := range h.m.Seats {
		if s.Present && f(p) {
			return true
		}
	}
	return false
}

// drop ends the links of those who are waited for in vain.
func (h *Host) drop(f func(p int) bool) {
	h.some(func(p int) bool {
		if f(p) {
			h.d.Detach(fsm.Peer(p))
		}
		return false
	})
}

// start begins the server of a match, and hears who is there.
func (h *Host) start(ctx context.Context) {
	if h.play == nil {
		p := &playing{came: make(chan int, 64), over: make(chan struct{})}
		p.ctx, p.stop = context.WithCancel(ctx)
		h.play, h.begun = p, false
		came := func(slot int) {
			select {
			case p.came <- slot:
			default:
			}
			h.nudge()
		}
		if h.m.Seed&duels != 0 {
			var names [game.Players]string
			h.some(func(q int) bool {
				seat := &h.m.Seats[q].Value
				names[seat.Slot] = seat.Name.String()
				return false
			})
			p.pair = newPair(uint32(h.m.Seed), h.seated(), names, h.cfg.Patience, came)
			context.AfterFunc(p.ctx, func() { p.pair.end(); close(p.over) })
			return
		}
		s, err := frames.NewServer(frames.ServerConfig{Length: h.cfg.Length.Truncate(time.Millisecond), Spacing: 1,
			Seed: uint32(h.m.Seed), Patience: h.cfg.Patience, Grace: h.cfg.Patience, Logger: h.cfg.Logger,
			Keys: h.doorKeys(), Watchers: 12, PerAddress: h.cfg.PerAddress + 4,
			OnCame: func(_ string, slot int) { came(slot) }})
		if err != nil {
			panic(err) // the configuration is ours
		}
		p.Server = s
		go func() {
			s.Run(p.ctx)
			close(p.over)
		}()
	}
	for {
		select {
		case slot := <-h.play.came:
			if slot >= 0 {
				h.play.here = h.play.here.With(slot)
			}
			continue
		default:
		}
		return
	}
}

// begin begins a match. One that is resumed begins with the player who has it; the others get it from there.
func (h *Host) begin(ctx context.Context) bool {
	if h.play.pair != nil {
		return true
	}
	if h.play.Begin(ctx) != nil {
		return false
	}
	if r := h.cfg.Resume; r != nil {
		h.cfg.Resume = nil
		for slot, key := range h.seated() {
			if slot != r.Slot {
				h.play.Keep(ctx, slot, key)
			}
		}
	}
	return true
}

// doorKeys are the keys with which one comes in before a match begins.
func (h *Host) doorKeys() map[int]uint64 {
	keys := h.seated()
	if r := h.cfg.Resume; r != nil {
		if key, ok := keys[r.Slot]; ok {
			return map[int]uint64{r.Slot: key}
		}
		h.cfg.Resume = nil // the player who has the match is gone again
	}
	return keys
}

// seated are the keys of those who play; nobody else gets a slot.
func (h *Host) seated() map[int]uint64 {
	keys := map[int]uint64{}
	h.some(func(p int) bool {
		slot := int(h.m.Seats[p].Value.Slot)
		keys[slot] = h.keys[slot]
		return false
	})
	return keys
}

// finish ends the server of a match.
func (h *Host) finish() {
	if h.play != nil {
		h.play.stop()
		<-h.play.over
		h.play = nil
	}
}

// Kill ends the host without a word, as a crash does.
func (h *Host) Kill() { h.d.Stop() }
