package interp

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/model"
)

// TestChanges: elements of arrays and maps, fields and variables of parts have names of their own;
// lists, sets and what comes or goes are wholes.
func TestChanges(t *testing.T) {
	ship := &model.Type{Kind: model.KindEnum, Names: []string{"none", "orz", "vux"}}
	entry := &model.Type{Kind: model.KindRecord,
		Fields: fields("slot", ranged(2, 5), "ships", &model.Type{Kind: model.KindList, Cap: 3, Elem: ship})}
	m, _ := setupPeer(ranged(0, 9))
	m.Vars = []*model.Var{
		{Name: "fleet", Type: &model.Type{Kind: model.KindArray, Index: ranged(2, 4), Elem: ship}},
		{Name: "both", Type: &model.Type{Kind: model.KindArray, Index: boolType, Elem: optional(entry)}},
		{Name: "text", Type: &model.Type{Kind: model.KindBytes, Cap: 9}},
		{Name: "left", Type: &model.Type{Kind: model.KindSet, Elem: ranged(-2, 2)}},
	}
	m.Events = nil
	layout(m, m.Messages)
	var strs Strings
	a := must(NewValue(m, &strs))
	set := func(v Value, name, text string) Value {
		d := m.Vars[slices.IndexFunc(m.Vars, func(d *model.Var) bool { return d.Name == name })]
		v = slices.Clone(v)
		copy(v[d.Offset:], must(ParseValue(d.Type, &strs, text)))
		return v
	}
	check := func(a, b Value, want ...string) {
		t.Helper()
		var got []string
		for _, x := range Changes(&strs, m, a, b) {
			got = append(got, fmt.Sprintf("%s: %s → %s", x.Name, x.Before, x.After))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	check(a, a)
	check(a, set(a, "fleet", "[none, vux, orz]"), "fleet[3]: none → vux", "fleet[4]: none → orz")
	b := set(a, "both", "[none, {slot: 2, ships: [orz]}]")
	check(a, b, "both[true]: none → {slot: 2, ships: [orz]}")
	check(b, set(b, "both", "[none, {slot: 3, ships: [orz, vux]}]"), "both[true].slot: 2 → 3",
		"both[true].ships: [orz] → [orz, vux]")
	check(set(a, "left", "[-1]"), set(set(a, "left", "[-1, 2]"), "text", `"a b"`), `text: "" → "a b"`,
		"left: [-1] → [-1, 2]")
	p := m.Parts[0]
	b = slices.Clone(a)
	b[p.Offset+p.Machine.Size+p.Machine.Vars[0].Offset] = 1
	b[p.Offset] = 1 // a state is no variable
	v := p.Machine.Vars[0]
	check(a, b, PartName(At{Part: p, Index: 1})+"."+v.Name+": "+
		string(AppendValue(nil, &strs, v.Type, a[p.Offset+p.Machine.Size+v.Offset:]))+" → "+
		string(AppendValue(nil, &strs, v.Type, b[p.Offset+p.Machine.Size+v.Offset:])))
}
