// Package core is the lowered form of what machines and checks say: few kinds of expression and
// statement, each with all that follows from it. A conversion is a node of its own ([Fit]), `&&`
// and `if()` are one ([If]), all that goes over values or elements is one ([Fold]), and what has no
// laziness and no locals is an operation of a table ([Apply]). There is one lowering from package
// model, one visitor ([Walk]) and one rewriter ([Rewrite]). The package must not know who evaluates
// or translates. Start from [Lower], which lowers a machine, or [Of], which lowers an expression.
//
// Declarations stay those of the model: variables, locals, timers, parts, messages and states are
// the same objects here and there. Every expression has its type, the interval of its numbers,
// whether its evaluation can fail, and the expression of the model that it comes from, for the
// words and places of faults. Operands are evaluated from left to right.
package core

import (
	"github.com/parley-go/parley/gen/core/interval"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// Expr is a lowered expression.
type Expr interface{ Node() *Base }

// Base carries what all expressions have.
type Base struct {
	T *model.Type
	// Slots is how many slots the value takes. Num: it is a single number that can be compared with
	// == as such.
	Slots int
	Num   bool
	// In bounds a number, or the number that an optional has. It holds where evaluation does not fail.
	In interval.Interval
	// CanFail: evaluation can fault. That a step goes round its loops too often is not counted.
	CanFail bool
	// From is what the author wrote, or what a step of checking put in its place.
	From model.Expr
}

// Node returns b itself.
func (b *Base) Node() *Base { return b }

// Pos returns the place of the expression in the specification.
func (b *Base) Pos() diag.Span { return b.From.Pos() }

type (
	// Const is a constant: a number, a text, or none.
	Const struct {
		Base
		Value int64
		Text  string // if T is a text and IsText
		// IsText: the value is Text. Otherwise it is Value in the first slot and 0 in all others.
		IsText bool
	}
	// Local reads a local. A nil Local is the sender: the number of the instance whose message, or link
	// coming up or being lost, is handled.
	Local struct {
		Base
		Local *model.Local
	}
	// Read reads something of a machine: of the one that runs, of a part of it, or in claims of an
	// instance.
	Read struct {
		Base
		Place
		What  What
		Var   *model.Var     // ReadVar
		Is    []*model.State // ReadState
		Timer *model.Timer   // ReadTimer
	}
	// Field reads a field of a record, or with a nil Field what an optional has; that faults on none.
	Field struct {
		Base
		X     Expr
		Field *model.Field
	}
	// Index reads an element of an array or list; it faults outside.
	Index struct {
		Base
		X, I Expr
	}
	// Apply is an operation that evaluates all operands first; see [Op.Info].
	Apply struct {
		Base
		Op   Op
		Args []Expr
	}
	// If evaluates Then or Else. It is the only lazy expression but [Fold].
	If struct {
		Base
		Cond, Then, Else Expr
		Form             Form
	}
	// Make makes a record of its fields, a list or set of its elements, or an optional of its value.
	Make struct {
		Base
		Elems []Expr
	}
	// Fold goes over the values of a type (Values) or the elements of an array, list or set (Over),
	// with each in Local. Where is a condition; nil: always. Elem is what a list, set or array gets
	// for each that meets the condition.
	Fold struct {
		Base
		How    How
		Local  *model.Local
		Values *model.Type
		Over   Expr
		Where  Expr
		Elem   Expr
	}
	// Fit converts a value to the type of the place where it is stored: T. It faults if the value
	// is none of T's. The lowering puts it only where the value can be outside or is represented
	// differently.
	Fit struct {
		Base
		X Expr
		// At and Words are where and with which words the reason of a fault begins.
		At    diag.Span
		Words string
	}
	// Observe asks how many messages are in transit.
	Observe struct {
		Base
		Of *model.ChanLen
	}
)

// What says what of a machine is read.
type What uint8

// What a [Read] reads.
const (
	ReadVar   What = iota // a variable or parameter
	ReadState             // whether the machine is in one of some states
	ReadTimer             // whether a timer is armed
	ReadDown              // whether the instance has crashed
)

// Form says how the author has an [If].
type Form uint8

// The forms of [If].
const (
	FormIf      Form = iota // if(Cond, Then, Else)
	FormAnd                 // Cond && Then; Else is false
	FormOr                  // Cond || Else; Then is true
	FormImplies             // Cond => Then; Else is true
)

// How says what a [Fold] comes to. All, Some and First stop at the first element that decides.
type How uint8

// What a [Fold] comes to.
const (
	All   How = iota // whether Where holds for all
	Some             // whether Where holds for one
	Count            // for how many Where holds
	First            // the first for which Where holds, an optional
	List             // a list of Elem
	Set              // a set of Elem
	Array            // an array with Elem at the value's place, and the zero slots elsewhere
)

// Ordered reports whether the order of the elements matters.
func (h How) Ordered() bool { return h == First || h == List }

// Place leads to a machine, or to something that keys select in it.
type Place struct {
	// Inst is the instance in claims; elsewhere it is nil, and Path starts at the machine that runs.
	Inst *model.Instance
	Path []Step
	Keys []Expr // of a timer or part, fitted to their types
	// Offset and Moves give the first slot of what is meant: Offset, and for each of Moves its
	// key's place times its stride.
	Offset int
	Moves  []Move
}

// Step selects an instance of a part.
type Step struct {
	Part *model.Part
	Keys []Expr // fitted to their types
}

// Move is a key as a distance in slots: (Key - Low) * Stride.
type Move struct {
	Key    Expr
	Low    int64
	Stride int
}

// Stmt is a lowered statement.
type Stmt interface{ Node() *StmtBase }

// StmtBase carries what all statements have.
type StmtBase struct {
	// CanFail: the statement, or one in it, can fault or refuse; of [Give] that is not known here,
	// so it is true.
	CanFail bool
	// From is what the author wrote.
	From model.Stmt
	// Calls are the calls of routines that the statement was written out for, the outermost first.
	// Those of a statement inside another one begin where those of the outer one end.
	Calls []*model.RoutineCall
}

// Node returns b itself.
func (b *StmtBase) Node() *StmtBase { return b }

// Pos returns the place of the statement in the specification.
func (b *StmtBase) Pos() diag.Span { return b.From.Pos() }

type (
	// Assign gives a place of a variable, or a local, a value. The place is looked up before Value
	// is evaluated.
	Assign struct {
		StmtBase
		Var    *model.Var
		Local  *model.Local // instead of Var: what `let` and the arguments of a routine are
		Select []Select
		Value  Expr // fitted to the place
	}
	// Emit sends a message, reports, or asks for a link to be closed.
	Emit struct {
		StmtBase
		Message *model.Message // a send
		Report  *model.Report  // a report; neither: a close
		Fields  []Expr         // fitted
		Dest    model.Dest
		To      Expr // if Dest is ToExpr
	}
	// Timer starts or stops a timer; All: all its instances are stopped.
	Timer struct {
		StmtBase
		Place
		Timer *model.Timer
		Start bool
		All   bool
		Ticks Expr // the duration, fitted, if the timer has a Length
	}
	// Give gives an event to a part, at once.
	Give struct {
		StmtBase
		Place
		Part  *Part
		Event *model.Event
		Args  []Expr // fitted
	}
	// Reset puts a part, or All its instances, back to the beginning.
	Reset struct {
		StmtBase
		Place
		Part *Part
		All  bool
	}
	// Branch runs one of two lists.
	Branch struct {
		StmtBase
		Cond       Expr
		Then, Else []Stmt
	}
	// For runs Body for each value of a type, or for each element of Over as it was before the
	// first round.
	For struct {
		StmtBase
		Local  *model.Local
		Values *model.Type
		Over   Expr
		Body   []Stmt
	}
	// Refuse refuses the event.
	Refuse struct {
		StmtBase
		Reason string
	}
)

// Select is one step from a variable to a place inside it.
type Select struct {
	// T is the type of what is selected from.
	T     *model.Type
	Field *model.Field // of a record, or of that which an optional has (T); faults on none. Or
	Index Expr         // of an array or list
}

// Machine is a lowered machine.
type Machine struct {
	Model  *model.Machine
	Inits  []Expr // by index in Model.Vars, fitted; nil: the type's zero
	Parts  []*Part
	States []*State
	// Transitions are all branches of all states, by ID.
	Transitions []*Transition
}

// Part is a lowered part.
type Part struct {
	Model   *model.Part
	Machine *Machine
	Args    []Expr // of the parameters, fitted
	To      Expr   // nil: the parent's peer
	// Sends are what the parent sends instead of the part's messages, by their index; nil: nothing.
	Sends []*PartSend
}

// PartSend is the message of a part as its parent sends it.
type PartSend struct {
	Model *model.PartSend
	Send  *Emit
}

// State is a lowered state.
type State struct {
	Model    *model.State
	Entry    []Stmt
	Handlers []*Handler // by Event.Index; nil where the state does not mention the event
}

// Handler is the response of a state to an event.
type Handler struct {
	Model    *model.Handler
	Branches []*Transition
}

// Transition is a branch of a handler.
type Transition struct {
	Model *model.Transition
	When  Expr // nil: always
	Body  []Stmt
	To    *State // nil: no goto
}
