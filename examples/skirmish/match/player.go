// Package match plays matches of Skirmish over a network: a [Host] with whom players meet, agree, begin and end, and
// [Player], who plays or looks on.
//
// What may be said when is the business of the machines: machines/skirmish between the players and the host, and
// machines/lockstep in the match. The package knows no terminal and no flags, and of networks only doors and links.
// Start from [Player].
package match

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"sync"
	"time"

	"github.com/parley-go/parley/examples/lockstep/frames"
	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/machines/skirmish"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport"
)

func sum(b []byte) uint32 { return crc32.ChecksumIEEE(b) }

// PlayerConfig says who plays.
type PlayerConfig struct {
	Name string // at most 16 bytes of UTF-8
	Wish int    // 1 and the slot to have if it is free, 0 for any
	// Dial calls the host; with a place, the door for matches there.
	Dial func(ctx context.Context, place uint16) (transport.Link, error)
	// Source is what the player does, asked once for each frame.
	Source func(s *game.State, slot int) game.Input
	// Auto agrees to whatever the settings are, as bots do.
	Auto bool
	// Matches is how many matches are played before the player leaves, 0 for no end.
	Matches int
	// Length is how long a frame takes that no host paces, in a duel and alone; 0 for as long as the game means.
	Length time.Duration
	// Alone: if the host goes in the middle of a match, the match is played to its end against bots.
	Alone bool
	// OnLost, if it is not nil, is told of the match instead, as far as it was played: another host may go on with it.
	OnLost func(*Saved)
	// Saved is a match that has lost its host. If the new host goes on with it, so does the player.
	Saved *Saved
	// Record is asked for a recorder for each match; may be nil.
	Record func() *frames.Recorder
	// OnMatch is told of each match that is over, and OnChange that there is something new to see. Both may be nil.
	OnMatch  func(Result)
	OnChange func()
	Sinks    []trace.Sink
}

// Result is how a match ended.
type Result struct {
	Seed  uint32
	Slot  int
	State game.State // the last one
	Sum   uint32     // of it
	Err   error      // why it was not played to its end
	Left  bool       // the other one of a duel had gone, and may have come to another end
}

// Phase is where a player is.
type Phase int

// The phases of a player.
const (
	Calling Phase = iota
	Waiting       // for a match to end
	Lobby
	Loading
	Playing
	Left
)

// View is what a player can see.
type View struct {
	Phase    Phase
	Slot     int
	Names    [game.Players]string
	Settings Settings
	Agreed   bool // the own agreement stands
	State    *game.State
	Place    uint16    // the host's door for matches
	Talk     []Said    // of late
	Note     string    // what has happened to this match, "" if nothing has
	Played   game.Mask // the slots of those who have played the last match, and are still there
}

// Player takes part in matches.
type Player struct {
	cfg  PlayerConfig
	d    *driver.Driver[*skirmish.PlayerRunner]
	wake chan struct{}
	// whole is the context of Run, which goes on when the host is gone. Of the goroutine of Run.
	whole context.Context

	mu      sync.Mutex
	view    View
	sim     *sim
	seed    uint32
	key     uint64 // for the own slot, and nobody else has it
	marks   [game.Players]uint64
	there   game.Mask
	starts  bool // a match is to be loaded
	place   uint16
	refused error
	played  int
	lost    bool
}

// NewPlayer returns a player; Run plays.
func NewPlayer(cfg PlayerConfig) *Player {
	p := &Player{cfg: cfg, wake: make(chan struct{}, 1), view: View{Slot: frames.Watch}}
	p.d = driver.New(skirmish.NewPlayerRunner(), driver.Options[*skirmish.PlayerRunner]{OnReport: p.report,
		OnState: func(*skirmish.PlayerRunner, uint16, uint16) { p.nudge() }, StopAtFinal: true, Trace: cfg.Sinks,
		Instance: "player"})
	return p
}

// The reasons why Run ends.
var (
	ErrVersion = errors.New("the host has another version of the game")
	ErrFull    = errors.New("the host has no room")
	ErrHost    = errors.New("the host is gone")
)

