package model_test

import (
	"testing"

	"github.com/parley-go/parley/gen/model"
)

var (
	boolType = &model.Type{Kind: model.KindBool}
	intType  = &model.Type{Kind: model.KindInt, Lo: 0, Hi: 13}
	shipType = &model.Type{Kind: model.KindEnum, Name: "Ship", Names: []string{"orz", "zoq"}}
	slotType = &model.Type{Kind: model.KindInt, Name: "Slot", Lo: 0, Hi: 13}
	entry    = &model.Type{Kind: model.KindRecord, Name: "Entry", Fields: []*model.Field{
		{Name: "slot", Type: slotType}, {Name: "ship", Type: shipType}}}
)

func num(v int64) model.Expr   { return &model.Lit{ExprBase: model.ExprBase{T: intType}, Value: v} }
func truth(v int64) model.Expr { return &model.Lit{ExprBase: model.ExprBase{T: boolType}, Value: v} }
func ship(v int64) model.Expr  { return &model.Lit{ExprBase: model.ExprBase{T: shipType}, Value: v} }
func name(n string) model.Expr { return &model.LocalRef{Local: &model.Local{Name: n}} }
func bin(op model.Op, x, y model.Expr) model.Expr {
	return &model.Binary{Op: op, X: x, Y: y}
}
func not(x model.Expr) model.Expr { return &model.Unary{Op: model.OpNot, X: x} }
func list(x ...model.Expr) model.Expr {
	return &model.ListLit{Elems: x}
}

