package body

import (
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
)

// longestCase returns the case of an event with the most lines, nil if none is worth a function,
// and the constant of the state it is below, if any.
func longestCase(s *gotree.Switch) (state string, longest *gotree.Case) {
	most := 8
	look := func(in string, c *gotree.Case) {
		if n := gotree.Lines(c.Body); n > most {
			most, state, longest = n, in, c
		}
	}
	for _, c := range s.Cases {
		if events, ok := c.Body[0].(*gotree.Switch); ok && gotree.Equal(s.Tag, gotree.X("m.State")) {
			for _, e := range events.Cases {
				look(c.List[0].(gotree.Name).Name, e)
			}
			continue
		}
		look("", c)
	}
	return state, longest
}

// length is how many lines a switch takes.
func length(s *gotree.Switch) int { return gotree.Lines([]gotree.Stmt{s}) }

// Above longest lines what a state does with an event, and what takes the most lines first, becomes
// a function of its own; a Step of more than whole lines gets one for each state.
const (
	longest = base.Longest
	whole   = 220
)

// inlineCost estimates what Go's inliner counts for a tree; TestCosts holds it against the compiler.
func inlineCost(tree any) int {
	n := 0
	gotree.Walk(tree, func(node any) bool {
		n++
		call, ok := node.(gotree.Call)
		if !ok {
			return true
		}
		switch f := call.Fun.(type) {
		case gotree.Sel:
			if k := costs[f.Name]; k > 0 && gotree.Equal(f.X, gotree.Name{Name: "fx"}) {
				n += k
			} else {
				n += 57
			}
		case gotree.Name: // a conversion costs nothing
			switch {
			case strings.HasPrefix(f.Name, "fit"):
				n += 57
			case strings.HasSuffix(f.Name, "Of"), strings.HasPrefix(f.Name, "new"):
				n += 27
			case f.Name == "ordinal":
				n += 6
			}
		}
		return true
	})
	return n
}

// costs are those of what the effects' methods cost when Go has inlined them.
var costs = map[string]int{"send": 30, "sendTo": 33, "report": 30, "start": 19, "startFor": 19, "stop": 15,
	"close": 15, "closeTo": 17}

// inlined is the cost below which Go inlines a function; large is a number of lines, from which on
// a call does not matter and a function helps the reader.
const (
	inlined = 80
	large   = 25
)

// manyRounds is from how many rounds on a loop counts when it asks the same in each.
const manyRounds = 100

// lookOnce lets a method look at its machine before a long loop that is the first to do so. Go would
// ask in each round whether the receiver is nil, which is every tenth instruction of such a loop.
// What Go inlines has a caller that knows.
func lookOnce(f *gotree.Func) {
	if f.Recv == nil || inlineCost(f) <= inlined {
		return
	}
	for i, s := range f.Body {
		if !gotree.Uses(s, f.Recv.Name) {
			continue
		}
		if loop, ok := s.(*gotree.Range); ok && rounds(loop.X) >= manyRounds {
			why := &gotree.Comment{Text: "// not nil, which the loop need not ask in each round", Behind: true}
			look := append(gotree.S("_ = *$1", f.Recv.Name), why)
			f.Body = slices.Insert(slices.Clone(f.Body), i, look...)
		}
		return
	}
}

// rounds is the number that a loop counts to; 0 if it is not known.
func rounds(x gotree.Expr) int64 {
	if c, ok := x.(gotree.Call); ok && len(c.Args) == 1 { // a conversion
		x = c.Args[0]
	}
	n, _ := gotree.Number(x)
	return n
}