// Run plays until the player has left, the host is gone, or ctx ends.
func (p *Player) Run(ctx context.Context) error {
	link, err := p.call(ctx)
	if err != nil {
		return err
	}
	name, ok := skirmish.NewName(p.cfg.Name)
	if !ok {
		link.Abort()
		return fmt.Errorf("the name %q has more than 16 bytes", p.cfg.Name)
	}
	if err := p.d.Attach(skirmish.HostConst, link); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- p.d.Run(ctx) }()
	defer func() {
		cancel()
		<-ended
		p.set(func(v *View) { v.Phase = Left })
	}()
	wish := skirmish.Optional[skirmish.Slot]{}
	if p.cfg.Wish >= 1 {
		wish = skirmish.Some(skirmish.Slot(p.cfg.Wish - 1))
	}
	p.d.Do(ctx, func(r *skirmish.PlayerRunner) fsm.Result { return r.Join(Version, name, wish) })
	p.whole = ctx
	live, die := context.WithCancel(ctx) // while there is a host
	defer die()
	go func() { <-p.d.Done(); die() }()
	for {
		select {
		case <-p.wake:
		case <-p.d.Done():
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.refused != nil {
				return p.refused
			}
			return ErrHost
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if done, err := p.act(live); done {
			return err
		}
	}
}

// call calls the host: who has a match that has lost its host shows there whose slot is the own one.
func (p *Player) call(ctx context.Context) (transport.Link, error) {
	s := p.cfg.Saved
	if s == nil {
		return p.cfg.Dial(ctx, 0)
	}
	link, err := p.cfg.Dial(ctx, Back)
	if err == nil {
		err = errors.Join(link.Send(0, s.proof()), link.Flush())
	}
	return link, err
}

// act does what is due.
func (p *Player) act(ctx context.Context) (done bool, err error) {
	var m skirmish.Player2
	if p.d.Read(ctx, func(r *skirmish.PlayerRunner) { m = r.Machine }) != nil {
		return false, nil
	}
	p.mu.Lock()
	starts := p.starts && m.State == skirmish.PlayerStateLoading // else the look was a moment too early
	if starts {
		p.starts = false
	}
	played := p.played
	p.mu.Unlock()
	agreed := m.State != skirmish.PlayerStateLobby || agrees(m.Setup.Confirm.State)
	p.set(func(v *View) {
		for i, to := range []*int{&v.Settings.Arena, &v.Settings.Rounds, &v.Settings.Bots} {
			*to = int(m.Setup.Update[i].Own)
		}
		v.Settings = v.Settings.clip()
		v.Agreed = agreed
	})
	switch {
	case starts:
		err := p.match(ctx)
		if errors.Is(err, ErrHost) || ctx.Err() != nil {
			return true, err
		}
	case m.State == skirmish.PlayerStateLobby && p.cfg.Matches > 0 && played >= p.cfg.Matches:
		p.d.Do(ctx, (*skirmish.PlayerRunner).Leave)
		return true, nil
	case m.State == skirmish.PlayerStateLobby && (p.cfg.Auto || p.cfg.Saved != nil) && !agreed:
		p.Agree(ctx, true)
	}
	return false, nil
}

// agrees reports whether a side of Confirm has agreed, as far as its program knows.
func agrees(s skirmish.PlayerSetupConfirmState) bool {
	switch s {
	case skirmish.PlayerSetupConfirmStateLocalOk, skirmish.PlayerSetupConfirmStateCommitted,
		skirmish.PlayerSetupConfirmStateCancelLocalOk, skirmish.PlayerSetupConfirmStateCancelCommitted:
		return true
	}
	return false
}

func (p *Player) nudge() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
	if p.cfg.OnChange != nil {
		p.cfg.OnChange()
	}
}

func (p *Player) set(f func(*View)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(&p.view)
}

