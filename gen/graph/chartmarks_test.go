package graph

import (
	"strings"
	"testing"

	"github.com/parley-go/parley/runtime/run"
)

// TestChartMarks: who is hostile, who is not there and what goes wrong is seen, and the chart says how.
func TestChartMarks(t *testing.T) {
	r := &run.Run{
		Instances: []run.Instance{{Name: "a", Start: "up"}, {Name: "b", Start: "up"}, {Name: "x", Hostile: true},
			{Name: "p"}, {Name: "q"}},
		Steps: []run.Step{
			{Who: 3, Kind: run.Come, Event: "comes", After: "up"},
			{Who: 1, Kind: run.Crash, Event: "crashes"},
			{Who: 0, Kind: run.LinkLost, From: 1, Event: "the link to b is lost"},
			{Who: 1, Kind: run.Restart, Event: "begins again"},
			{Who: 3, Kind: run.Go, Event: "goes"},
		},
	}
	svg := ChartSVG(r.Chart())
	wellFormed(t, svg)
	// b between crash and restart, p before it comes and after it has gone, q always.
	if n := strings.Count(svg, `stroke-dasharray="2 5"`); n != 4 {
		t.Errorf("%d dotted pieces of lifelines, want 4\n%s", n, svg)
	}
	if n := strings.Count(svg, `stroke="`+badColour+`"`+dashed); n != 1 {
		t.Errorf("%d heads are those of somebody hostile", n)
	}
	for _, want := range []string{`fill="` + badColour + `" paint-order="stroke" stroke="#ffffff" stroke-width="3.5" ` +
		`stroke-linejoin="round">crashes<`, "hostile, it has no machine", "nobody is there, or it has crashed"} {
		if !strings.Contains(svg, want) {
			t.Errorf("there is no %s in\n%s", want, svg)
		}
	}
	if mermaid := ChartMermaid(r.Chart()); !strings.Contains(mermaid, "as x (hostile)") {
		t.Error(mermaid)
	}
	calm := ChartSVG(crossing())
	if strings.Contains(calm, "hostile") || strings.Contains(calm, "nobody is there") {
		t.Errorf("a legend of what is not there:\n%s", calm)
	}
}

// TestChartTextsAreBesideArrows: in a middle column the texts of a step are on the other side of its arrows.
func TestChartTextsAreBesideArrows(t *testing.T) {
	c := &run.Chart{Instances: []string{"a", "b", "c"}, Steps: []run.ChartStep{
		{Who: 2, Event: "ask", Sends: []run.Sent{{ID: 1, To: 1, Text: "ONE"}}},
		{Who: 1, Event: "ONE", Receives: 1, Sends: []run.Sent{{ID: 2, To: 2, Text: "TWO"}}},
		{Who: 0, Event: "ask", Sends: []run.Sent{{ID: 3, To: 1, Text: "THREE"}}},
		{Who: 1, Event: "THREE", Receives: 3},
		{Who: 2, Event: "TWO", Receives: 2},
	}}
	l := layoutChart(c)
	for i, want := range []bool{false, true, true, false, false} {
		if l.left[i] != want {
			t.Errorf("step %d: to the left %v, want %v", i, l.left[i], want)
		}
	}
	if left := l.x[1] - boldWidth("ONE", 12) - 16; left < l.x[0] {
		t.Error("no room for the texts to the left of the second column")
	}
}

// TestNothingCrossesWhatTheHostileHear: of a message to somebody hostile nobody knows when it is heard.
func TestNothingCrossesWhatTheHostileHear(t *testing.T) {
	c := &run.Chart{Instances: []string{"a", "x"}, Hostile: []bool{false, true}, Steps: []run.ChartStep{
		{Who: 0, Event: "ask", Sends: []run.Sent{{ID: 1, To: 1, Text: "ONE"}}},
		{Who: 1, Sends: []run.Sent{{ID: 2, To: 0, Text: "TWO"}}},
		{Who: 0, Event: "TWO", Receives: 2},
	}}
	for _, hostile := range []bool{true, false} {
		c.Hostile[1] = hostile
		if got := flights(c)[1].crossings; got == hostile {
			t.Errorf("hostile %v: TWO crosses ONE: %v", hostile, got)
		}
	}
}
