// Package player plays whole netplay matches as one of the two sides: against
// another copy of itself, or against the game.
//
// The protocol is the business of the generated machine and the driver; this
// package is the person at the keyboard. A goroutine of its own looks at the
// machine, decides what is due and gives the commands: its fleet, its
// confirmation, its ships, an input for each frame. It must not know how a
// message is encoded or answered. Start from [Play].
package player

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/parley-go/parley/machines/netplay"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport"
)

// Slots is the number of ships in a fleet.
const Slots = 14

// MaxDelay is the largest delay in frames that the game accepts.
const MaxDelay = 35

// Config says how one side plays. Exactly one of Listen, Connect and Link is set.
type Config struct {
	// Listen is the address ("host:port") to accept the one other side on;
	// Connect is the address to connect to. Link is a connection that exists
	// already, and Server reports whether this side accepted it.
	Listen, Connect string
	Link            transport.Link
	Server          bool
	// Wait is how long connecting is tried, 0 for ten seconds; a negative value: until ctx ends.
	Wait time.Duration

	// Minor and Patch are the version 0.Minor.Patch that this side gives its game, both 0: that of
	// the specification.
	Minor, Patch uint8
	// Fleet holds at most 14 ships, from slot 0 on; empty for DefaultFleet.
	Fleet []netplay.Ship
	// Name is the name of the own team, at most 30 bytes; empty: it is not told.
	Name string
	// Delay is the wanted delay in frames, 0 to MaxDelay.
	Delay int
	// Adapt asks for a greater delay, of up to 12 frames, where the way to the other side is so long
	// that it would slow the frames down. It is measured in the setup, by PING.
	Adapt bool
	// Seed is what the random numbers of each match begin with; only that of the accepting side counts.
	Seed uint32
	// Matches is how many matches are played before this side leaves, 0: as many as the other side
	// likes.
	Matches int
	// FPS is how many frames are played in a second, 0: as fast as both sides can.
	FPS int
	// Checksums says where the checksums come from.
	Checksums Mode
	// Script says what is done and when; nil: the default match.
	Script *Script
	// Idle: give no command at all once connected.
	Idle bool

	// Calm is how long nothing may have changed in the setup before this side confirms, 0 for 150 ms.
	Calm time.Duration
	// Doubt is how long the other side's choice of a ship is waited for when
	// nothing tells whose ship was lost, 0 for 30 seconds. Echo only.
	Doubt time.Duration
	// Silence closes the connection when the other side has sent nothing for so long, 0: never.
	// Handshake is the time for its first message, 0: never. Until a connection has sent one, others may
	// wait beside it.
	Silence, Handshake time.Duration

	// OnLine gets each line of the account, without newline; see the command's
	// documentation. It is never called twice at a time. May be nil.
	OnLine func(line string)
	// Verbose adds the commands given and the reports of every frame.
	Verbose bool
	// OnListen is told the address when this side listens. May be nil.
	OnListen func(addr net.Addr)
	// Sinks record each step of the machine.
	Sinks []trace.Sink

	disturbed bool // for tests: simulate something else
}

// DefaultFleet is a small fleet for a short match.
func DefaultFleet() []netplay.Ship {
	return []netplay.Ship{netplay.ShipOrz, netplay.ShipSpathi, netplay.ShipVux}
}

// Mode says where a side's checksums come from.
type Mode uint8

const (
	// Auto decides in the first battle: Own if the other side's first checksum
	// is that of the built-in simulation or does not come in time, else Echo.
	Auto Mode = iota
	// Own: the built-in simulation's, for playing against another copy of this package.
	Own
	// Echo: the other side's, for playing against a game whose simulation this side does not have.
	Echo
)

// ParseMode reads auto, own or echo.
func ParseMode(s string) (Mode, error) {
	for m, name := range modeNames {
		if s == name {
			return Mode(m), nil
		}
	}
	return 0, fmt.Errorf("checksums %q: it is one of %s", s, strings.Join(modeNames[:], ", "))
}

var modeNames = [...]string{"auto", "own", "echo"}

// String returns the mode's name.
func (m Mode) String() string { return modeNames[m] }

// Result is the result of a match.
type Result struct {
	Ended    int // matches played until a fleet was empty
	Left     int // matches that one side left by RESET
	Battles  int
	Frames   int
	Checked  int // frames whose checksums of both sides were compared by the built-in simulation
	Mode     Mode
	Machine  netplay.Peer // the machine as it was seen last
	Refusals int          // commands that came too late because the other side was faster
	Dropped  int          // reports that were not shown because too many came at once
}

// Matches is the number of matches begun and over.
func (r *Result) Matches() int { return r.Ended + r.Left }

// Failure says that the other side deviated from the protocol, went away too early, or
// that the match could not be played to its end.
type Failure struct {
	State  string // of the machine when it happened
	Reason string
	Err    error // the cause; may be nil
}

func (f *Failure) Error() string {
	if f.Err == nil {
		return "in state " + f.State + ": " + f.Reason
	}
	return "in state " + f.State + ": " + f.Reason + ": " + f.Err.Error()
}

// Unwrap returns f.Err.
func (f *Failure) Unwrap() error { return f.Err }

func (c *Config) check() error {
	n := 0
	for _, set := range []bool{c.Listen != "", c.Connect != "", c.Link != nil} {
		if set {
			n++
		}
	}
	switch {
	case n != 1:
		return errors.New("say either where to listen or where to connect")
	case len(c.Fleet) > Slots:
		return fmt.Errorf("the fleet has %d ships, there are %d slots", len(c.Fleet), Slots)
	case c.Delay < 0 || c.Delay > MaxDelay:
		return fmt.Errorf("delay %d: it is 0 to %d frames", c.Delay, MaxDelay)
	case len(c.Name) > 30:
		return fmt.Errorf("the name %q has %d bytes, 30 are the limit", c.Name, len(c.Name))
	case strings.ContainsRune(c.Name, 0):
		return fmt.Errorf("the name %q contains a zero byte", c.Name)
	case c.Matches < 0, c.FPS < 0:
		return errors.New("matches and frames per second are not negative")
	}
	return nil
}

func (c Config) withDefaults() Config {
	if c.Fleet == nil {
		c.Fleet = DefaultFleet()
	}
	if c.Wait == 0 {
		c.Wait = 10 * time.Second
	}
	if c.Calm <= 0 {
		c.Calm = 150 * time.Millisecond
	}
	if c.Doubt <= 0 {
		c.Doubt = 30 * time.Second
	}
	if c.OnLine == nil {
		c.OnLine = func(string) {}
	}
	c.Server = c.Server && c.Link != nil || c.Listen != ""
	return c
}
