package scenario

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/run"
	between "github.com/parley-go/parley/runtime/world"
)

// Load gives the protocol specialised for a check, or for the first one if name is empty.
type Load func(check string) (*model.Protocol, error)

// Mismatch is a block whose output is not the one it says.
type Mismatch struct {
	Block     Block
	Got, Want string
}

// LineError is what is wrong with a line of a scenario, from 1.
type LineError struct {
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

// Run runs a scenario. It returns the blocks with what they really print, and
// those that say something else. The error is for input that is no scenario.
func Run(blocks []Block, load Load) (got []Block, wrong []Mismatch, err error) {
	w := &world{load: load}
	for _, b := range blocks {
		w.out.Reset()
		for i, line := range b.Input {
			if strings.HasPrefix(line, "#") || line == "" {
				continue
			}
			if err := w.line(line); err != nil {
				return nil, nil, &LineError{b.Line + i, err}
			}
		}
		g := b
		g.Want = w.out.String()
		got = append(got, g)
		if g.Want != b.Want {
			wrong = append(wrong, Mismatch{Block: b, Got: g.Want, Want: b.Want})
		}
	}
	return got, wrong, nil
}

// world is the present configuration.
type world struct {
	load     Load
	check    *model.Check
	protocol *model.Protocol
	*stage.Stage
	now *stage.Configuration
	out strings.Builder
	// named are the instances as lines name them.
	named []run.Instance
	// exact: every step has a line, and the rules of the check hold.
	exact bool
}

func (w *world) line(line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	if verb == "check" {
		if w.check != nil {
			return fmt.Errorf("check must come before everything else")
		}
		name, exact := strings.CutSuffix(rest, " "+run.Exactly)
		w.exact = exact
		return w.begin(strings.TrimSpace(name))
	}
	if w.check == nil {
		if err := w.begin(""); err != nil {
			return err
		}
	}
	if verb == "show" {
		return w.show(rest)
	}
	step, times, err := run.ReadStep(line, w.named)
	if err != nil {
		return w.unknown(err)
	}
	if err := w.over(&step); err != nil {
		return err
	}
	if w.exact || !w.plain(&step) {
		for range times {
			if err := w.exactly(&step); err != nil {
				return err
			}
		}
		return nil
	}
	switch step.Kind {
	case run.Message:
		return w.onChannel(&step, times, w.deliver)
	case run.Lost:
		return w.onChannel(&step, times, w.drop)
	case run.Crash, run.Restart, run.Come, run.Go:
		return w.fault(&step)
	}
	ev, err := w.parse(&step)
	if err != nil {
		return err
	}
	if step.Kind != run.Command {
		if ev.Sender, err = w.sender(&step); err != nil {
			return err
		}
	}
	return w.event(step.Who, ev)
}

// parse reads the event of a line.
func (w *world) parse(step *run.Step) (interp.Event, error) {
	m := w.Parties[step.Who].Machine
	ev, err := interp.ParseEvent(m, w.Strings, step.Event)
	name, _, _ := strings.Cut(step.Event, "{")
	if err != nil && !slices.ContainsFunc(m.Events, func(e *model.Event) bool { return e.Name == name }) {
		return ev, fmt.Errorf("%w%s", err, near(name, events(m)))
	}
	return ev, err
}

// unknown says which instances there are, if a line names another one.
func (w *world) unknown(err error) error {
	no, ok := errors.AsType[*run.NoInstance](err)
	switch {
	case !ok:
		return err
	case no.First:
		return fmt.Errorf("the check %s has no instance %q, and it is no verb (%s)%s", w.check.Name, no.Name,
			strings.Join(run.ScenarioVerbs, ", "), near(no.Name, append(w.instances(), run.ScenarioVerbs...)))
	}
	return fmt.Errorf("the check %s has no instance %q%s", w.check.Name, no.Name, near(no.Name, w.instances()))
}

// near names what somebody may have meant.
func near(name string, candidates []string) string {
	if n := diag.Nearest(name, candidates); n != "" {
		return "; did you mean " + n + "?"
	}
	return ""
}

func (w *world) instances() []string {
	var list []string
	for _, i := range w.check.Instances {
		list = append(list, i.Name)
	}
	return list
}

func events(m *model.Machine) []string {
	var list []string
	for _, e := range m.Events {
		list = append(list, e.Name)
	}
	return list
}

// sender returns the other end of the link of which an instance gets news. There is no need to name
// it where there are two.
func (w *world) sender(s *run.Step) (int, error) {
	switch {
	case s.From >= 0:
		return s.From, nil
	case len(w.Parties) == 2:
		return 1 - s.Who, nil
	}
	return 0, fmt.Errorf("say whose link it is: `%s lost from NAME`", w.name(s.Who))
}

// often is how often machines may crash, and the network fall apart, in a story.
const often = 255

func (w *world) begin(name string) error {
	p, err := w.load(name)
	if err != nil {
		return err
	}
	for _, c := range p.Checks {
		if name == "" || c.Name == name {
			w.check = c
			break
		}
	}
	if w.check == nil {
		return fmt.Errorf("protocol %s has no check %s", p.Name, name)
	}
	w.protocol = p
	for _, x := range w.check.Instances {
		w.named = append(w.named, run.Instance{Name: x.Name, Hostile: x.Hostile != model.Honest})
	}
	if w.Stage, err = stage.New(p, w.check); err != nil {
		return err
	}
	w.Strings.InternDomains(p)
	if w.exact {
		return w.beginExactly()
	}
	r := w.World.Rules
	r.Faults = between.Faults{Lose: -1, Duplicate: -1, Overtake: -1, Break: -1, Return: -1,
		Partition: often, Torn: true}
	if f := w.check.Faults; f != nil {
		r.Faults.Bridge = f.Bridge
	}
	r.Faults.Crash, r.Faults.Restart = slices.Repeat([]int{often}, r.Instances),
		slices.Repeat([]int{often}, r.Instances)
	for k := range r.Channels {
		// Whoever tells a story says what is lost, copied and overtaken.
		r.Channels[k].Lossy, r.Channels[k].Duplicates, r.Channels[k].Overtakes = true, true, true
	}
	r.Links = slices.DeleteFunc(r.Links, func(l between.Link) bool {
		return !w.Parties[l.A].Linked() && !w.Parties[l.B].Linked()
	})
	w.now = w.World.Begin(w.Values())
	for i := range w.Parties {
		if w.named[i].Hostile || w.now.Ends[i].Absent {
			continue
		}
		if err := w.do(stage.Move{Kind: between.MoveStart, Who: i}); err != nil {
			return err
		}
	}
	w.out.Reset()
	return nil
}

func (w *world) name(i int) string {
	if i < 0 || i >= len(w.check.Instances) {
		return strconv.Itoa(i) // nobody has this number
	}
	return w.check.Instances[i].Name
}

func (w *world) instance(name string) (int, error) {
	i := slices.IndexFunc(w.check.Instances, func(x *model.Instance) bool { return x.Name == name })
	if i < 0 {
		return 0, fmt.Errorf("the check %s has no instance %q%s", w.check.Name, name, near(name, w.instances()))
	}
	return i, nil
}

// onChannel does something with the oldest message of the channel of a step, so many times.
func (w *world) onChannel(s *run.Step, times int, f func(channel int) error) error {
	from, to := s.From, s.Who
	k := w.ChannelOf(s)
	for range times {
		if k < 0 || len(w.now.Queues[k]) == 0 {
			return errors.New(w.underWay(s))
		}
		if w.now.Queues[k][0].News == between.Ask {
			return fmt.Errorf("%s has begun, and its link comes up first: say `%s up from %[1]s`",
				w.name(from), w.name(to))
		}
		if w.now.Queues[k][0].News != between.NoNews {
			return fmt.Errorf("%s has closed its link, and no message follows: say `%s lost`", w.name(from), w.name(to))
		}
		if err := f(k); err != nil {
			return err
		}
	}
	return nil
}

// deliver hands over the oldest message of a channel. A link comes up before its first message, so
// it does now if nobody has said so.
func (w *world) deliver(k int) error {
	c := &w.World.Rules.Channels[k]
	if w.now.Ends[c.To].Waiting>>c.From&1 != 0 {
		if err := w.do(stage.Move{Kind: between.MoveUp, Who: c.To, Peer: c.From}); err != nil {
			return err
		}
	}
	return w.do(stage.Move{Kind: between.MoveDeliver, Channel: k})
}

// fault lets an instance crash or begin anew, come or go.
func (w *world) fault(s *run.Step) error {
	i, name := s.Who, w.name(s.Who)
	var mv stage.Move
	var told, cannot string
	begins := false
	switch e := &w.now.Ends[i]; s.Kind {
	case run.Crash:
		mv.Kind, told = between.MoveCrash, "crashes"
		if e.Absent {
			cannot = "nobody is there"
		} else if e.Down {
			cannot = "it has crashed already"
		}
	case run.Restart:
		mv.Kind, told, begins = between.MoveRestart, "begins anew", true
		if e.Absent {
			cannot = "nobody is there: say `come " + name + "`"
		} else if !e.Down {
			cannot = "it has not crashed"
		}
	case run.Come:
		mv.Kind, told, begins = between.MoveCome, "comes", true
		switch come := w.World.Rules.Come[i]; {
		case come == 0:
			cannot = "by this check it is there from the beginning"
		case !e.Down:
			cannot = "somebody is there"
		case int(e.Comes) >= come:
			cannot = "by this check nobody comes any more"
		}
	case run.Go:
		mv.Kind, told = between.MoveGo, "goes"
		switch {
		case e.Absent:
			cannot = "nobody is there"
		case w.World.Rules.Come[i] == 0:
			cannot = "by this check it is there at all times"
		case !w.World.Machines[i].Final(w.now.Values[i]):
			cannot = "its state is not final"
		}
	}
	if cannot != "" {
		return fmt.Errorf("%s %s: %s", s.Kind, name, cannot)
	}
	mv.Who = i
	fmt.Fprintf(&w.out, "%s: %s\n", name, told)
	if err := w.do(mv); err != nil || !begins {
		return err
	}
	return w.do(stage.Move{Kind: between.MoveStart, Who: i})
}

func (w *world) drop(k int) error {
	fmt.Fprintf(&w.out, "%s: %s is lost\n", w.ChannelName(k), w.now.Queues[k][0].Message)
	return w.do(stage.Move{Kind: between.MoveLose, Channel: k})
}

// event gives an instance an event that comes from no channel.
func (w *world) event(i int, ev interp.Event) error {
	p := w.Parties[i]
	switch ev.Event.Kind {
	case model.EventCommand:
		return w.do(stage.Move{Kind: between.MoveCommand, Who: i, Message: p.Command(ev)})
	case model.EventTimer:
		t := slices.IndexFunc(p.Alarms, func(a stage.Alarm) bool {
			return a.Event.Event == ev.Event && slices.Equal(a.Event.At, ev.At) && slices.Equal(a.Event.Args, ev.Args)
		})
		if t < 0 || !w.now.Ends[i].Left[t].Runs() {
			return fmt.Errorf("%s: the timer %s is not armed", w.name(i), interp.AppendEvent(nil, w.Strings, ev))
		}
		return w.do(stage.Move{Kind: between.MoveExpire, Who: i, Timer: t})
	case model.EventUp:
		if w.now.Ends[i].Waiting>>ev.Sender&1 == 0 {
			if k := w.Channel(ev.Sender, i); len(w.now.Queues[k]) > 0 && w.now.Queues[k][0].News == between.Ask {
				return w.do(stage.Move{Kind: between.MoveDeliver, Channel: k}) // the other has begun anew
			}
			return fmt.Errorf("%s: the link to %s has come up before (one that is lost comes back when one "+
				"of the two is restarted)",
				w.name(i), w.name(ev.Sender))
		}
		return w.do(stage.Move{Kind: between.MoveUp, Who: i, Peer: ev.Sender})
	case model.EventLost:
		return w.lost(i, ev.Sender)
	}
	if ev.Event.Kind == model.EventMessage {
		return fmt.Errorf("%s: %s is a message, which its sender sends: say `deliver %s -> %s` when it is under way",
			w.name(i), ev.Event.Name, w.bringer(i), w.name(i))
	}
	return fmt.Errorf("%s: %s happens by itself", w.name(i), ev.Event.Name)
}

// bringer names an instance of which something is under way to another one, or NAME if there is none.
func (w *world) bringer(to int) string {
	for k, q := range w.now.Queues {
		if c := &w.World.Rules.Channels[k]; c.To == to && len(q) > 0 {
			return w.name(c.From)
		}
	}
	return "NAME"
}

// blocked says why an instance cannot do anything of a kind now.
func (w *world) blocked(i int) error {
	name := w.name(i)
	switch e := &w.now.Ends[i]; {
	case w.World.Rules.IsHostile(i):
		return fmt.Errorf("%s is hostile and has no machine: say what it sends with `forge`", name)
	case e.Absent:
		return fmt.Errorf("nobody is at %s: say `come %s` first", name, name)
	case e.Down:
		return fmt.Errorf("%s has crashed: it can do that again after `restart %s`", name, name)
	case !e.Started:
		return fmt.Errorf("%s has not begun yet", name)
	case w.World.Machines[i].Final(w.now.Values[i]):
		return fmt.Errorf("%s has ended: its state is final", name)
	}
	return fmt.Errorf("%s cannot do that now: a channel that it sends into is full", name)
}

// lost tells an instance that its link is lost: the other end has closed it, or it breaks now.
func (w *world) lost(i, peer int) error {
	k := w.Channel(peer, i)
	if q := w.now.Queues[k]; len(q) > 0 && (q[0].News == between.Cut || q[0].News == between.Reset) {
		return w.do(stage.Move{Kind: between.MoveDeliver, Channel: k})
	}
	switch e := &w.now.Ends[i]; {
	case w.World.Rules.Peers(i)>>peer&1 == 0:
		return fmt.Errorf("%s has no link to %s that could be lost", w.name(i), w.name(peer))
	case (e.Up|e.Waiting)>>peer&1 == 0:
		fmt.Fprintf(&w.out, "%s: lost  not heard, for the link to %s is closed\n", w.name(i), w.name(peer))
		return nil
	}
	return w.do(stage.Move{Kind: between.MoveLost, Who: i, Peer: peer})
}

// do takes a move and prints what happened, and what follows at once: an instance handles what it
// holds and no longer defers.
func (w *world) do(mv stage.Move) error { return w.take(mv, false) }

// take is do; again: the move is one of those that follow.
func (w *world) take(mv stage.Move, again bool) error {
	for ; ; again = true {
		before := w.now
		t, err := w.World.Do(w.now, mv)
		switch {
		case again && err != nil:
			return nil // nothing follows
		case err != nil && mv.Kind == between.MoveCommand && w.Parties[mv.Who].Result.Code == fsm.Refused:
			w.refused(mv.Who)
			return nil
		case errors.Is(err, between.ErrBlocked):
			return w.blocked(mv.Who)
		case err != nil:
			return fmt.Errorf("%v: %w", w.what(mv), err)
		case w.Wrong != "":
			return errors.New(w.Wrong)
		case t.Fault == between.Refusal:
			w.refused(t.Who)
			return w.consume(mv)
		case t.Fault == between.DeferredOverflow:
			fmt.Fprintf(&w.out, "%s: %s  refused: %s\n", w.name(t.Who), t.Event.Message, t.Why)
			return w.consume(mv)
		case t.Fault == between.Overflow:
			return fmt.Errorf("%v: a channel that it sends into is full: it holds %d messages", w.name(t.Who),
				w.check.Channels()[t.Sends[t.Gone[len(t.Gone)-1]].Class].Capacity)
		case t.Fault != between.NoFault:
			return fmt.Errorf("%v: %s", w.what(mv), t.Why)
		}
		w.now = t.Next
		w.pass()
		if t.Who < 0 {
			return nil
		}
		w.print(before, &t, mv, again)
		mv = stage.Move{Kind: between.MoveOffer, Who: t.Who}
	}
}

// pass hands over what no story tells: the answer to one that has begun anew, and what is news of
// the link that it had before.
func (w *world) pass() {
	for k := range w.now.Queues {
		c := &w.World.Rules.Channels[k]
		for {
			q, old := w.now.Queues[k], w.now.Ends[c.To].Asked>>c.From&1 != 0
			if len(q) == 0 || q[0].News != between.Answer && (q[0].News != between.Cut || !old) {
				break
			}
			t, err := w.World.Do(w.now, stage.Move{Kind: between.MoveDeliver, Channel: k})
			if err != nil {
				break
			}
			w.now = t.Next
		}
	}
}

// what tells a move that is not possible.
func (w *world) what(mv stage.Move) string {
	switch mv.Kind {
	case between.MoveDeliver, between.MoveLose, between.MoveCopy, between.MoveOvertake, between.MoveTail,
		between.MoveSwallow:
		return w.ChannelName(mv.Channel)
	}
	if mv.Who < 0 {
		return mv.Kind.String()
	}
	return w.name(mv.Who)
}

// consume takes away a message that was refused.
func (w *world) consume(mv stage.Move) error {
	if mv.Kind != between.MoveDeliver {
		return nil
	}
	t, err := w.World.Do(w.now, stage.Move{Kind: between.MoveLose, Channel: mv.Channel})
	if err == nil {
		w.now = t.Next
	}
	return err
}

// begins begins the line of an instance's step.
func (w *world) begins(i int, again bool) {
	p, from := w.Parties[i], ""
	if kind := p.Event.Event.Kind; len(w.Parties) > 2 && (kind == model.EventUp || kind == model.EventLost) {
		from = " from " + w.name(p.Event.Sender)
	}
	if again {
		from = ", deferred before"
	}
	fmt.Fprintf(&w.out, "%s: %s%s  ", w.name(i), interp.AppendEvent(nil, w.Strings, p.Event), from)
}

func (w *world) refused(i int) {
	w.begins(i, false)
	fmt.Fprintf(&w.out, "refused: %s\n", folder.ReplaceAllString(w.Parties[i].Fault.Why(), "$1"))
}

// print tells what an instance did.
func (w *world) print(before *stage.Configuration, t *stage.Taken, mv stage.Move, again bool) {
	p, i := w.Parties[t.Who], t.Who
	state := p.States[before.Values[i][0]].Name
	switch {
	case t.What == between.Done || mv.Kind == between.MoveUp && t.Code == fsm.Ignored || mv.Kind == between.MoveStart:
		return // nothing that a story tells
	case t.What == between.Kept:
		fmt.Fprintf(&w.out, "%s: %s  deferred in %s\n", w.name(i), t.Event.Message, state)
		return
	case t.What == between.Dropped && mv.Kind == between.MoveDeliver:
		c := &w.World.Rules.Channels[mv.Channel]
		what := "lost"
		if x := before.Queues[mv.Channel][0]; x.News == between.NoNews {
			what = x.Message
		}
		why := "the link to " + w.name(c.From) + " is closed"
		if before.Ends[i].Asked>>c.From&1 != 0 {
			why = "it was sent before " + w.name(i) + " began anew"
		}
		fmt.Fprintf(&w.out, "%s: %s  not heard, for %s\n", w.name(i), what, why)
		return
	case t.What == between.Dropped:
		fmt.Fprintf(&w.out, "%s: lost  not heard, for the link to %s is closed\n", w.name(i), w.name(mv.Peer))
		return
	}
	w.begins(i, again)
	if t.Code == fsm.Ignored {
		fmt.Fprintf(&w.out, "ignored in %s\n", state)
		return
	}
	w.out.WriteString(change(p.Machine, before.Values[i], t.Value))
	for k := range p.Effects {
		fmt.Fprintf(&w.out, ", %s", interp.AppendEffectOf(nil, w.Strings, &p.Effects[k], w.name))
	}
	for _, at := range t.Gone {
		fmt.Fprintf(&w.out, ", %s is lost: the channel to %s is full", t.Sends[at].Item.Message, w.name(t.Sends[at].To))
	}
	w.out.WriteString("\n")
}

// folder is the folder of a file named in a fault: a scenario must not depend
// on where its specification lies.
var folder = regexp.MustCompile(`[^ (]*/([^/ :]+\.yaml:)`)

// change renders the control state before and after a step, and of the parts
// those that changed: `inSetup (confirm waiting → localOk)`.
func change(m *model.Machine, before, after interp.Value) string {
	s := m.States[before[0]].Name
	if after[0] != before[0] {
		s += " → " + m.States[after[0]].Name
	}
	var parts []string
	for _, p := range m.Parts {
		for i := range p.Count {
			at := p.Offset + i*p.Machine.Size
			b, a := before[at:at+p.Machine.Size], after[at:at+p.Machine.Size]
			if !sameStates(p.Machine, b, a) {
				parts = append(parts, interp.PartName(interp.At{Part: p, Index: i})+" "+change(p.Machine, b, a))
			}
		}
	}
	if len(parts) > 0 {
		s += " (" + strings.Join(parts, ", ") + ")"
	}
	return s
}

// sameStates reports whether a machine and all its parts are in the same control states.
func sameStates(m *model.Machine, a, b interp.Value) bool {
	if a[0] != b[0] {
		return false
	}
	for _, p := range m.Parts {
		for i := range p.Count {
			at := p.Offset + i*p.Machine.Size
			if !sameStates(p.Machine, a[at:at+p.Machine.Size], b[at:at+p.Machine.Size]) {
				return false
			}
		}
	}
	return true
}

func (w *world) show(name string) error {
	if name != "" {
		i, err := w.instance(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&w.out, "%s: %s\n", name,
			interp.AppendMachine(nil, w.Strings, w.Parties[i].Machine, w.now.Values[i]))
		return nil
	}
	for i, p := range w.Parties {
		if w.named[i].Hostile {
			fmt.Fprintf(&w.out, "%s: hostile\n", w.name(i))
			continue
		}
		if w.now.Ends[i].Absent {
			fmt.Fprintf(&w.out, "%s: %s\n", w.name(i), run.Absent)
			continue
		}
		crashed := map[bool]string{true: "crashed in "}[w.now.Ends[i].Down]
		fmt.Fprintf(&w.out, "%s: %s%s", w.name(i), crashed, interp.StatePath(p.Machine, w.now.Values[i]))
		for k, h := range w.now.Ends[i].Held {
			fmt.Fprintf(&w.out, "%s %s from %s", map[bool]string{true: ", holds", false: ","}[k == 0],
				h.Message, w.name(h.From))
		}
		w.out.WriteString("\n")
	}
	for k, q := range w.now.Queues {
		var list []string
		for _, x := range q {
			if x.News == between.NoNews {
				list = append(list, x.Message)
			}
		}
		if len(list) > 0 {
			fmt.Fprintf(&w.out, "%s: %s\n", w.ChannelName(k), strings.Join(list, ", "))
		}
	}
	return nil
}
