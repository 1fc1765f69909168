package graph

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
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
			{Who: 0, Event: "confirm", Sends: []ChartMessage{{1, 1, "CONFIRM1"}}, State: "localOk", Where: "spec.yaml:38"},
			{Who: 1, Event: "change{item: 2}", Sends: []ChartMessage{{2, 0, "CHANGE{item: 2}"}}, State: "editing", Where: "spec.yaml:36"},
			{Who: 1, Event: "CONFIRM1", Receives: 1, State: "remoteOk", Where: "spec.yaml:37"},
			{Who: 0, Event: "CHANGE{item: 2}", Receives: 2, Sends: []ChartMessage{{3, 1, "CANCEL"}}, Notes: []string{"report changed{item: 2}"}, State: "cancelWaiting"},
			{Who: 1, Event: "confirm", Sends: []ChartMessage{{4, 0, "CONFIRM2"}, {5, 0, "READY"}}, State: "committed"},
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

// crowded has a step that sends many messages, and some that are still under way.
func crowded() *Chart {
	c := &Chart{Instances: []string{"h", "a", "b"}}
	fan := ChartStep{Who: 0, Event: "fleet"}
	for i := range 14 {
		fan.Sends = append(fan.Sends, ChartMessage{i + 1, 1, fmt.Sprintf("FLEET{ship: %d}", i)})
	}
	c.Steps = append(c.Steps, fan)
	for i := range 14 {
		c.Steps = append(c.Steps, ChartStep{Who: 1, Event: fan.Sends[i].Text, Receives: i + 1})
	}
	c.Steps = append(c.Steps,
		ChartStep{Who: 2, Event: "sit", Sends: []ChartMessage{{20, 0, "IN{seat: 1}"}}},
		ChartStep{Who: 1, Event: "sit", Sends: []ChartMessage{{21, 0, "IN{seat: 0}"}, {22, 2, "HELLO{name: a}"}}},
		ChartStep{Who: 0, Event: "IN{seat: 1}", Receives: 20, Where: "spec.yaml:3"},
		ChartStep{Who: 0, Event: "IN{seat: 0}", Receives: 21, Where: "spec.yaml:3"},
		ChartStep{Who: 0, Event: "begin", Sends: []ChartMessage{{23, 1, "GO{seats: [0, 1]}"}, {24, 2, "GO{seats: [0, 1]}"}}},
		ChartStep{Who: 2, Event: "leave", Sends: []ChartMessage{{25, 0, "BYE"}, {26, 1, "BYE"}}})
	return c
}

// TestChartLabels: in a crowded chart no text of an arrow lies over another one, or over that of a step, and arrows come down.
func TestChartLabels(t *testing.T) {
	for _, c := range []*Chart{crowded(), crossing()} {
		l, drawn := c.draw()
		wellFormed(t, drawn)
		for _, f := range l.flights {
			for _, step := range f.received {
				if l.y[step] <= l.sendY(f) {
					t.Errorf("%s arrives at %.0f, before it is sent at %.0f", f.Text, l.y[step], l.sendY(f))
				}
			}
		}
		for i, a := range l.texts {
			for _, b := range l.texts[:i] {
				for _, x := range a.put {
					if slices.ContainsFunc(b.put, x.meets) {
						t.Errorf("%s lies over %s", a.text, b.text)
						break
					}
				}
			}
			for _, x := range a.put {
				taken := 0
				for _, o := range l.taken.boxes[int(x.y1/stretch)] {
					if x.meets(o) && !slices.Contains(a.put, o) {
						taken++
					}
				}
				if taken > 0 {
					t.Errorf("%s lies over something", a.text)
				}
			}
		}
		if n := len(c.flights()); len(l.texts) < n {
			t.Errorf("%d messages have %d texts", n, len(l.texts))
		}
	}
}

func TestChartCrossings(t *testing.T) {
	crossings := map[string]bool{}
	for _, f := range crossing().flights() {
		crossings[f.Text] = f.crossings
	}
	want := map[string]bool{"CONFIRM1": true, "CHANGE{item: 2}": true, "CANCEL": true, "CONFIRM2": true, "READY": true}
	for m, w := range want {
		if crossings[m] != w {
			t.Errorf("%s crosses another message: %v, want %v", m, crossings[m], w)
		}
	}
	after := &Chart{Instances: []string{"a", "b"}, Steps: []ChartStep{
		{Who: 0, Event: "go", Sends: []ChartMessage{{1, 1, "A"}}},
		{Who: 1, Event: "A", Receives: 1, Sends: []ChartMessage{{2, 0, "B"}}},
		{Who: 0, Event: "B", Receives: 2},
	}}
	for _, f := range after.flights() {
		if f.crossings {
			t.Errorf("%s answers or is answered, and crosses nothing", f.Text)
		}
	}
}

