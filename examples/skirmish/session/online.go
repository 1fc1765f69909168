// Package session is a match as its player sees it, wherever it is shown: a [screen.Grid] for each frame, and keys.
// Start from [NewOnline].
package session

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/examples/skirmish/match"
	"github.com/parley-go/parley/examples/skirmish/screen"
	"github.com/parley-go/parley/runtime/transport"
)

// Online is a player in matches of a host, as a session.
type Online struct {
	title string
	p     *match.Player
	ahead bool
	input atomic.Uint32
	draft atomic.Pointer[string]
	over  chan struct{}
	err   error // why it is over
	also  func(match.View) string
	last  atomic.Pointer[game.State]

	// Of who waits and looks on meanwhile.
	whole context.Context
	dial  func(ctx context.Context, place uint16) (transport.Link, error)
	stop  context.CancelFunc // of the goroutine of Frame
	match atomic.Pointer[screen.Grid]
}

// NewOnline runs a player until ctx ends. It agrees to the first match by itself if quick is set.
func NewOnline(ctx context.Context, title string, ahead, quick bool, cfg match.PlayerConfig) *Online {
	o := &Online{title: title, ahead: ahead, over: make(chan struct{}), whole: ctx, dial: cfg.Dial}
	cfg.Source = func(*game.State, int) game.Input { return game.Input(o.input.Load()) }
	cfg.Alone = cfg.OnLost == nil
	each := cfg.OnMatch
	cfg.OnMatch = func(r match.Result) {
		o.last.Store(&r.State)
		if each != nil {
			each(r)
		}
	}
	o.p = match.NewPlayer(cfg)
	go func() {
		defer close(o.over)
		o.err = o.p.Run(ctx)
	}()
	if quick {
		go func() {
			for ctx.Err() == nil {
				switch v := o.p.View(false); {
				case v.Phase == match.Lobby && !v.Agreed:
					o.p.Agree(ctx, true)
				case v.Phase != match.Calling:
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		}()
	}
	return o
}

// Also has a line more shown where f says one: it is called for each frame. It comes before the first one.
func (o *Online) Also(f func(match.View) string) { o.also = f }

// Err is why it is over. It is for those who have waited for Over.
func (o *Online) Err() error { return o.err }

// Title is the first line of the lobby.
func (o *Online) Title() string { return o.title }

// Seen is what the player can see, with the match ahead or as all see it.
func (o *Online) Seen(ahead bool) match.View { return o.p.View(ahead) }

// View is what the player can see.
func (o *Online) View() match.View { return o.p.View(false) }

// Over is closed when there is nothing more to see.
func (o *Online) Over() <-chan struct{} { return o.over }

// Frame takes what the player does now, and returns what there is to see. It is called Rate times a second.
func (o *Online) Frame(in game.Input) *screen.Grid { return o.With(in, "") }

// With is Frame with a line more in the lobby.
func (o *Online) With(in game.Input, say string) *screen.Grid {
	o.input.Store(uint32(in))
	v := o.p.View(o.ahead)
	also := ""
	if o.also != nil {
		also = o.also(v)
	}
	if g := o.look(v); g != nil {
		return g
	}
	if v.State != nil && v.Phase == match.Playing {
		info := screen.Info{Names: v.Names, Me: v.Slot, Talk: Lines(v.Talk, &v.Names),
			Gear:  o.draft.Load() == nil,
			Below: o.below("arrows drive  x stop  space fire  m mine  6-9 ! ? GG ha  t talk  q quit")}
		for _, note := range []string{v.Note, also} {
			if note != "" {
				info.Talk = append(info.Talk, screen.Line{Slot: -1, Text: note})
			}
		}
		for i := range info.Names {
			if info.Names[i] == "" && v.State.Slots.Has(i) {
				info.Names[i] = BotNames[i]
			}
		}
		return screen.Draw(v.State, &info)
	}
	r := screen.Room{Title: o.title, Names: v.Names, Me: v.Slot, Arena: v.Settings.Arena, Rounds: v.Settings.Rounds,
		Bots: v.Settings.Bots, Agreed: v.Agreed, Last: o.last.Load(),
		Played: v.Played, Talk: Lines(v.Talk, &v.Names),
		Below: o.below("1, 2, 3 change the settings   Enter agrees   t talks   q quits")}
	switch v.Phase {
	case match.Calling:
		return screen.Notice("calling the host ...", "q quits")
	case match.Waiting:
		return screen.Notice("A match is on. You play in the next one.", "q quits")
	case match.Loading, match.Playing:
		r.Lines = []string{"The match begins ..."}
	}
	if last := r.Last; last != nil && last.Phase == game.Over && v.Phase == match.Lobby {
		r.Lines = append(r.Lines, won(last, &v.Names))
	}
	for _, line := range []string{say, also} {
		if line != "" {
			r.Lines = append(r.Lines, line)
		}
	}
	return screen.Lobby(&r)
}

// won says who has won a match.
func won(s *game.State, names *[game.Players]string) string {
	if s.Winner >= game.Players {
		return "The last match was a draw."
	}
	return fmt.Sprintf("%s has won the last match with %d points.", called(s, names, int(s.Winner)),
		s.Tanks[s.Winner].Score)
}

// called is the name in a slot.
func called(s *game.State, names *[game.Players]string, slot int) string {
	if names[slot] == "" || s.Bots.Has(slot) {
		return BotNames[slot]
	}
	return names[slot]
}

// Ended says how a match has ended at which one has looked on.
func Ended(e match.End) string {
	if e.Left < 0 {
		return won(&e.State, &e.Names)
	}
	for i := range game.Players {
		if i != e.Left && e.State.Slots.Has(i) && !e.State.Bots.Has(i) {
			return fmt.Sprintf("%s has left the duel, so %s has won it.",
				cmp.Or(e.Names[e.Left], "The other one"), called(&e.State, &e.Names, i))
		}
	}
	return "Both have left the duel."
}

// look looks on at the match that one waits for the end of.
func (o *Online) look(v match.View) *screen.Grid {
	switch waits := v.Phase == match.Waiting; {
	case waits && o.stop == nil:
		ctx, stop := context.WithCancel(o.whole)
		o.stop = stop
		w := match.Watcher{
			Dial: func(ctx context.Context) (transport.Link, error) { return o.dial(ctx, v.Place) },
			OnFrame: func(s *game.State, who *match.Roster) {
				if ctx.Err() == nil {
					o.match.Store(screen.Draw(s, Known(who, "A match is on. You play in the next one.   q quits")))
				}
			},
			OnEnd: func(e match.End) {
				if ctx.Err() == nil {
					o.match.Store(screen.Notice(Ended(e)+" You play in the next match.", "q quits"))
				}
			},
		}
		go w.Run(ctx)
	case !waits && o.stop != nil:
		o.stop()
		o.stop = nil
		o.match.Store(nil)
	}
	if o.stop == nil {
		return nil
	}
	return o.match.Load()
}

// Known is what a screen says of players whom one looks on at.
func Known(who *match.Roster, below string) *screen.Info {
	info := &screen.Info{Me: -1, Names: BotNames, Below: below}
	for i, n := range who.Names {
		if n != "" {
			info.Names[i] = n
		}
	}
	info.Talk = Lines(who.Talk, &info.Names)
	return info
}

// Draft is what the player is about to say, if talking is set: it is shown until it is said.
func (o *Online) Draft(text string, talking bool) {
	if !talking {
		o.draft.Store(nil)
		return
	}
	o.draft.Store(&text)
}

// Say says something to all.
func (o *Online) Say(ctx context.Context, text string) { o.p.Say(ctx, text) }

// below is the last line.
func (o *Online) below(keys string) string {
	if d := o.draft.Load(); d != nil {
		r := []rune(*d)
		return "say: " + string(r[max(0, len(r)-screen.Columns+7):]) + "_"
	}
	return keys
}

// Lines are lines of talk as they are shown.
func Lines(talk []match.Said, names *[game.Players]string) (lines []screen.Line) {
	for _, s := range talk {
		name := names[s.Slot]
		if name == "" {
			name = BotNames[s.Slot]
		}
		lines = append(lines, screen.Line{Slot: s.Slot, Text: name + ": " + s.Text})
	}
	return lines
}

// Type takes a key that means nothing to a tank.
func (o *Online) Type(ctx context.Context, key byte) {
	v := o.p.View(false)
	if v.Phase != match.Lobby {
		return
	}
	switch key {
	case '\r':
		o.p.Agree(ctx, !v.Agreed)
	case '1':
		v.Settings.Arena = (v.Settings.Arena + 1) % len(game.Arenas)
		o.p.Change(ctx, v.Settings)
	case '2':
		v.Settings.Rounds = v.Settings.Rounds%9 + 1
		o.p.Change(ctx, v.Settings)
	case '3':
		v.Settings.Bots = (v.Settings.Bots + 1) % (match.MaxBots + 1)
		o.p.Change(ctx, v.Settings)
	}
}

// BotNames are those of the bots that the game drives, by slot.
var BotNames = [game.Players]string{"Ada", "Brook", "Cleo", "Dov", "Edda", "Finn", "Gus", "Hal"}
