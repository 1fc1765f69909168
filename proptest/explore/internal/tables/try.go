package tables

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/proptest/explore/internal/api"
)

// Shuffles to be tried: of each step that the search takes, at a configuration that stands for its
// renamings, it is seen whether the renamed machine has the renamed step. If all do, each reachable
// configuration has a renaming that was visited: what is one step behind it is, renamed, one step
// behind its representative. So nothing has to be known of how machines use the numbers of others.

// tryLocal tries what machine p does by itself at v.
func (k *canon) tryLocal(p int, v []byte) {
	if k == nil || k.Broken != "" {
		return
	}
	m := k.e.Procs[p].Proc
	for i := range k.Shuffles[1:] {
		f := (*trying)(k.Shuffles[1+i].Spec)
		if !f.Try {
			continue
		}
		to := k.e.Procs[k.Shuffles[1+i].place[p]].Proc
		image := f.local(p, v)
		if m.Final(v) != to.Final(image) {
			k.untrue(f, "one of them may rest, and the other may not")
			return
		}
		k.compare(f, p, func(emit func(api.Step)) { m.Local(v, emit) },
			func(emit func(api.Step)) { to.Local(image, emit) })
	}
}

// tryReceive tries what the receiver of channel ch does with a message at v.
func (k *canon) tryReceive(ch int, v, msg []byte) {
	if k == nil || k.Broken != "" {
		return
	}
	p := k.e.Chans[ch].Spec.To
	m := k.e.Procs[p].Proc
	for i := range k.Shuffles[1:] {
		f := (*trying)(k.Shuffles[1+i].Spec)
		if !f.Try {
			continue
		}
		to := k.e.Procs[k.Shuffles[1+i].place[p]].Proc
		image, there, at := f.local(p, v), f.msg(ch, msg), f.channel(ch)
		k.compare(f, p, func(emit func(api.Step)) { m.Receive(v, ch, msg, emit) },
			func(emit func(api.Step)) { to.Receive(image, at, there, emit) })
	}
}

// compare sees whether the steps that one emits are, renamed, those that the other does.
func (k *canon) compare(f *trying, p int, one, other func(func(api.Step))) {
	want := renamedSteps(one, func(s *api.Step) { f.step(p, s) })
	got := renamedSteps(other, func(*api.Step) {})
	for i, s := range want {
		if i >= len(got) || got[i].text != s.text {
			k.untrue(f, "one of them has "+k.e.Sys.Labels[s.label].Name+
				" where the other has not, or does something else there")
			return
		}
	}
	if len(got) > len(want) {
		k.untrue(f, "one of them has "+k.e.Sys.Labels[got[len(want)].label].Name+" where the other has not")
	}
}

func (k *canon) untrue(f *trying, what string) {
	if k.Broken == "" {
		k.Broken = fmt.Sprintf("with %s, %s", f.Name, what)
	}
}

// Untrue says that a symmetry that was to be tried is none; empty if all that were are.
func (e *Engine) Untrue() string {
	if e.Canon == nil || e.Canon.Broken == "" {
		return ""
	}
	return "symmetry: machines tell instances apart: " + e.Canon.Broken
}

// trying is a shuffle that is tried.
type trying api.Shuffle

func (f *trying) local(p int, v []byte) []byte {
	if f.Local == nil {
		return slices.Clone(v)
	}
	return f.Local(p, v)
}

func (f *trying) msg(ch int, b []byte) []byte {
	if f.Msg == nil {
		return slices.Clone(b)
	}
	return f.Msg(ch, b)
}

func (f *trying) channel(ch int) int {
	if f.Chans == nil {
		return ch
	}
	return f.Chans[ch]
}

// step renames a step of machine p.
func (f *trying) step(p int, s *api.Step) {
	if s.Fault == nil {
		s.Next = f.local(p, s.Next)
	}
	for i := range s.Sends {
		x := &s.Sends[i]
		x.Channel, x.Msg = f.channel(x.Channel), f.msg(x.Channel, x.Msg)
	}
	for i := range s.Lens {
		s.Lens[i].Channel = f.channel(s.Lens[i].Channel)
	}
	for i := range s.Ages {
		s.Ages[i] = f.channel(s.Ages[i])
	}
}

type stepText struct {
	text  string
	label uint32
}

// renamedSteps lists the different steps that from emits, renamed, in an order of their own. Labels,
// notes and constraints are left out: they are of the machine, and no claim that symmetry is used for sees them.
func renamedSteps(from func(func(api.Step)), rename func(*api.Step)) []stepText {
	var all []api.Step
	from(func(s api.Step) {
		s.Next, s.Sends, s.Lens = slices.Clone(s.Next), slices.Clone(s.Sends), slices.Clone(s.Lens)
		s.Ages = slices.Clone(s.Ages)
		for i := range s.Sends {
			s.Sends[i].Msg = slices.Clone(s.Sends[i].Msg)
		}
		all = append(all, s)
	})
	var out []stepText
	for i := range all {
		s := &all[i]
		rename(s)
		// what goes into different channels has no order
		slices.SortStableFunc(s.Sends, func(a, b api.Send) int { return a.Channel - b.Channel })
		slices.SortFunc(s.Lens, func(a, b api.LenRange) int {
			return slices.Compare([]int{a.Channel, a.Lo, a.Hi, int(a.Kind)}, []int{b.Channel, b.Lo, b.Hi, int(b.Kind)})
		})
		slices.Sort(s.Ages)
		text := fmt.Sprint(s.Spontaneous, s.Once, s.Spends, s.Ages, s.Lens)
		if s.Fault != nil {
			text += " fault " + s.Fault.Kind.String()
		} else {
			text += fmt.Sprintf(" %q %v", s.Next, s.Sends)
		}
		out = append(out, stepText{text, s.Label})
	}
	slices.SortFunc(out, func(a, b stepText) int {
		switch {
		case a.text < b.text:
			return -1
		case a.text > b.text:
			return 1
		}
		return int(a.label) - int(b.label)
	})
	return out
}
