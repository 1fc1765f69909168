package demo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-go/parley/cmd/internal/traffic"
	"github.com/parley-go/parley/proptest/race"
)

func TestDemo(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector makes the two million configurations of the demo take minutes; its parts " +
			"have tests of their own")
	}
	dir, checked := filepath.Join(t.TempDir(), "out"), Protocols
	if !race.Long() {
		checked = checked[:3] // the last has nearly all of the configurations
	}
	var out strings.Builder
	ok, err := guide(t.Context(), &out, dir, checked)
	if err != nil || !ok {
		t.Fatalf("%v, %v\n%s", ok, err, out.String())
	}
	for _, want := range []string{checked[len(checked)-1] + " ", "violated: same-value",
		"ACCEPTED, the capture is a run of netplay", "3,630 frames", "in all."} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the demo does not say %q:\n%s", want, out.String())
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ready.svg", "netplay.svg", "counterexample.svg", "match.svg"} {
		svg, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(svg), "<svg") {
			t.Errorf("%s: %v, %d bytes", name, err, len(svg))
		}
		if !strings.Contains(string(page), name) {
			t.Errorf("the page does not show %s", name)
		}
	}
}

// A folder that cannot be made is an error, not a panic or a demo without pictures.
func TestNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), &strings.Builder{}, filepath.Join(file, "out")); err == nil {
		t.Error("no error")
	}
}

// TestRecordsAreWhole: when one record of the match cannot be written, none is there in part.
func TestRecordsAreWhole(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "connector.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	tr := &tour{ctx: t.Context(), out: &strings.Builder{}, dir: dir}
	if err := tr.play(); err == nil || !strings.Contains(err.Error(), "connector.jsonl") {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"acceptor.jsonl", "match.pcapng"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
}

// What fails is said on the last screen and by the result.
func TestFailuresAreTold(t *testing.T) {
	var out strings.Builder
	tr := &tour{out: &out}
	tr.fail("the %s does not hold", "sky")
	tr.real = &traffic.Report{}
	tr.sum("index.html")
	if !strings.Contains(out.String(), "✗ the sky does not hold") {
		t.Error(out.String())
	}
}
