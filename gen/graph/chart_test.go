package graph

import (
	"encoding/xml"
	"errors"
	"fmt"
	"github.com/parley-go/parley/runtime/run"
	"io"
	"slices"
	"strings"
	"testing"
)

// crossing is the classic: both sides agree while the other changes its mind.
func crossing() *run.Chart {
	return &run.Chart{
		Title:     "confirm, literal: no-half is violated",
		Instances: []string{"a", "b"},
		Start:     []string{"editing", "editing"},
		Steps: []run.ChartStep{
			{Who: 0, Event: "confirm", Sends: []run.Sent{{ID: 1, To: 1, Text: "CONFIRM1"}}, State: "localOk",
				Where: "spec.yaml:38"},
			{Who: 1, Event: "change{item: 2}", Sends: []run.Sent{{ID: 2, To: 0, Text: "CHANGE{item: 2}"}},
				State: "editing", Where: "spec.yaml:36"},
			{Who: 1, Event: "CONFIRM1", Receives: 1, State: "remoteOk", Where: "spec.yaml:37"},
			{Who: 0, Event: "CHANGE{item: 2}", Receives: 2, Sends: []run.Sent{{ID: 3, To: 1, Text: "CANCEL"}},
				Notes: []string{"report changed{item: 2}"}, State: "cancelWaiting"},
			{Who: 1, Event: "confirm", Sends: []run.Sent{{ID: 4, To: 0, Text: "CONFIRM2"},
				{ID: 5, To: 0, Text: "READY"}}, State: "committed"},
			{Who: run.Nobody, Lost: 5},
			{Who: 1, Event: "CANCEL", Receives: 3, Fault: "unspecified reception: committed does not expect CANCEL"},
		},
		End: "unspecified reception of CANCEL by b in committed",
	}
}

// crowded has a step that sends many messages, and some that are still under way.
func crowded() *run.Chart {
	c := &run.Chart{Instances: []string{"h", "a", "b"}}
	fan := run.ChartStep{Who: 0, Event: "fleet"}
	for i := range 14 {
		fan.Sends = append(fan.Sends, run.Sent{ID: i + 1, To: 1, Text: fmt.Sprintf("FLEET{ship: %d}", i)})
	}
	c.Steps = append(c.Steps, fan)
	for i := range 14 {
		c.Steps = append(c.Steps, run.ChartStep{Who: 1, Event: fan.Sends[i].Text, Receives: i + 1})
	}
	c.Steps = append(c.Steps,
		run.ChartStep{Who: 2, Event: "sit", Sends: []run.Sent{{ID: 20, To: 0, Text: "IN{seat: 1}"}}},
		run.ChartStep{Who: 1, Event: "sit", Sends: []run.Sent{{ID: 21, To: 0, Text: "IN{seat: 0}"},
			{ID: 22, To: 2, Text: "HELLO{name: a}"}}},
		run.ChartStep{Who: 0, Event: "IN{seat: 1}", Receives: 20, Where: "spec.yaml:3"},
		run.ChartStep{Who: 0, Event: "IN{seat: 0}", Receives: 21, Where: "spec.yaml:3"},
		run.ChartStep{Who: 0, Event: "begin",
			Sends: []run.Sent{{ID: 23, To: 1, Text: "GO{seats: [0, 1]}"}, {ID: 24, To: 2, Text: "GO{seats: [0, 1]}"}}},
		run.ChartStep{Who: 2, Event: "leave",
			Sends: []run.Sent{{ID: 25, To: 0, Text: "BYE"}, {ID: 26, To: 1, Text: "BYE"}}})
	return c
}

// TestChartLabels: in a crowded chart no text of an arrow lies over another one, or over that of a
// step, and arrows come down.
func TestChartLabels(t *testing.T) {
	for _, c := range []*run.Chart{crowded(), crossing()} {
		l, drawn := drawChart(c)
		wellFormed(t, drawn)
		for _, f := range l.flights {
			for _, step := range f.received {
				if l.y[step] <= l.sendY(f) {
					t.Errorf("%s arrives at %.0f, before it is sent at %.0f", f.Text, l.y[step], l.sendY(f))
				}
			}
		}
		inside(t, l)
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
		if n := len(l.flights); len(l.texts) < n {
			t.Errorf("%d messages have %d texts", n, len(l.texts))
		}
	}
}

// inside checks that no text of an arrow is cut off at the border, if it has room at all.
func inside(t *testing.T, l *chartLayout) {
	t.Helper()
	for _, a := range l.texts {
		for _, x := range a.put {
			if (x.x1 < 0 || x.x2 > l.width) && textWidth(a.text, labelSize) < l.width/3 {
				t.Errorf("%s is at %.0f to %.0f, the picture has %.0f", a.text, x.x1, x.x2, l.width)
				break
			}
		}
	}
}

