package body

import (
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
)

// longestCase returns the case of an event with the most lines, and the constant of the state that it
// is in, if any. It returns nil if no case is worth a method.
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

// length returns how many lines a switch takes.
func length(s *gotree.Switch) int { return gotree.Lines([]gotree.Stmt{s}) }

// A Step with more than longest lines is divided. The handlers with the most lines become methods
// first, then states. With more than whole lines each state becomes a method.
const (
	longest = base.Longest
	whole   = 220
)

// inlineCost estimates the cost that Go's inliner counts for a tree. TestCosts compares it with the
// compiler's.
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

// costs are the costs of calls of the effects' methods, which Go inlines.
var costs = map[string]int{"send": 30, "sendTo": 33, "report": 30, "start": 19, "startFor": 19, "stop": 15,
	"close": 15, "closeTo": 17}

// Go inlines a function that costs at most inlined. A function with more than large lines helps the
// reader, and its call costs little beside it.
const (
	inlined = 80
	large   = 25
)

// manyRounds is the number of rounds from which a loop is worth lookOnce.
const manyRounds = 100

// lookOnce inserts a look at the receiver before a long loop that is the first statement to use it.
// Otherwise Go checks in each round that the receiver is not nil, with one instruction of ten in such a
// loop. A method that Go inlines does not need it, since the caller has looked.
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

// rounds returns the number that a loop counts to. It returns 0 if the number is not known.
func rounds(x gotree.Expr) int64 {
	if c, ok := x.(gotree.Call); ok && len(c.Args) == 1 { // a conversion
		x = c.Args[0]
	}
	n, _ := gotree.Number(x)
	return n
}
