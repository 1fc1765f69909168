package gotree

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strconv"
	"strings"
	"sync"
)

// Imports are the packages that generated code can use.
var Imports = []string{
	"github.com/parley-go/parley/runtime/fsm", "github.com/parley-go/parley/runtime/wire",
	"strconv", "errors", "bytes", "encoding/binary",
}

// imports has the paths of Imports by the name of the package.
var imports = func() map[string]string {
	m := map[string]string{}
	for _, p := range Imports {
		m[path.Base(p)] = p
	}
	return m
}()

// X returns an expression or type that is written in Go. $1 stands for the first of args, and so on. An
// argument is an Expr, a number, a truth value, or a string, which is a name; see Str for texts. A list
// of expressions can be used for arguments of a call or elements of a literal.
func X(template string, args ...any) Expr {
	t := parsed(template, "x")
	return filler{t, args}.expr(t.expr)
}

// P appends statements that are written in Go. Arguments are as for X; a statement, or a list of them, can
// be used for a statement.
func (b *Block) P(template string, args ...any) {
	t := parsed(template, "p")
	b.Add(filler{t, args}.block(t.body)...)
}

// S returns statements that are written in Go; see Block.P.
func S(template string, args ...any) []Stmt {
	var b Block
	b.P(template, args...)
	return b.List
}

// F returns a function or method that is written in Go. The comment before it becomes its Doc. A list of
// Param can be used for a parameter, the results or the receiver.
func F(template string, args ...any) *Func {
	t := parsed(template, "f")
	return filler{t, args}.function(t.fn)
}

// parse is a parsed template.
type parse struct {
	fset     *token.FileSet
	expr     ast.Expr
	body     *ast.BlockStmt
	fn       *ast.FuncDecl
	comments []*ast.CommentGroup
}

var parses sync.Map // of *parse by kind and template, which are constants of the program

func parsed(template, kind string) *parse {
	if p, ok := parses.Load(kind + template); ok {
		return p.(*parse)
	}
	p := &parse{fset: token.NewFileSet()}
	text := "package p\n"
	switch kind {
	case "x":
		text += "var _ = " + template
	case "p":
		text += "func _() {\n" + template + "\n}"
	default:
		text += template
	}
	f, err := parser.ParseFile(p.fset, "", strings.ReplaceAll(text, "$", hole),
		parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		bad("template %q: %v", template, err)
	}
	p.comments = f.Comments
	switch d := f.Decls[0].(type) {
	case *ast.GenDecl:
		p.expr = d.Specs[0].(*ast.ValueSpec).Values[0]
	case *ast.FuncDecl:
		p.fn, p.body = d, d.Body
	}
	parses.Store(kind+template, p)
	return p
}

// hole is the first letter of the names that stand for arguments. No name of a specification has it.
const hole = "ª"

// filler replaces the holes of a template by arguments.
type filler struct {
	*parse
	args []any
}

// arg returns the argument for a hole.
func (f filler) arg(name string) (any, bool) {
	n, ok := strings.CutPrefix(name, hole)
	if !ok {
		return nil, false
	}
	i, err := strconv.Atoi(n)
	if err != nil || i < 1 || i > len(f.args) {
		bad("no argument for $%s", n)
	}
	return f.args[i-1], true
}

// name returns an identifier that is not an expression, such as a field's name.
func (f filler) name(id *ast.Ident) string {
	a, ok := f.arg(id.Name)
	if !ok {
		return id.Name
	}
	switch a := a.(type) {
	case string:
		return a
	case Name:
		return a.Name
	}
	bad("%s is no name: %v", id.Name, a)
	return ""
}

// From converts an argument of a template to an expression.
func from(a any) Expr {
	switch a := a.(type) {
	case Expr:
		return a
	case string:
		return Name{a}
	case int:
		return Int(a)
	case int64:
		return Int(a)
	case uint64:
		return Int(a)
	case bool:
		return Name{strconv.FormatBool(a)}
	}
	bad("no expression: %T %v", a, a)
	return nil
}

