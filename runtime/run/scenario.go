package run

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Scenario returns the steps as lines of a scenario, the form in which people write runs down by
// hand: `a confirm`, `deliver a -> b`. What happens by itself has no line. If a step has no words in
// that language, lines is nil and why says so.
func (r *Run) Scenario() (lines []string, why string) {
	lines = []string{"check " + r.Check}
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.byItself() {
			continue
		}
		if s.Torn > 0 {
			return nil, "scenarios have no words for a crash in the course of a step"
		}
		line := r.scenarioLine(s)
		if line == "" {
			return nil, "scenarios have no words for this step: " + s.Event
		}
		lines = append(lines, line)
	}
	return append(lines, "show"), ""
}

// byItself reports whether a step follows at once from those before it, so that scenarios leave it
// out.
func (s *Step) byItself() bool { return s.Kind == Start || s.Kind == Offer }

// scenarioLine returns the line of a step, or "" if there is none.
func (r *Run) scenarioLine(s *Step) string {
	name := func(i int) string { return r.Instances[i].Name }
	switch {
	case s.Kind == LinkUp && s.From >= 0:
		return name(s.Who) + " up from " + name(s.From)
	case (s.Kind == LinkLost || s.Kind == Break) && s.From >= 0:
		return name(s.Who) + " lost from " + name(s.From)
	case s.Kind == Crash, s.Kind == Restart:
		return string(s.Kind) + " " + name(s.Who)
	case s.Kind == Command, s.Kind == Timer:
		return name(s.Who) + " " + s.Event
	case s.Kind == Message && s.At == 0:
		return "deliver " + name(s.From) + channel + name(s.Who)
	case s.Kind == Lost && s.At == 0:
		return "drop " + name(s.From) + channel + name(s.Who)
	}
	return ""
}

// NoInstance is the error for a line of a scenario that names an instance that there is not.
type NoInstance struct {
	Name string
	// First: the name begins the line, where a verb could stand, too.
	First bool
}

func (e *NoInstance) Error() string { return fmt.Sprintf("there is no instance %q", e.Name) }

// ScenarioVerbs are the words other than names of instances with which a line can begin.
var ScenarioVerbs = []string{"check", "crash", "deliver", "drop", "restart", "show"}

// ReadStep reads a line of a scenario that is a step, and how many times it happens. It is the
// inverse of what [Run.Scenario] writes for one step, as far as a line says it: Kind, Who, From and
// the Event of a command or timer. A line does not tell these two apart; Kind is Command for both.
func ReadStep(line string, instances []Instance) (s Step, times int, err error) {
	r := &Run{Instances: instances}
	s = Step{Who: Nobody, From: Nobody}
	verb, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch verb {
	case "deliver", "drop":
		s.Kind = map[string]Kind{"deliver": Message, "drop": Lost}[verb]
		times, err = r.readChannel(&s, rest)
		return s, times, err
	case "crash", "restart":
		s.Kind = Kind(verb)
		s.Who, err = r.named(rest, false)
		return s, 1, err
	}
	if s.Who, err = r.named(verb, true); err != nil {
		return s, 0, err
	}
	s.Kind, s.Event = Command, rest
	words := strings.Fields(rest)
	from := len(words) == 3 && words[1] == "from"
	if from {
		s.Event = words[0]
		if s.From, err = r.named(words[2], false); err != nil {
			return s, 0, err
		}
	}
	switch {
	case s.Event == "up":
		s.Kind = LinkUp
	case s.Event == "lost":
		s.Kind = LinkLost
	case from:
		return s, 0, fmt.Errorf("only `up` and `lost` come from somebody; messages come by `deliver`")
	}
	return s, 1, nil
}

// readChannel reads `A -> B` or `A -> B COUNT`.
func (r *Run) readChannel(s *Step, text string) (times int, err error) {
	a, b, ok := strings.Cut(text, "->")
	words := strings.Fields(b)
	if !ok || len(words) == 0 || len(words) > 2 {
		return 0, fmt.Errorf("expected `A -> B` or `A -> B COUNT`, got %q", text)
	}
	if s.From, err = r.named(strings.TrimSpace(a), false); err != nil {
		return 0, err
	}
	if s.Who, err = r.named(words[0], false); err != nil {
		return 0, err
	}
	if len(words) == 1 {
		return 1, nil
	}
	if times, err = strconv.Atoi(words[1]); err != nil || times < 1 {
		return 0, fmt.Errorf("%q is no count", words[1])
	}
	return times, nil
}

func (r *Run) named(name string, first bool) (int, error) {
	i := slices.IndexFunc(r.Instances, func(x Instance) bool { return x.Name == name })
	if i < 0 {
		return i, &NoInstance{name, first}
	}
	return i, nil
}