// report is called by the driver's goroutine.
func (p *Player) report(r *skirmish.PlayerRunner, i int) {
	defer p.nudge()
	p.mu.Lock()
	defer p.mu.Unlock()
	var there game.Mask
	switch v := r.Report(i); v.Kind {
	case skirmish.PlayerReportRefused:
		p.refused = ErrFull
		if v.Refused.Why == skirmish.WhyOtherVersion {
			p.refused = ErrVersion
		}
	case skirmish.PlayerReportWaits:
		p.view.Phase, p.place = Waiting, uint16(v.Waits.Place)
		p.view.Place = p.place
	case skirmish.PlayerReportWelcome:
		p.view.Phase, p.view.Slot, p.place = Lobby, int(v.Welcome.Slot), uint16(v.Welcome.Place)
	case skirmish.PlayerReportSaid:
		s := Said{Slot: int(v.Said.Slot), Text: v.Said.Text.String()}
		if m := p.sim; m != nil && m.seed&duels != 0 && p.view.Phase == Playing {
			defer m.tell(s) // it is a part of the duel, and heard there
			return
		}
		p.hear(s)
	case skirmish.PlayerReportPlayers:
		p.view.Names, there = [game.Players]string{}, 0
		for _, q := range v.Players.Players.Items[:v.Players.Players.Len] {
			p.view.Names[q.Slot] = q.Name.String()
			there = there.With(int(q.Slot))
		}
		p.there, p.view.Played = there, p.view.Played&there
	case skirmish.PlayerReportStarts:
		p.starts, p.seed, p.view.Phase = true, uint32(v.Starts.Seed), Loading
		p.key = uint64(v.Starts.Key)
		for i, mark := range v.Starts.Marks {
			p.marks[i] = uint64(mark)
		}
	case skirmish.PlayerReportBegins:
		p.view.Phase, p.view.Played = Playing, p.there
	case skirmish.PlayerReportEnds:
		p.view.Phase = Lobby
	case skirmish.PlayerReportLost:
		p.lost = true
	}
}

// match loads, plays and leaves one match.
func (p *Player) match(ctx context.Context) error {
	p.mu.Lock()
	m := newSim(p.view.Slot, p.seed)
	m.key, m.marks = p.key, p.marks
	place, slot, key := p.place, p.view.Slot, p.key
	p.sim, p.view.Note = m, ""
	p.mu.Unlock()
	resumes := p.cfg.Saved != nil && p.cfg.Saved.Seed == m.seed
	if resumes && p.cfg.Saved.Slot == slot {
		m.saved = p.cfg.Saved
	}
	p.cfg.Saved = nil
	m.name, m.heard = p.cfg.Name, func(s Said) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.hear(s)
	}
	if p.cfg.Source != nil {
		m.source = func(s *game.State) game.Input { return p.cfg.Source(s, slot) }
	}
	if m.seed&duels != 0 {
		return p.over(ctx, m, p.duel(ctx, m, place, key))
	}
	if p.cfg.Record != nil && !resumes { // a recording is of a whole match
		m.record = p.cfg.Record()
	}
	var err error
	readied := false
	for try, wait := 0, 200*time.Millisecond; ; try++ { // a link that is lost in the match is made anew
		var link transport.Link
		if link, err = p.cfg.Dial(ctx, place); err != nil {
			break
		}
		c := frames.NewClient(frames.ClientConfig{Slot: slot, Key: key, Name: p.cfg.Name, Game: m, Record: m.record,
			MaxSnapshot: 1 << 16})
		m.mu.Lock()
		m.submit = c.Submit
		m.mu.Unlock()
		run, leave := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- c.Run(run, link) }()
		if !readied {
			readied = true
			p.d.Do(ctx, (*skirmish.PlayerRunner).Ready)
		}
		select {
		case <-m.over:
			c.Leave(run)
			<-ended
			err = nil
		case err = <-ended:
		case <-p.d.Done():
			leave()
			<-ended
			err = ErrHost
		}
		leave()
		again := errors.Is(err, frames.ErrLost) && try < 4
		if resumes { // the new host's own player has to be there first
			again = try < 50 && (errors.Is(err, frames.ErrLost) || errors.Is(err, frames.ErrTaken))
		}
		if err == nil || errors.Is(err, ErrHost) || !again || ctx.Err() != nil {
			break
		}
		if !p.sleep(ctx, wait) {
			break
		}
	}
	if !readied {
		p.d.Do(ctx, (*skirmish.PlayerRunner).Ready)
	}
	if err != nil {
		select {
		case <-p.d.Done():
			err = ErrHost
		default:
		}
	}
	return p.over(ctx, m, err)
}

// over is done when a match is over here, by its end or otherwise.
func (p *Player) over(ctx context.Context, m *sim, err error) error {
	if errors.Is(err, ErrHost) && p.cfg.OnLost != nil {
		if s := m.save(); s != nil {
			p.cfg.OnLost(s)
		}
	} else if errors.Is(err, ErrHost) && p.cfg.Alone {
		p.set(func(v *View) {
			v.Note = "The host is gone. Bots drive the others, and nothing counts after this match."
		})
		p.alone(p.whole, m)
	}
	res := Result{Seed: m.seed, Slot: m.me, Err: err, Left: m.left}
	if s := m.last(); s != nil {
		res.State, res.Sum = *s, s.Checksum()
	}
	p.mu.Lock()
	p.played++
	p.mu.Unlock()
	if p.cfg.OnMatch != nil {
		p.cfg.OnMatch(res)
	}
	if !errors.Is(err, ErrHost) {
		p.finish(ctx)
	}
	return err
}

