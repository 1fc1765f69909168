package sim_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/machines/clock"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
)

// synced is a client of the protocol clock whose server is at the end of a path. Time is virtual.
type synced struct {
	core  *driver.Core[*clock.ClientRunner]
	r     *clock.ClientRunner
	rate  float64 // of the client's own clock
	ahead float64 // the server's clock when the client begins, in ms
	path  func() (up, down time.Duration)

	arrives time.Duration // in true time, when there is an answer
	answer  []byte
	now     time.Duration // true time
	told    int           // rounds that are over
	at      time.Duration // when the last one was
	lag     float64       // by which that one corrected the clock

	seen    clock.Clock // what the program saw last
	backed  bool        // it went back
	outside float64     // by how much the clock was ever more wrong than it said, at most
}

// Send implements driver.Carrier: a question goes out.
func (c *synced) Send(_ fsm.Peer, frame []byte) error {
	var m clock.Message
	err := clock.DecodeMessage(frame, &m)
	if err != nil {
		return err
	}
	up, down := c.path()
	shows := clock.Clock(c.true(c.now + up)) // a clock shows whole milliseconds
	reply := clock.Message{Kind: clock.MessageTime, Time: clock.TimeMessage{Number: m.Ping.Number, Now: shows}}
	c.answer, err = clock.AppendMessage(nil, &reply)
	c.arrives = c.now + up + down
	return err
}

func (*synced) Close(fsm.Peer, *driver.Error) error { return nil }

// true is the server's clock, in ms.
func (c *synced) true(at time.Duration) float64 { return c.ahead + at.Seconds()*1000 }

// own is what the client's computer takes for the time.
func (c *synced) own(at time.Duration) time.Duration { return time.Duration(float64(at) * c.rate) }

// offset is how far the client's clock is behind. It is asked at a beat, when the clock is exact.
func (c *synced) offset() float64 { return c.true(c.now) - float64(c.r.Machine.Clock) }

func newSynced(t *testing.T, rng *rand.Rand, rate float64, path func() (up, down time.Duration)) *synced {
	c := &synced{r: clock.NewClientRunner(), rate: rate, ahead: rng.Float64() * 1e6, path: path}
	c.core = driver.NewCore(c.r, driver.Options[*clock.ClientRunner]{
		OnReport: func(r *clock.ClientRunner, k int) {
			if r.Report(k).Kind == clock.ClientReportSynced {
				c.told, c.at, c.lag = c.told+1, c.now, float64(r.Report(k).Synced.Lag)
			}
		},
		OnError: func(_ *clock.ClientRunner, err *driver.Error) { t.Error(err) },
	}, c)
	c.core.Start(time.Unix(0, 0))
	c.core.Command(0, (*clock.ClientRunner).Begin, true)
	return c
}

// run goes on until so many rounds are over, to the first beat after that.
func (c *synced) run(rounds int) {
	for c.told < rounds || c.now == c.at {
		own, _ := c.core.NextTimer()
		due := time.Duration(math.Ceil(float64(own) / c.rate))
		if c.answer != nil && c.arrives < due {
			frame := c.answer
			c.now, c.answer = c.arrives, nil
			c.core.Frame(c.own(c.now), 0, frame)
			continue
		}
		c.now = max(due, c.now)
		c.core.Expire(max(own, c.own(c.now)))
		m := &c.r.Machine
		if m.State == clock.ClientStateStarting {
			continue
		}
		if step := m.Shown - c.seen; c.seen != 0 && step > 1<<31 {
			c.backed = true
		}
		c.seen = m.Shown
		c.outside = max(c.outside, math.Abs(c.offset())-float64(m.Error))
	}
}

// networks are the paths of the figures: so long a way up and down.
var networks = []struct {
	name string
	way  func(*rand.Rand) (up, down float64)
}{
	{"symmetric, jitter 10 ms", ways(40, 10, 40, 10)},
	{"jitter 20 ms up, 5 ms down", ways(40, 20, 40, 5)},
	{"one in ten resent, 200 ms", func(r *rand.Rand) (float64, float64) { return resent(r), resent(r) }},
	{"60 ms up, 20 ms down", ways(60, 2, 20, 2)},
}

// ways are up and down, each with an exponential jitter.
func ways(up, jitterUp, down, jitterDown float64) func(*rand.Rand) (up, down float64) {
	return func(r *rand.Rand) (float64, float64) {
		return up + jitterUp*r.ExpFloat64(), down + jitterDown*r.ExpFloat64()
	}
}

// resent is a way over TCP that loses segments.
func resent(r *rand.Rand) float64 {
	if r.IntN(10) == 0 {
		return 240 + 2*r.ExpFloat64()
	}
	return 40 + 2*r.ExpFloat64()
}

