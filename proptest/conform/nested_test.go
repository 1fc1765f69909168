package conform

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/runtime/fsm"
)

// node is a state of a drawn tree of states.
type node struct {
	name     string
	up       *node
	inside   []*node // none: the machine can be here
	branches map[string][]branch
}

// branch is what a state does with a command.
type branch struct {
	when   string // "", "b" or "!b": over the command's field
	to     *node  // nil: it stays
	resume bool
}

// drawTree draws a state with states inside, as deep as depth.
func drawTree(t *rapid.T, up *node, depth int, all *[]*node) *node {
	n := &node{name: fmt.Sprint("s", len(*all)), up: up, branches: map[string][]branch{}}
	*all = append(*all, n)
	if depth > 0 && (up == nil || rapid.IntRange(0, 2).Draw(t, "composite") > 0) {
		for range rapid.IntRange(1, 3).Draw(t, "states") {
			n.inside = append(n.inside, drawTree(t, n, depth-1, all))
		}
	}
	return n
}

// yaml writes a state, which reports that it is come into and left.
func (n *node) yaml(b *strings.Builder, indent string) {
	fmt.Fprintf(b, "%s%s:\n%s  entry: [{report: in_%s}]\n%s  exit: [{report: out_%s}]\n", indent, n.name,
		indent, n.name, indent, n.name)
	for _, c := range commands {
		list := n.branches[c]
		if len(list) == 0 {
			continue
		}
		fmt.Fprintf(b, "%s  %s:\n", indent, c)
		for _, x := range list {
			parts := []string{}
			if x.when != "" {
				parts = append(parts, fmt.Sprintf("when: %q", x.when))
			}
			switch {
			case x.resume:
				parts = append(parts, "resume: "+x.to.name)
			case x.to != nil:
				parts = append(parts, "goto: "+x.to.name)
			}
			fmt.Fprintf(b, "%s    - {report: does, %s}\n", indent, strings.Join(parts, ", "))
		}
	}
	if len(n.inside) > 0 {
		fmt.Fprintf(b, "%s  initial: %s\n%s  states:\n", indent, n.inside[0].name, indent)
		for _, in := range n.inside {
			in.yaml(b, indent+"    ")
		}
	}
}

var commands = []string{"c0", "c1", "c2"}

// walker is the algorithm that SCXML gives for a machine without parallel states (W3C Recommendation,
// appendix D), with all transitions external.
type walker struct {
	at   *node
	last map[*node]*node
	told []string
}

func (n *node) first() *node {
	for len(n.inside) > 0 {
		n = n.inside[0]
	}
	return n
}

// proper reports whether n is around x.
func (n *node) proper(x *node) bool {
	for x = x.up; x != nil; x = x.up {
		if x == n {
			return true
		}
	}
	return false
}

func (w *walker) enter(domain, leaf *node) {
	var way []*node
	for x := leaf; x != domain; x = x.up {
		way = append(way, x)
	}
	for _, x := range slices.Backward(way) {
		w.told = append(w.told, "in_"+x.name)
	}
	w.at = leaf
}

// do gives the machine a command. It returns false if that is refused.
func (w *walker) do(command string, b bool) bool {
	for s := w.at; s != nil; s = s.up {
		for _, x := range s.branches[command] {
			if x.when != "" && (x.when == "b") != b {
				continue
			}
			if x.to == nil {
				w.told = append(w.told, "does")
				return true
			}
			domain := s.up
			for domain != nil && !domain.proper(x.to) {
				domain = domain.up
			}
			from := w.at
			for at := from; at != domain; at = at.up {
				w.told = append(w.told, "out_"+at.name)
				if len(at.inside) > 0 {
					w.last[at] = from
				}
			}
			w.told = append(w.told, "does")
			leaf := x.to.first()
			if x.resume && w.last[x.to] != nil {
				leaf = w.last[x.to]
			}
			w.enter(domain, leaf)
			return true
		}
	}
	return false
}

