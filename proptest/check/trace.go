package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/proptest/check/system"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/run"
)

// run tells a trace of the explorer in words. The events come from the notes;
// everything else is found by giving them to the machines again.
func (s *System) run(trace, loop []explore.TraceStep, end explore.Configuration, problem string) *run.Run {
	t := telling{sys: s, monitors: s.Beginnings()}
	r := &run.Run{
		Protocol: s.Protocol.Name,
		Check:    s.Check.Name,
		Hash:     s.Protocol.Hash,
		Loop:     len(loop),
		Problem:  problem,
		End:      s.configuration(end),
	}
	for _, p := range s.Procs {
		x := run.Instance{Name: p.Inst.Name, Role: p.Role.Name}
		if !p.Inst.Comes() {
			x.Start = shortState(p.Role, p.Initial)
		}
		if p.Inst.IsHostile() {
			x.Hostile, x.Start = true, ""
		}
		r.Instances = append(r.Instances, x)
	}
	for _, steps := range [2][]explore.TraceStep{trace, loop} {
		for i := range steps {
			x := t.step(&steps[i])
			x.Changes = append(x.Changes, t.heard(&steps[i])...)
			r.Steps = append(r.Steps, x)
		}
	}
	return r
}

// telling follows a run, to know which message is which.
type telling struct {
	sys      *System
	flying   run.Flying
	monitors []interp.Value // of several instances
}

func (t *telling) step(x *explore.TraceStep) run.Step {
	if how, from, msg, note := codec.Attacked(x.Note); how >= 0 {
		return t.attack(x, how, from, msg, note)
	}
	s := t.sys
	step := run.Step{Who: x.Proc, From: run.Nobody}
	if x.Kind != explore.LocalStep {
		t.channel(x, &step)
	}
	switch x.Kind {
	case explore.LoseStep:
		step.Kind, step.Event = run.Lost, s.MessageText(x.Msg)
		return step
	case explore.SwapStep:
		step.Kind, step.Event = run.Swapped, "the first two messages change places"
		if x.At > 0 {
			step.Event = fmt.Sprintf("messages %d and %d change places", x.At+1, x.At+2)
		}
		return step
	}
	if x.Proc >= len(s.Procs) {
		t.outside(x, &step)
	} else if kind, ok := codec.SpecialNote(x.Note); ok && kind != codec.NoteTorn {
		t.special(x, kind, &step)
	} else {
		t.event(x, &step)
	}
	return step
}

// heard tells what monitors of several instances make of a step.
func (t *telling) heard(x *explore.TraceStep) (list []run.Change) {
	before := slices.Clone(t.monitors)
	t.sys.Hearing(t.monitors, x.Proc, x.After)
	for k, m := range t.sys.Joint {
		role, was, now := m.Inst.Role, before[k], t.monitors[k]
		if was[0] != now[0] {
			list = append(list, run.Change{Name: m.Inst.Name, Before: role.States[was[0]].Name,
				After: role.States[now[0]].Name, Monitor: true})
		}
		for _, c := range interp.Changes(t.sys.Texts, role, was, now) {
			c.Name = m.Inst.Name + "." + c.Name
			list = append(list, run.Change{Name: c.Name, Before: c.Before, After: c.After, Monitor: true})
		}
	}
	return list
}

// attack tells a step that a hostile instance has caused.
func (t *telling) attack(x *explore.TraceStep, how, from int, msg, note []byte) run.Step {
	plain := *x
	plain.Note = note
	step := t.step(&plain)
	ends := step.Kind == run.Break || step.Kind == run.Drop
	if step.Kind == run.Drop { // the machine does not listen for that
		step.Effects = nil
	}
	step.From = from
	switch how {
	case codec.Sends:
		step.Kind, step.Event = run.Message, t.sys.MessageText(msg)
		m, _ := codec.UnpackMessage(t.sys.Protocol, msg)
		step.Channel = t.sys.channelName(m.Channel)
	case codec.Held:
		step.Kind, step.Event = run.Offer, t.sys.MessageText(msg)
	case codec.Closes:
		step.Kind, step.Event = run.LinkLost, "lost"
		return step
	case codec.SendsGarbage:
		step.Kind, step.Event = run.Malformed, "a malformed frame"
	}
	if ends {
		what := "refuses it"
		if t.sys.Rules.Peers(x.Proc)>>from&1 != 0 {
			what += " and closes the link"
		}
		step.Effects = append([]string{what}, step.Effects...)
	}
	return step
}

