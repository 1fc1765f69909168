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

// TestStreamsOfChannels: a channel whose frames do not say where they end is no stream beside one that is, and
// what goes over it is read as its own format has it.
func TestStreamsOfChannels(t *testing.T) {
	p := load(t, "specs/gne/spec.yaml", "slow")
	s, err := settle(p, p.Checks[0], 0)
	if err != nil {
		t.Fatal(err)
	}
	if s.stream = true; !s.streams(0) || s.streams(1) {
		t.Errorf("streams: tcp %t, udp %t", s.streams(0), s.streams(1))
	}
	open := []byte{0xff} // OPEN
	if n, _, err := s.reading(0, 1).next(open); err != nil || n != len(open) {
		t.Errorf("% x has %d bytes over udp, %v", open, n, err)
	}
	if n, _, err := s.reading(0, 0).next(open); n == len(open) {
		t.Errorf("% x is a frame over tcp, %v", open, err)
	}
}

// TestStreamsOfSelfDelimiting: frames that end where their last item does are sent as a stream, too.
func TestStreamsOfSelfDelimiting(t *testing.T) {
	p := load(t, "specs/library/socks5/spec.yaml", "")
	s, err := settle(p, p.Checks[0], 0)
	if err != nil {
		t.Fatal(err)
	}
	if s.stream = true; !s.streams(0) {
		t.Error("socks5 is no stream")
	}
}
