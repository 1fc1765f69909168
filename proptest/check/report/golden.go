package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/runtime/run"
)

// Expected counterexamples are kept beside the specification, one text for each
// claim that a check expects to be violated:
//
//	specs/confirm/documented.yaml → specs/confirm/expected/documented.pair.no-half.txt

// goldenDir is the folder of expected counterexamples of a specification.
func goldenDir(spec string) string { return filepath.Join(filepath.Dir(spec), "expected") }

func variant(spec string) string { return strings.TrimSuffix(filepath.Base(spec), ".yaml") }

// goldens are the texts that should be kept for the specification, by file
// name. Checks that were cut short are left alone.
func (r *SuiteReport) goldens() map[string]string {
	out := map[string]string{}
	for _, c := range r.Checks {
		if c.Ended != "" {
			continue
		}
		for _, cl := range c.Claims {
			if cl.Expected && cl.Result == Violated && cl.Counterexample != nil {
				out[fmt.Sprintf("%s.%s.%s.txt", variant(r.Spec), c.Check, cl.Name)] = cl.Counterexample.Text()
			}
		}
	}
	return out
}

// kept lists the files kept for the checks in r.
func (r *SuiteReport) kept() ([]string, error) {
	entries, err := os.ReadDir(goldenDir(r.Spec))
	if os.IsNotExist(err) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		for _, c := range r.Checks {
			if c.Ended == "" && strings.HasPrefix(e.Name(), variant(r.Spec)+"."+c.Check+".") &&
				strings.HasSuffix(e.Name(), ".txt") {
				names = append(names, e.Name())
			}
		}
	}
	return names, err
}

// CompareExpected compares the expected counterexamples with those kept beside the specification
// and describes the differences.
func (r *SuiteReport) CompareExpected() ([]string, error) {
	want := r.goldens()
	kept, err := r.kept()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range kept {
		if _, ok := want[name]; !ok {
			out = append(out, name+" is kept, but there is no such counterexample any more")
		}
	}
	for name, text := range want {
		old, err := files.Read(filepath.Join(goldenDir(r.Spec), name), maxGolden)
		switch {
		case os.IsNotExist(err):
			out = append(out, name+" is not kept yet")
		case err != nil:
			return nil, err
		case string(old) != text:
			out = append(out, name+" differs; the counterexample is now\n"+text)
		}
	}
	slices.Sort(out)
	return out, nil
}

// UpdateExpected writes the expected counterexamples beside the specification,
// removes those that are no longer found, and returns the names of the files that changed.
func (r *SuiteReport) UpdateExpected() ([]string, error) {
	want := r.goldens()
	kept, err := r.kept()
	if err != nil {
		return nil, err
	}
	var changed []string
	for _, name := range kept {
		if _, ok := want[name]; !ok {
			changed = append(changed, name)
			if err := os.Remove(filepath.Join(goldenDir(r.Spec), name)); err != nil {
				return nil, err
			}
		}
	}
	for name, text := range want {
		file := filepath.Join(goldenDir(r.Spec), name)
		if old, err := files.Read(file, maxGolden); err == nil && string(old) == text {
			continue
		}
		if err := files.WriteAll([]files.File{{Path: file, Content: []byte(text)}}); err != nil {
			return nil, err
		}
		changed = append(changed, name)
	}
	slices.Sort(changed)
	return changed, nil
}

// maxGolden is the most bytes that are read of a run that is kept.
const maxGolden = 64 << 20

// WriteRuns writes every counterexample and witness of the suite into a folder: as text, and
// as JSON that fsmviz --seq draws. It returns the number of runs.
func (r *SuiteReport) WriteRuns(dir string) (int, error) {
	n := 0
	for _, c := range r.Checks {
		for _, cl := range c.Claims {
			for word, found := range map[string]*run.Run{"": cl.Counterexample, ".witness": cl.Witness} {
				if found == nil {
					continue
				}
				name := fmt.Sprintf("%s.%s.%s.%s%s", r.Protocol, variant(r.Spec), c.Check, cl.Name, word)
				if err := writeRun(found, filepath.Join(dir, name), name); err != nil {
					return n, err
				}
				n++
			}
		}
	}
	return n, nil
}

// writeRun writes a run as text and as JSON, with a title.
func writeRun(r *run.Run, path, title string) error {
	titled := *r
	titled.Title = title
	b, err := json.MarshalIndent(&titled, "", "  ")
	if err != nil {
		return err
	}
	return files.WriteAll([]files.File{{Path: path + ".txt", Content: []byte(r.Text())},
		{Path: path + ".json", Content: append(b, '\n')}})
}
