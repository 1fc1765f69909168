package gotree

// wide is the number of columns up to which conditions are joined into one, in an if statement or a
// return statement.
const wide = 76

// Tidy changes the body of a function to what one would write by hand. It evaluates the same, in the same
// order.
func (f *Func) Tidy() {
	f.Body = Tidy(f.Body)
	if len(f.Results) == 0 {
		f.Body = unreturned(f.Body)
	}
}

// Tidy returns statements as one would write them by hand. Refusals that follow each other share one if
// statement. Cases that do the same are one case. A switch with one case becomes an if statement.
func Tidy(list []Stmt) []Stmt {
	var out []Stmt
	for i, s := range list {
		if n, ok := s.(*Switch); ok {
			code, all := tidySwitch(n, list[i+1:])
			if out = append(out, code...); all {
				break
			}
			continue
		}
		out = append(out, tidyInside(s))
		for merge(&out) {
		}
	}
	for conclude(&out) {
	}
	return out
}

// tidyInside tidies the statements inside a statement.
func tidyInside(s Stmt) Stmt {
	switch s := s.(type) {
	case *If:
		n := &If{s.Init, s.Cond, Tidy(s.Then), Tidy(s.Else)}
		if len(n.Then) == 1 && len(n.Else) == 0 {
			if in := plainIf(n.Then[0]); in != nil && width(n.Cond)+width(in.Cond) <= wide {
				return &If{Init: n.Init, Cond: join("&&", n.Cond, in.Cond), Then: in.Then}
			}
		}
		return n
	case *Range:
		return &Range{s.Key, s.Value, s.X, Tidy(s.Body)}
	case *For:
		return &For{s.Init, s.Cond, s.Post, Tidy(s.Body)}
	case *Braces:
		return &Braces{Tidy(s.Body)}
	}
	return s
}

// merge joins the last two statements if they do the same under two conditions.
func merge(list *[]Stmt) bool {
	n := len(*list)
	if n < 2 {
		return false
	}
	a, b := plainIf((*list)[n-2]), plainIf((*list)[n-1])
	if a == nil || b == nil || len(a.Then) != 1 || !Equal(a.Then, b.Then) || Equal(a.Cond, b.Cond) {
		return false
	}
	if _, ok := a.Then[0].(*Return); !ok || width(a.Cond)+width(b.Cond)+4 > wide || mixed(a.Cond) || mixed(b.Cond) {
		return false
	}
	*list = append((*list)[:n-2], &If{Cond: join("||", a.Cond, b.Cond), Then: a.Then})
	return true
}

// mixed reports whether a condition has an && that would be an operand of ||.
func mixed(x Expr) bool { return len(Operands("&&", x)) > 1 }

// conclude joins a return of a truth value, if it is last, with the if statement before it.
func conclude(list *[]Stmt) bool {
	n := len(*list)
	if n < 2 {
		return false
	}
	cond, last := plainIf((*list)[n-2]), returned((*list)[n-1:])
	if cond == nil || last == nil {
		return false
	}
	first := returned(cond.Then)
	if first == nil {
		return false
	}
	short := width(cond.Cond)+width(first)+width(last) <= wide
	yes, no := Expr(Name{"true"}), Expr(Name{"false"})
	var x Expr
	switch {
	case Equal(first, no) && Equal(last, yes):
		x = Not(cond.Cond)
	case short && Equal(first, no) && !mixed(cond.Cond):
		x = join("&&", Not(cond.Cond), last)
	case Equal(last, no) && Equal(first, yes):
		x = cond.Cond
	case short && Equal(last, no):
		x = join("&&", cond.Cond, first)
	default:
		return false
	}
	*list = append((*list)[:n-2], &Return{[]Expr{x}})
	return true
}

// join makes one chain of two operands. It keeps operands that are equal, since evaluating them can
// change something.
func join(op string, a, b Expr) Expr {
	for _, t := range Operands(op, b) {
		a = Binary{op, a, t}
	}
	return a
}

// returned returns the result of statements that are one return statement with one result. It returns nil
// for any others.
func returned(list []Stmt) Expr {
	if len(list) != 1 {
		return nil
	}
	if r, ok := list[0].(*Return); ok && len(r.Results) == 1 {
		return r.Results[0]
	}
	return nil
}