// channel says which message a step takes and from where; what is no message of the protocol, such
// as news of a link, has no identity.
func (t *telling) channel(x *explore.TraceStep, step *run.Step) {
	c := &t.sys.System.Channels[x.Channel]
	if step.Who = c.To; c.From >= len(t.sys.Procs) {
		return // the clock's
	}
	step.From = c.From
	class := t.sys.Rules.Channels[x.Channel].Class
	from := t.path(c.From, class)
	step.Channel = t.sys.channelName(class)
	if x.Kind == explore.SwapStep {
		step.At = x.At
		t.flying.Swap(from, c.To, x.At)
		return
	}
	bare, _ := codec.Aged(t.sys.Protocol, x.Msg)
	at, id := t.flying.Find(from, c.To, string(bare))
	if at < 0 {
		return
	}
	step.At, step.Message = at, id
	if x.Kind != explore.DupStep {
		t.flying.Take(from, c.To, at)
	}
}

// channelName names the channels of a class, if there are several.
func (s *System) channelName(class int) string {
	if !s.Check.Several() {
		return ""
	}
	return s.Check.Channels()[class].Name
}

// path stands for a sender among the messages under way, for each class of channels another one.
func (t *telling) path(from, class int) int { return from + class*len(t.sys.Procs) }

// event tells a step of a machine.
func (t *telling) event(x *explore.TraceStep, step *run.Step) {
	s := t.sys
	p := s.Procs[x.Proc]
	before := slices.Clone(p.Unpack(x.Before).Value)
	note, sent := codec.Torn(x.Note)
	if step.Torn = sent + 1; step.Torn > 0 {
		whole := *x
		whole.Sends = x.Sends[:min(sent, len(x.Sends))]
		x = &whole
	}
	ev := codec.UnpackNote(p.Role, note)
	step.Kind, step.Changes = eventKinds[ev.Event.Kind], t.changes(p, x)
	switch ev.Event.Kind {
	case model.EventUp, model.EventLost:
		step.Channel = "" // it is of the pair
		if step.From = ev.Sender; ev.Event.Kind == model.EventLost && x.Kind == explore.LocalStep {
			step.Kind = run.Break
		}
	case model.EventMessage:
		if x.Kind != explore.LocalStep {
			ev.Sender = step.From
		}
		if x.Kind == explore.DupStep {
			step.Kind = run.Copy
		}
	}
	if x.Kind == explore.LocalStep && ev.Event.Kind == model.EventMessage { // one that was held
		step.Kind, step.From = run.Offer, ev.Sender
	}
	step.Event = string(interp.AppendEvent(nil, s.Texts, ev))
	t.replay(p, before, ev, x, step)
	if x.Fault != nil {
		step.Fault = x.Fault.Text
	}
}

// found takes a message out of those that were sent.
func found(list *[]explore.Send, ch int, msg string) bool {
	i := slices.IndexFunc(*list, func(x explore.Send) bool { return x.Channel == ch && string(x.Msg) == msg })
	if i >= 0 {
		*list = slices.Delete(*list, i, i+1)
	}
	return i >= 0
}

// outside tells a step of the machine that parts the instances, or of the clock.
func (t *telling) outside(x *explore.TraceStep, step *run.Step) {
	s := t.sys
	if s.System.ProcNames[x.Proc] == "clock" {
		step.Kind, step.Who, step.Event = run.Clock, run.Nobody, diag.Counted(s.Check.Time.Beat, "tick")+
			diag.OneOr(s.Check.Time.Beat, " passes", " pass")
		return
	}
	side := make([]int64, 1)
	codec.ReadSlots(x.Note, side)
	step.Kind, step.Who, step.Event = run.Partition, run.Nobody, "the partition ends"
	if side[0] == 0 {
		return
	}
	var names [2][]string
	for i, p := range s.Procs {
		if s.Rules.Faults.Bridge>>i&1 != 0 {
			continue
		}
		names[side[0]>>i&1] = append(names[side[0]>>i&1], p.Inst.Name)
	}
	step.At = int(side[0])
	step.Event = "a partition begins: " + diag.And(names[0]) + " here, " + diag.And(names[1]) + " there"
	if both := t.sys.bridges(); len(both) > 0 {
		step.Event += ", " + diag.And(both) + " on both sides"
	}
}

