package picture

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/graph"
	"github.com/parley-go/parley/gen/model"
)

func machine() *model.Machine {
	s := &model.State{Name: "idle"}
	return &model.Machine{Name: "peer", States: []*model.State{s}, Initial: s}
}

// fakeDot puts a program named dot, written in sh, alone on the path.
func fakeDot(t *testing.T, script string) {
	t.Helper()
	sh, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Skip("there is no /bin/sh here")
	}
	dir := t.TempDir()
	if script != "" {
		if err := os.WriteFile(filepath.Join(dir, "dot"), []byte("#!"+sh+"\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

func TestWithoutDot(t *testing.T) {
	fakeDot(t, "")
	if _, err := Render(context.Background(), machine(), PNG, graph.Options{}); !errors.Is(err, ErrNoDot) {
		t.Errorf("PNG without dot: %v, want ErrNoDot", err)
	}
	svg, err := Render(context.Background(), machine(), SVG, graph.Options{})
	if err != nil || !strings.HasPrefix(string(svg), "<svg ") {
		t.Errorf("SVG without dot: %v, %.20s", err, svg)
	}
}

func TestDotFails(t *testing.T) {
	fakeDot(t, "echo syntax error in line 3 >&2; exit 1")
	_, err := Render(context.Background(), machine(), SVG, graph.Options{})
	if err == nil || !strings.Contains(err.Error(), "syntax error in line 3") {
		t.Errorf("%v does not say what dot said", err)
	}
}

// A dot that never ends is ended with the context.
func TestDotHangs(t *testing.T) {
	fakeDot(t, "while :; do :; done")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Render(ctx, machine(), PNG, graph.Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the context was cancelled", err)
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
	if _, err := Render(context.Background(), machine(), "gif", graph.Options{}); err == nil {
		t.Error("an unknown format was drawn")
	}
}
