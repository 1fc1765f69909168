package interp_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// expressions says what expressions come to. Each is the value of a report in
// the course of a command of the machine in exprHead; `fault: ` begins the
// reason where there is none.
var expressions = []struct{ typ, expr, want string }{
	{"Int", "1 + 2 * 3 - 4", "3"},
	{"Int", "-7 / 2", "-3"},
	{"Int", "-7 % 2", "-1"},
	{"Int", "7 / zero", "fault: 7 / zero: division by zero"},
	{"Int", "7 % zero", "fault: 7 % zero: division by zero"},
	{"Small", "two + two", "fault: 4 is outside Small, 0..3"},
	{"bool", "false && 1 / zero == 0", "false"},
	{"bool", "true || 1 / zero == 0", "true"},
	{"bool", "false => 1 / zero == 0", "true"},
	{"bool", "true => false", "false"},
	{"bool", "!(1 < 2) || 2 <= 2 && 3 > 2 && 3 >= 3 && 1 != 2", "true"},
	{"Int", "if(zero == 0, 4, 1 / zero)", "4"},
	{"Int", "min(3, zero) + max(3, zero)", "3"},
	{"Ship", "vux", "vux"},
	{"bool", "ship == orz", "true"},
	{"Small?", "none", "none"},
	{"Small?", "2", "2"},
	{"bool", "maybe == none", "true"},
	{"bool", "there == 2", "true"},
	{"bool", "there == 7", "false"},
	{"bool", "maybe == 0", "false"},
	{"Small", "maybe", "fault: maybe is none"},
	{"Small", "there", "2"},
	{"Pair", "Pair{slot: 1, ship: vux}", "{slot: 1, ship: vux}"},
	{"Pair", "Pair{slot: two + two, ship: vux}", "fault: 4 is outside Small, 0..3"},
	{"Ship", "first(pairs).ship", "vux"},
	{"Ship", "grid[2]", "orz"},
	{"Ship", "grid[big]", "fault: grid[big]: index 3000000000 is outside 0..3"},
	{"Small", "nums[1]", "3"},
	{"Small", "nums[2]", "fault: nums[2]: index 2 is outside a list of 2"},
	{"Int", "len(nums) + len(tail(nums)) + len(some)", "5"},
	{"Nums", "append(nums, 2)", "[1, 3, 2]"},
	{"Nums", "append(append(nums, 2), 2)", "fault: append(nums, 2) is full with 3 elements"},
	{"Nums", "append(nums, two + two)", "fault: 4 is outside Small, 0..3"},
	{"Nums", "tail(tail(tail(nums)))", "fault: tail(tail(nums)) is empty"},
	{"Small", "first(tail(tail(nums)))", "fault: tail(tail(nums)) is empty"},
	{"Nums", "without(nums, 1)", "[3]"},
	{"Nums", "[zero, 1]", "[0, 1]"},
	{"Nums", "[x for x in Low]", "[0, 1]"},
	{"Nums", "[x - 1 for x in nums]", "[0, 2]"},
	{"bool", "contains(nums, 3) && !contains(nums, 2) && !contains(nums, big)", "true"},
	{"bool", "3 in nums && zero in [0, 9] && !(big in some)", "true"},
	{"Some", "with(some, 3)", "[0, 2, 3]"},
	{"Some", "with(some, two + two)", "fault: no element of the set: 4 is outside Small, 0..3"},
	{"Some", "without(some, 0)", "[2]"},
	{"Some", "without(some, big)", "[0, 2]"},
	{"bool", "all(x in nums: x > 0) && !all(x in Small: x > 0)", "true"},
	{"bool", "some(x in nums: x == 3) && !some(x in Low: x > 1)", "true"},
	{"bool", "some(x in Small: x == 1 || 1 / (x - 2) > 5)", "true"},
	{"bool", "all(x in nums: some(y in Small: y + 1 == x || y == x))", "true"},
	{"bool", "idle && !other && !wake", "true"},
	{"Word", `"hi"`, `"hi"`},
	{"bool", `word == ""`, "true"},
	{"bool", "nums == [1, 3] && some == [2, 0] && pairs == [Pair{slot: 0, ship: vux}]", "true"},
}

const exprHead = `
protocol: exprs
types:
  Int: -1099511627776..1099511627776
  Small: 0..3
  Low: 0..1
  Ship: {enum: [orz, vux]}
  Word: text 5
  Pair: {record: {slot: Small, ship: Ship}}
  Nums: {list: Small, max: 3}
  Pairs: {list: Pair, max: 2}
  Grid: {array: Small, of: Ship}
  Some: {set: Small}
messages: {NOTHING: }
tick: 1s
roles:
  peer:
    vars:
      zero: 0..3000000000
      two: {type: 0..3, init: 2}
      big: {type: 0..3000000000, init: 3000000000}
      ship: Ship
      maybe: Small?
      there: {type: "Small?", init: 2}
      nums: {type: Nums, init: "[1, 3]"}
      some: {type: Some, init: "[0, 2]"}
      pairs: {type: Pairs, init: "[Pair{slot: 0, ship: vux}]"}
      grid: Grid
      word: Word
    timers: {wake: {ticks: 1}}
    commands:
`

func compileExprs(t *testing.T) *model.Machine {
	t.Helper()
	var b strings.Builder
	b.WriteString(exprHead)
	for i := range expressions {
		fmt.Fprintf(&b, "      c%d: {}\n", i)
	}
	b.WriteString("    reports:\n")
	for i, e := range expressions {
		fmt.Fprintf(&b, "      r%d: {fields: {v: \"%s\"}}\n", i, e.typ)
	}
	b.WriteString("    initial: idle\n    states:\n      other: {}\n      idle:\n")
	for i, e := range expressions {
		fmt.Fprintf(&b, "        c%d: {report: 'r%d{v: %s}'}\n", i, i, e.expr)
	}
	p, list := compile.Load("x.yaml", compile.Options{FS: fstest.MapFS{"x.yaml": {Data: []byte(b.String())}}})
	if p == nil {
		var text strings.Builder
		for _, d := range list {
			fmt.Fprintln(&text, d)
		}
		t.Fatal(text.String())
	}
	return p.Roles[0]
}

func TestExpressions(t *testing.T) {
	m := compileExprs(t)
	strs := &interp.Strings{}
	v, err := interp.NewValue(m, strs)
	if err != nil {
		t.Fatal(err)
	}
	x := interp.New(m, strs)
	for i, e := range expressions {
		ev, err := interp.ParseEvent(m, strs, fmt.Sprint("c", i))
		if err != nil {
			t.Fatal(err)
		}
		_, effects, _, fault := x.Step(v, ev)
		got := ""
		if fault != nil {
			got = "fault: " + fault.Reason
		} else {
			got = strings.TrimPrefix(string(interp.AppendEffect(nil, strs, &effects[0])),
				fmt.Sprintf("report r%d{v: ", i))
			got = strings.TrimSuffix(got, "}")
		}
		if got != e.want {
			t.Errorf("%s: %s\n got %s\nwant %s", e.typ, e.expr, got, e.want)
		}
	}
}
