package syntax

// Walk calls visit for n and everything in it.
func Walk(n Node, visit func(Node)) {
	if n == nil {
		return
	}
	visit(n)
	all := func(list []Node) {
		for _, x := range list {
			Walk(x, visit)
		}
	}
	switch n := n.(type) {
	case *Unary:
		Walk(n.X, visit)
	case *Binary:
		all([]Node{n.X, n.Y})
	case *Select:
		Walk(n.X, visit)
	case *Index:
		Walk(n.X, visit)
		all(n.Args)
	case *Call:
		all(n.Args)
	case *Arrow:
		all([]Node{n.X, n.Y})
	case *Literal:
		Walk(n.X, visit)
		for _, f := range n.Fields {
			Walk(f.Value, visit)
		}
	case *List:
		all(n.Elems)
	case *Build:
		all([]Node{n.Elem, n.Over, n.If})
	case *Quantified:
		all([]Node{n.Over, n.X})
	case *Range:
		all([]Node{n.Lo, n.Hi})
	}
}
