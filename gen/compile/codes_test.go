package compile

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/lint"
)

// exampleFiles turns a code's example into the files it stands for.
func exampleFiles(i diag.Info) (main string, fsys fstest.MapFS) {
	fsys = fstest.MapFS{"base.yaml": {Data: []byte(diag.Base)}}
	a := txtar.Parse([]byte(i.Example))
	if len(a.Files) == 0 {
		text := i.Example
		if !strings.HasPrefix(text, "protocol:") {
			text = "protocol: demo\nextends: base.yaml\n" + text
		}
		a.Files = []txtar.File{{Name: "spec.yaml", Data: []byte(text)}}
	}
	for _, f := range a.Files {
		fsys[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	return a.Files[0].Name, fsys
}

func TestBaseIsClean(t *testing.T) {
	_, l := Load("base.yaml", Options{FS: fstest.MapFS{"base.yaml": {Data: []byte(diag.Base)}}, More: lint.Whole})
	if len(l) > 0 {
		t.Fatalf("the base of the examples has findings:\n%s", l.Error())
	}
}

// TestExamples runs the example of every code: it must give that code, and nothing
// that has no code in the table.
func TestExamples(t *testing.T) {
	for _, info := range diag.Codes() {
		t.Run(info.Code, func(t *testing.T) {
			main, fsys := exampleFiles(info)
			o := Options{FS: fsys, Check: info.Check, More: lint.Whole}
			if info.Const != "" {
				o.Consts = map[string]int64{info.Const: 1}
			}
			_, l := Load(main, o)
			found := false
			for _, d := range l {
				if d.Code == info.Code {
					found = true
					if (d.Severity == diag.Warning) != info.Warning {
						t.Errorf("%s: the table says warning: %v", d, info.Warning)
					}
				}
				if _, ok := diag.Lookup(d.Code); !ok {
					t.Errorf("%s: the code is not in the table", d)
				}
				if d.Severity == diag.Error && d.Code != info.Code {
					t.Errorf("another error comes along: %s", d)
				}
			}
			if !found {
				t.Errorf("the example gives\n%s", l.Error())
			}
		})
	}
}
