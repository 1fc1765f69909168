// Package player is a player of the protocol ssr who types lines and reads lines, in a terminal or in a browser. It
// knows neither: who uses it gives it a link and is told what to show. Start from [New].
package player

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/parley-go/parley/examples/internal/typed"
	"github.com/parley-go/parley/machines/ssr"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
)

// Kind says what a line is about.
type Kind string

// The kinds of lines.
const (
	Talk Kind = "talk" // somebody has said something
	News Kind = "news" // of the game, or of the connection
	Time Kind = "time" // of the clock
)

// Help is what can be typed.
const Help = "/name NAME  /games  /new  /join GAME  /set PARAMETERS  /start  /act DATA  /leave  /time  /check  /quit;" +
	" anything else is said to all in the same place"

// Player is one player with a connection.
type Player struct {
	d    *driver.Driver[*ssr.PlayerRunner]
	show func(Kind, string)
	over atomic.Bool // the machine has ended; its driver ends a moment later
}

// New returns a player who is told by show what to read, one line at a time. The machine's goroutine calls it, and who
// calls Type.
func New(show func(Kind, string)) *Player {
	p := &Player{show: func(k Kind, s string) { show(k, typed.Clean(s)) }}
	h := &ssr.PlayerHandlers{
		Connected: func() { p.show(News, "you are in the general chat; "+Help) },
		Games:     p.games,
		Inside: func(r ssr.PlayerInsideReport) {
			p.news("you are in game %d%s%s", r.Game, admin(r.Admin), with(r.Params))
		},
		Refused: func() { p.show(News, "there is no place, or no such game") },
		Said:    func(r ssr.PlayerSaidReport) { p.show(Talk, name(r.Name)+": "+r.Text.String()) },
		Started: func() { p.show(News, "the game has begun") },
		Acted:   func(r ssr.PlayerActedReport) { p.news("player %d does %s", r.From, r.Data) },
		Tuned:   func(r ssr.PlayerTunedReport) { p.news("the game is now%s", with(r.Params)) },
		Outside: func() { p.show(News, "you are in the general chat") },
		Synced: func(r ssr.PlayerSyncedReport) {
			p.show(Time, fmt.Sprintf("the clock was %d ms behind, and is at most %d ms wrong", r.Lag, r.Error))
		},
		Time: func(r ssr.PlayerTimeReport) {
			p.show(Time, fmt.Sprintf("it is %d.%03d, and at the server between %d.%03d and %d.%03d", r.Now/1000,
				r.Now%1000, r.Earliest/1000, r.Earliest%1000, r.Latest/1000, r.Latest%1000))
		},
		Over: func() {
			p.over.Store(true)
			p.show(News, "the connection is over")
		},
	}
	p.d = driver.New(ssr.NewPlayerRunner(), driver.Options[*ssr.PlayerRunner]{
		OnReport: h.OnReport, StopAtFinal: true, Steady: true,
		OnError: func(_ *ssr.PlayerRunner, err *driver.Error) { p.show(News, err.Error()) },
	})
	return p
}

func (p *Player) news(format string, args ...any) { p.show(News, fmt.Sprintf(format, args...)) }

func (p *Player) games(r ssr.PlayerGamesReport) {
	list := r.List.Items[:r.List.Len]
	if len(list) == 0 {
		p.show(News, "there is no game that can be joined")
	}
	for _, g := range list {
		p.news("game %d has %d players", g.Game, g.Players)
	}
}

func name(n ssr.Name) string {
	if n.Len == 0 {
		return "somebody"
	}
	return n.String()
}

func admin(is bool) string {
	if is {
		return ", which is yours"
	}
	return ""
}

func with(p ssr.Params) string {
	if p.Len == 0 {
		return ""
	}
	return " with " + p.String()
}

// Run plays over a link to the server until the connection is over or ctx ends.
func (p *Player) Run(ctx context.Context, link transport.Link) error {
	if err := p.d.Attach(0, link); err != nil {
		return err
	}
	return p.d.Run(ctx)
}

// command is a command of the machine, with its arguments.
type command = func(*ssr.PlayerRunner) fsm.Result

// commands are what a line that begins with a slash does.
var commands = map[string]func(arg string) (command, error){
	"name": func(arg string) (command, error) {
		n, ok := ssr.NewName(arg)
		if !ok || arg != typed.Clean(arg) {
			return nil, errors.New("a name has at most 31 bytes, and nothing in it that cannot be shown")
		}
		return func(r *ssr.PlayerRunner) fsm.Result { return r.Name(n) }, nil
	},
	"games": plain((*ssr.PlayerRunner).List),
	"new":   plain((*ssr.PlayerRunner).Create),
	"join": func(arg string) (command, error) {
		n, err := strconv.Atoi(arg)
		if err != nil || n < 0 || n > 15 {
			return nil, errors.New("a game has a number from 0 to 15; /games lists them")
		}
		return func(r *ssr.PlayerRunner) fsm.Result { return r.Enter(ssr.Game(n)) }, nil
	},
	"set":   text(ssr.NewParams, (*ssr.PlayerRunner).Tune),
	"start": plain((*ssr.PlayerRunner).Begin),
	"act":   text(ssr.NewData, (*ssr.PlayerRunner).Act),
	"leave": plain((*ssr.PlayerRunner).Leave),
	"time":  plain((*ssr.PlayerRunner).Read),
	"check": plain((*ssr.PlayerRunner).Compare),
	"quit":  plain((*ssr.PlayerRunner).Quit),
}

var say = text(ssr.NewLine, (*ssr.PlayerRunner).Say)

// plain is a command without an argument.
func plain(c command) func(string) (command, error) {
	return func(arg string) (command, error) {
		if arg != "" {
			return nil, errors.New("nothing stands behind that; " + Help)
		}
		return c, nil
	}
}

// text is a command with a text.
func text[T any](of func(string) (T, bool), do func(*ssr.PlayerRunner, T) fsm.Result) func(string) (command, error) {
	return func(arg string) (command, error) {
		t, ok := of(arg)
		if !ok {
			return nil, errors.New("that is more than 400 bytes")
		}
		return func(r *ssr.PlayerRunner) fsm.Result { return do(r, t) }, nil
	}
}

// Type does what a line says. The error is for who has typed it.
func (p *Player) Type(ctx context.Context, line string) error {
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return nil
	}
	f, arg, said := say, line, true
	if word, is := strings.CutPrefix(line, "/"); is {
		word, arg, _ = strings.Cut(word, " ")
		said = false
		if f = commands[word]; f == nil {
			return errors.New("there is no /" + word + "; " + Help)
		}
	}
	do, err := f(strings.TrimSpace(arg))
	if err != nil {
		return err
	}
	if _, err = p.d.Do(ctx, do); err == nil && said {
		p.show(Talk, "you: "+line) // the server tells the others alone
	}
	if err != nil && p.over.Load() {
		err = driver.ErrStopped // who has read that it is over is not told to wait
	}
	return typed.Answer(err)
}
