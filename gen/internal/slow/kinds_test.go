package slow_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/internal/slow"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"pgregory.net/rapid"
)

// drawClaims draws a machine with what claims can say of two instances of it.
func drawClaims(t *rapid.T) *drawer {
	d := drawMachine(t, false)
	if d.part != nil {
		d.m.Parts = []*model.Part{d.part}
	}
	d.locals, d.offset, d.frame, d.sender = nil, 0, 0, nil
	for i, name := range []string{"a", "b"} {
		d.insts = append(d.insts, &model.Instance{Name: name, Index: i, Role: d.m})
	}
	return d
}

// lengthOf makes up how many messages are under way.
func lengthOf(l *model.ChanLen) int64 {
	return int64(l.From.Index + 2*l.To.Index + 4*l.Message.Index)
}

// TestClaims draws conditions of claims and compares what both make of them.
func TestClaims(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawClaims(t)
		strs := &interp.Strings{}
		x := interp.Eval{Strings: strs, ChanLen: lengthOf}
		for range d.insts {
			v := make([]int64, d.m.Size+1)
			d.fillMachine(strs, d.m, v)
			v[d.m.Size] = int64(d.pick(2, "down"))
			x.Instances = append(x.Instances, v)
		}
		for range 20 {
			e := d.expr(d.types[d.pick(len(d.types), "type")], 4)
			code := core.Of(e)
			got := make([]int64, code.Node().Slots)
			err := x.Into(code, got, nil, make([]int64, d.frame))
			want, wantErr := slow.Eval(e, strs, nil, nil, nil, x.Instances, lengthOf)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) || err == nil && !slices.Equal(got, want) {
				t.Fatalf("%s\n got %v %v\nwant %v %v", model.ExprString(e), got, err, want, wantErr)
			}
		}
	})
}

// TestSubstituted puts numbers in place of a local: the copy must mean what the expression means
// with that number in the local, and what the core says of the copy must hold.
func TestSubstituted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawMachine(t, true)
		l := &model.Local{Name: "l", Type: d.number(), Offset: 0}
		d.locals, d.offset, d.frame = []*model.Local{l}, 1, 1
		strs := &interp.Strings{}
		v := make(interp.Value, d.m.Size)
		d.fillMachine(strs, d.m, v)
		x := interp.Eval{Strings: strs}
		for range 20 {
			code := core.Of(d.expr(d.types[d.pick(len(d.types), "type")], 4))
			n := rapid.Int64Range(l.Type.Lo, l.Type.Hi).Draw(t, "number")
			copied := core.Substitute(code, l, n)
			if slices.Contains(core.Free(copied), l) {
				t.Fatalf("%s still reads the local", model.ExprString(code.Node().From))
			}
			evaluate := func(e core.Expr) ([]int64, error) {
				got, frame := make([]int64, e.Node().Slots), make([]int64, d.frame)
				frame[0] = n
				return got, x.Into(e, got, v, frame)
			}
			want, wantErr := evaluate(code)
			got, err := evaluate(copied)
			b := copied.Node()
			switch {
			case fmt.Sprint(err) != fmt.Sprint(wantErr) || err == nil && !slices.Equal(got, want):
				t.Fatalf("%s with %d\n got %v %v\nwant %v %v", model.ExprString(b.From), n, got, err, want, wantErr)
			case err != nil && !b.CanFail:
				t.Fatalf("%s with %d fails: %v", model.ExprString(b.From), n, err)
			case err == nil && b.T.Kind == model.KindInt && !b.In.Has(got[0]):
				t.Fatalf("%s with %d = %d is outside %v", model.ExprString(b.From), n, got[0], b.In)
			}
		}
	})
}

// kinds lists what files declare: types with one of the bases, by name, and constants of one of the
// types, as "type number" with their names.
func kinds(t *testing.T, pkg string, bases, types []string, files ...string) map[string]string {
	out := map[string]string{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			typ, at := "", 0
			for i, spec := range gen.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					if slices.Contains(bases, embedded(s)) {
						out["*"+pkg+"."+s.Name.Name] = s.Name.Name
					}
				case *ast.ValueSpec:
					if ident, ok := s.Type.(*ast.Ident); ok && gen.Tok == token.CONST {
						typ, at = ident.Name, -i
						if _, sum := s.Values[0].(*ast.BinaryExpr); sum { // iota + 1
							at++
						}
					}
					if slices.Contains(types, typ) {
						out[fmt.Sprintf("%s.%s %d", pkg, typ, at+i)] = s.Names[0].Name
					}
				}
			}
		}
	}
	if len(out) < 10 {
		t.Fatal(pkg, out)
	}
	return out
}

// embedded names what a struct embeds first; "" if it embeds nothing.
func embedded(s *ast.TypeSpec) string {
	if st, ok := s.Type.(*ast.StructType); ok && len(st.Fields.List) > 0 {
		if f := st.Fields.List[0]; len(f.Names) == 0 {
			return fmt.Sprint(f.Type)
		}
	}
	return ""
}

// TestKinds asks that machines and claims are drawn with every kind of expression and statement, of
// the model and of the core, and with every operation: who adds one sees that it is not compared
// yet.
func TestKinds(t *testing.T) {
	want := kinds(t, "model", []string{"ExprBase", "StmtBase"}, []string{"Op", "Builtin", "Dest"},
		"../../model/code.go")
	for k, name := range kinds(t, "core", []string{"Base", "StmtBase"}, []string{"Op", "Form", "How", "What"},
		"../../core/core.go", "../../core/op.go") {
		want[k] = name
	}
	seen := map[string]int{}
	number := func(v any) { seen[fmt.Sprintf("%T %d", v, v)]++ }
	expr := func(e core.Expr) {
		core.Walk(e, func(e core.Expr) {
			from := e.Node().From
			seen[fmt.Sprintf("%T", e)]++
			seen[fmt.Sprintf("%T", from)]++
			switch e := e.(type) {
			case *core.Apply:
				number(e.Op)
			case *core.If:
				number(e.Form)
			case *core.Fold:
				number(e.How)
			case *core.Read:
				number(e.What)
			}
			switch from := from.(type) {
			case *model.Unary:
				number(from.Op)
			case *model.Binary:
				number(from.Op)
			case *model.Call:
				number(from.Fn)
			}
		})
	}
	stmt := func(s core.Stmt) {
		seen[fmt.Sprintf("%T", s)]++
		seen[fmt.Sprintf("%T", s.Node().From)]++
		if e, ok := s.(*core.Emit); ok {
			number(e.Dest)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		d := drawClaims(t)
		for range 150 {
			expr(core.Of(d.expr(d.types[d.pick(len(d.types), "type")], 4)))
		}
		for _, m := range core.Machines(d.m) {
			m.Each(stmt, expr)
		}
	})
	var never []string
	for k, name := range want {
		t.Log(seen[k], name)
		if seen[k] == 0 {
			never = append(never, name+" ("+strings.TrimPrefix(k, "*")+")")
		}
	}
	if len(never) > 0 {
		slices.Sort(never)
		t.Errorf("never drawn, so no evaluator is compared on it: %s", strings.Join(never, ", "))
	}
	for k := range seen {
		if want[k] == "" {
			t.Errorf("%s is drawn and not in the list of what there is", k)
		}
	}
}
