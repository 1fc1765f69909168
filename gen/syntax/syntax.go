// Package syntax reads the small languages inside scalars: expressions, types,
// message literals and instances. It knows their grammar and where each byte stands,
// but no names. Start from [Parse].
package syntax

import "github.com/parley-go/parley/gen/diag"

// Node is an expression as written.
type Node interface{ Pos() diag.Span }

type base struct {
	Span diag.Span
	text string
}

func (b *base) words() string { return b.text }

// Source returns what the author wrote for n, or "" if n was made from something else.
func Source(n Node) string {
	if w, ok := n.(interface{ words() string }); ok {
		return w.words()
	}
	return ""
}

// Pos returns the place of the expression.
func (b *base) Pos() diag.Span { return b.Span }

type (
	// Ident is a name.
	Ident struct {
		base
		Name string
	}
	// Number is an integer.
	Number struct {
		base
		Value int64
	}
	// String is a text in quotes.
	String struct {
		base
		Value string
	}
	// Unary is ! or - before X.
	Unary struct {
		base
		Op string
		X  Node
	}
	// Binary is X Op Y, with "in" among the operators.
	Binary struct {
		base
		Op    string
		OpPos diag.Span
		X, Y  Node
	}
	// Select is X.Name.
	Select struct {
		base
		X       Node
		Name    string
		NamePos diag.Span
	}
	// Index is X[Args].
	Index struct {
		base
		X    Node
		Args []Node
	}
	// Call is Fn(Args).
	Call struct {
		base
		Fn    string
		FnPos diag.Span
		Args  []Node
	}
	// Arrow is X -> Y, the channel from X to Y.
	Arrow struct {
		base
		X, Y Node
	}
	// Literal is X{Fields} of a message, report or record; X is a name with
	// selections and indices.
	Literal struct {
		base
		X      Node
		Fields []FieldValue
	}
	// List is [Elems].
	List struct {
		base
		Elems []Node
	}
	// Build is [Elem for Var in Over] or [Elem for Var in Over if If].
	Build struct {
		base
		Elem   Node
		Var    string
		VarPos diag.Span
		Over   Node
		If     Node // nil: all
	}
	// Quantified is Fn(Var in Over: X), where Fn is all, some, first or count.
	Quantified struct {
		base
		Fn     string
		Var    string
		VarPos diag.Span
		Over   Node
		X      Node
	}
	// Range is Lo..Hi. It stands only for what a loop runs over, and as a type.
	Range struct {
		base
		Lo, Hi Node
	}
)

// FieldValue is one field of a literal.
type FieldValue struct {
	Name    string
	NamePos diag.Span
	Value   Node
}

// Type is a type in its short form.
type Type struct {
	Span     diag.Span
	Form     TypeForm
	Name     string // Named; Opaque: u8, u16, u32, u64
	NamePos  diag.Span
	Lo, Hi   Node // Interval; Text, Bytes, BytesUpTo: Hi is the bound
	Optional bool
}

// TypeForm is the form of a short type.
type TypeForm uint8

const (
	Named TypeForm = iota
	Interval
	Opaque
	Text
	Bytes     // so many bytes
	BytesUpTo // at most so many
)

// Instance is Role(Args) of a check.
type Instance struct {
	Role    string
	RolePos diag.Span
	Span    diag.Span
	Args    []FieldValue
}
