package model

import "github.com/parley-go/parley/gen/diag"

// Expr is an expression. Its value takes Type().Slots() slots. Evaluation can fault: an index
// outside an array or list, none where a value is needed, division by zero, a text that exceeds
// its bound. After a fault the whole step is refused. Operands are evaluated left to right; && ||
// => and if() are lazy.
type Expr interface {
	Type() *Type
	Pos() diag.Span
	written() Written
}

// ExprBase has the fields that all expressions share.
type ExprBase struct {
	T    *Type
	Span diag.Span
	// Written is the author's text of an expression that the resolver wrote out as others. It is
	// for people only and has no influence on what the expression does.
	Written Written
}

// Written is the author's text of an expression that the resolver wrote out. The zero value means
// that the expression prints as it is.
type Written struct {
	Text string
	// Loose is set for an operation with two operands, such as `key in map`: among other operators
	// it needs parentheses.
	Loose bool
}

// SetWritten records the author's text of the expression.
func (b *ExprBase) SetWritten(w Written) { b.Written = w }

func (b *ExprBase) written() Written { return b.Written }

// WrittenOut returns the author's text of an expression that the resolver wrote out, "" for one that it did not.
func WrittenOut(e Expr) string { return e.written().Text }

// Type returns the type of the expression.
func (b *ExprBase) Type() *Type { return b.T }

// Pos returns the place of the expression in the specification.
func (b *ExprBase) Pos() diag.Span { return b.Span }

// Path leads from a machine to one of its parts, part by part. The empty path is the machine
// itself.
type Path []PathStep

// PathStep selects an instance of a part.
type PathStep struct {
	Part *Part
	Keys []Expr // evaluated in the scope of the expression; out of range faults
}

type (
	// Lit is a constant: number, bool (0, 1), enum index, opaque value.
	Lit struct {
		ExprBase
		Value int64
		// Const is the name of the constant that the author wrote, "" for a number.
		Const string
	}
	// Text is a constant text of a Bytes type.
	Text struct {
		ExprBase
		Value string
	}
	// None is the absent value of an Optional.
	None struct{ ExprBase }
	// Some wraps a value into an Optional (inserted by the resolver).
	Some struct {
		ExprBase
		X Expr
	}
	// Unwrap takes the value out of an Optional (inserted by the resolver); faults on none.
	Unwrap struct {
		ExprBase
		X Expr
	}
	// VarRef reads a variable or parameter. In claims Inst names the instance,
	// elsewhere it is nil and Path starts at the machine that runs.
	VarRef struct {
		ExprBase
		Inst *Instance
		Path Path
		Var  *Var
	}
	// LocalRef reads a local.
	LocalRef struct {
		ExprBase
		Local *Local
	}
	// Sender is the number of the instance whose message is handled, or whose link came up or was
	// lost. In a part it is that of the outermost event.
	Sender struct{ ExprBase }
	// StateTest is true if the machine at Path is in one of States.
	StateTest struct {
		ExprBase
		Inst   *Instance
		Path   Path
		States []*State
	}
	// Down is true while an instance has crashed; only in claims.
	Down struct {
		ExprBase
		Inst *Instance
	}
	// TimerTest is true if the timer is armed.
	TimerTest struct {
		ExprBase
		Inst  *Instance
		Path  Path
		Timer *Timer
		Keys  []Expr // one for each of the timer's; out of range faults
	}
	// FieldRef reads a field of a record.
	FieldRef struct {
		ExprBase
		X     Expr
		Field *Field
	}
	// Index reads an element of an Array or List; faults outside.
	Index struct {
		ExprBase
		X, I Expr
	}
	// Unary is ! or - applied to X.
	Unary struct {
		ExprBase
		Op Op
		X  Expr
	}
	// Binary is an operation on two operands. == and != compare all slots.
	Binary struct {
		ExprBase
		Op   Op
		X, Y Expr
	}
	// Call is a built-in function.
	Call struct {
		ExprBase
		Fn   Builtin
		Args []Expr
	}
	// RecordLit builds a record; Fields has one expression for each field, in order.
	RecordLit struct {
		ExprBase
		Fields []Expr
	}
	// ListLit builds a list (or a set, if T is a Set).
	ListLit struct {
		ExprBase
		Elems []Expr
	}
	// Build is `[Elem for Local in Over if If]`: a list or set with one element for each
	// value of a type (Values), or element of a list or set (Over), for which If holds (nil: for
	// all). If T is an Array, Values is its index and each element is that of its value; those for
	// which If does not hold are none.
	Build struct {
		ExprBase
		Local  *Local
		Values *Type
		Over   Expr
		If     Expr
		Elem   Expr
	}
	// Find is `first(x in T: X)`, the first value or element for which X holds, an Optional; or, with
	// Count, `count(x in T: X)`, for how many it holds.
	Find struct {
		ExprBase
		Count  bool
		Local  *Local
		Values *Type
		Over   Expr
		X      Expr
	}
	// Quantified is `all(x in T: X)` or `some(x in T: X)`.
	Quantified struct {
		ExprBase
		All    bool
		Local  *Local
		Values *Type
		Over   Expr
		X      Expr
	}
	// ChanLen is the number of in-flight messages; only in claims and environment rules. In claims
	// From and To are instances, or both nil for all channels together. In environment rules both
	// are nil, and Out chooses the machine's outgoing (true) or incoming channels. If Message is
	// not nil, only messages of that name count. With News, news of links that is under way counts,
	// too: so `empty(a -> b)` is more than that no message is under way. If Over is the name of a channel,
	// what is under way in others does not count; Class is then its place in Protocol.Channels.
	ChanLen struct {
		ExprBase
		Over     string
		Class    int
		From, To *Instance
		Self     bool
		Out      bool
		Message  *Message
		News     bool
	}
)

