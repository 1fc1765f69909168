package gotree

import (
	"fmt"
	"strings"
)

// Key returns a text that is equal for equal trees. Different trees nearly always have different keys;
// Equal is exact.
func Key(tree any) string {
	var b strings.Builder
	Walk(tree, func(n any) bool {
		switch n := n.(type) {
		case Name:
			b.WriteString(n.Name + " ")
		case Qual:
			b.WriteString(n.Name + " ")
		case Lit:
			b.WriteString(n.Text + " ")
		case Sel:
			b.WriteString("." + n.Name)
		case Unary:
			b.WriteString(n.Op)
		case Binary:
			b.WriteString(n.Op)
		case *Comment:
			b.WriteString(n.Text)
		case *Branch:
			b.WriteString(n.Word)
		case *Assign:
			b.WriteString(n.Op)
		default:
			fmt.Fprintf(&b, "%T", n)
		}
		return true
	})
	return b.String()
}

// Lines counts the lines that statements take. It counts a literal of several lines as one.
func Lines(list []Stmt) int {
	n := 0
	for _, s := range list {
		switch s := s.(type) {
		case *If:
			n += 2 + Lines(s.Then)
			if len(s.Else) > 0 {
				n += 1 + Lines(s.Else)
			}
		case *Switch:
			n += 2
			for _, c := range s.Cases {
				n += 1 + Lines(c.Body)
			}
		case *Range:
			n += 2 + Lines(s.Body)
		case *For:
			n += 2 + Lines(s.Body)
		case *Braces:
			n += 2 + Lines(s.Body)
		case *Comment:
			if !s.Behind {
				n++
			}
		default:
			n++
		}
	}
	return n
}

// Loops reports whether a tree has a loop.
func Loops(tree any) bool {
	found := false
	Walk(tree, func(n any) bool {
		switch n.(type) {
		case *Range, *For:
			found = true
		}
		return !found
	})
	return found
}
