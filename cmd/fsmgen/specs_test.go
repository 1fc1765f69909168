package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parley-go/parley/gen/parse"
	"github.com/parley-go/parley/proptest/race"
)

// TestSpecs holds the repository's own specifications: each is in its canonical form, and vet has
// nothing to say about any, variants left out unless tests have all the time they want.
func TestSpecs(t *testing.T) {
	files, err := expandFiles([]string{"../../specs"})
	if err != nil || len(files) < 20 {
		t.Fatalf("only %d specifications (%v)", len(files), err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out, found := parse.Format(f, text)
		if found.HasErrors() {
			t.Error(found.Error())
		} else if !bytes.Equal(text, out) {
			t.Errorf("run `fsmgen fmt -w specs`:\n%s", unifiedDiff(f, text, out))
		}
	}
	if !race.Long() { // .ci/run has vet look at all
		files = slices.DeleteFunc(files, func(f string) bool { return filepath.Base(f) != "spec.yaml" })
	}
	for _, d := range vetFiles(files) {
		t.Errorf("fsmgen vet: %s", d)
	}
}
