package interp

import (
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
	"pgregory.net/rapid"
)

// runScript gives a machine events as texts and returns, for each, the result,
// the effects and the machine afterwards.
func runScript(t *testing.T, m *model.Machine, v Value, lines ...string) []string {
	t.Helper()
	strs := &Strings{}
	var out []string
	for _, line := range lines {
		ev, err := ParseEvent(m, strs, line)
		if err != nil {
			t.Fatal(err)
		}
		next, effects, res, fault := New(m, strs).Step(v, ev)
		s := res.Code.String()
		for i := range effects {
			s += "; " + string(AppendEffect(nil, strs, &effects[i]))
		}
		if fault != nil {
			s += "; " + fault.Text()
		}
		v = slices.Clone(next)
		out = append(out, s+" | "+string(AppendMachine(nil, strs, m, v)))
	}
	return out
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("missing %q", want[i])
		case i >= len(want):
			t.Errorf("extra %q", got[i])
		case got[i] != want[i]:
			t.Errorf("line %d\n got %s\nwant %s", i+1, got[i], want[i])
		}
	}
}

func TestUpdate(t *testing.T) {
	m, _ := updatePeer(ranged(0, 3))
	v := must(NewValue(m, nil, []int64{0}))
	expect(t, runScript(t, m, v, "UPDATE{value: 1}", "change{value: 2}", "change{value: 2}", "UPDATE{value: 3}",
		"lost"),
		"took; send UPDATE{value: 1}; report changed{value: 1} | settled{wins: false, own: 1, sent: none}",
		"took; send UPDATE{value: 2} | open{wins: false, own: 2, sent: 2}",
		"refused; state open refuses change{value: 2}: state open has no branch for this change: the guard "+
			"at - does not hold; legal in open: UPDATE, change | open{wins: false, own: 2, sent: 2}",
		"took; report changed{value: 3} | settled{wins: false, own: 3, sent: none}",
		"ignored | settled{wins: false, own: 3, sent: none}")
}

func TestParts(t *testing.T) {
	m, _ := setupPeer(ranged(0, 3))
	v := must(NewValue(m, nil))
	before := "on{update: [settled{wins: true, own: 0, sent: none}, settled{wins: false, own: 0, sent: none}]}"
	if got := string(AppendMachine(nil, nil, m, v)); got != before {
		t.Errorf("new machine %s", got)
	}
	expect(t, runScript(t, m, v, "change{property: 1, value: 2}", "CHANGE{property: 1, value: 3}", "leave",
		"CHANGE{property: 0, value: 1}"),
		"took; send CHANGE{property: 1, value: 2} | on{update: [settled{wins: true, own: 0, sent: none}, "+
			"open{wins: false, own: 2, sent: 2}]}",
		"took; report changed{property: 1, value: 3} | on{update: [settled{wins: true, own: 0, sent: none}, "+
			"settled{wins: false, own: 3, sent: none}]}",
		"took | off{update: [settled{wins: true, own: 0, sent: none}, settled{wins: false, own: 3, sent: none}]}",
		"refused; state off refuses CHANGE{property: 0, value: 1}: state off does not mention "+
			"update.changed; legal in off: CHANGE | "+
			"off{update: [settled{wins: true, own: 0, sent: none}, settled{wins: false, own: 3, sent: none}]}")
}

