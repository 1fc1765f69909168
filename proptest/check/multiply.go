package check

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/proptest/explore"
)

// What multiplies the configurations of a check: values that are tried and kept. Before a search the
// commands tell, after one that was cut off what was met.

const (
	manyArguments = 1000 // a command with more of them is named before a search
	manyListed    = 100  // a field of a command with more values is named among the assumptions
	manyMet       = 10   // variables and fields that took fewer values are not named
	maxMet        = 4    // how many of them are named
)

// Warnings tells before a search which commands have so many arguments that it may not come to an
// end, each with the remedy.
func (s *System) Warnings() []string {
	var out []string
	for _, ev := range s.given() {
		n, counts := int64(1), map[*model.Field]int64{} // at most MaxArguments: the system has been built
		for _, f := range ev.Fields {
			counts[f] = s.narrowed(ev, f)
			n *= counts[f]
		}
		if n <= manyArguments {
			continue
		}
		f := slices.MaxFunc(ev.Fields, func(a, b *model.Field) int { return cmp.Compare(counts[a], counts[b]) })
		text := fmt.Sprintf("%s: check %s gives %s with %s different arguments in every configuration",
			ev.Span.Place(), s.Check.Name, ev.Name, diag.Thousands(n))
		if len(ev.Fields) > 1 {
			text += fmt.Sprintf(", %s for %s alone", diag.Thousands(counts[f]), f.Name)
		}
		out = append(out, text+", so the search may not end; "+interp.Narrow(f))
	}
	return out
}

// given lists the commands that programs give in the check, each once.
func (s *System) given() []*model.Event {
	var out []*model.Event
	for _, p := range s.Procs {
		for _, c := range p.Commands {
			if c.Args != nil && !slices.Contains(out, c.Event) {
				out = append(out, c.Event)
			}
		}
	}
	return out
}

// unnarrowed names the fields of commands that take all of their many values.
func (s *System) unnarrowed(base *model.Protocol) []string {
	var out []string
	var own []*model.Type
	if base != nil {
		own = base.Types
	}
	for _, ev := range s.given() {
		for _, f := range ev.Fields {
			n, whole := f.Type.Count(), f.Type.Name == ""
			for _, t := range own {
				whole = whole || t.Name == f.Type.Name && t.Count() == n
			}
			if n <= manyListed || !whole {
				continue
			}
			text := "takes each of its %s values"
			if left := s.narrowed(ev, f); left < n {
				text = "takes " + diag.Thousands(left) + " of its %s values"
			}
			out = append(out, fmt.Sprintf("%s of %s "+text, f.Name, ev.Name, diag.Thousands(n)))
		}
	}
	return out
}

// narrowed counts the values of a field of a command that the environment lets it have: those for which no part of
// the command's rule that is about this field alone is false.
func (s *System) narrowed(ev *model.Event, f *model.Field) int64 {
	n := f.Type.Count()
	if f.Type.Slots() != 1 || n > manyTried {
		return n
	}
	var rule *model.EnvRule
	for _, r := range s.Check.Rules {
		if r.Command == ev {
			rule = r
		}
	}
	if rule == nil || rule.When == nil || len(rule.Params) != len(ev.Fields) {
		return n
	}
	l := rule.Params[slices.Index(ev.Fields, f)]
	var about []core.Expr
	for _, e := range core.Conjuncts(core.Of(rule.When)) {
		if aboutOnly(e, l) {
			about = append(about, e)
		}
	}
	left, locals := int64(0), make([]int64, max(rule.Locals, interp.FieldSlots(ev.Fields)))
	x := interp.Eval{Strings: s.Texts}
	for v := range n {
		locals[l.Offset] = f.Type.Lowest() + v
		if !slices.ContainsFunc(about, func(e core.Expr) bool {
			ok, err := x.Bool(e, nil, locals)
			return !ok && err == nil
		}) {
			left++
		}
	}
	return left
}

// manyTried is up to how many values of a field are tried to see which of them a rule allows.
const manyTried = 1 << 17

