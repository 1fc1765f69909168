// Package sim runs machines in a simulated world: virtual time, a network with
// every fault, and a player who gives commands at random, all from one seed.
//
// A run has two phases. In the first there are faults, in the second there are
// none, and the world has to reach its goal: it is not enough that nothing
// wrong happens. The same seed repeats a run exactly. The machines run in
// [driver.Core], the very code that carries them over real links.
//
// It knows machines by [fsm.Runner] alone, and neither sockets nor clocks.
// Start from [Scenario].
package sim

import (
	"time"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport/impair"
)

// Scenario describes a simulation.
type Scenario struct {
	// Name is a short name, for files.
	Name string
	// Setup fills a new world: machines by Add, links by Connect, and Goal.
	Setup func(w *World)
	// Worst are the worst faults there may be. Each run draws its own: every
	// fault is left out in half of the runs, and else is up to that strong. A
	// fault that the machine's specification excludes does not happen to its
	// frames: over a channel that was assumed reliable, losses become delays.
	Worst impair.Faults
	// Latency is what every frame takes at least, in both phases, 0 for one
	// millisecond: in a world without it, two who answer each other at once
	// would never come to the next moment.
	Latency time.Duration
	// Lossy loses frames although the specification's main channel is
	// reliable: for protocols that have been checked with a lossy one, too.
	Lossy bool
	// Partitions is the most times that the network is cut in two.
	Partitions int
	// Bridge are the machines that no partition cuts off.
	Bridge []ID
	// Breaks is the most times that one end of a link takes it for dead, with what is under way to it;
	// the link comes back later. Only a link that keeps order and loses nothing can break.
	Breaks int
	// Crashes is the most times that a machine with [World.Restarts] crashes, be it in the course of a
	// step, and begins anew later.
	Crashes int
	// Drift is how far the rate of a clock is from 1 at most, less than 1: each machine has its own.
	Drift float64
	// Chaos is how long the first phase lasts, 0 for one second; Calm how
	// long the second may last, 0 for one minute. Both are virtual.
	Chaos, Calm time.Duration
	// Pace is the mean time between two commands to one machine, 0 for 50 ms.
	Pace time.Duration
	// MaxEvents ends a run that does not end by itself, 0 for 100,000.
	MaxEvents int
}

// Result is the outcome of one run.
type Result struct {
	Seed uint64
	// Runs is of how many runs a campaign has made this the sum, 0 in the result of one run.
	Runs int
	// Faults are those of the first phase.
	Faults impair.Faults
	// Stats count what befell the frames.
	Stats impair.Stats
	// Breaks is how many links broke, Crashes how many machines crashed, Torn how many of these in the
	// course of a step.
	Breaks, Crashes, Torn int
	// Comes is how many parties came to machines at which nobody was.
	Comes int
	// Forged is how often somebody hostile sent something or closed a link.
	Forged int
	// Events is how many events happened, Commands how many of them were commands.
	Events, Commands int
	// Chaos and End are when the first and the second phase ended.
	Chaos, End time.Duration
	// Digest is different if anything happened otherwise.
	Digest uint64
	// Failure is nil if nothing wrong happened and the goal was reached.
	Failure *Failure
}

// Run runs the scenario once. If traces is not nil, Run asks it for a sink for each machine, by
// name; recording does not change the run.
func (s *Scenario) Run(seed uint64, traces func(name string) trace.Sink) *Result {
	c := *s
	if c.Chaos <= 0 {
		c.Chaos = time.Second
	}
	if c.Calm <= 0 {
		c.Calm = time.Minute
	}
	if c.Pace <= 0 {
		c.Pace = 50 * time.Millisecond
	}
	if c.Latency <= 0 {
		c.Latency = time.Millisecond
	}
	if c.MaxEvents <= 0 {
		c.MaxEvents = 100_000
	}
	w := &World{scenario: &c, rng: seed, traces: traces}
	w.result.Seed = seed
	w.result.Faults = w.drawFaults(c.Worst)
	c.Setup(w)
	w.run()
	for _, p := range w.paths {
		add(&w.result.Stats, &p.medium.Stats)
	}
	return &w.result
}

func add(sum, s *impair.Stats) {
	sum.Frames += s.Frames
	sum.Lost += s.Lost
	sum.Duplicated += s.Duplicated
	sum.Reordered += s.Reordered
	sum.Delayed += s.Delayed
	sum.Dropped += s.Dropped
	sum.Cut += s.Cut
}

// World is one run in progress.
type World struct {
	// Goal reports whether what the second phase demands has been reached; if
	// nil, it is that all machines are in final states. Names whom it waits for
	// in Failure by the machines' states.
	Goal func() bool
	// Always, if set, is asked after each event; a text other than "" is a failure.
	Always func() string

	scenario *Scenario
	rng      uint64
	now      time.Duration
	calm     bool // the second phase
	members  []*member
	paths    []*path
	queue    queue
	cuts     []cut
	digest   uint64
	result   Result
	traces   func(string) trace.Sink
	hostile  bool   // somebody is
	seen     []seen // frames that others have sent, for who is hostile
}

// Now returns the virtual time since the start.
func (w *World) Now() time.Duration { return w.now }

// Calm reports whether the second phase has begun.
func (w *World) Calm() bool { return w.calm }

// Rand returns a random number, 0 <= n < below.
func (w *World) Rand(below int) int { return int(w.draw() % uint64(below)) }

func (w *World) draw() uint64 {
	w.rng += 0x9e3779b97f4a7c15
	x := w.rng
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// upTo returns a length of time, 0 to d.
func (w *World) upTo(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(w.draw() % (uint64(d) + 1))
}

// drawFaults takes a part of the worst faults.
func (w *World) drawFaults(worst impair.Faults) (f impair.Faults) {
	part := func(p float64) float64 {
		n := w.draw()
		if n&1 == 0 {
			return 0
		}
		return p * float64(n>>11) / (1 << 53)
	}
	f.Loss, f.Duplicate, f.Reorder = part(worst.Loss), part(worst.Duplicate), part(worst.Reorder)
	f.Delay = w.scenario.Latency + time.Duration(part(float64(worst.Delay)))
	f.Jitter = time.Duration(part(float64(worst.Jitter)))
	f.Late = time.Duration(part(float64(worst.Late)))
	if r := part(1); r > 0 && worst.Rate > 0 {
		f.Rate = worst.Rate + int(float64(worst.Rate)*r*10)
	}
	f.Queue = worst.Queue
	return f
}

// machine is the part of driver.Core that does not depend on the type of the machine.
type machine interface {
	Start(wall time.Time)
	LinkUp(now time.Duration, peer fsm.Peer, ends string)
	LinkLost(now time.Duration, peer fsm.Peer, why error)
	FrameOn(now time.Duration, peer fsm.Peer, channel int, frame []byte) bool
	Expire(now time.Duration)
	NextTimer() (time.Duration, bool)
	Final() bool
	End(now time.Duration, reason string)
}

var _ machine = (*driver.Core[fsm.Runner])(nil)

// ID is the number of a machine in a world, from 0.
type ID int
