// Package gotree has trees of Go syntax. The generator composes functions as trees, asks what is in them,
// and prints them through jennifer. Most of a tree is written in Go, as a template whose holes are
// filled with other trees; see [X] and [Block.P]. The package must not know what the code is for.
package gotree

import (
	"fmt"
	"go/token"
	"reflect"
	"strconv"
)

// Expr is an expression or a type.
type Expr interface{ isExpr() }

type (
	// Name is an object: of Go, of the generated package, or of the function at hand. The scopes of
	// package base give no name to two objects that one function sees, so that equal names are one
	// object.
	Name struct{ Name string }
	// Qual is an object of another package.
	Qual struct{ Path, Name string }
	// Lit is a number, a character or a text, as Go writes it.
	// It may be written by the name of a constant.
	Lit struct {
		Kind       token.Token
		Text, Name string
	}
	// Sel is a field or method of X.
	Sel struct {
		X    Expr
		Name string
	}
	// Index is an element, or an instance of a generic type.
	Index struct{ X, I Expr }
	// Slice is X[Low:High:Max]; bounds may be nil.
	Slice struct{ X, Low, High, Max Expr }
	// Call is a call or a conversion.
	Call struct {
		Fun    Expr
		Args   []Expr
		Spread bool // the last argument is followed by ...
	}
	// Unary is an operator before X; * makes a pointer type as well.
	Unary struct {
		Op string
		X  Expr
	}
	// Binary is an operator between two operands.
	Binary struct {
		Op   string
		X, Y Expr
	}
	// Composite is a literal of a struct, array or map. Type is nil inside of another one.
	Composite struct {
		Type  Expr
		Elems []Elem
		Lines bool // each element has its own line
	}
	// Array is an array type, or a slice type if Len is nil; the Len `...` counts the elements.
	Array struct{ Len, Elem Expr }
	// Lambda is a function without a name, or a function type if Body is nil.
	Lambda struct {
		Params, Results []Param
		Body            []Stmt
		Short           bool // on one line
	}
	// Map is a map type.
	Map struct{ Key, Elem Expr }
)

// Elem is an element of a composite literal: of a field, of a key, or of neither.
type Elem struct {
	Field string
	Key   Expr
	Value Expr
}

func (Name) isExpr()      {}
func (Qual) isExpr()      {}
func (Lit) isExpr()       {}
func (Sel) isExpr()       {}
func (Index) isExpr()     {}
func (Slice) isExpr()     {}
func (Call) isExpr()      {}
func (Unary) isExpr()     {}
func (Binary) isExpr()    {}
func (Composite) isExpr() {}
func (Array) isExpr()     {}
func (Map) isExpr()       {}
func (Lambda) isExpr()    {}

// Stmt is a statement, or a comment among statements.
type Stmt interface{ isStmt() }

type (
	// Assign is an assignment or definition; Op is =, := or another, ++ and -- have no right side.
	Assign struct {
		Left  []Expr
		Op    string
		Right []Expr
	}
	// Var declares a variable of a type with Go's zero value.
	Var struct {
		Name string
		Type Expr
	}
	// If runs Then or Else.
	If struct {
		Init       Stmt
		Cond       Expr
		Then, Else []Stmt
	}
	// Switch runs the first case that fits.
	Switch struct {
		Init  Stmt
		Tag   Expr
		Cases []*Case
	}
	// Case is a case of a switch; an empty List is the default.
	Case struct {
		List []Expr
		Body []Stmt
	}
	// Range is a loop over X; Key and Value may be nil.
	Range struct {
		Key, Value, X Expr
		Body          []Stmt
	}
	// For is a loop with a condition; all three parts may be nil.
	For struct {
		Init Stmt
		Cond Expr
		Post Stmt
		Body []Stmt
	}
	// Return ends the function. The composer may set Results later, when all that the function does
	// is known.
	Return struct{ Results []Expr }
	// Branch is break or continue.
	Branch struct{ Word string }
	// Do is an expression as a statement.
	Do struct{ X Expr }
	// Braces are statements with a scope of their own.
	Braces struct{ Body []Stmt }
	// Comment is a comment, slashes included; Behind stands behind the statement before it.
	Comment struct {
		Text   string
		Behind bool
	}
)

func (*Assign) isStmt()  {}
func (*Var) isStmt()     {}
func (*If) isStmt()      {}
func (*Switch) isStmt()  {}
func (*Range) isStmt()   {}
func (*For) isStmt()     {}
func (*Return) isStmt()  {}
func (*Branch) isStmt()  {}
func (*Do) isStmt()      {}
func (*Braces) isStmt()  {}
func (*Comment) isStmt() {}

// Param is a parameter, a result or a receiver. Most results have no name.
type Param struct {
	Name string
	Type Expr
}

// Func is a function or method.
type Func struct {
	Doc     string // a comment, slashes included
	Recv    *Param
	Name    string
	Types   []Param
	Params  []Param
	Results []Param
	Body    []Stmt
	// Short functions of one statement stand on one line.
	Short bool
}

// Block collects statements.
type Block struct{ List []Stmt }

// Add appends statements.
func (b *Block) Add(list ...Stmt) { b.List = append(b.List, list...) }

