package run

import "github.com/parley-go/parley/runtime/world"

// What becomes of an event of which a machine makes nothing, as effects of a step.
const (
	Ignores = "ignores it"
	Keeps   = "keeps it for later"
	Unheard = "nobody hears it"
)

// Swallowed is the note of a message that is lost because a partition took it.
const Swallowed = "the partition takes it"

// NewsText says in words which news of a link is under way; empty if it is a message.
func NewsText(n world.News) string {
	return [...]string{
		world.NoNews: "",
		world.Cut:    "end of the link",
		world.Ask:    "request for the link",
		world.Answer: "answer to the request for the link",
		world.Reset:  "break of the link",
	}[n]
}

// link says what a step is about the link to another instance, which is named if there are several;
// empty if it is about something else.
func (r *Run) link(s *Step) string {
	link := "the link"
	if s.From >= 0 && len(r.Instances) > 2 {
		link += " to " + r.Instances[s.From].Name
	}
	switch s.Kind {
	case LinkUp:
		return link + " is up"
	case LinkLost:
		return link + " is lost"
	case Break:
		return "takes " + link + " for dead"
	}
	return ""
}
