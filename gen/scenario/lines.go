package scenario

import "github.com/parley-go/parley/runtime/run"

// Lines are the steps of a run in the language of scenarios; why says, if they cannot be told in
// it, what has no words there.
func Lines(r *run.Run) (lines []string, why string) {
	lines = []string{"check " + r.Check}
	for i := range r.Steps {
		s := &r.Steps[i]
		name := func(i int) string { return r.Instances[i].Name }
		switch {
		case s.Torn > 0:
			return nil, "scenarios have no words for a crash in the course of a step"
		case s.Kind == run.Start, s.Kind == run.Offer: // these happen by themselves
		case s.Kind == run.LinkUp && s.From >= 0:
			lines = append(lines, name(s.Who)+" up from "+name(s.From))
		case (s.Kind == run.LinkLost || s.Kind == run.Break) && s.From >= 0:
			lines = append(lines, name(s.Who)+" lost from "+name(s.From))
		case s.Kind == run.Crash, s.Kind == run.Restart:
			lines = append(lines, string(s.Kind)+" "+name(s.Who))
		case s.Kind == run.Command, s.Kind == run.Timer:
			lines = append(lines, name(s.Who)+" "+s.Event)
		case s.Kind == run.Message && s.At == 0:
			lines = append(lines, "deliver "+name(s.From)+" -> "+name(s.Who))
		case s.Kind == run.Lost && s.At == 0:
			lines = append(lines, "drop "+name(s.From)+" -> "+name(s.Who))
		default:
			return nil, "scenarios have no words for this step: " + s.Event
		}
	}
	return append(lines, "show"), ""
}