func TestChartCheck(t *testing.T) {
	if err := crossing().Check(); err != nil {
		t.Fatal(err)
	}
	bad := map[string]string{
		`{"instances": []}`:                                                                                          "0 instances",
		`{"instances": ["a"], "steps": [{"who": 3}]}`:                                                                "instance 3 does not exist",
		`{"instances": ["a"], "steps": [{"who": 0, "receives": 9}]}`:                                                 "received before it was sent",
		`{"instances": ["a"], "steps": [{"who": -1, "lost": 4}]}`:                                                    "lost before it was sent",
		`{"instances": ["a"], "steps": [{"who": 0, "sends": [{"id": 1, "to": 7}]}]}`:                                 "receivers exist",
		`{"instances": ["a", "b"], "steps": [{"who": 0, "sends": [{"id": 1, "to": 1}]}, {"who": 0, "receives": 1}]}`: "was sent to b",
		`{"instances": ["a", "b"], "steps": [{"who": 0, "sends": [{"id": 1, "to": 1}, {"id": 1, "to": 1}]}]}`:        "sent twice",
		`[`: "not a chart",
	}
	for text, want := range bad {
		if _, err := ParseChart([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want …%s…", text, err, want)
		}
	}
}

// TestChartSVG looks at what must be there: well-formed XML, one arrow for each
// message, its two ends at the heights of their steps.
func TestChartSVG(t *testing.T) {
	c := crossing()
	got := c.SVG()
	wellFormed(t, got)
	if n := strings.Count(got, "marker-end"); n != 5 {
		t.Errorf("%d arrows for 5 messages", n)
	}
	l := layoutChart(c)
	for i := 1; i < len(l.y); i++ {
		if l.y[i] <= l.y[i-1] {
			t.Errorf("step %d is not below step %d", i+1, i)
		}
	}
	first := `<line x1="` + num(l.x[0]+5) + `" y1="` + num(l.y[0]) + `" x2="` + num(l.x[1]-5) + `" y2="` + num(l.y[2]) + `"`
	if !strings.Contains(got, first) {
		t.Errorf("CONFIRM1 does not slant from step 1 to step 3: no %s", first)
	}
	if got != crossing().SVG() {
		t.Error("two drawings of one chart differ")
	}
}

func wellFormed(t *testing.T, text string) {
	t.Helper()
	for dec := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("not well-formed: %v\n%s", err, text)
		}
	}
}

func FuzzChart(f *testing.F) {
	f.Add([]byte(`{"instances": ["a", "b"], "steps": [{"who": 0, "event": "x", "sends": [{"id": 1, "to": 1, "text": "<&\""}]}, {"who": 1, "receives": 1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ParseChart(data)
		if err != nil {
			return
		}
		c.Text()
		c.SVG()
		c.Mermaid()
	})
}

// TestLongTexts: a picture is not wider than a screen or two, whatever a message holds, and pointing at a
// text that is cut shows all of it.
func TestLongTexts(t *testing.T) {
	long := "bring{entries: [" + strings.Repeat("Entry{item: 12, count: 3}, ", 14) + "]}"
	c := &Chart{Instances: []string{"a", "b"}, Start: []string{"idle", "idle"}, Steps: []ChartStep{
		{Who: 0, Event: long, State: "busy", Where: "spec.yaml:3", Sends: []ChartMessage{{ID: 1, To: 1, Text: strings.ToUpper(long)}}, Notes: []string{"report " + long}},
		{Who: 1, Event: strings.ToUpper(long), Receives: 1, Fault: "this is wrong: " + long},
	}}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	text := c.SVG()
	var width float64
	if _, err := fmt.Sscanf(text[strings.Index(text, ` width="`):], ` width="%f"`, &width); err != nil || width > 1600 {
		t.Errorf("the picture is %v wide, %v", width, err)
	}
	for _, tip := range []string{"<title>spec.yaml:3\n" + long, "<title>" + strings.ToUpper(long) + "</title>", "\nreport " + long + "</title>", "this is wrong: " + long} {
		if !strings.Contains(text, tip) {
			t.Errorf("no tip %q", tip)
		}
	}
	if c.Steps[0].Event != long {
		t.Error("the chart was changed")
	}
}

// TestTextIsNarrow: where a chart made of letters is too wide, what stands in braces is shortened, and a fault reaches into the next column.
func TestTextIsNarrow(t *testing.T) {
	long := "A{one: {version: 10, game: \"\"}, two: 2, three: " + strings.Repeat("3", 60) + "}"
	c := &Chart{Instances: []string{"a", "b"}, Start: []string{"x", "y"}, Steps: []ChartStep{
		{Who: 0, Event: "go", Sends: []ChartMessage{{ID: 1, To: 1, Text: long}}, Notes: []string{"reports r{n: 1}"}, State: "z"},
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