// special tells a step of an instance that is no event of its machine.
func (t *telling) special(x *explore.TraceStep, kind int, step *run.Step) {
	s := t.sys
	p := s.Procs[x.Proc]
	before := shortState(p.Role, p.Unpack(x.Before).Value)
	step.After = before
	if x.Fault == nil { // a step that ends in an error leads nowhere
		step.After = shortState(p.Role, p.Unpack(x.After).Value)
	}
	step.Kind, step.State, step.Changes = specialKinds[kind], before, t.changes(p, x)
	switch kind {
	case codec.NoteSwallow:
		step.Event, step.Note, step.State, step.After = s.MessageText(x.Msg), run.Swallowed, "", ""
	case codec.NoteCrash:
		step.Event = "crashes"
	case codec.NoteRestart:
		step.Event = "begins again"
		if before != step.After {
			step.State += " → " + step.After
		}
	case codec.NoteCome:
		step.Event, step.State, step.Changes = "comes", "", nil
	case codec.NoteGo:
		step.Event, step.After, step.Changes = "goes", "", nil
	case codec.NoteReturn:
		step.From = codec.NotePeer(x.Note)
		step.Event = "wants the link to " + s.Procs[step.From].Inst.Name + " back"
	case codec.NoteCutoff:
		step.Event = "is reached again"
		l := p.Unpack(x.After)
		if away := l.Get(p.AtCutoff); away != 0 {
			var names []string
			for i, q := range s.Procs {
				if away>>i&1 != 0 {
					names = append(names, q.Inst.Name)
				}
			}
			step.Event = "is cut off from " + diag.And(names)
		}
	case codec.NoteBeat:
		step.Event = "feels the beat"
	case codec.NoteSilence:
		step.From, step.Event = codec.NotePeer(x.Note), "lost"
		step.Effects = []string{run.Ignores}
	case codec.NoteDrop:
		step.Event = s.MessageText(x.Msg)
		step.Effects = []string{run.Unheard}
	}
}

// changes are those of the configuration: what a reduction forgets does not change in it. A step
// that is an error changes nothing.
func (t *telling) changes(p *system.Process, x *explore.TraceStep) (list []run.Change) {
	if x.After == nil {
		return nil
	}
	before := slices.Clone(p.Unpack(x.Before).Value) // both are unpacked into the same place
	for _, c := range interp.Changes(t.sys.Texts, p.Role, before, p.Unpack(x.After).Value) {
		list = append(list, run.Change{Name: c.Name, Before: c.Before, After: c.After})
	}
	return list
}

var eventKinds = map[model.EventKind]run.Kind{
	model.EventStart:   run.Start,
	model.EventMessage: run.Message,
	model.EventCommand: run.Command,
	model.EventTimer:   run.Timer,
	model.EventUp:      run.LinkUp,
	model.EventLost:    run.LinkLost,
}

var specialKinds = [codec.NoteKinds]run.Kind{
	codec.NoteCrash:   run.Crash,
	codec.NoteRestart: run.Restart,
	codec.NoteCome:    run.Come,
	codec.NoteGo:      run.Go,
	codec.NoteDrop:    run.Drop,
	codec.NoteBeat:    run.Beat,
	codec.NoteReturn:  run.Return,
	codec.NoteSilence: run.Break,
	codec.NoteCutoff:  run.Cutoff,
	codec.NoteSwallow: run.Lost,
}

