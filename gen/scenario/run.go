package scenario

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
)

// Load gives the protocol specialised for a check, or for the first one if name is empty.
type Load func(check string) (*model.Protocol, error)

// Mismatch is a block whose output is not the one it says.
type Mismatch struct {
	Block     Block
	Got, Want string
}

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
				return nil, nil, fmt.Errorf("line %d: %w", b.Line+i, err)
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
	strs     interp.Strings
	machines []*interp.Machine
	values   []interp.Value
	channels [][][]letter // from, to
	out      strings.Builder
}

type letter struct {
	message *model.Message
	slots   []int64
}

func (w *world) line(line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	if verb == "check" {
		if w.check != nil {
			return fmt.Errorf("check must come before everything else")
		}
		return w.begin(rest)
	}
	if w.check == nil {
		if err := w.begin(""); err != nil {
			return err
		}
	}
	switch verb {
	case "deliver":
		return w.onChannel(rest, w.deliver)
	case "drop":
		return w.onChannel(rest, func(from, to int, l letter) error {
			fmt.Fprintf(&w.out, "%s -> %s: %s is lost\n", w.name(from), w.name(to), w.text(l))
			return nil
		})
	case "show":
		return w.show(rest)
	}
	i, err := w.instance(verb)
	if err != nil {
		return fmt.Errorf("the check %s has no instance %q, and it is no verb (%s)%s", w.check.Name, verb, strings.Join(verbs, ", "),
			near(verb, append(w.instances(), verbs...)))
	}
	from := ""
	if words := strings.Fields(rest); len(words) == 3 && words[1] == "from" {
		rest, from = words[0], words[2]
	}
	m := w.machines[i].Model
	ev, err := interp.ParseEvent(m, &w.strs, rest)
	if name, _, _ := strings.Cut(rest, "{"); err != nil && !slices.ContainsFunc(m.Events, func(e *model.Event) bool { return e.Name == name }) {
		return fmt.Errorf("%w%s", err, near(name, events(m)))
	}
	if err != nil {
		return err
	}
	if news := ev.Event.Kind == model.EventUp || ev.Event.Kind == model.EventLost; news || from != "" {
		if ev.Sender, err = w.sender(i, from, news); err != nil {
			return err
		}
	}
	return w.step(i, ev)
}

// near names what somebody may have meant.
func near(name string, candidates []string) string {
	if n := diag.Nearest(name, candidates); n != "" {
		return "; did you mean " + n + "?"
	}
	return ""
}

// verbs begin lines; others begin with an instance.
var verbs = []string{"check", "deliver", "drop", "show"}

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

