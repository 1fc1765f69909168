package gotree

// Walk calls visit for every expression and statement of a tree, from the outside in. It does not go
// inside a node for which visit returns false.
func Walk(tree any, visit func(node any) bool) { walker(visit).node(tree) }

type walker func(any) bool

func (w walker) node(n any) {
	switch n := n.(type) {
	case nil:
	case []Stmt:
		for _, s := range n {
			w.node(s)
		}
	case []Expr:
		for _, e := range n {
			w.node(e)
		}
	case []*Func:
		for _, f := range n {
			w.node(f)
		}
	case *Func:
		w.node(n.Body)
	case Stmt:
		if w(n) {
			w.stmt(n)
		}
	case Expr:
		if w(n) {
			w.expr(n)
		}
	default:
		bad("walk %T", n)
	}
}

func (w walker) expr(e Expr) {
	switch e := e.(type) {
	case Sel:
		w.node(e.X)
	case Index:
		w.node(e.X)
		w.node(e.I)
	case Slice:
		w.node(e.X)
		w.maybe(e.Low)
		w.maybe(e.High)
		w.maybe(e.Max)
	case Call:
		w.node(e.Fun)
		w.node(e.Args)
	case Unary:
		w.node(e.X)
	case Binary:
		w.node(e.X)
		w.node(e.Y)
	case Array:
		w.maybe(e.Len)
		w.node(e.Elem)
	case Map:
		w.node(e.Key)
		w.node(e.Elem)
	case Lambda:
		w.node(e.Body)
	case Composite:
		w.maybe(e.Type)
		for _, x := range e.Elems {
			w.maybe(x.Key)
			w.node(x.Value)
		}
	}
}

func (w walker) maybe(e Expr) {
	if e != nil {
		w.node(e)
	}
}

func (w walker) stmt(s Stmt) {
	switch s := s.(type) {
	case *Assign:
		w.node(s.Left)
		w.node(s.Right)
	case *Var:
		w.node(s.Type)
	case *If:
		if s.Init != nil {
			w.node(s.Init)
		}
		w.node(s.Cond)
		w.node(s.Then)
		w.node(s.Else)
	case *Switch:
		if s.Init != nil {
			w.node(s.Init)
		}
		w.maybe(s.Tag)
		for _, c := range s.Cases {
			w.node(c.List)
			w.node(c.Body)
		}
	case *Range:
		w.maybe(s.Key)
		w.maybe(s.Value)
		w.node(s.X)
		w.node(s.Body)
	case *For:
		if s.Init != nil {
			w.node(s.Init)
		}
		w.maybe(s.Cond)
		if s.Post != nil {
			w.node(s.Post)
		}
		w.node(s.Body)
	case *Return:
		w.node(s.Results)
	case *Do:
		w.node(s.X)
	case *Braces:
		w.node(s.Body)
	}
}

// Uses reports whether a tree uses an object. Members of that name, and comments, do not count.
func Uses(tree any, name string) bool {
	found := false
	Walk(tree, func(n any) bool {
		if x, ok := n.(Name); ok && x.Name == name {
			found = true
		}
		return !found
	})
	return found
}

// Used returns the name of a parameter, or a blank if the code does not use it.
func Used(code []Stmt, name string) string {
	if Uses(code, name) {
		return name
	}
	return "_"
}

// UsesMember reports whether a tree uses a member of an object.
func UsesMember(tree any, of, member string) bool {
	found := false
	Walk(tree, func(n any) bool {
		if s, ok := n.(Sel); ok && s.Name == member && Equal(s.X, Name{of}) {
			found = true
		}
		return !found
	})
	return found
}

// Calls reports whether a tree calls a method of an object. If of is empty it is about a function.
func Calls(tree any, of, name string) bool {
	found := false
	Walk(tree, func(n any) bool {
		if c, ok := n.(Call); ok {
			switch f := c.Fun.(type) {
			case Name:
				found = found || of == "" && f.Name == name
			case Sel:
				found = found || f.Name == name && Equal(f.X, Name{of})
			}
		}
		return !found
	})
	return found
}

// Continued replaces each continue by end. It leaves those of loops inside the statements.
func Continued(list []Stmt, end Stmt) []Stmt {
	return ending{false, func(s Stmt) Stmt {
		if b, ok := s.(*Branch); ok && b.Word == "continue" {
			return end
		}
		return s
	}}.stmts(list)
}

// Returning adds results to each return, before those that it has.
func Returning(list []Stmt, more ...Expr) []Stmt {
	return ending{true, func(s Stmt) Stmt {
		if r, ok := s.(*Return); ok {
			return &Return{append(append([]Expr(nil), more...), r.Results...)}
		}
		return s
	}}.stmts(list)
}

// ending replaces statements that have no others inside. It goes into loops only if loops is set.
type ending struct {
	loops   bool
	replace func(Stmt) Stmt
}

func (e ending) stmts(list []Stmt) []Stmt {
	out := make([]Stmt, len(list))
	for i, s := range list {
		switch s := s.(type) {
		case *If:
			out[i] = &If{s.Init, s.Cond, e.stmts(s.Then), e.stmts(s.Else)}
		case *Braces:
			out[i] = &Braces{e.stmts(s.Body)}
		case *Switch:
			n := &Switch{Init: s.Init, Tag: s.Tag}
			for _, c := range s.Cases {
				n.Cases = append(n.Cases, &Case{c.List, e.stmts(c.Body)})
			}
			out[i] = n
		case *Range:
			if out[i] = s; e.loops {
				out[i] = &Range{s.Key, s.Value, s.X, e.stmts(s.Body)}
			}
		case *For:
			if out[i] = s; e.loops {
				out[i] = &For{s.Init, s.Cond, s.Post, e.stmts(s.Body)}
			}
		default:
			out[i] = e.replace(s)
		}
	}
	return out
}