// replay gives the event to the machine again and fills in what it did.
func (t *telling) replay(p *system.Process, before interp.Value, ev interp.Event,
	x *explore.TraceStep, step *run.Step) {
	s := t.sys
	l := p.Unpack(x.Before)
	cutoff := l.Get(p.AtCutoff)
	next, effects, res, fault := p.Machine.Step(before, ev)
	if x.Fault != nil || fault != nil { // a step happens as a whole or not at all
		next, effects = before, nil
	}
	step.State, step.After = stateChange(p.Role, before, next), shortState(p.Role, next)
	if res.Transition != fsm.NoTransition {
		tr := p.Role.Transitions[res.Transition]
		step.Transition, step.Where = tr.Name, tr.Span.Place()
	}
	if fault != nil && !fault.Span.IsZero() {
		step.Where = fault.Span.Place()
	}
	switch {
	case res.Code == fsm.Ignored:
		step.Effects = append(step.Effects, run.Ignores)
	case res.Code == fsm.Deferred && x.Fault == nil:
		step.Effects = append(step.Effects, run.Keeps)
	}
	room, torn := slices.Clone(x.Sends), step.Torn-1
	link := x.After
	if step.Torn > 0 { // a crash ends all links
		link = x.Before
	}
	unheard := func(k int, e *interp.Effect) bool {
		return cutoff>>k&1 != 0 && e.Kind == fsm.Send && s.Rules.Datagrams(p.Inst.Index, k, e.Message.Channel)
	}
	gone := func(k int, e *interp.Effect) bool { return unheard(k, e) || p.Shut(link, k) }
	for i := range effects {
		e := &effects[i]
		if step.Torn > 0 && e.Kind == fsm.Report {
			continue // the program would see it when all has gone out
		}
		var to []int
		if e.Kind == fsm.Send || e.Kind == fsm.Close {
			to = s.Reached(p.Inst.Index, e)
		}
		if step.Torn > 0 && len(to) > 0 {
			uncounted := func(k int) bool { return gone(k, e) || s.Rules.IsHostile(k) }
			if to = t.before(p, e, to, &room, &torn, uncounted); len(to) == 0 {
				break
			}
		}
		step.Effects = append(step.Effects, s.effectText(p, e, to))
		if e.Kind != fsm.Send {
			continue
		}
		for _, k := range to {
			m, slots := s.Crosses(p.Inst.Index, k, e)
			msg := codec.PackMessage(m, slots)
			ch := s.Channel(p.Inst.Index, k, m.Channel)
			path := t.path(p.Inst.Index, m.Channel)
			sent := run.Sent{To: k, Text: s.SentText(e, m, slots), Channel: s.channelName(m.Channel)}
			lost := func(why string) { step.Effects = append(step.Effects, run.LostAtOnce(why)) }
			switch {
			case x.Fault != nil || found(&room, ch, string(msg)):
				sent.ID = t.flying.Send(path, k, string(msg))
			case unheard(k, e):
				lost(p.Inst.Name + " is cut off from " + s.Procs[k].Inst.Name)
			case gone(k, e):
				lost("the link to " + s.Procs[k].Inst.Name + " is gone")
			case s.Rules.IsHostile(k): // it has it, and nobody asks what becomes of it
				sent.ID = t.flying.Send(path, k, string(msg))
			default:
				lost(s.System.Channels[ch].Name + " is full")
			}
			step.Sent = append(step.Sent, sent)
		}
	}
	if step.Torn > 0 {
		step.Effects = append(step.Effects, "crashes in the middle of it")
	}
}

// before returns those of the receivers of an effect that it came to before the machine crashed.
// left are the sends that went out, and most is how many there were with those that found no room.
// Receivers that are gone anyway do not count.
func (t *telling) before(p *system.Process, e *interp.Effect, to []int, left *[]explore.Send,
	most *int, gone func(k int) bool) (reached []int) {
	rest := slices.Clone(*left)
	for _, k := range to {
		if *most <= 0 {
			break
		}
		class := t.sys.Rules.NewsClass(p.Inst.Index, k)
		if e.Message != nil {
			class = e.Message.Channel
		}
		out := len(rest) > 0 && rest[0].Channel == t.sys.Channel(p.Inst.Index, k, class)
		if out {
			rest = rest[1:]
		}
		if out || !gone(k) {
			*most--
		}
		reached = append(reached, k)
	}
	if e.Kind == fsm.Close {
		*left = rest
	}
	return reached
}