// finish says that the match is over here, as soon as the machine knows that it has begun.
func (p *Player) finish(ctx context.Context) {
	for {
		var state skirmish.PlayerState
		if p.d.Read(ctx, func(r *skirmish.PlayerRunner) { state = r.Machine.State }) != nil {
			return
		}
		if state == skirmish.PlayerStateMatch {
			p.d.Do(ctx, (*skirmish.PlayerRunner).Finish)
			return
		}
		select {
		case <-p.wake:
		case <-p.d.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

// length is how long a frame takes that no server paces.
func (p *Player) length() time.Duration { return cmp.Or(p.cfg.Length, frameTime) }

// alone plays a match to its end that has lost its host, or the other one of a duel: the others are driven by bots.
func (p *Player) alone(ctx context.Context, m *sim) {
	m.mu.Lock()
	m.submit = nil
	there := m.state != nil
	var left []int
	if there {
		for i := range game.Players {
			if i != m.me && m.state.Slots.Has(i) && !m.state.Bots.Has(i) {
				left = append(left, i)
			}
		}
	}
	m.mu.Unlock()
	if !there {
		return
	}
	for m.owed > 0 { // what was announced before
		m.Step()
	}
	tick := time.NewTicker(p.length())
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			var inputs [game.Players]game.Input
			m.mu.Lock()
			inputs[m.me] = m.pending[0]
			m.mu.Unlock()
			m.turn(game.Mask(0).With(m.me), inputs, left, p.length())
			m.Step()
			left = nil
		case <-m.over:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (p *Player) sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-p.d.Done():
	case <-ctx.Done():
	}
	return false
}

// View returns what there is to see. ahead shows the match as it will be when what the player does now is played.
func (p *Player) View(ahead bool) View {
	p.mu.Lock()
	v, m := p.view, p.sim
	v.Talk = slices.Clone(v.Talk)
	p.mu.Unlock()
	if m != nil {
		v.State = m.look(ahead)
	}
	if v.State != nil && v.Phase == Playing {
		m.mu.Lock()
		r := m.recent()
		m.mu.Unlock()
		v.Talk = r.Talk
		for i, n := range r.Names {
			if n != "" {
				v.Names[i] = n
			}
		}
	}
	return v
}

// hear keeps the last lines of talk. The caller has p.mu.
func (p *Player) hear(s Said) {
	p.view.Talk = append(slices.Clone(p.view.Talk[max(0, len(p.view.Talk)-lines+1):]), s)
}

// Say says something to all, in the lobby or in a match. It reports whether it could.
func (p *Player) Say(ctx context.Context, text string) bool {
	p.mu.Lock()
	phase, m := p.view.Phase, p.sim
	p.mu.Unlock()
	duel := phase == Playing && m != nil && m.seed&duels != 0 // the host brings what the two say beside it
	if phase == Playing && m != nil && !duel {
		return m.say(text)
	}
	t, ok := skirmish.NewText(text)
	if !ok || phase != Lobby && !duel {
		return false
	}
	_, err := p.d.Do(ctx, func(r *skirmish.PlayerRunner) fsm.Result { return r.Say(t) })
	return err == nil
}

// Agree agrees to the settings, or takes that back.
func (p *Player) Agree(ctx context.Context, yes bool) {
	if yes {
		p.d.Do(ctx, (*skirmish.PlayerRunner).Agree)
	} else {
		p.d.Do(ctx, (*skirmish.PlayerRunner).Cancel)
	}
	p.nudge()
}

// Change changes the settings. Who has agreed takes that back first.
func (p *Player) Change(ctx context.Context, to Settings) {
	to = to.clip()
	p.Agree(ctx, false)
	for i, v := range [...]int{to.Arena, to.Rounds, to.Bots} {
		p.d.Do(ctx, func(r *skirmish.PlayerRunner) fsm.Result {
			if int(r.Machine.Setup.Update[i].Own) == v {
				return fsm.Result{Code: fsm.NotRun, Transition: fsm.NoTransition}
			}
			return r.Change(skirmish.Property(i), skirmish.Value(v))
		})
	}
	p.nudge()
}

// Kill ends the player without a word, as a crash does.
func (p *Player) Kill() { p.d.Stop() }
