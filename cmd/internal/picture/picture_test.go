package picture

import (
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/graph"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/run"
)

func machine() *model.Machine {
	s := &model.State{Name: "idle"}
	return &model.Machine{Name: "peer", States: []*model.State{s}, Initial: s}
}

// TestEveryFormat: each format is what it is called, without any program that could help.
func TestEveryFormat(t *testing.T) {
	t.Setenv("PATH", "")
	for format, begins := range map[string]string{DOT: "digraph ", SVG: "<svg ", PNG: "\x89PNG\r\n",
		Mermaid: "stateDiagram"} {
		data, err := Render(machine(), format, graph.Options{})
		if err != nil || !strings.HasPrefix(string(data), begins) {
			t.Errorf("%s: %v, %.20q", format, err, data)
		}
	}
	data, err := Chart(&run.Chart{Instances: []string{"a"}})
	if err != nil || !strings.HasPrefix(string(data), "\x89PNG") {
		t.Errorf("a chart: %v, %.20q", err, data)
	}
}

func TestFormats(t *testing.T) {
	for _, f := range Formats {
		if got := FormatOf("a.b/c" + Ending(f)); got != f {
			t.Errorf("the ending %s means %q, want %q", Ending(f), got, f)
		}
	}
	if FormatOf("a.gif") != "" || FormatOf("svg") != "" {
		t.Error("an ending that is no format has one")
	}
	if _, err := Render(machine(), "gif", graph.Options{}); err == nil {
		t.Error("an unknown format was drawn")
	}
}