// choices are by what a clock may be corrected, given the answers of a round.
var choices = []struct {
	name string
	mean func([]clock.Sample) float64
}{
	{"first answer", func([]clock.Sample) float64 { return 0 }},
	{"by difference", func(s []clock.Sample) float64 {
		return best(s, 7, func(a, b clock.Sample) int { return int(a.Lag) - int(b.Lag) })
	}},
	{"by round trip", func(s []clock.Sample) float64 { return best(s, 7, byTrip) }},
	{"quickest alone", func(s []clock.Sample) float64 { return best(s, 1, byTrip) }},
}

func byTrip(a, b clock.Sample) int { return int(a.Trip) - int(b.Trip) }

// best is the mean lag of the first n samples in an order.
func best(samples []clock.Sample, n int, order func(a, b clock.Sample) int) float64 {
	s := slices.Clone(samples)
	slices.SortStableFunc(s, order)
	sum := 0.0
	for _, x := range s[:n] {
		sum += float64(x.Lag)
	}
	return sum / float64(n)
}

// TestClockFigures measures how wrong a clock is after a round, by networks and by what is made of the answers, and
// prints the table of specs/clock/SOURCES.md. It is an error if a clock is ever more wrong than it says, or is
// corrected by anything but the mean of the answers that came soonest.
func TestClockFigures(t *testing.T) {
	runs := 60
	if n, err := strconv.Atoi(os.Getenv("PARLEY_SIM_RUNS")); err == nil {
		runs = n
	}
	var table strings.Builder
	for k, network := range networks {
		errs := make([][]float64, len(choices))
		bound := 0.0
		for seed := range runs {
			rng := rand.New(rand.NewPCG(uint64(seed), uint64(k)))
			c := newSynced(t, rng, 1+(rng.Float64()-0.5)*1e-4, func() (up, down time.Duration) {
				u, d := network.way(rng)
				return time.Duration(u * 1e6), time.Duration(d * 1e6)
			})
			c.run(1)
			m := &c.r.Machine
			samples := m.Samples.Items[:m.Samples.Len]
			before := c.offset() + c.lag // as if the clock had not been corrected
			for i, choice := range choices {
				errs[i] = append(errs[i], before-choice.mean(samples))
			}
			if mean := choices[2].mean(samples); math.Abs(mean-c.lag) >= 1 {
				t.Errorf("%s, seed %d: corrected by %v, and the mean is %v", network.name, seed, c.lag, mean)
			}
			if c.outside > 0 || c.backed {
				t.Errorf("%s, seed %d: more wrong than told by %.2f ms; went back: %v", network.name, seed,
					c.outside, c.backed)
			}
			bound += float64(m.Error) / float64(runs)
		}
		fmt.Fprintf(&table, "| %s |", network.name)
		for i := range choices {
			fmt.Fprintf(&table, " %s |", figures(errs[i]))
		}
		fmt.Fprintf(&table, " %.1f |\n", bound)
	}
	t.Logf("bias/rms/99th percentile in ms, and the mean bound, of %d rounds\n%s", runs, table.String())
}

func figures(errs []float64) string {
	sum, squares := 0.0, 0.0
	sizes := make([]float64, len(errs))
	for i, e := range errs {
		sum, squares, sizes[i] = sum+e, squares+e*e, math.Abs(e)
	}
	slices.Sort(sizes)
	n := float64(len(errs))
	return fmt.Sprintf("%.1f/%.1f/%.1f", sum/n, math.Sqrt(squares/n), sizes[int(0.99*n)])
}

// TestClockDrift: where two clocks move apart, over several rounds, with answers that take seconds now and then, the
// clock is never more wrong than it says, and never goes back for the program.
func TestClockDrift(t *testing.T) {
	for seed := range 4 {
		rng := rand.New(rand.NewPCG(uint64(seed), 99))
		rate := []float64{1 - 100e-6, 1 + 100e-6}[seed%2]
		corrected := 0.0
		c := newSynced(t, rng, rate, func() (up, down time.Duration) {
			up, down = time.Duration(rng.IntN(50))*time.Millisecond, time.Duration(rng.IntN(50))*time.Millisecond
			if rng.IntN(4) == 0 {
				down += time.Duration(rng.IntN(4000)) * time.Millisecond
			}
			return up, down
		})
		for round := range 3 {
			c.run(round + 1)
			corrected = max(corrected, math.Abs(c.lag))
		}
		if c.outside > 0 || c.backed || corrected == 0 {
			t.Errorf("seed %d: more wrong than told by %.2f ms; went back: %v; corrected by at most %v ms", seed,
				c.outside, c.backed, corrected)
		}
	}
}
