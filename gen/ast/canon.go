package ast

import (
	"io"
	"strconv"
)

// Canonical writes what n says, free of layout, quoting and comments, to w:
// equal texts mean equal specifications. skip names top-level keys whose
// values are left out.
func (n *Node) Canonical(w io.Writer, skip map[string]bool) {
	switch n.Kind {
	case Scalar:
		io.WriteString(w, strconv.Quote(n.Text))
	case List:
		io.WriteString(w, "[")
		for _, it := range n.Items {
			it.Canonical(w, nil)
			io.WriteString(w, ",")
		}
		io.WriteString(w, "]")
	case Map:
		io.WriteString(w, "{")
		for _, e := range n.Entries {
			e.Key.Canonical(w, nil)
			io.WriteString(w, ":")
			if !skip[e.Key.Text] {
				e.Value.Canonical(w, nil)
			}
			io.WriteString(w, ",")
		}
		io.WriteString(w, "}")
	}
}
