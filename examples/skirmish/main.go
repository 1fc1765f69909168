// Command skirmish is a game for one to eight: small tanks in an arena, until one is left.
//
//	skirmish                     play at once, against bots; others on the network may join
//	skirmish -join HOST          play with others
//	skirmish -meet peer-to-peer  find others on this network; one of you is the host
//	skirmish -watch HOST         look on
//	skirmish -serve              be a host that does not play
//	skirmish -headless -bots 4   let bots play over real sockets, and say how it went; with -fast in virtual time
//	skirmish -replay FILE        see a match again that was recorded with -record FILE
//	skirmish -film FILE          draw a match of bots, or a recording, into a GIF
//
// Arrows drive, space fires, m lays a mine, x stops, t talks, q quits. docs/SKIRMISH.md says more.
// Exit codes: 0 left in good order, 1 a match went wrong, 2 wrong usage, or no host or file, 3 interrupted before all
// matches of -headless were played.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/user"
	"slices"
	"time"

	"golang.org/x/term"

	"github.com/parley-go/parley/examples/internal/usage"
	"github.com/parley-go/parley/examples/remote/pilot"
	"github.com/parley-go/parley/examples/skirmish/carrier"
	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/examples/skirmish/match"
	"github.com/parley-go/parley/examples/skirmish/relay"
	"github.com/parley-go/parley/examples/skirmish/screen"
	"github.com/parley-go/parley/examples/skirmish/session"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/internal/interrupt"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

type settings struct {
	name, join, watch, listen         string
	link, tunnel, meet                string
	bind, broadcast, slots            string
	gameserver, packets               string
	film, record, replay              string
	serve, headless, late, duel, fast bool
	arena, rounds, bots, matches, hz  int
	mostOfOne                         int
	loss                              float64
	from, length                      time.Duration // of a film
	seed                              uint
	least                             int             // players of a match of the own host
	named                             map[string]bool // flags on the command line
	recording                         *recording      // of -record
	ready                             func()          // called when the bots of -headless have begun; may be nil
	notes                             io.Writer       // what is told on the way
	fixed                             bool            // others look for the own host at the port of listen alone
	through                           *relay.Node     // the gameserver through which all goes; nil: nothing does
	resume                            *match.Saved    // that the own host goes on with, and the player
	elsewhere                         string          // why the own host is not at the usual port
}

func run(args []string, stdout, stderr io.Writer) int {
	var s settings
	f := s.flags()
	if code, done := usage.Parse(f, args, stdout, stderr); done {
		return code
	}
	if err := cmp.Or(usage.NotNegative(f, "from", "for"), s.check(f)); err != nil {
		return usage.Wrong(f, stderr, err)
	}
	ctx, stop := interrupt.Context(context.Background())
	defer stop()
	switch err := s.run(ctx, stdout, stderr); {
	case errors.Is(err, errWrong):
		fmt.Fprintf(stderr, "skirmish: %v\n", err)
		return 1
	case errors.Is(err, errInterrupted):
		fmt.Fprintf(stderr, "skirmish: %v\n", err)
		return 3
	case err != nil && ctx.Err() == nil:
		fmt.Fprintf(stderr, "skirmish: %v\n", err)
		return 2
	}
	return 0
}

