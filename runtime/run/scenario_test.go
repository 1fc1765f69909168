package run

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// read reads the lines of a scenario as steps.
func read(t *testing.T, lines []string, instances []Instance) (check string, steps []Step) {
	t.Helper()
	for _, line := range lines {
		if line == "show" {
			continue
		}
		if n, err := fmt.Sscanf(line, "check %s", &check); n == 1 && err == nil {
			continue
		}
		s, times, err := ReadStep(line, instances)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		for range times {
			steps = append(steps, s)
		}
	}
	return check, steps
}

// TestScenarioBothWays: what is read of a written run is the run, as far as scenarios tell it.
func TestScenarioBothWays(t *testing.T) {
	instances := []Instance{{Name: "a"}, {Name: "b"}, {Name: "p[1]"}, {Name: "p[2]"}}
	events := []string{"go", "change{value: 2}", "alive{p: 1}", "say{text: \"a -> b from c\"}"}
	kinds := []Kind{Start, Offer, Break, LinkUp, LinkLost, Crash, Restart, Command, Timer, Message, Lost}
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 0))
		r := &Run{Check: "pair", Instances: instances}
		var want []Step
		for range rng.IntN(12) {
			s := Step{Kind: kinds[rng.IntN(len(kinds))], Who: rng.IntN(4), From: Nobody, State: "idle → busy"}
			told := Step{Kind: s.Kind, Who: s.Who, From: Nobody}
			switch s.Kind {
			case Message, Lost:
				s.From, s.Event, s.Message = (s.Who+1)%4, "HELLO{n: 1}", 1+rng.IntN(5)
			case LinkUp, LinkLost, Break:
				s.From = (s.Who + 1 + rng.IntN(3)) % 4
				told.Event = map[Kind]string{LinkUp: "up", LinkLost: "lost", Break: "lost"}[s.Kind]
				if s.Kind == Break {
					told.Kind = LinkLost // a line does not say whether the link breaks or the end hears of it
				}
			case Command, Timer:
				s.Event = events[rng.IntN(len(events))]
				told.Kind, told.Event = Command, s.Event
			}
			told.From = s.From
			r.Steps = append(r.Steps, s)
			if s.Kind != Start && s.Kind != Offer {
				want = append(want, told)
			}
		}
		lines, why := r.Scenario()
		if why != "" {
			t.Fatal(why)
		}
		check, steps := read(t, lines, instances)
		if check != r.Check || !reflect.DeepEqual(steps, want) {
			t.Fatalf("seed %d: %q is read as\n%+v, want\n%+v", seed, lines, steps, want)
		}
		again, why := (&Run{Check: check, Instances: instances, Steps: steps}).Scenario()
		if why != "" || !slices.Equal(again, lines) {
			t.Fatalf("seed %d: %q is written again as %q %s", seed, lines, again, why)
		}
	}
}

// TestScenarioErrors: a line that is no step says what is wrong with it.
func TestScenarioErrors(t *testing.T) {
	instances := []Instance{{Name: "a"}, {Name: "b"}}
	for line, want := range map[string]string{
		"deliver a b":      "expected `A -> B` or `A -> B COUNT`, got \"a b\"",
		"drop a -> c":      "there is no instance \"c\"",
		"drop a -> b 0":    "\"0\" is no count",
		"crash c":          "there is no instance \"c\"",
		"x go":             "there is no instance \"x\"",
		"a up from x":      "there is no instance \"x\"",
		"a HELLO from b":   "only `up` and `lost` come from somebody; messages come by `deliver`",
		"deliver a -> b c": "\"c\" is no count",
	} {
		if _, _, err := ReadStep(line, instances); err == nil || err.Error() != want {
			t.Errorf("%s: %v", line, err)
		}
	}
	if _, why := (&Run{Instances: instances, Steps: []Step{{Kind: Crash, Torn: 1}}}).Scenario(); why == "" {
		t.Error("a crash in the course of a step was written")
	}
	swapped := &Run{Instances: instances, Steps: []Step{{Kind: Swapped, From: 0, Who: 1, Event: "x"}}}
	if _, why := swapped.Scenario(); why == "" {
		t.Error("a step without words was written")
	}
}
