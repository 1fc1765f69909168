package scenario

import (
	"errors"
	"fmt"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/run"
	between "github.com/parley-go/parley/runtime/world"
)

// How the lines of steps that are errors say so, beside `refused: `.
const (
	cannotSend = "cannot send "
	sendsTo    = " sends to "
	noFrame    = ", which has no frame: "
)

// plain reports whether people tell such a step together with what follows by itself.
func (w *world) plain(s *run.Step) bool {
	switch s.Kind {
	case run.Lost:
		return s.Torn == 0 && s.At == 0 && s.Note == ""
	case run.Message, run.Command, run.LinkUp, run.LinkLost, run.Crash, run.Restart, run.Come,
		run.Go:
		return s.Torn == 0 && s.At == 0 && (s.From < 0 || !w.named[s.From].Hostile)
	}
	return false
}

// beginExactly begins a scenario in which every step has a line. Instances of whose start nothing comes
// have started, as in every run.
func (w *world) beginExactly() error {
	w.Follow()
	w.now = w.World.Begin(w.Values())
	for i, p := range w.Parties {
		if w.named[i].Hostile || !p.Startless() || w.now.Ends[i].Absent {
			continue
		}
		t, err := w.World.Do(w.now, stage.Move{Kind: between.MoveStart, Who: i})
		if err != nil {
			return fmt.Errorf("%s: %w", w.name(i), err)
		}
		w.now = t.Next
	}
	return nil
}

