package run

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-go/parley/runtime/world"
)

// Exactly stands behind the name of a check in a scenario in which every step has a line.
const Exactly = "exactly"

// Scenario returns the steps as lines of a scenario, the form in which people write runs down by
// hand: `a confirm`, `deliver a -> b`. Every step has a line, also those that follow by themselves
// where people tell a run. If a step has no words in that language, such as one that nobody recorded,
// lines is nil and why says so.
func (r *Run) Scenario() (lines []string, why string) {
	lines = []string{"check " + r.Check + " " + Exactly}
	for i := range r.Steps {
		s := &r.Steps[i]
		line := r.scenarioLine(s)
		if line == "" {
			return nil, "scenarios have no words for this step: " + s.Event
		}
		if s.Torn > 0 {
			line = fmt.Sprintf("crash after %d: %s", s.Torn-1, line)
		}
		lines = append(lines, line)
	}
	return append(lines, "show"), ""
}

// What is written of a step: VERB WHO, VERB WHO -> FROM, or VERB FROM -> WHO.
var (
	verbsOfOne = map[Kind]string{Start: "start", Offer: "offer", Crash: "crash", Restart: "restart",
		Come: "come", Go: "go", Beat: "beat", Cutoff: "cutoff"}
	verbsOfLink    = map[Kind]string{Break: "break", Return: "return"}
	verbsOfChannel = map[Kind]string{Message: "deliver", Drop: "deliver", Copy: "copy", Lost: "drop", Swapped: "swap",
		Malformed: "malformed"}
	// of a hostile instance
	verbsOfStranger = map[Kind]string{Message: "forge", LinkLost: "hangup"}
)

// The verbs for news of a link that nobody hears, and for a message that a partition takes.
const (
	newsVerb    = "news"
	swallowVerb = "swallow"
)

// onChannel stands before the name of one of several channels: `deliver a -> b on state`.
const onChannel = " on "

// isNews reports whether what nobody hears is news of a link and no message.
func isNews(event string) bool {
	for _, n := range []world.News{world.Cut, world.Ask, world.Answer, world.Reset} {
		if strings.Trim(event, "()") == NewsText(n) {
			return true
		}
	}
	return false
}