func TestChartCrossings(t *testing.T) {
	crossings := map[string]bool{}
	for _, f := range flights(crossing()) {
		crossings[f.Text] = f.crossings
	}
	want := map[string]bool{"CONFIRM1": true, "CHANGE{item: 2}": true, "CANCEL": true, "CONFIRM2": true, "READY": true}
	for m, w := range want {
		if crossings[m] != w {
			t.Errorf("%s crosses another message: %v, want %v", m, crossings[m], w)
		}
	}
	after := &run.Chart{Instances: []string{"a", "b"}, Steps: []run.ChartStep{
		{Who: 0, Event: "go", Sends: []run.Sent{{ID: 1, To: 1, Text: "A"}}},
		{Who: 1, Event: "A", Receives: 1, Sends: []run.Sent{{ID: 2, To: 0, Text: "B"}}},
		{Who: 0, Event: "B", Receives: 2},
	}}
	for _, f := range flights(after) {
		if f.crossings {
			t.Errorf("%s answers or is answered, and crosses nothing", f.Text)
		}
	}
}

// TestChartSVG looks at what must be there: well-formed XML, one arrow for each
// message, its two ends at the heights of their steps.
func TestChartSVG(t *testing.T) {
	c := crossing()
	got := ChartSVG(c)
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
	first := `<line x1="` + num(l.x[0]+5) + `" y1="` + num(l.y[0]) + `" x2="` + num(l.x[1]-5) + `" y2="` +
		num(l.y[2]) + `"`
	if !strings.Contains(got, first) {
		t.Errorf("CONFIRM1 does not slant from step 1 to step 3: no %s", first)
	}
	if got != ChartSVG(crossing()) {
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
	f.Add([]byte(`{"instances": [{"name": "a"}, {"name": "b"}], "steps": [
		{"instance": "a", "kind": "command", "event": "x", "sent": [{"id": 1, "to": "b", "text": "<&\""}]}, {"instance": "b", "kind": "message", "message": 1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := run.Parse(data)
		if err != nil {
			return
		}
		r.Text()
		c := r.Chart()
		c.Text()
		l, _ := drawChart(c)
		inside(t, l)
		ChartMermaid(c)
	})
}

// TestLongTexts: a picture is not wider than a screen or two, whatever a message holds, and
// pointing at a text that is cut shows all of it.
func TestLongTexts(t *testing.T) {
	long := "bring{entries: [" + strings.Repeat("Entry{item: 12, count: 3}, ", 14) + "]}"
	c := &run.Chart{Instances: []string{"a", "b"}, Start: []string{"idle", "idle"}, Steps: []run.ChartStep{
		{Who: 0, Event: long, State: "busy", Where: "spec.yaml:3",
			Sends: []run.Sent{{ID: 1, To: 1, Text: strings.ToUpper(long)}}, Notes: []string{"report " + long}},
		{Who: 1, Event: strings.ToUpper(long), Receives: 1, Fault: "this is wrong: " + long},
	}}
	text := ChartSVG(c)
	var width float64
	if _, err := fmt.Sscanf(text[strings.Index(text, ` width="`):], ` width="%f"`, &width); err != nil || width > 1600 {
		t.Errorf("the picture is %v wide, %v", width, err)
	}
	for _, tip := range []string{"<title>spec.yaml:3\n" + long, "<title>" + strings.ToUpper(long) + "</title>",
		"\nreport " + long + "</title>", "this is wrong: " + long} {
		if !strings.Contains(text, tip) {
			t.Errorf("no tip %q", tip)
		}
	}
	if c.Steps[0].Event != long {
		t.Error("the chart was changed")
	}
}

// TestBoldFits: what stands in bold letters at the left edge is reckoned as wide as such letters
// are, 0.7 em on average.
func TestBoldFits(t *testing.T) {
	c := crossing()
	fault := "committed does not expect one in phase two"
	c.Steps[0].Fault = fault
	l, _ := drawChart(c)
	if least := 0.64 * 12 * float64(len(fault)); l.x[0] < least {
		t.Errorf("the first lifeline is at %.1f, so that a bold text of about %.1f to its left is cut off",
			l.x[0], least)
	}
}

// TestChartLoop: what is repeated for ever has a frame around it, and only that.
func TestChartLoop(t *testing.T) {
	c := crossing()
	if text := ChartMermaid(c) + ChartSVG(c); strings.Contains(text, "for ever") {
		t.Errorf("a run that ends has a loop: %s", text)
	}
	c.Loop = 3
	drawn := ChartMermaid(c)
	before, inside, ok := strings.Cut(drawn, "    loop for ever\n")
	if !ok || !strings.Contains(before, "CHANGE{") || strings.Contains(before, "confirm") &&
		strings.Contains(before, "committed") || strings.Count(inside, "    end\n") != 1 {
		t.Errorf("%s", drawn)
	}
	l, svg := drawChart(c)
	wellFormed(t, svg)
	if !strings.Contains(svg, "loop: for ever") {
		t.Errorf("no frame: %s", svg)
	}
	for i, y := range l.y {
		if inLoop := i >= c.LoopFrom(); inLoop != (y > l.loop) {
			t.Errorf("step %d is at %v, the frame begins at %v", i, y, l.loop)
		}
	}
}

// TestChartChannels: of several channels each message has its own behind it, in letters, as a picture
// and for Mermaid; what
// arrives once more says so once.
func TestChartChannels(t *testing.T) {
	r := &run.Run{Instances: []run.Instance{{Name: "p"}, {Name: "h"}}, Steps: []run.Step{
		{Kind: run.Command, Who: 0, From: run.Nobody, Event: "move", Effects: []string{"sends MOVE{n: 1}"},
			Sent: []run.Sent{{ID: 1, To: 1, Text: "MOVE{n: 1}", Channel: "state"},
				{ID: 2, To: 1, Text: "JOIN", Channel: "control"},
				{ID: 3, To: 1, Text: "MOVE{n: 2}", Channel: "state"}}},
		{Kind: run.Copy, Who: 1, From: 0, Message: 1, Channel: "state", Event: "MOVE{n: 1}"},
		{Kind: run.Copy, Who: 1, From: 0, Message: 1, Channel: "state", Event: "MOVE{n: 1}"},
		{Kind: run.Message, Who: 1, From: 0, Message: 1, Channel: "state", Event: "MOVE{n: 1}"},
		{Kind: run.Lost, Who: 1, From: 0, Message: 3, Channel: "state", Event: "MOVE{n: 2}"},
	}}
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	c := r.Chart()
	for _, x := range []struct {
		drawn string
		want  map[string]int
	}{
		{c.Text(), map[string]int{"→ MOVE{n: 1} (#1, state)": 1, "← MOVE{n: 1} (#1, state)": 3,
			"→ JOIN (#2, control)": 1, "✗ MOVE{n: 2} (#3, state) is lost": 1}},
		{ChartSVG(c), map[string]int{">MOVE{n: 1} (state)<": 1, ">MOVE{n: 1} (state) (again)<": 2,
			">JOIN (control) (under way)<": 1, ">MOVE{n: 2} (state)<": 1}},
		{ChartMermaid(c), map[string]int{"p0->>p1: MOVE{n#58; 1} (state)": 3,
			"p0--)p1: JOIN (control) (under way)": 1, "p0-xp1: MOVE{n#58; 2} (state) (lost)": 1}},
	} {
		for text, n := range x.want {
			if got := strings.Count(x.drawn, text); got != n {
				t.Errorf("%q stands %d times, not %d, in\n%s", text, got, n, x.drawn)
			}
		}
	}
}

// TestChartUnderWay: of three columns what never arrives is a note of the step that sends it, with all who do not
// get it; of two it is an arrow.
func TestChartUnderWay(t *testing.T) {
	c := &run.Chart{Instances: []string{"a", "b", "c"}, Steps: []run.ChartStep{
		{Who: 0, Event: "go", Sends: []run.Sent{{ID: 1, To: 1, Text: "X"}, {ID: 2, To: 1, Text: "GO{n: 1}"},
			{ID: 3, To: 2, Text: "GO{n: 1}"}}},
		{Who: 1, Event: "X", Receives: 1}}}
	svg := ChartSVG(c)
	if !strings.Contains(svg, ">under way: GO to b, c<") || strings.Count(svg, "marker-end") != 1 {
		t.Error(svg)
	}
	c.Instances, c.Steps[0].Sends = c.Instances[:2], c.Steps[0].Sends[:2]
	if svg := ChartSVG(c); strings.Contains(svg, "under way: GO") || strings.Count(svg, "marker-end") != 2 {
		t.Error(svg)
	}
}

// TestTextsStayInside: a text beside a steep arrow lies over something rather than that the border cuts it off.
func TestTextsStayInside(t *testing.T) {
	p := &places{map[int][]area{}, map[int][]*segment{}}
	p.take(area{90, 0, 600, 400}) // all but a stretch at the left
	a := &along{segment: &segment{110, 0, 60, 400}, style: style{text: "SUBDUE_SLAVE{above: none}", at: 0.5}}
	a.write(&svg{}, p, 600)
	for _, x := range a.put {
		if x.x1 < 0 {
			t.Fatalf("it is at %+v", a.put)
		}
	}
}