func (s *settings) flags() *flag.FlagSet {
	own := "Player"
	if u, err := user.Current(); err == nil && u.Username != "" {
		own = u.Username[:min(len(u.Username), 16)]
	}
	f := flag.NewFlagSet("skirmish", flag.ContinueOnError)
	f.StringVar(&s.name, "name", own, "your `name`, at most 16 bytes")
	f.StringVar(&s.join, "join", "", "play with the host at this `address`")
	f.StringVar(&s.watch, "watch", "", "look on at the matches of the host at this `address`")
	f.BoolVar(&s.serve, "serve", false, "be a host that does not play")
	f.StringVar(&s.listen, "listen", ":7532", "`address` of the own host")
	f.StringVar(&s.link, "link", "tcp", "`kind` of network: tcp, udp or ipx")
	f.StringVar(&s.meet, "meet", "",
		"`how` players meet: peer-to-peer, where one of those who find each other is the "+
			"host, slotserver, which tells who is there, gameserver, through which the match goes, or server, with "+
			"-join or as the host; 4 and 5 switch between matches")
	f.StringVar(&s.slots, "slotserver", "",
		"-meet: `address` of a slotserver of Parsec, as examples/parsec-server has one")
	f.StringVar(&s.gameserver, "gameserver", "",
		"-meet: `address` of a gameserver of Parsec, such as examples/parsec-server -mode game")
	f.StringVar(&s.packets, "packets", pilot.GamePort, "-gameserver: its `port` for the packets of the game")
	f.StringVar(&s.bind, "bind", "127.0.0.1", "-meet peer-to-peer: own `address` in the network")
	f.StringVar(&s.broadcast, "broadcast", "127.255.255.255:6581",
		"-meet peer-to-peer: `address` where everybody hears")
	f.StringVar(&s.tunnel, "tunnel", "127.0.0.1:2130", "ipx: `address` of the server of the IPX network")
	f.BoolVar(&s.headless, "headless", false, "bots play, over real sockets, and nothing is shown")
	f.IntVar(&s.matches, "matches", 1, "headless: `number` of matches")
	f.IntVar(&s.mostOfOne, "per-address", game.Players-1,
		"most `players` at the own host who come from one address, such as a router's, 1 to 16")
	f.BoolVar(&s.fast, "fast", false,
		"headless: in virtual time and without a network; equal seeds give equal matches")
	f.Float64Var(&s.loss, "loss", 0,
		"headless, with udp or ipx: `part` of the datagrams that are lost, from 0 to 0.5")
	f.IntVar(&s.hz, "rate", game.Rate, "frames a second of matches of the own host, 13 to 100")
	f.BoolVar(&s.late, "late", false,
		"do not show ahead what you do; it is seen three frames later, as others see it")
	f.BoolVar(&s.duel, "duel", false, "matches of two at the own host are duels: the two are in step with each other, "+
		"as in Netplay; others play as without it")
	f.StringVar(&s.record, "record", "", "record the first match in this `file`")
	f.StringVar(&s.replay, "replay", "", "see the match in this `file`")
	f.StringVar(&s.film, "film", "", "draw a match of bots, or that of -replay, into this `file`, a GIF")
	f.DurationVar(&s.from, "from", 2*time.Second, "film: begin so long after the match has begun")
	f.DurationVar(&s.length, "for", 12*time.Second, "film: so long; 0: to the end")
	f.IntVar(&s.arena, "arena", 0, "`number` of the arena")
	f.IntVar(&s.rounds, "rounds", 5, "`number` of rounds")
	f.IntVar(&s.bots, "bots", 3, "`number` of bots")
	f.UintVar(&s.seed, "seed", 0, "film, fast, loss: `number` that decides what is left to chance; 0: any")
	return f
}

func (s *settings) check(f *flag.FlagSet) error {
	switch {
	case s.arena < 0 || s.arena >= len(game.Arenas):
		return fmt.Errorf("-arena %d: it is a number from 0 to %d", s.arena, len(game.Arenas)-1)
	case s.rounds < 1 || s.rounds > match.MaxRounds:
		return fmt.Errorf("-rounds %d: it is a number from 1 to %d", s.rounds, match.MaxRounds)
	case s.bots < 0 || s.bots > match.MaxBots:
		return fmt.Errorf("-bots %d: it is a number from 0 to %d", s.bots, match.MaxBots)
	case s.matches < 1:
		return fmt.Errorf("-matches %d: it is more than 0", s.matches)
	case s.hz < 13 || s.hz > 100:
		return fmt.Errorf("-rate %d: it is a number from 13 to 100", s.hz)
	case s.loss < 0 || s.loss > 0.5:
		return fmt.Errorf("-loss %v: it is a number from 0 to 0.5", s.loss)
	case s.mostOfOne < 1 || s.mostOfOne > 16:
		return fmt.Errorf("-per-address %d: it is a number from 1 to 16", s.mostOfOne)
	case len(s.name) > 16:
		return fmt.Errorf("-name %q: it has more than 16 bytes", s.name)
	case s.meet != "" && s.meet != peerToPeer && s.meet != server && s.meet != slotServer && s.meet != gameServer:
		return fmt.Errorf("-meet %s: it is peer-to-peer, slotserver, gameserver or server", s.meet)
	case s.meet == gameServer && s.gameserver == "":
		return errors.New("-meet gameserver needs the address of one: -gameserver HOST:6581")
	case s.meet == slotServer && s.slots == "":
		return errors.New("-meet slotserver needs the address of one: -slotserver HOST:6582")
	case s.link != carrier.TCP && s.link != carrier.UDP && s.link != carrier.IPX:
		return fmt.Errorf("-link %s: it is tcp, udp or ipx", s.link)
	}
	s.named = map[string]bool{}
	for _, n := range usage.Given(f) {
		s.named[n] = true
	}
	if err := s.meaning(f); err != nil {
		return err
	}
	if s.seed == 0 {
		s.seed = uint(time.Now().UnixNano() & 0x7fffffff)
	}
	return nil
}