func (f filler) expr(e ast.Expr) Expr {
	switch e := e.(type) {
	case nil:
		return nil
	case *ast.Ident:
		if a, ok := f.arg(e.Name); ok {
			return from(a)
		}
		return Name{e.Name}
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			s, _ := strconv.Unquote(e.Value)
			return Str(s)
		}
		return Lit{Kind: e.Kind, Text: e.Value}
	case *ast.ParenExpr:
		return f.expr(e.X)
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			if p := imports[x.Name]; p != "" {
				return Qual{p, f.name(e.Sel)}
			}
		}
		return Sel{f.expr(e.X), f.name(e.Sel)}
	case *ast.IndexExpr:
		return Index{f.expr(e.X), f.expr(e.Index)}
	case *ast.SliceExpr:
		return Slice{f.expr(e.X), f.expr(e.Low), f.expr(e.High), f.expr(e.Max)}
	case *ast.CallExpr:
		return Call{f.expr(e.Fun), f.exprs(e.Args), e.Ellipsis.IsValid()}
	case *ast.StarExpr:
		return Unary{"*", f.expr(e.X)}
	case *ast.UnaryExpr:
		return Unary{e.Op.String(), f.expr(e.X)}
	case *ast.BinaryExpr:
		return Binary{e.Op.String(), f.expr(e.X), f.expr(e.Y)}
	case *ast.ArrayType:
		return Array{f.expr(e.Len), f.expr(e.Elt)}
	case *ast.Ellipsis:
		return Name{"..."}
	case *ast.MapType:
		return Map{f.expr(e.Key), f.expr(e.Value)}
	case *ast.CompositeLit:
		return f.composite(e)
	case *ast.FuncType:
		return Lambda{Params: f.params(e.Params), Results: f.params(e.Results)}
	case *ast.FuncLit:
		return Lambda{f.params(e.Type.Params), f.params(e.Type.Results), f.block(e.Body),
			f.line(e.Body.Lbrace) == f.line(e.Body.Rbrace)}
	}
	bad("expression %T", e)
	return nil
}

func (f filler) line(p token.Pos) int { return f.fset.Position(p).Line }

func (f filler) composite(e *ast.CompositeLit) Expr {
	c := Composite{Type: f.expr(e.Type), Lines: len(e.Elts) > 0 && f.line(e.Lbrace) < f.line(e.Elts[0].Pos())}
	_, array := e.Type.(*ast.ArrayType)
	_, table := e.Type.(*ast.MapType)
	for _, el := range e.Elts {
		kv, ok := el.(*ast.KeyValueExpr)
		if !ok {
			if id, ok := el.(*ast.Ident); ok {
				if a, _ := f.arg(id.Name); a != nil {
					if list, ok := a.([]Elem); ok {
						c.Elems = append(c.Elems, list...)
						continue
					}
				}
			}
			c.Elems = append(c.Elems, Elems(f.exprs([]ast.Expr{el})...)...)
			continue
		}
		id, name := kv.Key.(*ast.Ident)
		if name && !array && !table {
			c.Elems = append(c.Elems, Elem{Field: f.name(id), Value: f.expr(kv.Value)})
		} else {
			c.Elems = append(c.Elems, Elem{Key: f.expr(kv.Key), Value: f.expr(kv.Value)})
		}
	}
	return c
}

// exprs converts expressions. A hole among them can stand for several.
func (f filler) exprs(list []ast.Expr) []Expr {
	var out []Expr
	for _, e := range list {
		if id, ok := e.(*ast.Ident); ok {
			if a, _ := f.arg(id.Name); a != nil {
				if more, ok := a.([]Expr); ok {
					out = append(out, more...)
					continue
				}
			}
		}
		out = append(out, f.expr(e))
	}
	return out
}

// block converts the statements of a template, and the comments between them.
func (f filler) block(b *ast.BlockStmt) []Stmt {
	if b == nil {
		return nil
	}
	return f.list(b.List, b.Lbrace, b.Rbrace)
}

func (f filler) list(list []ast.Stmt, start, end token.Pos) []Stmt {
	var out []Stmt
	last := start
	comments := func(until token.Pos) {
		for _, g := range f.comments {
			for _, c := range g.List {
				if c.Pos() > last && c.Pos() < until {
					out = append(out, &Comment{Text: c.Text, Behind: len(out) > 0 && f.line(last) == f.line(c.Pos())})
				}
			}
		}
	}
	for _, s := range list {
		comments(s.Pos())
		out = append(out, f.stmts(s)...)
		last = s.End()
	}
	comments(end)
	return out
}

