package explain

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
)

// TestLayoutAddsUp: where no part of a frame varies, the table's rows are together as long as the
// frame, in every specification; and what a frame has of the link's stands in it.
func TestLayoutAddsUp(t *testing.T) {
	files, err := filepath.Glob("../../../../specs/*/spec.yaml")
	if err != nil || len(files) < 15 {
		t.Fatal(files, err)
	}
	files = append(files, "../../../../proptest/conform/testdata/corners/spec.yaml")
	fixed, all := 0, ""
	for _, file := range files {
		p, list := compile.Load(file, compile.Options{})
		if p == nil {
			t.Fatal(list)
		}
		for _, m := range p.Messages {
			w := p.WireOf(m)
			if w == nil || w.Lines {
				continue
			}
			l := layOut(w, m)
			all += l.b.String()
			switch {
			case l.varies && l.at > m.MaxLen:
				t.Errorf("%s, %s: %d bytes in a frame of at most %d:\n%s", file, m.Name, l.at,
					m.MaxLen, l.b.String())
			case !l.varies && (l.at != m.MinLen || l.at != m.MaxLen):
				t.Errorf("%s, %s: %d bytes in a frame of %d to %d:\n%s", file, m.Name, l.at,
					m.MinLen, m.MaxLen, l.b.String())
			case !l.varies:
				fixed++
			}
		}
	}
	if fixed < 40 {
		t.Errorf("only %d frames of fixed length", fixed)
	}
	for _, what := range []string{"CRC-32 of the frame", "counted up by the link",
		"put in by the link", "whether it is there", "rows:"} {
		if !strings.Contains(all, what) {
			t.Errorf("no frame has %q", what)
		}
	}
}

// TestLineLayout: a message of a protocol of lines is shown as its line.
func TestLineLayout(t *testing.T) {
	p, list := compile.Load("../../../../specs/registration/spec.yaml", compile.Options{})
	if p == nil {
		t.Fatal(list)
	}
	for _, m := range p.Messages {
		if m.Name == "LOCATION" {
			if got, want := layout(p, m), "\nline of 9 to 136 bytes, its end included\n\n"+
				"`"; !strings.HasPrefix(got, want) || !strings.Contains(got, "{") {
				t.Errorf("%q", got)
			}
			return
		}
	}
	t.Error("no LOCATION")
}