// scenarioLine returns the line of a step, or "" if there is none.
func (r *Run) scenarioLine(s *Step) string {
	name := func(i int) string { return r.Instances[i].Name }
	at := ""
	if s.Channel != "" {
		at = onChannel + s.Channel
	}
	news := at
	if s.At > 0 {
		at += fmt.Sprint(" at ", s.At+1)
	}
	switch {
	case s.Kind == Clock:
		return "tick"
	case s.Kind == Partition && s.At == 0:
		return "heal"
	case s.Kind == Partition:
		line := "partition"
		for i := range r.Instances {
			if s.At>>i&1 != 0 {
				line += " " + name(i)
			}
		}
		return line
	case s.Who < 0:
		return ""
	case verbsOfOne[s.Kind] != "":
		return verbsOfOne[s.Kind] + " " + name(s.Who)
	case s.Kind == Command, s.Kind == Timer:
		return name(s.Who) + " " + s.Event
	case s.From < 0:
		return ""
	case r.Instances[s.From].Hostile && s.Kind == Message:
		return verbsOfStranger[s.Kind] + " " + name(s.From) + channel + name(s.Who) + " " + s.Event
	case r.Instances[s.From].Hostile && s.Kind == LinkLost:
		return verbsOfStranger[s.Kind] + " " + name(s.From) + channel + name(s.Who)
	case s.Kind == LinkUp:
		return name(s.Who) + " up from " + name(s.From)
	case s.Kind == LinkLost:
		return name(s.Who) + " lost from " + name(s.From)
	case verbsOfLink[s.Kind] != "":
		return verbsOfLink[s.Kind] + " " + name(s.Who) + channel + name(s.From)
	case s.Kind == Drop && isNews(s.Event):
		return newsVerb + " " + name(s.From) + channel + name(s.Who) + news
	case s.Kind == Lost && s.Note == Swallowed:
		return swallowVerb + " " + name(s.From) + channel + name(s.Who) + at
	case verbsOfChannel[s.Kind] != "":
		return verbsOfChannel[s.Kind] + " " + name(s.From) + channel + name(s.Who) + at
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
var ScenarioVerbs = []string{"beat", "break", "check", "come", "copy", "crash", "cutoff", "deliver", "drop",
	"forge", "go", "hangup", "heal", "malformed", "news", "offer", "partition", "restart", "return", "show", "start",
	"swallow", "swap", "tick"}

// ReadStep reads a line of a scenario that is a step, and how many times it happens. It is the
// inverse of what [Run.Scenario] writes for one step, as far as a line says it: Kind, Who, From, Channel, At,
// Torn, and the Event of a command, a timer or a forged message. A line does not tell a command and a
// timer apart; Kind is Command for both. It is Message for a message that nobody hears, too.
func ReadStep(line string, instances []Instance) (s Step, times int, err error) {
	r := &Run{Instances: instances}
	s = Step{Who: Nobody, From: Nobody}
	verb, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	if after, ok := strings.CutPrefix(rest, "after "); ok && verb == "crash" && strings.Contains(after, ":") {
		count, inner, _ := strings.Cut(after, ":")
		n, err := strconv.Atoi(strings.TrimSpace(count))
		if err != nil || n < 0 || n > maxTorn {
			return s, 0, fmt.Errorf("%q is no number of messages; expected `crash after NUMBER: STEP`", count)
		}
		if s, times, err = ReadStep(strings.TrimSpace(inner), instances); err == nil && (s.Torn > 0 || times != 1) {
			return s, 0, errors.New("behind `crash after NUMBER:` there is one step")
		}
		s.Torn = n + 1
		return s, times, err
	}
	switch verb {
	case "tick", "heal":
		s.Kind = map[string]Kind{"tick": Clock, "heal": Partition}[verb]
		if rest != "" {
			return s, 0, fmt.Errorf("%s concerns nobody in particular: write %[1]s alone", verb)
		}
		return s, 1, nil
	case "partition":
		s.Kind = Partition
		for _, name := range strings.Fields(rest) {
			i, err := r.named(name, false)
			if err != nil {
				return s, 0, err
			}
			s.At |= 1 << i
		}
		if s.At == 0 || s.At == 1<<len(instances)-1 {
			return s, 0, errors.New("partition names those on one side: at least one, and not all")
		}
		return s, 1, nil
	case "forge":
		s.Kind = Message
		to := ""
		if s.From, to, err = r.readArrow(rest); err == nil {
			to, s.Event, _ = strings.Cut(to, " ")
			s.Event = strings.TrimSpace(s.Event)
			s.Who, err = r.named(to, false)
		}
		if err == nil && s.Event == "" {
			err = errors.New("expected `forge A -> B MESSAGE`")
		}
		return s, 1, err
	}
	if verb == newsVerb || verb == swallowVerb {
		s.Kind, s.Note = Lost, Swallowed
		if verb == newsVerb {
			s.Kind, s.Note, s.Event = Drop, "", NewsText(world.Cut) // whichever it is
		}
		times, err = r.readChannel(&s, rest)
		return s, times, err
	}
	if kind, ok := kindOf(verbsOfOne, verb); ok {
		s.Kind = kind
		s.Who, err = r.named(rest, false)
		return s, 1, err
	}
	if kind, ok := kindOf(verbsOfChannel, verb); ok {
		s.Kind = kind
		times, err = r.readChannel(&s, rest)
		return s, times, err
	}
	for _, verbs := range []map[Kind]string{verbsOfLink, verbsOfStranger} {
		kind, ok := kindOf(verbs, verb)
		if !ok {
			continue
		}
		s.Kind = kind
		if _, err = r.readChannel(&s, rest); kind != LinkLost {
			s.Who, s.From = s.From, s.Who
		}
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

// maxTorn bounds what a line may say of a step that a crash cuts short.
const maxTorn = 1 << 16

// kindOf finds the kind of step of a verb. Of two the verb is that of a message that arrives.
func kindOf(verbs map[Kind]string, verb string) (Kind, bool) {
	if verb == verbsOfChannel[Message] && verbs[Message] == verb {
		return Message, true
	}
	for kind, v := range verbs {
		if v == verb {
			return kind, true
		}
	}
	return "", false
}

// readArrow reads `A -> `; rest is what follows.
func (r *Run) readArrow(text string) (from int, rest string, err error) {
	a, rest, ok := strings.Cut(text, "->")
	if rest = strings.TrimSpace(rest); !ok || rest == "" {
		return 0, "", fmt.Errorf("expected `A -> B`, got %q", text)
	}
	from, err = r.named(strings.TrimSpace(a), false)
	return from, rest, err
}

// readChannel reads `A -> B`, `A -> B COUNT` or `A -> B at PLACE`, with `on CHANNEL` behind B where there are several.
func (r *Run) readChannel(s *Step, text string) (times int, err error) {
	a, b, ok := strings.Cut(text, "->")
	words := strings.Fields(b)
	if len(words) > 2 && words[1] == strings.TrimSpace(onChannel) {
		s.Channel = words[2]
		words = slices.Delete(words, 1, 3)
	}
	if !ok || len(words) == 0 || len(words) > 2 && (len(words) > 3 || words[1] != "at") {
		return 0, fmt.Errorf("expected `A -> B`, `A -> B COUNT` or `A -> B at PLACE`, got %q", text)
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
	last := words[len(words)-1]
	n, err := strconv.Atoi(last)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is no %s", last, map[bool]string{true: "place", false: "count"}[len(words) == 3])
	}
	if len(words) == 3 {
		s.At = n - 1
		return 1, nil
	}
	return n, nil
}

func (r *Run) named(name string, first bool) (int, error) {
	i := slices.IndexFunc(r.Instances, func(x Instance) bool { return x.Name == name })
	if i < 0 {
		return i, &NoInstance{name, first}
	}
	return i, nil
}
