// Command netplay plays netplay matches of The Ur-Quan Masters as one of the
// two sides: against another copy of itself, or against the game (0.7 or 0.8).
//
// It parses flags, opens files and prints; how a match is played is the
// business of package player, which is where to start. Each line of its output
// begins with a word that says what it is about:
//
//	listening on ADDRESS            connected OWN > OTHER
//	state FROM -> TO                the machine has changed its state
//	report NAME{FIELDS}             the machine reports something
//	command NAME{FIELDS}            this side has given the machine a command
//	script FILE:LINE: TEXT          a line of the script is done
//	battle N …, match N …           what is played
//	note …, error …                 remarks; what went wrong, in which state, with which packet
//	played …                        the last line: what was played
//
// Exit codes: 0 everything was played, the connection was left in good order, and the other side has
// shown every guess of this side to be right; 1 the other side deviated from the protocol, the match failed, or its
// end was not told; 2 wrong usage, or no connection or file.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/parley-go/parley/examples/internal/usage"
	"github.com/parley-go/parley/examples/netplay/player"
	"github.com/parley-go/parley/internal/interrupt"
	"github.com/parley-go/parley/runtime/trace"
)

// defaultPort is the game's.
const defaultPort = "21837"

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// settings are the flags.
type settings struct {
	cfg                      player.Config
	script, fleet, checksums string
	game                     string
	trace, pcap              string
	timeout                  time.Duration
	helpScript               bool
	seed                     uint
}

func run(args []string, stdout, stderr io.Writer) int {
	var s settings
	f := s.flags()
	if code, done := usage.Parse(f, args, stdout, stderr); done {
		return code
	}
	if s.helpScript {
		fmt.Fprint(stdout, player.ScriptHelp)
		return exitOK
	}
	if err := s.complete(f); err != nil {
		return usage.Wrong(f, stderr, err)
	}
	out := bufio.NewWriter(stdout)
	s.cfg.OnLine = func(line string) { fmt.Fprintln(out, line); out.Flush() }
	closeFiles, err := s.record()
	if err == nil {
		ctx, cancel := s.context()
		_, err = player.Play(ctx, s.cfg)
		cancel()
		err = errors.Join(err, closeFiles())
	}
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(stderr, "netplay: %v\n", err)
	if f := new(player.Failure); errors.As(err, &f) {
		return exitFailed
	}
	return exitUsage
}

func (s *settings) flags() *flag.FlagSet {
	f := flag.NewFlagSet("netplay", flag.ContinueOnError)
	c := &s.cfg
	f.StringVar(&c.Listen, "listen", "", "`address` to accept the other side on, for example 127.0.0.1:21837 or :21837")
	f.StringVar(&c.Connect, "connect", "", "`address` to connect to; the port is 21837 if there is none")
	f.DurationVar(&c.Wait, "wait", 10*time.Second, "how long connecting is tried; negative: for ever")
	f.StringVar(&s.script, "script", "", "`file` that says what this side does; without one it plays a "+
		"whole match (see -help-script)")
	f.StringVar(&s.fleet, "fleet", "", "`ships` from slot 0 on, separated by commas; - is an empty slot "+
		"(default a small fleet)")
	f.StringVar(&s.game, "game", "0.7.0", "`version` of the game that this side gives itself out for, 0.6.9 or later")
	f.StringVar(&c.Name, "name", "Parley", "`name` of the own team")
	f.IntVar(&c.Delay, "delay", 2, "`frames` until an input acts, 0 to 35; the greater delay of both sides counts")
	f.BoolVar(&c.Adapt, "adapt", true, "ask for a greater delay, up to 12 frames, where the way to the other side "+
		"would slow the frames down")
	f.UintVar(&s.seed, "seed", 0, "`number` that the random numbers begin with, from the side that accepts "+
		"(default the time)")
	f.IntVar(&c.Matches, "matches", 1, "`number` of matches to play before leaving; 0: until the other side leaves")
	f.IntVar(&c.FPS, "fps", 0, "frames per second; 0: as fast as both sides can")
	f.StringVar(&s.checksums, "checksums", "auto", "own (built-in simulation), echo (of the other side's) or auto")
	f.DurationVar(&c.Calm, "calm", 0, "how long nothing may change before this side confirms (default 150ms)")
	f.DurationVar(&c.Doubt, "doubt", 0, "how long the other side may choose a ship before this side does, "+
		"when nothing tells whose was lost (default 30s)")
	f.BoolVar(&c.Idle, "idle", false, "connect and say nothing but answers")
	f.DurationVar(&s.timeout, "timeout", 0, "leave after this time; 0: never")
	f.DurationVar(&c.Silence, "silence", 15*time.Minute,
		"close when the other side has said nothing for so long; 0: never")
	f.DurationVar(&c.Handshake, "handshake", time.Minute,
		"close when no acceptable first message comes in this time; 0: never")
	f.StringVar(&s.trace, "trace", "", "record each step of the machine in this `file` (JSON lines)")
	f.StringVar(&s.pcap, "pcap", "", "record the packets in this `file` (pcapng), with the transitions as comments")
	f.BoolVar(&c.Verbose, "v", false, "print the commands and reports of every frame, too")
	f.BoolVar(&s.helpScript, "help-script", false, "explain scripts")
	return f
}

