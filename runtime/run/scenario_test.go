package run

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/parley-go/parley/runtime/world"
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
	instances := []Instance{{Name: "a"}, {Name: "b"}, {Name: "p[1]"}, {Name: "p[2]", Hostile: true}}
	events := []string{"go", "change{value: 2}", "alive{p: 1}", "say{text: \"a -> b from c\"}"}
	kinds := []Kind{Start, Offer, Break, LinkUp, LinkLost, Crash, Restart, Command, Timer, Message, Lost, Copy, Drop,
		Return, Cutoff, Beat, Malformed, Swapped, Partition, Clock}
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 0))
		r := &Run{Check: "pair", Instances: instances}
		var want []Step
		for range rng.IntN(12) {
			s := Step{Kind: kinds[rng.IntN(len(kinds))], Who: rng.IntN(4), From: Nobody, State: "idle → busy"}
			told := Step{Kind: s.Kind, Who: s.Who, From: Nobody}
			switch s.Kind {
			case Message, Lost, Copy, Drop, LinkUp, LinkLost, Break, Return, Swapped, Malformed:
				s.From = (s.Who + 1 + rng.IntN(3)) % 4
				told.From = s.From
				if s.Kind == Swapped && rng.IntN(2) == 0 {
					s.Channel, told.Channel = "state", "state"
				}
			case Command, Timer:
				s.Event = events[rng.IntN(len(events))]
				told.Kind, told.Event = Command, s.Event
			case Clock:
				s.Who, told.Who = Nobody, Nobody
			case Partition:
				s.Who, told.Who, s.At = Nobody, Nobody, rng.IntN(15)
				told.At = s.At
			}
			switch s.Kind {
			case Message, Lost, Copy, Drop:
				s.Event, s.Message = events[rng.IntN(len(events))], 1+rng.IntN(5)
				if forged := s.Kind == Message && s.From == 3; forged {
					told.Event = s.Event
					break
				}
				s.At = rng.IntN(3)
				told.At = s.At
				if rng.IntN(2) == 0 {
					s.Channel, told.Channel = "at", "at" // the name that could be misread
				}
				if s.Kind == Lost && rng.IntN(3) == 0 {
					s.Note, told.Note = Swallowed, Swallowed
				}
				if s.Kind == Drop && rng.IntN(2) == 0 {
					s.Event, s.At, told.At = NewsText(world.Reset), 0, 0
					told.Event = NewsText(world.Cut) // a line does not say which news it is
				} else if s.Kind == Drop {
					told.Kind = Message // it arrives like others
				}
				if told.Kind == Message && s.From == 3 {
					s, told = Step{Kind: Clock, Who: Nobody, From: Nobody}, Step{Kind: Clock, Who: Nobody, From: Nobody}
				}
			case LinkUp, LinkLost:
				told.Event = map[Kind]string{LinkUp: "up", LinkLost: "lost"}[s.Kind]
				if s.Kind == LinkLost && s.From == 3 {
					told.Event = ""
				}
			}
			if rng.IntN(5) == 0 {
				s.Torn = 1 + rng.IntN(3)
				told.Torn = s.Torn
			}
			r.Steps, want = append(r.Steps, s), append(want, told)
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
		"deliver a b":      "expected `A -> B`, `A -> B COUNT` or `A -> B at PLACE`, got \"a b\"",
		"drop a -> c":      "there is no instance \"c\"",
		"drop a -> b 0":    "\"0\" is no count",
		"crash c":          "there is no instance \"c\"",
		"x go":             "there is no instance \"x\"",
		"a up from x":      "there is no instance \"x\"",
		"a HELLO from b":   "only `up` and `lost` come from somebody; messages come by `deliver`",
		"deliver a -> b c": "\"c\" is no count",
		"drop a -> b on":   "\"on\" is no count",
		"copy a -> b on x": "",

		"deliver a -> b on x at 0": "\"0\" is no place",
		"deliver a -> b at 1 on x": "expected `A -> B`, `A -> B COUNT` or `A -> B at PLACE`, got \"a -> b at 1 on x\"",

		"deliver a -> b at 0":                "\"0\" is no place",
		"crash after x: a go":                "\"x\" is no number of messages; expected `crash after NUMBER: STEP`",
		"crash after 1: crash after 1: a go": "behind `crash after NUMBER:` there is one step",
		"crash after 1: deliver a -> b 2":    "behind `crash after NUMBER:` there is one step",
		"tick a":                             "tick concerns nobody in particular: write tick alone",
		"partition":                          "partition names those on one side: at least one, and not all",
		"partition x":                        "there is no instance \"x\"",
		"forge a -> b":                       "expected `forge A -> B MESSAGE`",
		"forge a X":                          "expected `A -> B`, got \"a X\"",
		"break a":                            "expected `A -> B`, `A -> B COUNT` or `A -> B at PLACE`, got \"a\"",
	} {
		if _, _, err := ReadStep(line, instances); (err != nil || want != "") && (err == nil || err.Error() != want) {
			t.Errorf("%s: %v", line, err)
		}
	}
	unseen := &Run{Instances: instances, Steps: []Step{{Kind: Unseen, From: Nobody, Event: "x"}}}
	if _, why := unseen.Scenario(); why == "" {
		t.Error("a step without words was written")
	}
}
