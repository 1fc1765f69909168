package drive

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/parley-go/parley/proptest/draw"
	"github.com/parley-go/parley/proptest/race"
	"github.com/parley-go/parley/runtime/world"
)

func TestMain(m *testing.M) { os.Exit(race.Main(m)) }

// draws returns how many runs a test draws.
func draws(otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv("PARLEY_DRAWS")); err == nil {
		return n
	}
	return otherwise
}

// allChecks reports whether a test takes all checks of the specifications, and not a sample.
func allChecks() bool { return race.Long() || os.Getenv("PARLEY_DRAWS") != "" }

func (p plan) carryOut(t *testing.T, plant world.Plant) (outcome, error) {
	beside := ""
	if p.Seed%3 == 0 {
		beside = draw.Besides[p.Seed/3%uint64(len(draw.Besides))]
	}
	s, text, err := randomSetting(rand.New(rand.NewPCG(p.Seed, 1)), p.Seed%4 == 0, beside, plant)
	if err != nil {
		return outcome{}, err
	}
	o, err := carryOut(t, s, p.Steps)
	if err != nil {
		err = fmt.Errorf("%w\nwith %+v, links %+v, held %v, time %v, stream %v, record %v\n%s", err,
			s.World.Rules.Faults, s.World.Rules.Links, s.World.Rules.Deferred, s.World.Rules.Time, s.stream,
			s.record, text)
	}
	return o, err
}

// TestRandom draws specifications and runs.
func TestRandom(t *testing.T) {
	flag.Set("rapid.checks", strconv.Itoa(draws(400)))
	var sum total
	rapid.Check(t, func(rt *rapid.T) {
		o, err := plans.Draw(rt, "plan").carryOut(t, 0)
		if err != nil {
			rt.Fatal(err)
		}
		sum.add(o)
	})
	t.Log(&sum)
}

// TestFaultsDrawn checks that the random runs contain each fault of a network, and all that hostile
// instances do.
func TestFaultsDrawn(t *testing.T) {
	race.SkipShort(t, "TestRandom logs which of them it has drawn")
	var sum total
	for n := range 1000 {
		o, err := plans.Example(n).carryOut(t, 0)
		if err != nil {
			t.Fatal(err)
		}
		sum.add(o)
		// Torn steps, lost tails, returns, partitions, swallowed datagrams; messages, malformed frames,
		// hangups and refusals; arrivals and departures.
		if len(sum.faults) == 11 {
			t.Log(&sum)
			return
		}
	}
	t.Error("not all of them in", &sum)
}

// TestPlants brings old errors back into the world, one at a time. The tests must see that the
// drivers differ from it.
func TestPlants(t *testing.T) {
	for name, plant := range map[string]world.Plant{
		"a deferred message blocks": world.DeferBlocks, "is dropped": world.DeferDrops,
		"the newest first":             world.OfferNewest,
		"an ignored timer stays armed": world.IgnoredStaysArmed, "who closes hears": world.CloserHears,
		"links do not come up":           world.NeverTold,
		"what is sent before up is gone": world.SendNeedsUp, "news takes room": world.NewsTakesRoom,
		"lost waits":              world.LostWaits,
		"what is held stops time": world.HeldStopsTime, "what is held takes room": world.HeldTakesRoom,
		"what is old is heard": world.OldIsHeard, "a missing link can be closed": world.ClosesWhatIsMissing,
		"a torn step has sent everything": world.TornIsWhole, "no tail is lost": world.TailStays,
		"a link comes back with what was lost": world.LostComesBack, "a partition leaks": world.PartitionLeaks,
		"a partition takes nothing under way": world.PartitionSpares,
		"what is refused closes no link":      world.RefusalIsDropped,
		"nobody hears who goes":               world.GoneStays, "who comes remembers": world.ComerRemembers,
	} {
		t.Run(name, func(t *testing.T) {
			if plant == world.PartitionSpares {
				race.SkipShort(t, "it takes some 700 runs; a partition that leaks is found at once")
			}
			for n := range 1000 {
				if _, err := plans.Example(n).carryOut(t, plant); err != nil {
					t.Logf("run %d: %.300s", n, err)
					return
				}
			}
			t.Error("not found")
		})
	}
}
