package drive

import (
	"flag"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/parley-go/parley/machines/socks5"
	"github.com/parley-go/parley/proptest/conform"
	"github.com/parley-go/parley/proptest/conform/sample/phases"
	"github.com/parley-go/parley/proptest/race"
)

// phasedChecks are the checks of the protocols whose streams have phases: one of frames that end where their last
// item does, with an honest and with a hostile client, and one of lengths, whose server defers frames of several
// phases.
func phasedChecks(t testing.TB) (list []*Check) {
	for _, x := range []struct {
		spec    string
		runners map[string]any
	}{
		{"specs/library/socks5/spec.yaml",
			map[string]any{"client": socks5.NewClientRunner, "proxy": socks5.NewProxyRunner}},
		{"proptest/conform/testdata/phases/spec.yaml",
			map[string]any{"client": phases.NewClientRunner, "server": phases.NewServerRunner}},
	} {
		full := load(t, x.spec, "")
		pairs := map[string]*conform.Pair{}
		for role, runner := range x.runners {
			pair, err := conform.New(full, conform.Target{Role: role, Runner: runner})
			if err != nil {
				t.Fatal(err)
			}
			pairs[role] = pair
		}
		for _, c := range full.Checks {
			narrowed := load(t, x.spec, c.Name)
			s, err := NewCheck(full, narrowed, narrowed.Checks[0], pairs)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, s)
		}
	}
	return list
}

// TestPhases draws runs of real drivers of protocols whose streams have phases.
func TestPhases(t *testing.T) {
	all := phasedChecks(t)
	flag.Set("rapid.checks", strconv.Itoa(draws(race.Draws(100, 300))))
	var sum total
	rapid.Check(t, func(rt *rapid.T) {
		p := plans.Draw(rt, "plan")
		o, err := rapid.SampledFrom(all).Draw(rt, "check").play(t, p)
		if err != nil {
			rt.Fatal(err)
		}
		sum.add(o)
	})
	t.Log(&sum)
}