// effectText says what an effect does: `sends CANCEL`, `reports changed{value: 2}`.
func (s *System) effectText(p *system.Process, e *interp.Effect, to []int) string {
	words := strings.SplitN(string(interp.AppendEffect(nil, s.Texts, e)), " ", 2)
	verb := words[0] + "s"
	switch {
	case e.Kind == fsm.Close:
		return "closes the link"
	case e.Kind != fsm.Send:
		return verb + " " + words[1]
	}
	text := "sends " + string(interp.AppendMessage(nil, s.Texts, e.Message, e.Slots))
	if len(s.Procs) == 2 {
		return text
	}
	all, why := s.Receivers(p.Inst.Index, e)
	if why != "" {
		return text
	}
	if len(to) > 1 && len(to) == len(all) {
		return text + " to all"
	}
	var names []string
	for _, k := range to {
		names = append(names, s.Procs[k].Inst.Name)
	}
	return text + " to " + diag.And(names)
}

// stateChange renders the state, and those of parts that change: `localOk → done`,
// `setup (confirm localOk → done, update[1] settled → open)`.
func stateChange(m *model.Machine, a, b interp.Value) string {
	own := m.States[a[0]].Name
	if a[0] != b[0] {
		own += " → " + m.States[b[0]].Name
	}
	if parts := partChanges(m, a, b); len(parts) > 0 {
		own += " (" + strings.Join(parts, ", ") + ")"
	}
	return own
}

func partChanges(m *model.Machine, a, b interp.Value) []string {
	var out []string
	for _, p := range m.Parts {
		for i := range p.Count {
			at := p.Offset + i*p.Machine.Size
			x, y := a[at:at+p.Machine.Size], b[at:at+p.Machine.Size]
			name := interp.PartName(interp.At{Part: p, Index: i})
			if x[0] != y[0] {
				out = append(out, name+" "+p.Machine.States[x[0]].Name+" → "+p.Machine.States[y[0]].Name)
			}
			for _, c := range partChanges(p.Machine, x, y) {
				out = append(out, name+"."+c)
			}
		}
	}
	return out
}

// configuration tells a configuration: the machines, then the channels.
func (s *System) configuration(c explore.Configuration) []string {
	var out []string
	for i, v := range c.Locals[:len(s.Procs)] {
		if s.Procs[i].Inst.IsHostile() {
			out = append(out, s.Procs[i].Inst.Name+": hostile")
			continue
		}
		l := s.Procs[i].Unpack(v)
		down := ""
		if l.Get(s.Procs[i].AtAbsent) != 0 {
			out = append(out, s.Procs[i].Inst.Name+": "+run.Absent)
			continue
		}
		if l.Get(s.Procs[i].AtDown) != 0 {
			down = "crashed in "
		}
		out = append(out, s.Procs[i].Inst.Name+": "+down+s.machineText(s.Procs[i], l.Value)+s.heldText(l))
	}
	for k, m := range s.Joint {
		v := s.Monitored(k, c.Locals[s.Parts.MonitorsAt+k])
		out = append(out, m.Inst.Name+": "+string(interp.AppendMachine(nil, s.Texts, m.Inst.Role, v)))
	}
	return append(out, s.channelLines(c.Channels[:s.Own])...)
}

// heldText tells which messages an instance holds.
func (s *System) heldText(l codec.Local) string {
	var names []string
	for _, h := range l.Held {
		names = append(names, s.MessageText([]byte(h.Message)))
	}
	if len(names) == 0 {
		return ""
	}
	return ", holds " + strings.Join(names, ", ")
}

// channelLines tells what is under way. Of many channels most are empty: those are told together.
func (s *System) channelLines(channels []explore.Word) []string {
	var all, full []string
	for k, w := range channels {
		text := "empty"
		if len(w) > 0 {
			texts := make([]string, len(w))
			for i, msg := range w {
				texts[i] = s.MessageText(msg)
			}
			text = strings.Join(texts, ", ")
		}
		all = append(all, s.System.Channels[k].Name+": "+text)
		if len(w) > 0 {
			full = append(full, all[k])
		}
	}
	switch {
	case len(all)-len(full) <= 1:
		return all
	case len(full) == 0:
		return []string{"all channels are empty"}
	}
	return append(full, "all other channels are empty")
}