// timed has a timer, entries, ignore, defer, refuse and a final state.
func timed() *model.Machine {
	m := machine("peer", "idle", "busy", "end")
	m.States[2].Final = true
	retry := &model.Timer{Name: "retry", Ticks: 3, Count: 1}
	m.Timers = []*model.Timer{retry}
	entered := &model.Report{Name: "entered"}
	m.Reports = []*model.Report{entered}
	m.Commands = []*model.Event{{Kind: model.EventCommand, Name: "go"}, {Kind: model.EventCommand, Name: "no"},
		{Kind: model.EventCommand, Name: "later"}}
	layout(m, nil)
	m.States[0].Entry = []model.Stmt{report(entered)}
	m.States[1].Entry = []model.Stmt{&model.StartTimer{Timer: retry}}
	on(m, "idle", "go", "busy", nil, nil)
	mode(m, "idle", "no", model.Ignore)
	mode(m, "idle", "later", model.Defer)
	on(m, "busy", "retry", "end", func(*model.Transition) model.Expr {
		return &model.Unary{ExprBase: model.ExprBase{T: boolType}, Op: model.OpNot,
			X: &model.TimerTest{ExprBase: model.ExprBase{T: boolType}, Timer: retry}}
	}, nil)
	on(m, "busy", "go", "idle", nil, func(*model.Transition) []model.Stmt {
		return []model.Stmt{&model.StopTimer{Timer: retry}, &model.StopTimer{Timer: retry}, &model.Close{}}
	})
	on(m, "busy", "no", "", nil, func(*model.Transition) []model.Stmt {
		return []model.Stmt{&model.StopTimer{Timer: retry},
			&model.Refuse{Reason: "not now",
				StmtBase: model.StmtBase{Span: diag.Span{File: "x.yaml", Start: diag.Pos{Line: 4, Col: 2}}}}}
	})
	return m
}

func TestTimers(t *testing.T) {
	m := timed()
	v := must(NewValue(m, nil))
	expect(t, runScript(t, m, v, "start", "retry", "no", "later", "go", "no", "go", "go", "retry", "retry",
		"go", "start"),
		"took; report entered | idle{retry: false}",
		"ignored | idle{retry: false}",
		"ignored | idle{retry: false}",
		"deferred | idle{retry: false}",
		"took; start retry | busy{retry: true}",
		"refused; state busy refuses no: state busy refuses no: not now (x.yaml:4:2); legal in busy: go, "+
			"no, retry | busy{retry: true}",
		"took; stop retry; close; report entered | idle{retry: false}",
		"took; start retry | busy{retry: true}",
		"took | end{retry: false}",
		"ignored | end{retry: false}",
		"refused; state end refuses go: state end does not mention go; legal in end: nothing | end{retry: false}",
		"took | end{retry: false}")
}

func TestFinishedComesBeforeReports(t *testing.T) {
	sub := timed()
	sub.States[2].Entry = []model.Stmt{report(sub.Reports[0])}
	m := machine("parent", "a", "b", "c")
	part := &model.Part{Name: "sub", Machine: sub}
	m.Parts = []*model.Part{part}
	m.Commands = []*model.Event{{Kind: model.EventCommand, Name: "go"}, {Kind: model.EventCommand, Name: "again"}}
	layout(m, nil)
	on(m, "a", "go", "", nil, func(*model.Transition) []model.Stmt {
		return []model.Stmt{&model.Run{Part: part, Event: event(sub, "go")}}
	})
	on(m, "a", "sub.finished", "b", nil, nil)
	on(m, "b", "sub.entered", "c", nil, nil)
	on(m, "c", "again", "", nil, func(*model.Transition) []model.Stmt {
		return []model.Stmt{&model.Restart{Part: part}}
	})
	on(m, "a", "again", "", nil, func(*model.Transition) []model.Stmt {
		return []model.Stmt{&model.Restart{Part: part}}
	})
	v := must(NewValue(m, nil))
	expect(t, runScript(t, m, v, "go", "again", "go", "sub.retry", "again"),
		"took; start sub.retry | a{sub: busy{retry: true}}",
		"took; stop sub.retry | a{sub: idle{retry: false}}",
		"took; start sub.retry | a{sub: busy{retry: true}}",
		"took | c{sub: end{retry: false}}",
		"took | c{sub: idle{retry: false}}")
}