// plainIf returns s if it is an if statement without else and without a statement in its head. It returns
// nil for any other statement.
func plainIf(s Stmt) *If {
	if n, ok := s.(*If); ok && n.Init == nil && len(n.Else) == 0 {
		return n
	}
	return nil
}

// tidySwitch joins cases that do the same. If one case is left it becomes an if statement. all reports
// whether the code includes the statements after the switch.
func tidySwitch(s *Switch, rest []Stmt) (code []Stmt, all bool) {
	n := &Switch{Init: s.Init, Tag: s.Tag}
next:
	for _, c := range s.Cases {
		body := Tidy(c.Body)
		for _, d := range n.Cases {
			if len(c.List) > 0 && len(d.List) > 0 && len(body) > 0 && Equal(d.Body, body) {
				d.List = append(d.List, c.List...)
				continue next
			}
		}
		n.Cases = append(n.Cases, &Case{append([]Expr(nil), c.List...), body})
	}
	if len(n.Cases) != 1 || n.Init != nil || n.Tag == nil || len(n.Cases[0].List) != 1 {
		return []Stmt{n}, false
	}
	only := n.Cases[0]
	if end, ok := last(rest).(*Return); ok && len(rest) == 1 && ends(only.Body) && len(only.Body) > 1 {
		return append([]Stmt{&If{Cond: Binary{"!=", n.Tag, only.List[0]}, Then: []Stmt{end}}}, only.Body...), true
	}
	return []Stmt{&If{Cond: Binary{"==", n.Tag, only.List[0]}, Then: only.Body}}, false
}

func last(list []Stmt) Stmt {
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1]
}

// ends reports whether code after the statements is never reached.
func ends(list []Stmt) bool {
	switch s := last(list).(type) {
	case *Return, *Branch:
		return true
	case *If:
		return ends(s.Then) && ends(s.Else)
	case *Braces:
		return ends(s.Body)
	}
	return false
}

// unreturned leaves out a return without results where the function ends anyway.
func unreturned(list []Stmt) []Stmt {
	n := len(list) - 1
	if n < 0 {
		return list
	}
	out := append([]Stmt(nil), list...)
	switch s := list[n].(type) {
	case *Return:
		return unreturned(out[:n])
	case *Switch:
		m := &Switch{Init: s.Init, Tag: s.Tag}
		for _, c := range s.Cases {
			m.Cases = append(m.Cases, &Case{c.List, unreturned(c.Body)})
		}
		out[n] = m
	case *If:
		out[n] = &If{s.Init, s.Cond, unreturned(s.Then), unreturned(s.Else)}
	}
	return out
}

// width estimates how many columns an expression takes.
func width(e Expr) int {
	n := 0
	Walk(e, func(node any) bool {
		switch x := node.(type) {
		case Name:
			n += len(x.Name)
		case Qual:
			n += len(x.Name) + 4
		case Lit:
			n += max(len(x.Text), len(x.Name))
		case Sel:
			n += len(x.Name) + 1
		case Unary:
			n += len(x.Op)
		case Binary:
			n += len(x.Op) + 2
		case Call:
			n += 2 * max(1, len(x.Args))
		default:
			n += 2
		}
		return true
	})
	return n
}

// unbraced takes the braces from the last statement of a list, where its names are free there, too.
func unbraced(list []Stmt) []Stmt {
	n := len(list) - 1
	if n < 0 {
		return list
	}
	last, ok := list[n].(*Braces)
	if !ok {
		return list
	}
	taken := declared(list[:n])
	for name := range declared(last.Body) {
		if taken[name] {
			return list
		}
	}
	return append(list[:n:n], last.Body...)
}

// declared lists the names that statements declare in their own scope.
func declared(list []Stmt) map[string]bool {
	names := map[string]bool{}
	for _, s := range list {
		switch s := s.(type) {
		case *Var:
			names[s.Name] = true
		case *Assign:
			for _, x := range s.Left {
				if id, ok := x.(Name); ok && s.Op == ":=" {
					names[id.Name] = true
				}
			}
		}
	}
	return names
}
