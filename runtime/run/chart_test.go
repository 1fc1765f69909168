package run

import (
	"encoding/json"
	"strings"
	"testing"
)

// crossing is the classic: both sides agree while the other changes its mind.
func crossing() *Chart {
	return &Chart{
		Title:     "confirm, literal: no-half is violated",
		Instances: []string{"a", "b"},
		Start:     []string{"editing", "editing"},
		Steps: []ChartStep{
			{Who: 0, Event: "confirm", Sends: []Sent{{ID: 1, To: 1, Text: "CONFIRM1"}},
				State: "localOk", Where: "spec.yaml:38"},
			{Who: 1, Event: "change{item: 2}", Sends: []Sent{{ID: 2, To: 0, Text: "CHANGE{item: 2}"}}, State: "editing",
				Where: "spec.yaml:36"},
			{Who: 1, Event: "CONFIRM1", Receives: 1, State: "remoteOk", Where: "spec.yaml:37"},
			{Who: 0, Event: "CHANGE{item: 2}", Receives: 2, Sends: []Sent{{ID: 3, To: 1, Text: "CANCEL"}},
				Notes: []string{"report changed{item: 2}"}, State: "cancelWaiting"},
			{Who: 1, Event: "confirm", Sends: []Sent{{ID: 4, To: 0, Text: "CONFIRM2"}, {ID: 5, To: 0, Text: "READY"}},
				State: "committed"},
			{Who: -1, Lost: 5},
			{Who: 1, Event: "CANCEL", Receives: 3, Fault: "unspecified reception: committed does not expect CANCEL"},
		},
		End: "unspecified reception of CANCEL by b in committed",
	}
}

func TestChartText(t *testing.T) {
	want := `confirm, literal: no-half is violated

   a                        b
   [editing]                [editing]
1  confirm
   → CONFIRM1 (#1)
   [localOk]
2                           change{item: 2}
                            → CHANGE{item: 2} (#2)
3                           ← CONFIRM1 (#1)
                            [remoteOk]
4  ← CHANGE{item: 2} (#2)
   → CANCEL (#3)
   report changed{item: 2}
   [cancelWaiting]
5                           confirm
                            → CONFIRM2 (#4)
                            → READY (#5)
                            [committed]
6  ✗ READY (#5) is lost
7                           ← CANCEL (#3)
                            ✗ unspecified reception: committed does not expect CANCEL

unspecified reception of CANCEL by b in committed
`
	if got := crossing().Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestTextIsNarrow: where a chart made of letters is too wide, what stands in braces is shortened,
// and a fault reaches into the next column.
func TestTextIsNarrow(t *testing.T) {
	long := "A{one: {version: 10, game: \"\"}, two: 2, three: " + strings.Repeat("3", 60) + "}"
	c := &Chart{Instances: []string{"a", "b"}, Start: []string{"x", "y"}, Steps: []ChartStep{
		{Who: 0, Event: "go", Sends: []Sent{{ID: 1, To: 1, Text: long}}, Notes: []string{"reports r{n: 1}"},
			State: "z"},
		{Who: 1, Event: long, Receives: 1, Fault: strings.Repeat("f", 130)},
	}}
	want := `   a                                b
   [x]                              [y]
1  go
   → A{one: {version: 10, …}} (#1)
   reports r{n: 1}
   [z]
2                                   ← A{one: {version: 10, …}} (#1)
                                    ✗ ` + strings.Repeat("f", 130) + "\n"
	if got := c.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if c.Steps[0].Sends[0].Text != long || c.Start[0] != "x" {
		t.Error("drawing a chart changes it")
	}
}

// TestChartLoop: the steps that are repeated for ever are told from those before.
func TestChartLoop(t *testing.T) {
	c := &Chart{Instances: []string{"a", "b"}, Start: []string{"x", "y"}, Loop: 2, Steps: []ChartStep{
		{Who: 0, Event: "go", State: "z"},
		{Who: 0, Event: "again", Sends: []Sent{{ID: 1, To: 1, Text: "A"}}},
		{Who: Nobody, Lost: 1},
	}}
	want := `   a         b
   [x]       [y]
1  go
   [z]
   for ever:
2  again
   → A (#1)
3  ✗ A (#1) is lost
   and again from 2
`
	if got := c.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestChartMonitors: a chart says what a monitor of several instances makes of a step, and JSON keeps it; what a
// machine changes stays inside.
func TestChartMonitors(t *testing.T) {
	r := &Run{Instances: []Instance{{Name: "a"}}, Steps: []Step{{Kind: Command, Event: "go", From: Nobody,
		Changes: []Change{{Name: "n", Before: "0", After: "1"},
			{Name: "order", Before: "right", After: "stale", Monitor: true}}}}}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	text := again.Chart().Text()
	if !strings.Contains(text, "monitor order: right → stale") || strings.Contains(text, "n:") {
		t.Error(text)
	}
}

// TestChartClock: time passes for all, in no column.
func TestChartClock(t *testing.T) {
	r := &Run{Instances: []Instance{{Name: "a"}, {Name: "b"}}, Steps: []Step{
		{Kind: Clock, Who: Nobody, From: Nobody, Event: "10 ticks pass"}}}
	if s := r.Chart().Steps[0]; s.Who != Nobody || len(s.Notes) != 1 {
		t.Errorf("%+v", s)
	}
}