// exactly takes the step of a line and nothing else.
func (w *world) exactly(s *run.Step) error {
	step := *s
	if step.Kind == run.Command {
		ev, err := w.parse(&step)
		if err != nil {
			return err
		}
		if ev.Event.Kind == model.EventTimer {
			step.Kind = run.Timer
		}
	}
	if (step.Kind == run.LinkUp || step.Kind == run.LinkLost) && step.From < 0 {
		from, err := w.sender(&step)
		if err != nil {
			return err
		}
		step.From = from
	}
	if !w.exact && step.From >= 0 && step.Kind != run.LinkUp && w.now.Ends[step.Who].Waiting>>step.From&1 != 0 {
		// A link comes up before anything else is heard of it.
		if err := w.do(stage.Move{Kind: between.MoveUp, Who: step.Who, Peer: step.From}); err != nil {
			return err
		}
	}
	list, err := w.Moves(w.now, &step)
	if there := w.underWay(&step); err != nil && there != "" && step.Event == "" {
		return errors.New(there)
	} else if err != nil {
		return err
	}
	for _, mv := range list {
		before := w.now
		t, err := w.World.Do(before, mv)
		switch {
		case err != nil && step.Kind == run.Command && mv.Kind == between.MoveCommand && w.refuses(mv.Who):
			w.refused(mv.Who)
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", strings.TrimSpace(w.what(mv)), err)
		case w.Wrong != "":
			fmt.Fprintf(&w.out, "%s: %s\n", w.name(mv.Who), w.Wrong)
			w.Wrong = ""
			return nil
		case t.Fault == between.Refusal:
			w.refused(t.Who)
			return nil
		case t.Fault == between.Overflow:
			x := t.Sends[t.Gone[len(t.Gone)-1]]
			w.begins(t.Who, mv.Kind == between.MoveOffer)
			fmt.Fprintf(&w.out, cannotSend+"%s: the channel to %s is full\n", x.Item.Message, w.name(x.To))
			return nil
		case t.Fault == between.DeferredOverflow:
			fmt.Fprintf(&w.out, "%s: %s  refused: %s\n", w.name(t.Who), t.Event.Message, t.Why)
			return nil
		case t.Fault != between.NoFault:
			w.begins(t.Who, mv.Kind == between.MoveOffer)
			fmt.Fprintf(&w.out, "refused: %s\n", t.Why)
			return nil
		}
		w.now = t.Next
		w.tell(before, &t, mv)
		if w.exact {
			continue
		}
		w.pass()
		if t.Who >= 0 {
			if err := w.take(stage.Move{Kind: between.MoveOffer, Who: t.Who}, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// refuses reports whether the machine has refused what it was given last.
func (w *world) refuses(i int) bool {
	return w.Parties[i].Result.Code == fsm.Refused && w.Parties[i].Fault != nil
}

// underWay says what there is in the channel of a step that looks for a message.
func (w *world) underWay(s *run.Step) string {
	k := w.ChannelOf(s)
	if k < 0 {
		return ""
	}
	var list []string
	from, to := w.name(s.From), w.name(s.Who)
	if s.Channel != "" {
		to += " on " + s.Channel
	}
	for _, x := range w.now.Queues[k] {
		if text := run.NewsText(x.News); text != "" {
			list = append(list, text)
		} else {
			list = append(list, x.Message)
		}
	}
	if len(list) == 0 {
		return fmt.Sprintf("nothing is under way from %s to %s", from, to)
	}
	return fmt.Sprintf("from %s to %s there is no such message; under way are %s", from, to, strings.Join(list, ", "))
}

// tell prints what came of a move.
func (w *world) tell(before *stage.Configuration, t *stage.Taken, mv stage.Move) {
	line := func(format string, args ...any) { fmt.Fprintf(&w.out, format+"\n", args...) }
	channel := func() (text, message string) {
		x := before.Queues[mv.Channel][mv.At]
		return w.ChannelName(mv.Channel), x.Message + run.NewsText(x.News)
	}
	switch mv.Kind {
	case between.MoveTick:
		n := w.World.Rules.Time.Beat
		line("%s %s", diag.Counted(n, "tick"), diag.OneOr(n, "passes", "pass"))
	case between.MoveHeal:
		line("all hear each other again")
	case between.MovePartition:
		var sides [2][]string
		for i := range w.Parties {
			if w.World.Rules.Faults.Bridge>>i&1 != 0 {
				continue
			}
			sides[1-mv.Set>>i&1] = append(sides[1-mv.Set>>i&1], w.name(i))
		}
		line("%s and %s do not hear each other", strings.Join(sides[0], ", "), strings.Join(sides[1], ", "))
	case between.MoveLose, between.MoveTail:
		on, message := channel()
		line("%s: %s is lost", on, message)
	case between.MoveSwallow:
		on, message := channel()
		line("%s: the partition takes %s", on, message)
	case between.MoveOvertake:
		on, _ := channel()
		line("%s: the first two messages change places", on)
	case between.MoveCrash:
		line("%s: crashes", w.name(mv.Who))
	case between.MoveRestart:
		line("%s: begins anew", w.name(mv.Who))
	case between.MoveCome:
		line("%s: comes", w.name(mv.Who))
	case between.MoveGo:
		line("%s: goes", w.name(mv.Who))
	case between.MoveBeat:
		line("%s: feels the beat", w.name(mv.Who))
	case between.MoveCutoff:
		line("%s: hears of the partition, or of its end", w.name(mv.Who))
	case between.MoveReturn:
		line("%s: wants the link to %s back", w.name(mv.Who), w.name(mv.Peer))
	default:
		if mv.Kind == between.MoveCopy {
			on, message := channel()
			line("%s: %s stays under way", on, message)
		}
		w.outcome(before, t, mv)
	}
}

// outcome prints what a machine made of an event.
func (w *world) outcome(before *stage.Configuration, t *stage.Taken, mv stage.Move) {
	if t.Who < 0 || t.What == between.Done {
		return
	}
	p := w.Parties[t.Who]
	switch {
	case t.What == between.Dropped && (mv.Kind == between.MoveDeliver || mv.Kind == between.MoveCopy):
		x := before.Queues[mv.Channel][mv.At]
		fmt.Fprintf(&w.out, "%s: %s%s  not heard\n", w.name(t.Who), x.Message, run.NewsText(x.News))
		return
	case t.What == between.Dropped:
		fmt.Fprintf(&w.out, "%s: %s%s  not heard\n", w.name(t.Who), mv.Message, map[between.MoveKind]string{
			between.MoveMalformed: "what is no message"}[mv.Kind])
		return
	case t.What == between.Kept:
		w.print(before, t, mv, false)
		return
	}
	w.begins(t.Who, mv.Kind == between.MoveOffer)
	if t.Code == fsm.Ignored {
		fmt.Fprintf(&w.out, "ignored in %s\n", p.States[before.Values[t.Who][0]].Name)
		return
	}
	if t.Torn {
		w.out.WriteString("crashes in the course of it")
		for _, s := range t.Sends[:mv.Torn-1] {
			if s.Item.News == between.NoNews {
				fmt.Fprintf(&w.out, ", has sent %s to %s", s.Item.Message, w.name(s.To))
			}
		}
		w.out.WriteString("\n")
		return
	}
	w.out.WriteString(change(p.Machine, before.Values[t.Who], t.Value))
	for k := range p.Effects {
		fmt.Fprintf(&w.out, ", %s", interp.AppendEffectOf(nil, w.Strings, &p.Effects[k], w.name))
	}
	for _, at := range t.Gone {
		fmt.Fprintf(&w.out, ", %s is lost: the channel to %s is full", t.Sends[at].Item.Message, w.name(t.Sends[at].To))
	}
	w.out.WriteString("\n")
}