// complete checks the flags and fills in what depends on several.
func (s *settings) complete(f *flag.FlagSet) (err error) {
	c := &s.cfg
	given := usage.Given(f)
	switch {
	case c.Listen == "" && c.Connect == "":
		return errors.New("say -listen ADDRESS, to wait for the other side, or -connect ADDRESS")
	case c.Listen != "" && c.Connect != "":
		return errors.New("-listen and -connect exclude each other: one side waits, the other one connects")
	case c.Listen != "" && slices.Contains(given, "wait"):
		return errors.New("-wait belongs to -connect; with -listen, -timeout limits all")
	case c.Idle && s.script != "":
		return errors.New("-idle and -script exclude each other: an idle side does nothing")
	case s.seed > 1<<32-1:
		return fmt.Errorf("-seed %d: it has 32 bits", s.seed)
	}
	if err := usage.NotNegative(f, "matches", "fps", "calm", "doubt", "timeout", "silence", "handshake"); err != nil {
		return err
	}
	c.Listen, c.Connect = withPort(c.Listen), withPort(c.Connect)
	c.Seed = uint32(s.seed)
	if s.seed == 0 {
		c.Seed = uint32(time.Now().UnixNano())
	}
	if n, err := fmt.Sscanf(s.game, "0.%d.%d", &c.Minor, &c.Patch); n != 2 || err != nil ||
		s.game != fmt.Sprintf("0.%d.%d", c.Minor, c.Patch) {
		return fmt.Errorf("-game %q: a version is like 0.8.0", s.game)
	}
	if c.Minor < 6 || c.Minor == 6 && c.Patch < 9 {
		return fmt.Errorf("-game %s: the protocol begins with 0.6.9", s.game)
	}
	if s.fleet != "" {
		if c.Fleet, err = player.ParseFleet(s.fleet); err != nil {
			return fmt.Errorf("-fleet: %w", err)
		}
	}
	if c.Checksums, err = player.ParseMode(s.checksums); err != nil {
		return fmt.Errorf("-%w", err)
	}
	if s.script != "" {
		text, err := os.ReadFile(s.script)
		if err != nil {
			return err
		}
		c.Script, err = player.ParseScript(s.script, string(text))
		return err
	}
	return nil
}

func withPort(address string) string {
	if address == "" {
		return ""
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		return net.JoinHostPort(strings.Trim(address, "[]"), defaultPort)
	}
	return address
}

// record opens the files for the records; the function closes them.
func (s *settings) record() (func() error, error) {
	var closers []func() error
	closeAll := func() (err error) {
		for _, c := range closers {
			err = errors.Join(err, c())
		}
		return err
	}
	if s.trace != "" {
		f, err := os.Create(s.trace)
		if err != nil {
			return nil, err
		}
		closers = append(closers, f.Close)
		s.cfg.Sinks = append(s.cfg.Sinks, trace.NewWriter(f))
	}
	if s.pcap != "" {
		f, err := os.Create(s.pcap)
		if err != nil {
			return nil, errors.Join(err, closeAll())
		}
		w := bufio.NewWriter(f)
		closers = append(closers, w.Flush, f.Close)
		s.cfg.Sinks = append(s.cfg.Sinks, trace.NewCapture(w,
			trace.PcapMeta{Proto: "tcp", Accepted: s.cfg.Listen != ""}))
	}
	return closeAll, nil
}

// context ends with the time limit or when the program is told to stop.
func (s *settings) context() (context.Context, context.CancelFunc) {
	ctx, stop := interrupt.Context(context.Background())
	if s.timeout <= 0 {
		return ctx, stop
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, fmt.Errorf("not over after %v", s.timeout))
	return ctx, func() { cancel(); stop() }
}
