package run

import (
	"cmp"
	"fmt"
	"strings"
)

// Chart is a run as drawings show it: columns of instances, and messages between them. [Run.Chart]
// makes it.
type Chart struct {
	Title string
	// Instances name the columns, in order; Start has the state of each before the first step,
	// empty if unknown.
	Instances, Start []string
	// Hostile are the instances that keep to no role, Away those at which nobody is at first; by column.
	Hostile, Away []bool
	Steps         []ChartStep
	// Loop is how many of the last steps are repeated for ever; 0 if the run ends.
	Loop int
	// End is a remark below the last step, for example what is wrong there.
	End string
}

// ChartStep is one step of a chart. Time runs from step to step.
type ChartStep struct {
	// Kind is the kind of the step; may be empty.
	Kind Kind
	// Who is the column of the instance that moves; [Nobody] if something between machines does:
	// then Lost is the message that is lost, or Notes say what happens.
	Who int
	// Event is what the instance was given, in words.
	Event string
	// Receives is the ID of the message that is the event, Lost that of a message that never
	// arrives; 0 if there is none.
	Receives, Lost int
	// Channel names the channel of the message that is the event, if the protocol has several.
	Channel string
	// Sends are the messages that get under way, in order.
	Sends []Sent
	// Notes are what else the step did, in words: reports, timers.
	Notes []string
	// State is the instance's state afterwards, empty if it is not known.
	State string
	// Where is the line of the specification, or the name of the branch.
	Where string
	// Fault is why the step is an error, empty if it is none.
	Fault string
}

// LoopFrom returns the index of the first step that is repeated for ever; -1 if the run ends.
func (c *Chart) LoopFrom() int {
	if c.Loop == 0 {
		return -1
	}
	return len(c.Steps) - c.Loop
}

// Chart lays the run out as a sequence chart.
func (r *Run) Chart() *Chart {
	c := &Chart{Title: r.Title, End: r.Problem, Loop: r.Loop}
	known := false
	for _, x := range r.Instances {
		c.Instances, c.Start = append(c.Instances, x.Name), append(c.Start, x.Start)
		c.Hostile = append(c.Hostile, x.Hostile)
		known = known || x.Start != ""
	}
	if !known {
		c.Start = nil
	}
	for i, x := range r.Instances {
		moves := r.Of(i)
		c.Away = append(c.Away, len(moves) > 0 && moves[0].Kind == Come ||
			len(moves) == 0 && known && x.Start == "" && !x.Hostile)
	}
	last := 0
	for i := range r.Steps {
		for _, m := range r.Steps[i].Sent {
			last = max(last, m.ID)
		}
	}
	for i := range r.Steps {
		s := r.drawn(&r.Steps[i])
		s.Kind = r.Steps[i].Kind
		if r.forged(&r.Steps[i]) { // what has no identity gets one, for the arrow
			last++
			sent := Sent{ID: last, To: s.Who, Text: s.Event, Channel: s.Channel}
			c.Steps = append(c.Steps, ChartStep{Who: r.Steps[i].From, Sends: []Sent{sent}})
			s.Receives = last
			if i >= len(r.Steps)-r.Loop {
				c.Loop++
			}
		}
		c.Steps = append(c.Steps, s)
	}
	return c
}

// forged reports whether a hostile instance sends the message of a step.
func (r *Run) forged(s *Step) bool {
	return s.Kind == Message && s.Message == 0 && s.From >= 0 && r.Instances[s.From].Hostile
}

func (r *Run) drawn(s *Step) ChartStep {
	switch s.Kind {
	case Lost:
		return ChartStep{Who: Nobody, Lost: s.Message}
	case Swapped:
		return ChartStep{Who: Nobody, Notes: []string{s.Event + " (" + r.between(s) + ")"}}
	case Clock:
		return ChartStep{Who: Nobody, Notes: []string{"(" + s.Event + ")"}}
	case Partition:
		return ChartStep{Who: Nobody, Notes: []string{s.Event}}
	case Crash, Restart, Come, Go, Return, Cutoff, Beat:
		return ChartStep{Who: s.Who, State: s.After, Notes: []string{s.Event}}
	}
	out := ChartStep{Who: s.Who, Event: s.Event, Receives: s.Message, State: s.After,
		Where: cmp.Or(s.Where, s.Transition), Fault: s.Fault}
	if s.Message != 0 || r.forged(s) {
		out.Channel = s.Channel
	}
	if text := r.link(s); text != "" {
		out.Event = text
	}
	if s.Kind == Unseen {
		out.Event = "" // its messages are drawn
	}
	if s.Note != "" {
		out.Notes = append(out.Notes, s.Note)
	}
	var full []Sent
	for _, m := range s.Sent {
		if m.ID > 0 {
			out.Sends = append(out.Sends, m)
		} else {
			full = append(full, m)
		}
	}
	for _, text := range s.Effects {
		why, lost := strings.CutPrefix(text, lostAtOnce)
		switch {
		case strings.HasPrefix(text, "sends "):
		case lost && len(full) > 0:
			out.Notes = append(out.Notes, "✗ "+full[0].Text+" is lost: "+why)
			full = full[1:]
		default:
			out.Notes = append(out.Notes, text)
		}
	}
	for _, x := range s.Changes {
		if x.Monitor {
			out.Notes = append(out.Notes, fmt.Sprintf("monitor %s: %s → %s", x.Name, x.Before, x.After))
		}
	}
	return out
}

// lostAtOnce begins an effect that says of the one before it that the message found no place.
const lostAtOnce = "which is lost: "

// LostAtOnce returns the effect of a message that is lost as soon as it is sent; why says why.
func LostAtOnce(why string) string { return lostAtOnce + why }
