package compile

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/model"
)

// dumper renders a model with everything that has a meaning: layouts, conversions, frames.
type dumper struct{ strings.Builder }

func (d *dumper) line(depth int, format string, args ...any) {
	fmt.Fprintf(d, "%s%s\n", strings.Repeat("  ", depth), fmt.Sprintf(format, args...))
}

func typeText(t *model.Type) string {
	if t == nil {
		return "?"
	}
	s := ""
	switch t.Kind {
	case model.KindBool:
		s = "bool"
	case model.KindInt:
		s = fmt.Sprintf("%d..%d", t.Lo, t.Hi)
	case model.KindNode:
		s = fmt.Sprintf("instance %d..%d", t.Lo, t.Hi)
	case model.KindEnum:
		s = fmt.Sprint("enum", t.Names, t.Codes)
	case model.KindOpaque:
		s = fmt.Sprintf("opaque%d 0..%d", t.Bits, t.Hi)
	case model.KindBytes:
		s = fmt.Sprintf("text%d 0..%d", t.Cap, t.Hi)
	case model.KindOptional:
		s = "optional " + typeText(t.Elem)
	case model.KindRecord:
		s = "record"
	case model.KindArray:
		s = "array " + typeText(t.Index) + " of " + typeText(t.Elem)
	case model.KindList:
		s = fmt.Sprintf("list%d of %s", t.Cap, typeText(t.Elem))
	case model.KindSet:
		s = "set of " + typeText(t.Elem)
	}
	if t.Name != "" {
		s = t.Name + "(" + s + ")"
	}
	return s
}

func shortType(t *model.Type) string {
	if t != nil && t.Name != "" {
		return t.Name
	}
	return typeText(t)
}

var opNames = map[model.Op]string{model.OpNot: "!", model.OpNeg: "-", model.OpAdd: "+",
	model.OpSub: "-", model.OpMul: "*", model.OpDiv: "/", model.OpMod: "%",
	model.OpEq: "==", model.OpNe: "!=", model.OpLt: "<", model.OpLe: "<=", model.OpGt: ">",
	model.OpGe: ">=", model.OpAnd: "&&", model.OpOr: "||", model.OpImplies: "=>"}

var fnNames = []string{"", "len", "min", "max", "append", "tail", "first", "contains", "with",
	"without", "if", "union", "minus", "intersect"}

func exprsText(xs []model.Expr) string {
	out := make([]string, len(xs))
	for i, x := range xs {
		out[i] = exprText(x)
	}
	return strings.Join(out, ", ")
}

func pathText(in *model.Instance, path model.Path) string {
	s := ""
	if in != nil {
		s = in.Name + "."
	}
	for _, p := range path {
		s += p.Part.Name
		if p.Keys != nil {
			s += "[" + exprsText(p.Keys) + "]"
		}
		s += "."
	}
	return s
}

func overText(l *model.Local, values *model.Type, over model.Expr) string {
	if over != nil {
		return localText(l) + " in " + exprText(over)
	}
	return localText(l) + " in " + shortType(values)
}

func ifText(x model.Expr) string {
	if x == nil {
		return ""
	}
	return " if " + exprText(x)
}

func localText(l *model.Local) string { return fmt.Sprintf("%s@%d", l.Name, l.Offset) }

func exprText(x model.Expr) string {
	switch x := x.(type) {
	case nil:
		return "-"
	case *model.Lit:
		if x.T.Kind == model.KindEnum {
			return x.T.Names[x.Value]
		}
		return fmt.Sprint(x.Value)
	case *model.Text:
		return fmt.Sprintf("%q", x.Value)
	case *model.None:
		return "none:" + shortType(x.T)
	case *model.Some:
		return "some(" + exprText(x.X) + "):" + shortType(x.T)
	case *model.Unwrap:
		return "unwrap(" + exprText(x.X) + ")"
	case *model.VarRef:
		return pathText(x.Inst, x.Path) + fmt.Sprintf("%s#%d", x.Var.Name, x.Var.Offset)
	case *model.Down:
		return x.Inst.Name + ".down"
	case *model.Sender:
		return "sender"
	case *model.LocalRef:
		return localText(x.Local)
	case *model.StateTest:
		return pathText(x.Inst, x.Path) + "in:" + x.States[0].Name
	case *model.TimerTest:
		return pathText(x.Inst, x.Path) + "armed:" + x.Timer.Name
	case *model.FieldRef:
		return exprText(x.X) + "." + x.Field.Name
	case *model.Index:
		return exprText(x.X) + "[" + exprText(x.I) + "]"
	case *model.Unary:
		return opNames[x.Op] + exprText(x.X)
	case *model.Binary:
		return "(" + exprText(x.X) + " " + opNames[x.Op] + " " + exprText(x.Y) + ")"
	case *model.Call:
		return fnNames[x.Fn] + "(" + exprsText(x.Args) + "):" + shortType(x.T)
	case *model.RecordLit:
		return shortType(x.T) + "{" + exprsText(x.Fields) + "}"
	case *model.ListLit:
		return "[" + exprsText(x.Elems) + "]:" + shortType(x.T)
	case *model.Build:
		return "[" + exprText(x.Elem) + " for " + overText(x.Local, x.Values,
			x.Over) + ifText(x.If) + "]:" + shortType(x.T)
	case *model.Find:
		return map[bool]string{true: "count", false: "first"}[x.Count] + "(" + overText(x.Local,
			x.Values, x.Over) + ": " + exprText(x.X) + "):" + shortType(x.T)
	case *model.Quantified:
		return map[bool]string{true: "all", false: "some"}[x.All] + "(" + overText(x.Local,
			x.Values, x.Over) + ": " + exprText(x.X) + ")"
	case *model.ChanLen:
		return channelText(x)
	}
	return fmt.Sprintf("%T", x)
}