// sender is the other end of the link of which instance i gets news; there is no need to name it where there are two.
func (w *world) sender(i int, name string, news bool) (int, error) {
	switch {
	case !news:
		return 0, fmt.Errorf("only `up` and `lost` come from somebody; messages come by `deliver`")
	case name == "" && len(w.machines) == 2:
		return 1 - i, nil
	case name == "":
		return 0, fmt.Errorf("say whose link it is: `%s lost from NAME`", w.name(i))
	}
	return w.instance(name)
}

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
	n := len(w.check.Instances)
	for _, inst := range w.check.Instances {
		args := make([][]int64, len(inst.Args))
		for k, a := range inst.Args {
			args[k] = make([]int64, inst.Role.Params[k].Type.Slots())
			if err := (&interp.Eval{Strings: &w.strs}).Into(a, args[k], nil, nil); err != nil {
				return err
			}
		}
		v, err := interp.NewValue(inst.Role, &w.strs, args...)
		if err != nil {
			return err
		}
		w.machines = append(w.machines, interp.New(inst.Role, &w.strs))
		w.values = append(w.values, v)
		w.channels = append(w.channels, make([][]letter, n))
	}
	for i, m := range w.machines {
		for _, ev := range m.Model.Events {
			if ev.Kind == model.EventStart {
				if err := w.quietly(i, interp.Event{Event: ev}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// quietly steps without printing: the start of the machines.
func (w *world) quietly(i int, ev interp.Event) error {
	kept := w.out.String()
	err := w.step(i, ev)
	w.out.Reset()
	w.out.WriteString(kept)
	return err
}

func (w *world) name(i int) string { return w.check.Instances[i].Name }

func (w *world) instance(name string) (int, error) {
	i := slices.IndexFunc(w.check.Instances, func(x *model.Instance) bool { return x.Name == name })
	if i < 0 {
		return 0, fmt.Errorf("the check %s has no instance %q%s", w.check.Name, name, near(name, w.instances()))
	}
	return i, nil
}

// onChannel parses `A -> B [N]` and takes that many letters off the channel.
func (w *world) onChannel(rest string, f func(from, to int, l letter) error) error {
	a, b, ok := strings.Cut(rest, "->")
	words := strings.Fields(b)
	if !ok || len(words) == 0 || len(words) > 2 {
		return fmt.Errorf("expected `A -> B` or `A -> B COUNT`, got %q", rest)
	}
	from, err := w.instance(strings.TrimSpace(a))
	if err != nil {
		return err
	}
	to, err := w.instance(words[0])
	if err != nil {
		return err
	}
	count := 1
	if len(words) == 2 {
		if count, err = strconv.Atoi(words[1]); err != nil || count < 1 {
			return fmt.Errorf("%q is no count", words[1])
		}
	}
	for range count {
		ch := w.channels[from][to]
		if len(ch) == 0 {
			return fmt.Errorf("nothing is under way from %s to %s", w.name(from), w.name(to))
		}
		w.channels[from][to] = ch[1:]
		if err := f(from, to, ch[0]); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) deliver(from, to int, l letter) error {
	for _, ev := range w.machines[to].Model.Events {
		if ev.Kind == model.EventMessage && ev.Message == l.message {
			return w.step(to, interp.Event{Event: ev, Args: l.slots, Sender: from})
		}
	}
	return fmt.Errorf("%s knows no %s", w.name(to), l.message.Name)
}

func (w *world) text(l letter) string {
	return string(interp.AppendMessage(nil, &w.strs, l.message, l.slots))
}

// step steps an instance and prints what happened.
func (w *world) step(i int, ev interp.Event) error {
	m := w.machines[i]
	next, effects, res, fault := m.Step(w.values[i], ev)
	from := ""
	if len(w.machines) > 2 && (ev.Event.Kind == model.EventUp || ev.Event.Kind == model.EventLost) {
		from = " from " + w.name(ev.Sender)
	}
	fmt.Fprintf(&w.out, "%s: %s%s  ", w.name(i), interp.AppendEvent(nil, &w.strs, ev), from)
	switch res.Code {
	case fsm.Refused:
		fmt.Fprintf(&w.out, "refused: %s\n", folder.ReplaceAllString(fault.Why(), "$1"))
		return nil
	case fsm.Ignored, fsm.Deferred:
		fmt.Fprintf(&w.out, "%s in %s\n", res.Code, m.Model.States[w.values[i][0]].Name)
		return nil
	}
	w.out.WriteString(change(m.Model, w.values[i], next))
	w.values[i] = slices.Clone(next)
	for k := range effects {
		fmt.Fprintf(&w.out, ", %s", interp.AppendEffect(nil, &w.strs, &effects[k]))
		if effects[k].Kind == fsm.Send {
			w.send(i, &effects[k])
		}
	}
	w.out.WriteString("\n")
	return nil
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

// send puts a message on its channels.
func (w *world) send(from int, e *interp.Effect) {
	l := letter{e.Message, slices.Clone(e.Slots)}
	for to := range w.machines {
		if to == from || e.Dest != model.ToBroadcast && e.Dest != model.ToPeer && to != e.To {
			continue
		}
		w.channels[from][to] = append(w.channels[from][to], l)
	}
}

func (w *world) show(name string) error {
	if name != "" {
		i, err := w.instance(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&w.out, "%s: %s\n", name, interp.AppendMachine(nil, &w.strs, w.machines[i].Model, w.values[i]))
		return nil
	}
	for i, m := range w.machines {
		fmt.Fprintf(&w.out, "%s: %s\n", w.name(i), interp.StatePath(m.Model, w.values[i]))
	}
	for from := range w.channels {
		for to, ch := range w.channels[from] {
			if len(ch) == 0 {
				continue
			}
			var list []string
			for _, l := range ch {
				list = append(list, w.text(l))
			}
			fmt.Fprintf(&w.out, "%s -> %s: %s\n", w.name(from), w.name(to), strings.Join(list, ", "))
		}
	}
	return nil
}
