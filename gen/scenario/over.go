package scenario

import (
	"errors"
	"fmt"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/runtime/run"
	between "github.com/parley-go/parley/runtime/world"
)

// over finds which of several channels a line means that takes something out of one: the channel that it names, or the
// only one in which there is something.
func (w *world) over(s *run.Step) error {
	var names, filled []string
	for _, c := range w.protocol.Channels() {
		names = append(names, c.Name)
	}
	takes := false
	switch s.Kind {
	case run.Message, run.Drop, run.Copy, run.Lost, run.Swapped:
		takes = s.From >= 0 && !w.named[s.From].Hostile
	}
	known := false
	for class, name := range names {
		known = known || name == s.Channel
		if k := w.World.Rules.Channel(s.From, s.Who, class); takes && k >= 0 && len(w.now.Queues[k]) > 0 &&
			(s.Kind != run.Drop || w.now.Queues[k][0].News != between.NoNews) {
			filled = append(filled, name)
		}
	}
	switch {
	case s.Channel == "" && (!takes || len(names) == 1 || len(filled) == 0):
		return nil
	case s.Channel == "" && len(filled) > 1:
		return fmt.Errorf("from %s to %s something is under way in %s: say which, as in `… %[1]s -> %[2]s on %[4]s`",
			w.name(s.From), w.name(s.Who), diag.And(filled), filled[0])
	case s.Channel == "":
		s.Channel = filled[0]
		return nil
	case len(names) == 1:
		return fmt.Errorf("%s has one channel: leave out `on %s`", w.protocol.Name, s.Channel)
	case !known:
		return fmt.Errorf("there is no channel %s; there are %s%s", s.Channel, diag.And(names), near(s.Channel, names))
	case !takes:
		return errors.New("`on` names the channel of a message; a link is of all channels: leave out `on " +
			strings.TrimSpace(s.Channel) + "`")
	}
	return nil
}
