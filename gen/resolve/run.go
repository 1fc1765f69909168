package resolve

import (
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/expr"
	"github.com/parley-go/parley/gen/model"
)

// ownPart resolves a part of this machine with its keys. keys is nil where none are
// written; ok is false after an error.
func (w *stmts) ownPart(n expr.Node) (p *model.Part, keys []model.Expr, ok bool) {
	id, args, indexed := splitKeys(n)
	if id == nil {
		w.r.Errorf("FSM061", n.Pos(), "a part is needed here: part or part[key]")
		return nil, nil, false
	}
	p, isPart := w.ro.values[id.Name].(*model.Part)
	if w.ro.taken[id.Name] {
		return nil, nil, false
	}
	if !isPart {
		w.r.unknownAt("FSM021", id.Pos(), id.Name, "part", w.ro.partNames())
		return nil, nil, false
	}
	w.r.use(p.Span)
	w.r.refer(id.Pos(), p.Span)
	if p.Machine == nil {
		return nil, nil, false
	}
	if !indexed {
		return p, nil, true
	}
	keys = w.keys(p, args, n.Pos())
	return p, keys, keys != nil
}

func (w *stmts) run(v *ast.Node) model.Stmt {
	x := w.r.parse(v)
	if x == nil {
		return nil
	}
	if r := w.runExpr(x, v.Span()); r != nil {
		return r
	}
	return nil
}

// runExpr resolves part[keys].EVENT{fields}.
func (w *stmts) runExpr(x expr.Node, at diag.Span) *model.Run {
	target, given := splitLiteral(x)
	sel, ok := target.(*expr.Select)
	if !ok {
		w.r.Errorf("FSM062", x.Pos(), "`run` needs part.EVENT or part.EVENT{field: value}")
		return nil
	}
	p, keys, ok := w.ownPart(sel.X)
	if !ok {
		return nil
	}
	if keys == nil && len(p.Keys) > 0 {
		w.r.Errorf("FSM061", sel.X.Pos(), "part %s has several instances; say which", diag.Quote(p.Name)).With(keysHint(p))
		return nil
	}
	child := w.r.info[p.Machine]
	ev := child.events[sel.Name]
	if ev == nil || !forwarded(ev.Kind) && ev.Kind != model.EventCommand {
		w.r.unknownAt("FSM062", sel.NamePos, sel.Name, "message or command of part "+diag.Quote(p.Name)+" named", child.runnable())
		return nil
	}
	w.r.refer(sel.NamePos, ev.Span)
	args := w.fieldValues(given, ev.Fields, eventWord(ev.Kind)+" "+diag.Quote(ev.Name), x.Pos())
	if args == nil {
		return nil
	}
	return &model.Run{StmtBase: model.StmtBase{Span: at}, Part: p, Keys: keys, Event: ev, Args: args}
}

func (w *stmts) restart(v *ast.Node, base model.StmtBase) model.Stmt {
	x := w.r.parse(v)
	if x == nil {
		return nil
	}
	p, keys, ok := w.ownPart(x)
	if !ok {
		return nil
	}
	return &model.Restart{StmtBase: base, Part: p, Keys: keys}
}