func TestFaultKinds(t *testing.T) {
	m, _ := updatePeer(ranged(0, 3))
	v := must(NewValue(m, nil, []int64{0}))
	_, _, res, f := New(m, nil).Step(v, Event{Event: event(m, "change"), Args: []int64{9}})
	if res != (fsm.Result{Code: fsm.Refused, Transition: fsm.NoTransition}) || f.Kind != Failed ||
		!strings.Contains(f.Text(), "9 is outside 0..3") {
		t.Errorf("%v %s", res, f.Text())
	}
	next, effects, res, f := New(m, nil).Step(v, Event{Event: event(m, "change"), Args: []int64{2}})
	if res != (fsm.Result{Code: fsm.Took}) || f != nil || len(effects) != 1 || next[0] != 1 {
		t.Errorf("%v %v %v", next, effects, res)
	}
}

// TestRefusedLeavesValue gives random events and sees that a step is either
// taken, or leaves everything as it was; the given value is never written to.
func TestRefusedLeavesValue(t *testing.T) {
	value := ranged(0, 3)
	m, _ := setupPeer(value)
	rapid.Check(t, func(rt *rapid.T) {
		x := New(m, nil)
		v := must(NewValue(m, nil))
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			ev := Event{Event: rapid.SampledFrom(m.Events[1:5]).Draw(rt, "event")}
			for _, f := range ev.Event.Fields {
				ev.Args = append(ev.Args, rapid.Int64Range(f.Type.Lo, f.Type.Hi+1).Draw(rt, f.Name))
			}
			before := slices.Clone(v)
			next, effects, res, fault := x.Step(v, ev)
			if !slices.Equal(before, v) {
				rt.Fatalf("the step wrote to its value: %v became %v", before, v)
			}
			if res.Code != fsm.Took && (!slices.Equal(next, v) || len(effects) > 0) {
				rt.Fatalf("%v: %v, %d effects", res, next, len(effects))
			}
			if (res.Code == fsm.Refused) != (fault != nil) {
				rt.Fatalf("%v with fault %v", res, fault)
			}
			v = slices.Clone(next)
		}
	})
}

func TestDomains(t *testing.T) {
	ev := &model.Event{Name: "e", Fields: fields("b", boolType, "o", optional(ranged(1, 2)), "s",
		&model.Type{Kind: model.KindSet, Elem: boolType})}
	all, err := Domains(ev, 24)
	if err != nil || len(all) != 24 {
		t.Fatalf("%d tuples, %v", len(all), err)
	}
	seen := map[string]bool{}
	for _, a := range all {
		seen[string(appendFields(nil, nil, ev.Fields, a, true))] = true
	}
	if len(seen) != 24 || !seen["{b: true, o: 2, s: [false, true]}"] {
		t.Errorf("%d different tuples", len(seen))
	}
	if _, err := Domains(ev, 23); err == nil || !strings.Contains(err.Error(),
		"e has more than 23 different arguments") {
		t.Errorf("no limit: %v", err)
	}
	named := ranged(0, 70000)
	named.Name = "Number"
	for _, c := range []struct {
		t    *model.Type
		want string
	}{
		{ranged(0, 70000), "is written in place: name it (`types: {Name: 0..70000}`)"},
		{optional(ranged(0, 70000)), "is written in place: name it (`types: {Name: 0..70000}`)"},
		{named, "; give the type of field n a smaller domain in the check (`domains: {Number: 0..1}`)"},
		{optional(named), "; give the type of field n a smaller domain in the check (`domains: {Number: 0..1}`)"},
	} {
		if _, err := Domains(&model.Event{Fields: fields("n", c.t)}, 100); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("not said: %s; but: %v", c.want, err)
		}
	}
	list := &model.Type{Kind: model.KindList, Elem: ranged(0, 2), Cap: 2}
	if all, _ := Domains(&model.Event{Fields: fields("l", list)}, 100); len(all) != 13 {
		t.Errorf("%d lists", len(all))
	}
}