func channelText(x *model.ChanLen) string {
	s := "chan("
	if x.Self {
		s += map[bool]string{true: "out", false: "in"}[x.Out]
	} else if x.From != nil {
		s += x.From.Name + "->" + x.To.Name
	}
	if x.Message != nil {
		s += " " + x.Message.Name
	}
	return s + ")"
}

func (d *dumper) stmts(depth int, list []model.Stmt) {
	for _, st := range list {
		switch st := st.(type) {
		case *model.Set:
			s := fmt.Sprintf("%s#%d", st.Var.Name, st.Var.Offset)
			for _, sel := range st.Select {
				if sel.Field != nil {
					s += "." + sel.Field.Name
				} else {
					s += "[" + exprText(sel.Index) + "]"
				}
			}
			d.line(depth, "set %s = %s", s, exprText(st.Value))
		case *model.Send:
			d.line(depth, "send %s{%s} to %d %s", st.Message.Name, exprsText(st.Fields), st.Dest,
				exprText(st.To))
		case *model.ReportStmt:
			d.line(depth, "report %s{%s}", st.Report.Name, exprsText(st.Fields))
		case *model.Run:
			d.line(depth, "run %s[%s].%s{%s}", st.Part.Name, exprsText(st.Keys), st.Event.Name,
				exprsText(st.Args))
		case *model.Restart:
			d.line(depth, "restart %s[%s] all=%v", st.Part.Name, exprsText(st.Keys), st.Keys == nil)
		case *model.StartTimer:
			d.line(depth, "start %s", st.Timer.Name)
		case *model.StopTimer:
			d.line(depth, "stop %s", st.Timer.Name)
		case *model.If:
			d.line(depth, "if %s", exprText(st.Cond))
			d.stmts(depth+1, st.Then)
			d.line(depth, "else")
			d.stmts(depth+1, st.Else)
		case *model.Each:
			d.line(depth, "each %s", overText(st.Local, st.Values, st.Over))
			d.stmts(depth+1, st.Body)
		case *model.Close:
			d.line(depth, "close %d", st.Dest)
		case *model.Refuse:
			d.line(depth, "refuse %q", st.Reason)
		}
	}
}

func fieldsText(fs []*model.Field) string {
	var out []string
	for _, f := range fs {
		out = append(out, fmt.Sprintf("%s@%d:%s", f.Name, f.Offset, shortType(f.Type)))
	}
	return "{" + strings.Join(out, ", ") + "}"
}

func (d *dumper) machine(depth int, m *model.Machine) {
	d.line(depth, "machine %s.%s size %d initial %s", m.Protocol, m.Name, m.Size, m.Initial.Name)
	for _, v := range append(append([]*model.Var{}, m.Params...), m.Vars...) {
		d.line(depth+1, "#%d %s: %s = %s (locals %d)", v.Offset, v.Name, typeText(v.Type),
			exprText(v.Init), v.Locals)
	}
	for _, t := range m.Timers {
		d.line(depth+1, "#%d timer %s %d ticks", t.Offset, t.Name, t.Ticks)
	}
	for _, p := range m.Parts {
		d.line(depth+1, "#%d part %s%s × %d args [%s] locals %d", p.Offset, p.Name,
			fieldsText(p.Keys), p.Count, exprsText(p.Args), p.ArgLocals)
		for i, s := range p.Sends {
			if s == nil {
				d.line(depth+2, "send %s: nothing", p.Machine.Messages[i].Name)
				continue
			}
			d.line(depth+2, "send %s (locals %d):", p.Machine.Messages[i].Name, s.Locals)
			d.stmts(depth+3, []model.Stmt{s.Send})
		}
		d.machine(depth+2, p.Machine)
	}
	for _, e := range m.Events {
		d.line(depth+1, "event %d kind %d %s%s", e.Index, e.Kind, e.Name, fieldsText(e.Fields))
	}
	for _, r := range m.Reports {
		d.line(depth+1, "report %d %s%s", r.Index, r.Name, fieldsText(r.Fields))
	}
	for _, s := range m.States {
		d.line(depth+1, "state %d %s final=%v locals %d", s.Index, s.Name, s.Final, s.EntryLocals)
		d.stmts(depth+2, s.Entry)
	}
	for _, t := range m.Transitions {
		to := "-"
		if t.To != nil {
			to = t.To.Name
		}
		d.line(depth+1, "transition %d %q mode %d when %s to %s locals %d at %d:%d", t.ID, t.Name,
			t.Mode, exprText(t.When), to, t.Locals, t.Span.Start.Line, t.Span.Start.Col)
		d.stmts(depth+2, t.Body)
	}
}

