package parse

import (
	"io"
	"strconv"

	"github.com/parley-go/parley/gen/ast"
)

// Machines writes to w what the machines of a specification depend on, free of layout, quoting and
// comments. It leaves out the checks and the texts that explain (doc, source), so that a change of
// them makes no generated code, record or snapshot stale. A declaration gives the same in its
// short and its long form, such as 3 and {value: 3}. root is a merged tree that has passed [File];
// of its imports only the names are written.
func Machines(w io.Writer, root *ast.Node) { writeMachines(w, root, &specShape) }

func writeMachines(w io.Writer, n *ast.Node, s *shape) {
	switch n.Kind {
	case ast.Scalar:
		if s != nil && s.null && n.IsNull() {
			io.WriteString(w, "{}")
			return
		}
		io.WriteString(w, strconv.Quote(n.Text))
	case ast.List:
		var of *shape
		if s != nil {
			of = s.list
		}
		io.WriteString(w, "[")
		for _, it := range n.Items {
			writeMachines(w, it, of)
			io.WriteString(w, ",")
		}
		io.WriteString(w, "]")
	case ast.Map:
		writeMap(w, n, s)
	}
}

func writeMap(w io.Writer, n *ast.Node, s *shape) {
	type entry struct {
		ast.Entry
		s *shape
	}
	var kept []entry
	for _, e := range n.Entries {
		var sub *shape
		if s != nil {
			known := false
			if sub, known = s.lookup(e.Key.Text); !known {
				sub = s.open
			}
		}
		if sub == docShape ||
			s == &specShape && (e.Key.Text == "checks" || e.Key.Text == "extends" || e.Key.Text == "allow") {
			continue
		}
		kept = append(kept, entry{e, sub})
	}
	if len(kept) == 1 && s != nil && s.scalar != nil && (kept[0].Key.Text == "value" || kept[0].Key.Text == "type") {
		writeMachines(w, kept[0].Value, kept[0].s)
		return
	}
	io.WriteString(w, "{")
	for _, e := range kept {
		io.WriteString(w, strconv.Quote(e.Key.Text)+":")
		if s == &specShape && e.Key.Text == "import" {
			for _, i := range e.Value.Entries {
				io.WriteString(w, strconv.Quote(i.Key.Text)+",")
			}
		} else {
			writeMachines(w, e.Value, e.s)
		}
		io.WriteString(w, ",")
	}
	io.WriteString(w, "}")
}