// Op is an operator.
type Op uint8

const (
	OpNot Op = iota + 1
	OpNeg
	OpAdd
	OpSub
	OpMul
	OpDiv // truncates toward zero; division by zero faults
	OpMod
	OpEq
	OpNe
	OpLt
	OpLe
	OpGt
	OpGe
	OpAnd
	OpOr
	OpImplies
)

// Builtin is a built-in function.
type Builtin uint8

const (
	FnLen       Builtin = iota + 1 // len(list), len(set) or len(text) → int
	FnMin                          // min(a, b) → int
	FnMax                          // max(a, b) → int
	FnAppend                       // append(list, x) → list; faults if full
	FnTail                         // tail(list) → list without its first element; faults if empty
	FnFirst                        // first(list) → its first element; faults if empty
	FnContains                     // contains(list or set, x) → bool
	FnWith                         // with(set, x) → set that has x
	FnWithout                      // without(set or list, x) → set or list that has no x
	FnIf                           // if(cond, a, b)
	FnUnion                        // union(a, b) → set of what is in one of them
	FnMinus                        // minus(a, b) → set of what is in a and not in b
	FnIntersect                    // intersect(a, b) → set of what is in both
)

// Stmt is a statement of a branch. Statements run in order. If one faults or refuses,
// the whole step is refused: the machine is unchanged and nothing is sent.
type Stmt interface {
	Pos() diag.Span
	Base() *StmtBase
}

// StmtBase has the fields that all statements share.
type StmtBase struct {
	Span diag.Span
	// Calls are the calls of routines that the resolver wrote the statement out for, the outermost
	// first. They have no influence on what the statement does.
	Calls []*RoutineCall
}

// RoutineCall is one call of a routine. The entry and exit actions of composite states are written out in
// the same way.
type RoutineCall struct {
	Name, Doc string
	Fields    []RoutineField
	Action    bool // an entry or exit action
}

// RoutineField is a field of a routine that stands for a local of the caller, or for the sender if
// Local is nil.
type RoutineField struct {
	Name  string
	Local *Local
}

// Base returns what all statements share.
func (b *StmtBase) Base() *StmtBase { return b }

// Pos returns the place of the statement in the specification.
func (b *StmtBase) Pos() diag.Span { return b.Span }

// Dest is the kind of destination of a Send or Close.
type Dest uint8

const (
	ToPeer      Dest = iota // the only other party (protocols of two)
	ToSender                // the sender of the message being handled
	ToBroadcast             // all other parties
	ToExpr                  // the instance number given by an expression
)

type (
	// Set assigns to a variable or a place within it. Select leads from the
	// variable to the place. The value is checked against the place's range.
	Set struct {
		StmtBase
		Var    *Var
		Select []Selector
		Value  Expr
	}
	// Send sends a message.
	Send struct {
		StmtBase
		Message *Message
		Fields  []Expr // one for each field, in order
		Dest    Dest
		To      Expr // ToExpr
	}
	// ReportStmt reports to the embedding program or the parent.
	ReportStmt struct {
		StmtBase
		Report *Report
		Fields []Expr
	}
	// Run gives an event to a part, at once, inside this step. If the part
	// refuses it, this step is refused.
	Run struct {
		StmtBase
		Part  *Part
		Keys  []Expr
		Event *Event // of Part.Machine: a message, a command, up or lost
		Args  []Expr
	}
	// Restart puts a part (all its instances if keyed and Keys is nil) back to
	// its initial value.
	Restart struct {
		StmtBase
		Part *Part
		Keys []Expr
	}
	// StartTimer arms a timer; StopTimer disarms it, all its instances if it is keyed and Keys is nil.
	StartTimer struct {
		StmtBase
		Timer *Timer
		Keys  []Expr
		Ticks Expr // the duration, if the timer has a Length; else nil
	}
	StopTimer struct {
		StmtBase
		Timer *Timer
		Keys  []Expr
	}
	// If runs one of two lists.
	If struct {
		StmtBase
		Cond       Expr
		Then, Else []Stmt
	}
	// Each runs Body for each value of a type, or for each element that a list or set has before
	// the first round.
	Each struct {
		StmtBase
		Local  *Local
		Values *Type
		Over   Expr
		Body   []Stmt
		// As is the statement that the author wrote for this loop, a send or close to a set of
		// instances. It is for people only; nil means that the author wrote the loop.
		As Stmt
	}
	// Close asks for the link to be closed after all that was sent.
	Close struct {
		StmtBase
		Dest Dest
		To   Expr
	}
	// Refuse refuses the event.
	Refuse struct {
		StmtBase
		Reason string
	}
)

// Selector is one step from a variable to a place inside it.
type Selector struct {
	Field *Field // of a record, or of the one an Optional has; faults on none. Or
	Index Expr   // array or list index
}

// Watches reports whether a check has added a statement, which notes what happens for its claims and its monitors.
func Watches(s Stmt) bool {
	switch s := s.(type) {
	case *Set:
		return s.Var.Ghost != NoGhost
	case *Run:
		return s.Part.Monitor
	}
	return false
}