// meaning refuses flags that would be ignored.
func (s *settings) meaning(f *flag.FlagSet) error {
	network := []string{"link", "tunnel"}
	host := append([]string{"listen", "rate", "arena", "rounds", "bots", "duel", "per-address"}, network...)
	person := []string{"name", "late", "record"}
	meeting := []string{"meet", "bind", "broadcast", "slotserver", "gameserver", "packets"}
	of := func(beside string, lists ...[]string) error {
		return usage.Only(f, beside, slices.Concat(lists...)...)
	}
	var err error
	switch {
	case s.film != "" && s.replay != "":
		err = of("-film and -replay", []string{"film", "replay", "from", "for"})
	case s.film != "":
		err = of("-film", []string{"film", "from", "for", "arena", "rounds", "bots", "seed"})
	case s.headless && s.fast:
		err = of("-headless -fast", []string{"headless", "fast", "matches", "record", "seed"},
			[]string{"arena", "rounds", "bots"})
	case s.headless:
		err = of("-headless", []string{"headless", "matches", "loss", "record", "seed"}, host)
	case s.replay != "":
		err = of("-replay", []string{"replay"})
	case s.serve:
		err = of("-serve", []string{"serve"}, host)
	case s.watch != "":
		err = of("-watch", []string{"watch"}, network)
	case s.meet == server:
		err = of("-meet server", meeting, []string{"join"}, host, person)
	case s.meet != "":
		err = of("-meet "+s.meet, meeting, host, person)
	case s.join != "":
		err = of("-join", []string{"join"}, network, person)
	default:
		err = of("the own host", host, person)
	}
	switch {
	case err != nil:
		return err
	case s.headless && s.duel && s.bots != 2:
		return fmt.Errorf("-duel is for two bots: -headless -duel -bots 2, and not %d", s.bots)
	case s.headless && s.bots < 2:
		return fmt.Errorf("-bots %d: a match of -headless has at least 2", s.bots)
	case s.headless && s.given("seed") && !s.fast && s.loss == 0:
		return errors.New("-seed has no meaning with -headless, but with -loss or -fast")
	case s.loss > 0 && s.link == carrier.TCP:
		return errors.New("-loss has no meaning with -link tcp, which loses nothing; take udp or ipx")
	case s.given("packets") && s.gameserver == "":
		return errors.New("-packets has no meaning without -gameserver")
	case s.given("tunnel") && s.link != carrier.IPX && s.meet == "":
		return fmt.Errorf("-tunnel has no meaning with -link %s; it is for ipx", s.link)
	}
	return nil
}

// given reports whether a flag was on the command line.
func (s *settings) given(flag string) bool { return s.named[flag] }

func (s *settings) run(ctx context.Context, stdout, stderr io.Writer) (err error) {
	s.notes = stderr
	if s.recording, err = openRecording(s.record); err != nil {
		return err
	}
	defer func() {
		note, e := s.recording.end()
		if err = errors.Join(err, e); note != "" && err == nil {
			fmt.Fprintln(stderr, "skirmish: "+note)
		}
	}()
	switch {
	case s.film != "":
		return s.draw(ctx)
	case s.headless && s.fast:
		return s.playFast(ctx, stdout)
	case s.headless:
		return s.play(ctx, stdout)
	case s.serve:
		h, at, err := s.host(ctx, s.carrier())
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "a host is at %s%s\n", at, s.elsewhere)
		return h.Run(ctx)
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) || !term.IsTerminal(int(os.Stdout.Fd())) {
		return errors.New("this is no terminal to play on; -headless needs none")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	seen, err := s.session(ctx)
	if err != nil {
		return err
	}
	if err := terminal(ctx, os.Stdin, os.Stdout, seen); err != nil {
		return err
	}
	switch seen := seen.(type) {
	case *session.Online:
		select {
		case <-seen.Over():
			return seen.Err()
		default:
		}
	case *bound:
		return seen.unmet()
	case *replay:
		select {
		case <-seen.over:
			return seen.err
		default:
		}
	}
	return nil
}