// stmts converts a statement. A hole can stand for several statements, or for none.
func (f filler) stmts(s ast.Stmt) []Stmt {
	if x, ok := s.(*ast.ExprStmt); ok {
		if id, ok := x.X.(*ast.Ident); ok {
			if a, hit := f.arg(id.Name); hit {
				switch a := a.(type) {
				case nil:
					return nil
				case Stmt:
					return []Stmt{a}
				case []Stmt:
					return a
				}
			}
		}
	}
	return []Stmt{f.stmt(s)}
}

func (f filler) stmt(s ast.Stmt) Stmt {
	switch s := s.(type) {
	case nil:
		return nil
	case *ast.AssignStmt:
		return &Assign{f.exprs(s.Lhs), s.Tok.String(), f.exprs(s.Rhs)}
	case *ast.IncDecStmt:
		return &Assign{[]Expr{f.expr(s.X)}, s.Tok.String(), nil}
	case *ast.DeclStmt:
		v := s.Decl.(*ast.GenDecl).Specs[0].(*ast.ValueSpec)
		return &Var{f.name(v.Names[0]), f.expr(v.Type)}
	case *ast.IfStmt:
		n := &If{Init: f.stmt(s.Init), Cond: f.expr(s.Cond), Then: f.block(s.Body)}
		switch e := s.Else.(type) {
		case *ast.BlockStmt:
			n.Else = f.block(e)
		case *ast.IfStmt:
			n.Else = []Stmt{f.stmt(e)}
		}
		return n
	case *ast.SwitchStmt:
		n := &Switch{Init: f.stmt(s.Init), Tag: f.expr(s.Tag)}
		for i, c := range s.Body.List {
			if x, ok := c.(*ast.CaseClause); ok {
				end := s.Body.Rbrace
				if i+1 < len(s.Body.List) {
					end = s.Body.List[i+1].Pos()
				}
				n.Cases = append(n.Cases, &Case{f.exprs(x.List), f.list(x.Body, x.Colon, end)})
			}
		}
		return n
	case *ast.RangeStmt:
		return &Range{f.expr(s.Key), f.expr(s.Value), f.expr(s.X), f.block(s.Body)}
	case *ast.ForStmt:
		return &For{f.stmt(s.Init), f.expr(s.Cond), f.stmt(s.Post), f.block(s.Body)}
	case *ast.ReturnStmt:
		return &Return{f.exprs(s.Results)}
	case *ast.BranchStmt:
		return &Branch{s.Tok.String()}
	case *ast.ExprStmt:
		return &Do{f.expr(s.X)}
	case *ast.BlockStmt:
		return &Braces{f.block(s)}
	}
	bad("statement %T", s)
	return nil
}

func (f filler) function(d *ast.FuncDecl) *Func {
	fn := &Func{Name: f.name(d.Name), Params: f.params(d.Type.Params), Results: f.params(d.Type.Results),
		Body: f.block(d.Body)}
	fn.Short = f.line(d.Body.Lbrace) == f.line(d.Body.Rbrace)
	if d.Recv != nil {
		fn.Recv = &f.params(d.Recv)[0]
	}
	if d.Doc != nil {
		fn.Doc = comment(d.Doc)
	}
	return fn
}

func (f filler) params(l *ast.FieldList) []Param {
	if l == nil {
		return nil
	}
	var out []Param
	for _, p := range l.List {
		if id, ok := p.Type.(*ast.Ident); ok {
			switch a, _ := f.arg(id.Name); a := a.(type) {
			case []Param:
				out = append(out, a...)
				continue
			}
		}
		t := f.expr(p.Type)
		if len(p.Names) == 0 {
			out = append(out, Param{"", t})
		}
		for _, n := range p.Names {
			out = append(out, Param{f.name(n), t})
		}
	}
	return out
}

// comment returns the text of a group of comments.
func comment(g *ast.CommentGroup) string {
	var lines []string
	for _, c := range g.List {
		lines = append(lines, c.Text)
	}
	return strings.Join(lines, "\n")
}
