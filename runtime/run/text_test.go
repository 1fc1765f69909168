package run

import (
	"strings"
	"testing"
)

// TestColumns: what is too long for its column stands above or below, and does not widen the others.
func TestColumns(t *testing.T) {
	long := "A{" + strings.Repeat("x: 1, ", 12) + "x: 1}"
	r := &Run{Instances: []Instance{{Name: "a"}}, Steps: []Step{
		{From: Nobody, Kind: Command, Event: "go", State: "idle", Where: "f:1", Effects: []string{"sends B"}},
		{From: Nobody, Kind: Message, Event: long, State: "idle → done", Where: "f:2",
			Effects: []string{"sends " + long, "reports " + long}},
		{From: Nobody, Kind: Message, Event: long},
		{From: Nobody, Kind: Command, Event: "go", State: strings.Repeat("s", stateWidth+1), Fault: "wrong"},
	}}
	var b strings.Builder
	r.table(&b, r.Steps, 0, false)
	want := `1. a: go   idle          sends B   (f:1)
2. a ← LONG
           idle → done             (f:2)
     sends LONG
     reports LONG
3. a ← LONG
4. a: go                 ✗ wrong
     ` + strings.Repeat("s", stateWidth+1) + "\n"
	if got := strings.ReplaceAll(b.String(), long, "LONG"); got != want {
		t.Errorf("%s\nnot\n%s", got, want)
	}
}

// TestWrapped: a long line goes on further in, is broken between words, and loses nothing.
func TestWrapped(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"short", "  short\n"},
		{strings.Repeat("ä", textWidth-2), "  " + strings.Repeat("ä", textWidth-2) + "\n"},
		{strings.Repeat("x", 200), "  " + strings.Repeat("x", 200) + "\n"},
		{strings.Repeat("x", 200) + " y", "  " + strings.Repeat("x", 200) + "\n      y\n"},
		{"a " + strings.Repeat("x", 117) + " n: 12", "  a " + strings.Repeat("x", 117) + "\n      n: 12\n"},
		{strings.Repeat("x", 122) + "   " + strings.Repeat("y", 118),
			"  " + strings.Repeat("x", 122) + "\n      " + strings.Repeat("y", 118) + "\n"},
	} {
		var b strings.Builder
		if wrapped(&b, c.line, 2); b.String() != c.want {
			t.Errorf("%s\nnot\n%s", b.String(), c.want)
		}
	}
}

// TestChangeLines: many changes are wrapped and cut, and of long lists the elements that stay are
// left out, unless all is asked for.
func TestChangeLines(t *testing.T) {
	long := "[{sent: 3, commands: 0, sum: 0}, {sent: 2, commands: 0, sum: 0}"
	var many []Change
	for _, name := range strings.Fields("a b c d e f g h i j k l m n o p q r s t u v w x y z") {
		many = append(many, Change{Name: "player[" + name + "]", Before: "none", After: "orz"})
	}
	for _, c := range []struct {
		list []Change
		all  bool
		want string
	}{
		{nil, false, ""},
		{[]Change{{Name: "fleet[2]", Before: "none", After: "orz"}, {Name: "x", Before: "1", After: "2"}},
			false, "fleet[2]: none → orz; x: 1 → 2"},
		{[]Change{{Name: "q", Before: long + "]", After: long + ", {sent: 0, commands: 0, sum: 0}]"}}, false,
			"q: […] → […, {sent: 0, commands: 0, sum: 0}]"},
		{[]Change{{Name: "q", Before: `["a, [", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"]`,
			After: `["a, ["]`}}, false, `q: […, "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"] → ["a, ["]`},
		{many[:5], false, "player[a]: none → orz; player[b]: none → orz; player[c]: none → orz; player[d]: " +
			"none → orz\nplayer[e]: none → orz"},
	} {
		if got := strings.Join(changeLines(c.list, c.all), "\n"); got != c.want {
			t.Errorf("%s\nnot\n%s", got, c.want)
		}
	}
	if got := changeLines(many, false); len(got) != changesLines || !strings.HasSuffix(got[2], "; … 14 more") {
		t.Errorf("%q", got)
	}
	if got := changeLines(many, true); len(got) != 7 || strings.Contains(strings.Join(got, ""), "…") {
		t.Errorf("%q", got)
	}
}

// TestLongRunsHaveNoChart: a chart of letters ends to help where it is longer than a page.
func TestLongRunsHaveNoChart(t *testing.T) {
	r := &Run{Instances: []Instance{{Name: "a"}}}
	for n := 1; n <= maxTextChart+1; n++ {
		r.Steps = append(r.Steps, Step{Kind: Command, Event: "go", After: "drawn"})
		if has := strings.Contains(r.Text(), "[drawn]"); has != (n <= maxTextChart) {
			t.Errorf("%d steps: chart is %v", n, has)
		}
	}
}