// carrier says what is below the links.
func (s *settings) carrier() carrier.Config { return carrier.Config{Tunnel: s.tunnel} }

// session is what the flags ask for.
func (s *settings) session(ctx context.Context) (show, error) {
	cfg := s.carrier()
	switch {
	case s.replay != "":
		f, err := files.Open(s.replay)
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { f.Close() }) // who waits for a pipe is woken
		return newReplay(ctx, f, nil), nil
	case s.watch != "":
		return newSpectator(ctx, s.watch, s.dialer(s.watch, cfg)), nil
	case s.meet != "":
		return newBound(ctx, s)
	case s.join != "":
		return s.online(ctx, s.join, false, s.player(s.dialer(s.join, cfg))), nil
	}
	h, at, err := s.host(ctx, cfg)
	if err != nil {
		return nil, err
	}
	go h.Run(ctx)
	how := "-join " + at
	if s.link != carrier.TCP {
		how = "-link " + s.link + " " + how
	}
	return s.online(ctx, "others join with "+how+s.elsewhere, true, s.player(s.dialer(at, cfg))), nil
}

// online is a player as a session, who is told what else there is to know.
func (s *settings) online(ctx context.Context, title string, quick bool, c match.PlayerConfig) *session.Online {
	o := session.NewOnline(ctx, title, !s.late, quick, c)
	o.Also(func(v match.View) string {
		if t := s.recording.trouble(); t != "" {
			return t
		}
		n := 0
		for _, name := range v.Names {
			if name != "" {
				n++
			}
		}
		if s.duel && v.Phase == match.Lobby && n != 2 && n > 0 {
			return fmt.Sprintf("-duel is for two who are here, and there are %d: this match is as without it.", n)
		}
		return ""
	})
	return o
}

func (s *settings) player(dial dialer) match.PlayerConfig {
	c := match.PlayerConfig{Name: s.name, Dial: dial, Record: s.recording.begin, Saved: s.resume,
		Length: time.Second / time.Duration(max(s.hz, 1))}
	if s.resume != nil {
		c.Wish = s.resume.Slot + 1
	}
	return c
}

// draw draws a film. The file is touched when all of it is there: it may be the recording, by a slip.
func (s *settings) draw(ctx context.Context) error {
	moving := &reel{from: frameOf(s.from), to: frameOf(s.from + s.length), film: screen.Film{Delay: 200 / game.Rate}}
	if s.length == 0 {
		moving.to = math.MaxUint32
	}
	if s.replay != "" {
		in, err := files.Open(s.replay)
		if err != nil {
			return err
		}
		defer in.Close()
		defer context.AfterFunc(ctx, func() { in.Close() })() // who waits for a pipe is woken
		if same(s.replay, s.film) {
			return errors.New("-film and -replay name the same file")
		}
		r := newReplay(ctx, in, moving)
		<-r.over
		if r.err != nil {
			return r.err
		}
	} else {
		n := game.Mask(1<<(s.bots+1) - 1)
		c := game.Config{Seed: uint32(s.seed), Arena: uint8(s.arena), Rounds: uint8(s.rounds), Slots: n, Bots: n}
		info := &screen.Info{Me: -1, Names: session.BotNames, Below: "bots"}
		for st := game.New(c); st.Phase != game.Over && st.Frame < moving.to; st.Step(&game.Frame{}) {
			moving.add(st, info)
		}
	}
	if moving.film.Empty() {
		return fmt.Errorf("-from %v: the match is over before, so there is nothing to draw", s.from)
	}
	var picture bytes.Buffer
	if err := moving.film.Encode(&picture); err != nil {
		return err
	}
	return os.WriteFile(s.film, picture.Bytes(), 0o666)
}

// same reports whether two names are of one file.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
