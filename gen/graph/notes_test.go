package graph

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
)

// role compiles a specification of the repository and returns one of its roles.
func role(t *testing.T, file, name string) (*model.Protocol, *model.Machine) {
	t.Helper()
	p, list := compile.Load("../../specs/"+file+"/spec.yaml", compile.Options{})
	if p == nil {
		t.Fatal(list)
	}
	for _, m := range p.Roles {
		if m.Name == name {
			return p, m
		}
	}
	t.Fatalf("%s has no role %s", file, name)
	return nil, nil
}

func noteText(d *diagram, head string) string {
	var b strings.Builder
	for _, n := range d.notes {
		if n.head == head {
			for _, r := range n.rows {
				b.WriteString(r.text() + "\n")
			}
		}
	}
	return b.String()
}

// TestNotesOfProtocols: what a picture cannot draw as states stands beside them.
func TestNotesOfProtocols(t *testing.T) {
	for _, x := range []struct{ file, role, head, want string }{
		{"library/gne", "client", "channels", "events (in order, loses nothing): EXIT, ENTER, ENTERED\n" +
			"places (any order, may lose and repeat): PLACE\n"},
		{"library/socks5", "client", "phases of a stream", "greeting: METHODS (→ request), METHOD (→ request)\n" +
			"request: LOGIN, STATUS, REQUEST (→ data), REPLY (→ data)\ndata: bytes that are no messages\n"},
		{"library/socks5", "client", "tagged unions", "REQUEST, REPLY\n   kind ipv4: four\n   kind domain: name\n" +
			"   kind ipv6: six\n"},
		{"library/lookuptcp", "client", "tagged unions", "MESSAGE.answers, MESSAGE.authority, MESSAGE.additional\n" +
			"   kind 1: address\n   kind 5: target\n   else: data\n"},
		{"library/socks5", "client", "channels", ""},
		{"ready", "peer", "tagged unions", ""},
		{"ready", "peer", "phases of a stream", ""},
	} {
		p, m := role(t, x.file, x.role)
		if got := noteText(build(m, Options{Protocol: p}), x.head); got != x.want {
			t.Errorf("%s: the note on %s reads\n%s\nwant\n%s", x.file, x.head, got, x.want)
		}
	}
}

// TestMonitorsAreMachines: beside a role stand the monitors that watch it, with all their states and edges, each
// once, and an event has the colour of what it is to the program.
func TestMonitorsAreMachines(t *testing.T) {
	p, cache := role(t, "library/mesi", "cache")
	d := build(cache, Options{Protocol: p})
	if len(d.frames) != 1 || !d.frames[0].monitor || d.frames[0].name != "monitor order" {
		t.Fatalf("frames: %+v", d.frames)
	}
	f := d.frames[0]
	var rows, states []string
	for _, r := range f.rows {
		rows = append(rows, r.text())
	}
	if got := strings.Join(rows, "; "); got !=
		"watches c; in checks two, three; what was written last, by whichever processor" {
		t.Errorf("the frame says %s", got)
	}
	for _, b := range d.boxes {
		if b.in == f {
			states = append(states, b.name)
		}
	}
	if got := strings.Join(states, " "); got != "right stale" {
		t.Errorf("the states of the monitor are %s", got)
	}
	e := d.edges[len(d.edges)-1]
	if d.boxes[e.from].name != "right" || d.boxes[e.to].name != "stale" ||
		e.lines[0].text() != "c.has [data != last]" || e.tone != told {
		t.Errorf("the edge of the monitor: %+v", e)
	}
	if d.boxes[f.initial].name != "right" {
		t.Errorf("it begins in %s", d.boxes[f.initial].name)
	}
	_, bus := role(t, "library/mesi", "bus")
	if d := build(bus, Options{Protocol: p}); len(d.frames) != 0 {
		t.Errorf("the bus is watched: %+v", d.frames[0])
	}
	dot, svg, mermaid := DOT(cache, Options{Protocol: p}), SVG(cache, Options{Protocol: p}),
		Mermaid(cache, Options{Protocol: p})
	wellFormed(t, svg)
	initial := "s" + num(float64(f.initial))
	for name, found := range map[string]bool{
		"dot":     strings.Contains(dot, "start0 -> "+initial+" "),
		"mermaid": strings.Contains(mermaid, "        [*] --> "+initial+"\n"),
		"svg":     strings.Count(svg, "<circle") == 2,
	} {
		if !found {
			t.Errorf("%s: nothing says where the monitor begins", name)
		}
	}
}

// TestLongConditionsHaveANumber: a condition that is too long for a label stands whole in a note, and each number
// that a label has is there.
func TestLongConditionsHaveANumber(t *testing.T) {
	p, m := role(t, "startup", "peer")
	d := build(m, Options{Protocol: p})
	note := noteText(d, "conditions")
	all := strings.Join(strings.Fields(note), " ")
	numbers := 0
	for _, tr := range m.Transitions {
		if tr.When == nil {
			continue
		}
		text := model.ExprString(tr.When)
		if utf8.RuneCountInString(text) > longest && !strings.Contains(all, text) {
			t.Errorf("the note lacks %s", text)
		}
	}
	text := Mermaid(m, Options{Protocol: p})
	for n := 1; strings.Contains(note, num(float64(n))+": "); n++ {
		numbers++
		if !strings.Contains(text, "condition "+num(float64(n))) {
			t.Errorf("nothing has condition %d", n)
		}
	}
	if numbers < 2 || strings.Contains(text, "…]") {
		t.Errorf("%d conditions, or one is cut:\n%s", numbers, text)
	}
	whole := build(m, Options{Protocol: p, Detail: Everything})
	if noteText(whole, "conditions") != "" {
		t.Error("with everything there are numbers")
	}
}

// TestShortenClosesBrackets: what is cut does not read as if it ended there.
func TestShortenClosesBrackets(t *testing.T) {
	for _, x := range []struct {
		text string
		n    int
		want string
	}{
		{"asked{name: 1}", 20, "asked{name: 1}"},
		{"asked{name, reads: true, options}", 22, "asked{name, reads: …}"},
		{"f(a[1], g{x: 2, y: 3})", 17, "f(a[1], g{x: 2, …})"},
		{`say{text: "a { b, and so on", more}`, 24, `say{text: "a { b, and …"}`},
		{"a && b && c && d && e", 14, "a && b && c …"},
	} {
		if got := shorten(x.text, x.n); got != x.want {
			t.Errorf("%s is cut to %s, want %s", x.text, got, x.want)
		}
	}
}

// TestDocLines: the line below the title ends with a sentence, and is not wider than asked for.
func TestDocLines(t *testing.T) {
	for _, x := range []struct {
		doc   string
		lines int
		end   string
	}{
		{"", 0, ""},
		{"Short.", 1, "Short."},
		{strings.Repeat("A sentence of some words. ", 20), 3, "words."},
		{strings.Repeat("no end of words ", 40), 3, "…"},
	} {
		got := (&diagram{doc: strings.TrimSpace(x.doc)}).docLines(60)
		if len(got) != x.lines || x.lines > 0 && !strings.HasSuffix(got[len(got)-1], x.end) {
			t.Errorf("%q", got)
		}
		for _, l := range got {
			if utf8.RuneCountInString(l) > 60 {
				t.Errorf("too long: %q", l)
			}
		}
	}
}
