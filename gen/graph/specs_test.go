package graph_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/graph"
	"github.com/parley-go/parley/gen/model"
)

// TestSpecsSayEverything draws every machine of the repository and looks for
// every event of every state: what is left out of a picture is said nowhere.
// Unfolded and with names only, so that each state has to say it itself.
func TestSpecsSayEverything(t *testing.T) {
	for file, p := range specs(t) {
		for _, m := range p.Roles {
			text := graph.Mermaid(m, graph.Options{Detail: graph.Names, Unfold: true})
			for i, s := range m.States {
				own := linesOf(text, i)
				for _, h := range s.Handlers {
					if h != nil && !strings.Contains(own, h.Event.Name) {
						t.Errorf("%s: the picture of %s does not say what %s does with %s", file, m.Name,
							s.Name, h.Event.Name)
					}
				}
			}
		}
	}
}

// linesOf returns the lines that begin with state number i: its rows and its edges.
func linesOf(text string, i int) string {
	var b strings.Builder
	name := "s" + strconv.Itoa(i)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, name+" :") || strings.HasPrefix(line, name+" -->") {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// TestSpecsDraw gives the picture of every machine to Graphviz, and draws it ourselves.
func TestSpecsDraw(t *testing.T) {
	dot, err := exec.LookPath("dot")
	for file, p := range specs(t) {
		for _, m := range p.Roles {
			source := graph.DOT(m, graph.Options{})
			if source != graph.DOT(m, graph.Options{}) {
				t.Errorf("%s: two pictures of %s differ", file, m.Name)
			}
			if svg := graph.SVG(m, graph.Options{}); !strings.HasSuffix(svg, "</svg>\n") ||
				strings.Contains(svg, "NaN") {
				t.Errorf("%s: the SVG of %s is not whole", file, m.Name)
			}
			if err != nil {
				continue
			}
			cmd := exec.Command(dot, "-Tcanon")
			cmd.Stdin = strings.NewReader(source)
			if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "Warning:") {
				t.Errorf("%s: dot: %v\n%s", file, err, out)
			}
		}
	}
}

// specs loads the specifications; variants, too, if tests have all the time they want.
func specs(t *testing.T) map[string]*model.Protocol {
	t.Helper()
	pattern := "../../specs/*/spec.yaml"
	if os.Getenv("PARLEY_LONG") != "" {
		pattern = "../../specs/*/*.yaml"
	}
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no specifications found: %v", err)
	}
	list := map[string]*model.Protocol{}
	for _, f := range files {
		if _, err := os.Stat(f); err != nil {
			continue
		}
		p, found := compile.Load(f, compile.Options{})
		if p == nil {
			t.Logf("%s is not drawn, it does not compile (a finding of gen/compile's tests): %v", f, found[0])
			continue
		}
		list[f] = p
	}
	if 2*len(list) < len(files) {
		t.Fatalf("only %d of %d specifications compile", len(list), len(files))
	}
	return list
}

// TestConstants: constants stand in guards and effects by the names that the author gave them.
func TestConstants(t *testing.T) {
	const text = `protocol: tries
consts: {most: 3, step: 2}
types: {N: 0..9, Id: opaque u8}
messages: {ASK: {fields: {k: N, id: Id}}}
roles:
  peer:
    vars: {n: N}
    initial: a
    states:
      a: {ASK: {when: n + step < 2 * most && n != 7, set: {n: n + step}, send: "ASK{k: most, id: step}", goto: b}}
      b: {}
`
	p, l := compile.Load("s.yaml", compile.Options{FS: fstest.MapFS{"s.yaml": {Data: []byte(text)}}})
	if p == nil {
		t.Fatal(l.Error())
	}
	tr := p.Roles[0].Transitions[0]
	if got := model.ExprString(tr.When) + " / " + model.StmtsString(tr.Body); got != "n + step < 2 * most "+
		"&& n != 7 / {set: {n: n + step}}, {send: ASK{k: most, id: step}}" {
		t.Error(got)
	}
	if dot := graph.DOT(p.Roles[0], graph.Options{}); !strings.Contains(dot, "most") {
		t.Errorf("the drawing does not say `most`:\n%s", dot)
	}
}

// TestChannelsNote: of several channels a note tells which messages go over which.
func TestChannelsNote(t *testing.T) {
	for file, want := range map[string]bool{"../../specs/library/gne/spec.yaml": true,
		"../../specs/ready/spec.yaml": false} {
		p, list := compile.Load(file, compile.Options{})
		if p == nil {
			t.Fatal(list)
		}
		o := graph.Options{Protocol: p}
		dot, svg, mermaid := graph.DOT(p.Roles[0], o), graph.SVG(p.Roles[0], o), graph.Mermaid(p.Roles[0], o)
		for _, text := range []string{dot, svg, mermaid} {
			plain := strings.NewReplacer("#58;", ":", "</tspan><tspan", " ").Replace(text)
			if got := strings.Contains(plain, "channels<") || strings.Contains(plain, "— channels —\n"); got != want {
				t.Errorf("%s: a note: %v\n%s", file, got, text)
			}
			if got := strings.Contains(plain, "places"); got != want {
				t.Errorf("%s: places: %v\n%s", file, got, text)
			}
		}
	}
}

// TestChecksNote: a note tells what checks have happen to a role.
func TestChecksNote(t *testing.T) {
	for _, x := range []struct {
		file, role string
		want, not  []string
	}{
		{"../../specs/library/ntp/spec.yaml", "client", []string{"a hostile server:"},
			[]string{"comes and goes"}},
		{"../../specs/masterserver/spec.yaml", "gameserver", []string{"comes and goes: visitors", "crashes:"}, nil},
		{"../../specs/lobby/spec.yaml", "player", []string{"somebody hostile in its place:"}, nil},
		{"../../specs/library/changroberts/spec.yaml", "node", nil, []string{"in checks"}},
	} {
		p, list := compile.Load(x.file, compile.Options{})
		if p == nil {
			t.Fatal(list)
		}
		i := slices.IndexFunc(p.Roles, func(m *model.Machine) bool { return m.Name == x.role })
		if i < 0 {
			t.Fatalf("%s has no role %s", x.file, x.role)
		}
		m := p.Roles[i]
		text := graph.Mermaid(m, graph.Options{Protocol: p})
		text = strings.ReplaceAll(text, "#58;", ":")
		for _, want := range x.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the picture of %s does not say %q:\n%s", x.file, x.role, want, text)
			}
		}
		for _, not := range x.not {
			if strings.Contains(text, not) {
				t.Errorf("%s: the picture of %s says %q:\n%s", x.file, x.role, not, text)
			}
		}
	}
}