// aboutOnly reports whether a condition depends on nothing but a local.
func aboutOnly(e core.Expr, l *model.Local) bool {
	only := len(core.Free(e)) > 0 && !slices.ContainsFunc(core.Free(e), func(x *model.Local) bool { return x != l })
	core.Walk(e, func(e core.Expr) {
		switch e.(type) {
		case *core.Read, *core.Observe:
			only = false
		}
	})
	return only
}

// met is how many values something took in a search.
type met struct {
	text string
	n    int
}

// multiplied tells what took most values in a search that was cut off: variables of the machines and
// fields of the messages.
func (s *System) multiplied(res *explore.Result) []string {
	if res.Complete || res.Space == nil {
		return nil
	}
	var list []met
	for i, p := range s.Procs {
		all := res.Space.Values(i)
		if len(all) < manyMet {
			continue
		}
		vars := variables(p.Role, "", 0)
		counts := distinct(len(vars), func(see func(int, []int64)) {
			for _, v := range all {
				value := p.Unpack([]byte(v)).Value
				for k, x := range vars {
					see(k, value[x.at:x.at+x.typ.Slots()])
				}
			}
		})
		for k, x := range vars {
			list = append(list, met{fmt.Sprintf("%s of %s (%s)", x.name, p.Inst.Name, x.span.Place()), counts[k]})
		}
	}
	for k := range s.System.Channels[:s.Own] {
		list = append(list, s.inMessages(k, res.Space.Messages(k))...)
	}
	slices.SortStableFunc(list, func(a, b met) int { return cmp.Compare(b.n, a.n) })
	var out []string
	for _, m := range list[:min(len(list), maxMet)] {
		if m.n >= manyMet {
			out = append(out, fmt.Sprintf("%s took %s values", m.text, diag.Thousands(m.n)))
		}
	}
	return out
}

// inMessages counts the values of the fields of the messages in a channel.
func (s *System) inMessages(channel int, all []string) []met {
	if len(all) < manyMet {
		return nil
	}
	first := make([]int, len(s.Protocol.Messages)) // field 0 of each message
	n := 0
	for i, m := range s.Protocol.Messages {
		first[i] = n
		n += len(m.Fields)
	}
	counts := distinct(n, func(see func(int, []int64)) {
		for _, b := range all {
			if codec.MessageIndex([]byte(b)) >= len(first) {
				continue // news of links
			}
			m, slots := codec.UnpackMessage(s.Protocol, []byte(b))
			for k, f := range m.Fields {
				see(first[m.Index]+k, slots[f.Offset:f.Offset+f.Type.Slots()])
			}
		}
	})
	var list []met
	for i, m := range s.Protocol.Messages {
		for k, f := range m.Fields {
			list = append(list, met{fmt.Sprintf("%s of %s in %s", f.Name, m.Name,
				s.System.Channels[channel].Name), counts[first[i]+k]})
		}
	}
	return list
}

// distinct counts the different values of n things that visit shows.
func distinct(n int, visit func(see func(int, []int64))) []int {
	seen := make([]map[string]bool, n)
	for i := range seen {
		seen[i] = map[string]bool{}
	}
	var key []byte
	visit(func(i int, slots []int64) {
		key = codec.AppendSlots(key[:0], slots)
		if !seen[i][string(key)] {
			seen[i][string(key)] = true
		}
	})
	counts := make([]int, n)
	for i := range seen {
		counts[i] = len(seen[i])
	}
	return counts
}

// variable is a variable within the value of a machine.
type variable struct {
	name string
	typ  *model.Type
	at   int
	span diag.Span
}

// variables lists the variables of a machine and of its parts.
func variables(m *model.Machine, prefix string, at int) []variable {
	var out []variable
	for _, v := range m.Vars {
		out = append(out, variable{prefix + v.Name, v.Type, at + v.Offset, v.Span})
	}
	for _, p := range m.Parts {
		for k := range p.Count {
			name := p.Name
			if p.Count > 1 {
				name = fmt.Sprintf("%s[%d]", p.Name, k)
			}
			out = append(out, variables(p.Machine, prefix+name+".", at+p.Offset+k*p.Machine.Size)...)
		}
	}
	return out
}