func wireText(items []model.WireItem) string {
	var out []string
	for _, it := range items {
		s := ""
		switch it := it.(type) {
		case *model.WireLength:
			s = fmt.Sprintf("length%d little=%v less=%d", it.Bits, it.Little, it.Less)
		case *model.WireType:
			s = fmt.Sprintf("type%d little=%v", it.Bits, it.Little)
		case *model.WireConst:
			s = fmt.Sprintf("const%d=%d", it.Bits, it.Value)
		case *model.WireInt:
			s = fmt.Sprintf("%s:%d little=%v", it.Field.Name, it.Bits, it.Little)
			if it.HasNone {
				s += fmt.Sprintf(" none=%d", it.None)
			}
		case *model.WireLiteral:
			s = fmt.Sprintf("literal %q", it.Bytes)
		case *model.WireBits:
			s = fmt.Sprintf("bits%d little=%v %v", it.Bits, it.Little, len(it.Parts))
		case *model.WirePad:
			s = fmt.Sprintf("pad%d", it.Bytes)
		case *model.WireAlign:
			s = fmt.Sprintf("align%d since %d", it.To, it.Since)
		case *model.WireCount:
			s = fmt.Sprintf("count %s:%d", it.Field.Name, it.Bits)
		case *model.WireEach:
			s = fmt.Sprintf("each %s (%s)", it.Field.Name, wireText(it.Items))
		case *model.WireBytes:
			s = fmt.Sprintf("%s nul=%v count=%v rest=%v cut=%v", it.Field.Name, it.Nul, it.Count,
				it.Rest, it.Cut)
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func (d *dumper) protocol(p *model.Protocol) {
	d.line(0, "protocol %s tick %s channel %v %v %v %d", p.Name, p.Tick, p.Channel.Ordered,
		p.Channel.Lossy, p.Channel.Duplicates, p.Channel.Capacity)
	for _, t := range p.Types {
		d.line(1, "type %s slots %d %s", typeText(t), t.Slots(), fieldsText(t.Fields))
	}
	if p.Wire != nil {
		d.line(1, "wire %s; max %d header %d surplus %v", wireText(p.Wire.Header), p.Wire.Max,
			p.Wire.HeaderLen, p.Wire.Surplus)
	}
	for _, m := range p.Messages {
		d.line(1, "message %d %s%s id %d length %d..%d: %s", m.Index, m.Name, fieldsText(m.Fields),
			m.ID, m.MinLen, m.MaxLen, wireText(m.Layout))
	}
	for _, m := range p.Roles {
		d.machine(1, m)
	}
	for _, c := range p.Checks {
		d.line(1, "check %s channel %v %v %d expect %d quiet %s", c.Name, c.Channel.Ordered,
			c.Channel.Lossy, c.Channel.Capacity, len(c.Expect), exprText(c.Quiet))
		for _, in := range c.Instances {
			d.line(2, "instance %d %s: %s(%s)", in.Index, in.Name, in.Role.Name, exprsText(in.Args))
		}
		for _, r := range c.Rules {
			d.line(2, "rule %s when %s times %d locals %d", r.Command.Name, exprText(r.When),
				r.Times, r.Locals)
			if r.Fair != "" {
				d.line(3, "fair %s", r.Fair)
			}
			for _, ev := range r.Or {
				d.line(3, "or %s", ev.Name)
			}
		}
		for _, cl := range c.Claims {
			d.line(2, "claim %s kind %d when %s: %s [%s] quiescent=%v fair=%q except %q locals %d",
				cl.Name, cl.Kind, exprText(cl.When), exprText(cl.Expr),
				exprsText(cl.Exprs), cl.Quiescent, cl.Fair, cl.Except, cl.Locals)
		}
	}
}

// TestModel compares the whole model of a specification that has one of
// everything with what it was when a person last looked at it.
func TestModel(t *testing.T) {
	const golden = "testdata/kitchen/model.golden"
	p, l := Load("testdata/kitchen/spec.yaml", Options{})
	if p == nil {
		t.Fatal(l.Error())
	}
	var d dumper
	d.protocol(p)
	if *update {
		if err := os.WriteFile(golden, []byte(d.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	got, old := strings.Split(d.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(old)) {
		if i >= len(got) || i >= len(old) || got[i] != old[i] {
			t.Fatalf("line %d differs from %s\n got: %s\nwant: %s", i+1, golden, at(got, i), at(old, i))
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(nothing)"
}