// TestNested compares machines with states inside states with that algorithm.
func TestNested(t *testing.T) {
	deepest, resumed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var all []*node
		root := drawTree(t, nil, rapid.IntRange(1, 3).Draw(t, "depth"), &all)
		all = all[1:] // the role
		var composites []*node
		for _, n := range all {
			if len(n.inside) > 0 {
				composites = append(composites, n)
			}
			n.up = map[bool]*node{true: nil, false: n.up}[n.up == root]
		}
		for _, n := range all {
			for _, c := range commands {
				for k := range rapid.IntRange(0, 2).Draw(t, "branches") {
					x := branch{when: []string{"b", "!b", ""}[rapid.IntRange(0, 2).Draw(t, "when")]}
					if before := n.branches[c]; k > 0 && before[0].when == "" {
						break // never reached
					} else if k > 0 && before[0].when == x.when {
						x.when = ""
					}
					switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); {
					case kind == 1 && len(composites) > 0:
						x.to, x.resume = rapid.SampledFrom(composites).Draw(t, "resumes"), true
					case kind > 0:
						x.to = rapid.SampledFrom(all).Draw(t, "to")
					}
					n.branches[c] = append(n.branches[c], x)
				}
			}
		}
		var b strings.Builder
		b.WriteString("protocol: nested\nmessages: {NEVER: {}}\nroles:\n  one:\n    commands:\n")
		for _, c := range commands {
			fmt.Fprintf(&b, "      %s: {fields: {b: bool}}\n", c)
		}
		b.WriteString("    reports:\n      does: {}\n")
		for _, n := range all {
			fmt.Fprintf(&b, "      in_%s: {}\n      out_%s: {}\n", n.name, n.name)
		}
		fmt.Fprintf(&b, "    initial: %s\n    states:\n", root.inside[0].name)
		for _, n := range root.inside {
			n.yaml(&b, "      ")
		}
		p, list := compile.Load("spec.yaml", compile.Options{
			FS: fstest.MapFS{"spec.yaml": &fstest.MapFile{Data: []byte(b.String())}}})
		if p == nil {
			t.Fatalf("%v\n%s", list, b.String())
		}
		m, strs := p.Roles[0], &interp.Strings{}
		v, err := interp.NewValue(m, strs)
		if err != nil {
			t.Fatal(err)
		}
		w := &walker{last: map[*node]*node{}}
		x := interp.New(m, strs)
		step := func(text string, taken bool) {
			ev, err := interp.ParseEvent(m, strs, text)
			if err != nil {
				t.Fatal(err)
			}
			next, effects, res, _ := x.Step(v, ev)
			v = slices.Clone(next)
			var told []string
			for i := range effects {
				told = append(told, strings.TrimPrefix(string(interp.AppendEffect(nil, strs, &effects[i])), "report "))
			}
			at := m.States[v[0]].Name
			if (res.Code == fsm.Took) != taken || taken && !slices.Equal(told, w.told) || at != w.at.name {
				t.Fatalf("%s: %v, %v in %s; SCXML: %v, %v in %s\n%s", text, res.Code, told, at, taken, w.told,
					w.at.name, b.String())
			}
			w.told = nil
		}
		w.enter(nil, root.inside[0].first())
		step("start", true)
		for range 12 {
			c, set := rapid.SampledFrom(commands).Draw(t, "command"), rapid.Bool().Draw(t, "b")
			taken := w.do(c, set)
			if !taken {
				w.told = nil
			}
			step(fmt.Sprintf("%s{b: %v}", c, set), taken)
		}
		depth := 0
		for at := w.at; at != nil; at = at.up {
			depth++
		}
		deepest = max(deepest, depth)
		if len(w.last) > 0 {
			resumed++
		}
	})
	if deepest < 3 || resumed == 0 {
		t.Errorf("the deepest state is %d deep, %d runs left composite states", deepest, resumed)
	}
}