func TestExprString(t *testing.T) {
	a, b, c := name("a"), name("b"), name("c")
	inst := &model.Instance{Name: "p"}
	fleet := &model.Part{Name: "fleet"}
	done := &model.State{Name: "done"}
	path := model.Path{{Part: fleet, Keys: []model.Expr{truth(1), num(0)}}}
	tests := []struct {
		want string
		expr model.Expr
	}{
		{"", nil},
		{"true", truth(1)},
		{"zoq", ship(1)},
		{"-3", num(-3)},
		{"a + b * c", bin(model.OpAdd, a, bin(model.OpMul, b, c))},
		{"(a + b) * c", bin(model.OpMul, bin(model.OpAdd, a, b), c)},
		{"a - (b - c)", bin(model.OpSub, a, bin(model.OpSub, b, c))},
		{"a - b - c", bin(model.OpSub, bin(model.OpSub, a, b), c)},
		{"a => b => c", bin(model.OpImplies, a, bin(model.OpImplies, b, c))},
		{"(a => b) => c", bin(model.OpImplies, bin(model.OpImplies, a, b), c)},
		{"a || b && c", bin(model.OpOr, a, bin(model.OpAnd, b, c))},
		{"(a || b) && c", bin(model.OpAnd, bin(model.OpOr, a, b), c)},
		{"!(a && b)", not(bin(model.OpAnd, a, b))},
		{"!a && b", bin(model.OpAnd, not(a), b)},
		{"(a == b) == c", bin(model.OpEq, bin(model.OpEq, a, b), c)},
		{"a == none", bin(model.OpEq, &model.Unwrap{X: a}, &model.None{})},
		{"a.slot", &model.FieldRef{X: a, Field: entry.Fields[0]}},
		{"a[b + 1]", &model.Index{X: a, I: bin(model.OpAdd, b, num(1))}},
		{"Entry{slot: 3, ship: orz}", &model.RecordLit{ExprBase: model.ExprBase{T: entry},
			Fields: []model.Expr{num(3), ship(0)}}},
		{"Entry{slot, ship: orz}", &model.RecordLit{ExprBase: model.ExprBase{T: entry},
			Fields: []model.Expr{name("slot"), ship(0)}}},
		{"a in [1, 2]", &model.Call{Fn: model.FnContains, Args: []model.Expr{list(num(1), num(2)), a}}},
		{"!(a in [1])", not(&model.Call{Fn: model.FnContains, Args: []model.Expr{list(num(1)), a}})},
		{"contains(b, a)", &model.Call{Fn: model.FnContains, Args: []model.Expr{b, a}}},
		{"if(a, b, c)", &model.Call{Fn: model.FnIf, Args: []model.Expr{a, b, c}}},
		{"[x + 1 for x in Slot]", &model.Build{Local: &model.Local{Name: "x"}, Values: slotType,
			Elem: bin(model.OpAdd, name("x"), num(1))}},
		{"[x for x in a if x == b]", &model.Build{Local: &model.Local{Name: "x"}, Over: a,
			If: bin(model.OpEq, name("x"), b), Elem: name("x")}},
		{"first(x in a: x == b)", &model.Find{Local: &model.Local{Name: "x"}, Over: a,
			X: bin(model.OpEq, name("x"), b)}},
		{"count(x in Slot: x < b)", &model.Find{Count: true, Local: &model.Local{Name: "x"}, Values: slotType,
			X: bin(model.OpLt, name("x"), b)}},
		{"some(x in a: x == b)", &model.Quantified{Local: &model.Local{Name: "x"}, Over: a,
			X: bin(model.OpEq, name("x"), b)}},
		{"all(x in 0..13: x < b)", &model.Quantified{All: true, Local: &model.Local{Name: "x"}, Values: intType,
			X: bin(model.OpLt, name("x"), b)}},
		{"p.fleet[true, 0].done", &model.StateTest{Inst: inst, Path: path, States: []*model.State{done}}},
		{"!(p.done || p.end)", not(&model.StateTest{Inst: inst, States: []*model.State{done, {Name: "end"}}})},
		{"empty(p -> q)",
			bin(model.OpEq, &model.ChanLen{From: inst, To: &model.Instance{Name: "q"}, News: true}, num(0))},
		{"empty()", bin(model.OpEq, &model.ChanLen{News: true}, num(0))},
		{"len() == 0", bin(model.OpEq, &model.ChanLen{}, num(0))},
		{"len(out, PING) < 2",
			bin(model.OpLt, &model.ChanLen{Self: true, Out: true, Message: &model.Message{Name: "PING"}}, num(2))},
		{`"hi"`, &model.Some{X: &model.Text{Value: "hi"}}},
	}
	for _, test := range tests {
		if got := model.ExprString(test.expr); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

func TestStmtString(t *testing.T) {
	update := &model.Message{Name: "UPDATE", Fields: []*model.Field{{Name: "value"}}}
	own := &model.Var{Name: "own"}
	tests := []struct {
		want string
		stmt model.Stmt
	}{
		{"set: {own[a].slot: 3}", &model.Set{Var: own,
			Select: []model.Selector{{Index: name("a")}, {Field: entry.Fields[0]}}, Value: num(3)}},
		{"send: UPDATE{value}", &model.Send{Message: update, Fields: []model.Expr{name("value")}}},
		{"send: UPDATE{value: 3}, to: sender",
			&model.Send{Message: update, Fields: []model.Expr{num(3)}, Dest: model.ToSender}},
		{"report: passed", &model.ReportStmt{Report: &model.Report{Name: "passed"}}},
		{"run: fleet[a].change{value: 1}", &model.Run{Part: &model.Part{Name: "fleet"}, Keys: []model.Expr{name("a")},
			Event: &model.Event{Name: "change", Fields: update.Fields}, Args: []model.Expr{num(1)}}},
		{"if: a, then: [{start: retry}], else: [{stop: retry}]", &model.If{Cond: name("a"),
			Then: []model.Stmt{&model.StartTimer{Timer: &model.Timer{Name: "retry"}}},
			Else: []model.Stmt{&model.StopTimer{Timer: &model.Timer{Name: "retry"}}}}},
		{"each: {e: Slot}, do: [{close:}]", &model.Each{Local: &model.Local{Name: "e"}, Values: slotType,
			Body: []model.Stmt{&model.Close{}}}},
		{"refuse: not ready", &model.Refuse{Reason: "not ready"}},
	}
	for _, test := range tests {
		if got := model.StmtString(test.stmt); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

func TestTypeString(t *testing.T) {
	tests := map[string]*model.Type{
		"bool": boolType, "0..13": intType, "Slot": slotType,
		"u16":    {Kind: model.KindInt, Hi: 65535},
		"Entry?": {Kind: model.KindOptional, Elem: entry},
		"{array: bool, of: {set: Slot}}": {Kind: model.KindArray, Index: boolType,
			Elem: &model.Type{Kind: model.KindSet, Elem: slotType}},
		"{list: opaque u32, max: 4}": {Kind: model.KindList, Cap: 4,
			Elem: &model.Type{Kind: model.KindOpaque, Bits: 32}},
		"{record: {name: text 30, at: 0..1}}": {Kind: model.KindRecord,
			Fields: []*model.Field{{Name: "name", Type: &model.Type{Kind: model.KindBytes, Cap: 30}},
				{Name: "at", Type: &model.Type{Kind: model.KindInt, Hi: 1}}}},
	}
	for want, typ := range tests {
		if got := model.TypeString(typ); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