// Comment appends a comment. Its text begins with slashes.
func (b *Block) Comment(text string) { b.Add(&Comment{Text: text}) }

// Int returns a number.
func Int[T int | int64 | uint64](n T) Expr {
	if n < 0 {
		return Unary{"-", Lit{Kind: token.INT, Text: strconv.FormatUint(-uint64(n), 10)}}
	}
	return Lit{Kind: token.INT, Text: strconv.FormatUint(uint64(n), 10)}
}

// Str returns a text.
func Str(s string) Expr { return Lit{Kind: token.STRING, Text: strconv.Quote(s)} }

// Char returns a character.
func Char(c byte) Expr { return Lit{Kind: token.CHAR, Text: strconv.QuoteRune(rune(c))} }

// Names returns the objects with the given names.
func Names(list []string) []Expr {
	out := make([]Expr, len(list))
	for i, s := range list {
		out[i] = Name{s}
	}
	return out
}

// Named returns a number that is written by the name of a constant.
func Named(name string, n uint64) Expr {
	return Lit{Kind: token.INT, Text: strconv.FormatUint(n, 10), Name: name}
}

// Number returns the value of a constant number.
func Number(e Expr) (n int64, ok bool) {
	switch e := e.(type) {
	case Lit:
		if e.Kind != token.INT {
			return 0, false
		}
		u, err := strconv.ParseUint(e.Text, 0, 64)
		return int64(u), err == nil
	case Unary:
		if n, ok := Number(e.X); ok && e.Op == "-" {
			return -n, true
		}
	}
	return 0, false
}

// Plus returns x + n.
func Plus(x Expr, n int64) Expr {
	if k, ok := Number(x); ok {
		return Int(k + n)
	}
	switch {
	case n == 0:
		return x
	case n < 0:
		return Binary{"-", x, Lit{Kind: token.INT, Text: strconv.FormatUint(-uint64(n), 10)}}
	}
	return Binary{"+", x, Int(n)}
}

var opposites = map[string]string{"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}

// Not negates a truth value. The negation of a comparison is a comparison, that of a chain is a chain of
// the negated operands. It knows that a length is at least 0.
func Not(x Expr) Expr {
	switch x := x.(type) {
	case Unary:
		if x.Op == "!" {
			return x.X
		}
	case Binary:
		if s, ok := x.X.(Sel); ok && s.Name == "Len" && x.Op == ">" && Equal(x.Y, Int(0)) {
			return Binary{"==", x.X, x.Y}
		}
		if op := opposites[x.Op]; op != "" {
			return Binary{op, x.X, x.Y}
		}
		if op, ok := map[string]string{"&&": "||", "||": "&&"}[x.Op]; ok {
			return Binary{op, Not(x.X), Not(x.Y)}
		}
	}
	return Unary{"!", x}
}

// And joins truth values by &&. It leaves out repeated operands, about which go vet complains. Without
// operands it returns true.
func And(list ...Expr) Expr { return chain("&&", "true", list) }

// Or joins truth values by ||. It leaves out repeated operands. Without operands it returns false.
func Or(list ...Expr) Expr { return chain("||", "false", list) }

func chain(op, none string, list []Expr) Expr {
	var terms []Expr
	for _, e := range list {
	next:
		for _, t := range Operands(op, e) {
			for _, u := range terms {
				if Equal(t, u) {
					continue next
				}
			}
			terms = append(terms, t)
		}
	}
	if len(terms) == 0 {
		return Name{none}
	}
	all := terms[0]
	for _, t := range terms[1:] {
		all = Binary{op, all, t}
	}
	return all
}

// Operands returns the operands of a chain of one operator.
func Operands(op string, e Expr) []Expr {
	if b, ok := e.(Binary); ok && b.Op == op {
		return append(Operands(op, b.X), Operands(op, b.Y)...)
	}
	return []Expr{e}
}

// Equal reports whether two trees are equal.
func Equal(a, b any) bool { return reflect.DeepEqual(a, b) }

// Conv converts x to a type. It returns x itself if it is such a conversion already.
func Conv(t, x Expr) Expr {
	if c, ok := x.(Call); ok && len(c.Args) == 1 && Equal(c.Fun, t) {
		return x
	}
	return Call{Fun: t, Args: []Expr{x}}
}

// Field returns an element of a struct's literal.
func Field(name string, value Expr) Elem { return Elem{Field: name, Value: value} }

// At returns an element of an array's or map's literal.
func At(key, value Expr) Elem { return Elem{Key: key, Value: value} }

// Elems returns elements without keys.
func Elems(list ...Expr) []Elem {
	out := make([]Elem, len(list))
	for i, e := range list {
		out[i] = Elem{Value: e}
	}
	return out
}

// Struct returns a literal of type t.
func Struct(t Expr, elems ...Elem) Expr { return Composite{Type: t, Elems: elems} }

// When appends an if statement without else.
func (b *Block) When(cond Expr, then ...Stmt) { b.Add(&If{Cond: cond, Then: then}) }

// Returns returns a return statement.
func Returns(results ...Expr) *Return { return &Return{results} }

func bad(format string, args ...any) { panic("gotree: " + fmt.Sprintf(format, args...)) }
