package main

import (
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"strconv"

	"github.com/parley-go/parley/gen/golang"
)

// verifyFile is the file of the test that --tests writes.
const verifyFile = "verify_test.go"

// verifyTests are the tests beside the packages that are not there yet. They are the user's: none is changed or
// removed.
func verifyTests(out string, packages []generated) (list []change, err error) {
	for _, g := range packages {
		dir := filepath.Join(out, g.dir)
		name := filepath.Join(dir, verifyFile)
		if _, err := os.Lstat(name); err == nil {
			continue
		}
		text, err := verifyTest(dir, g)
		if err != nil {
			return nil, err
		}
		list = append(list, change{path: name, kind: "missing", new: text})
	}
	return list, nil
}

// verifyTest is the test of a package in a folder.
func verifyTest(dir string, g generated) ([]byte, error) {
	api, err := golang.NewAPI(g.protocol, g.options)
	if err != nil {
		return nil, err
	}
	spec := g.file
	if !filepath.IsAbs(spec) {
		at, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		if spec, err = filepath.Abs(spec); err != nil {
			return nil, err
		}
		if rel, err := filepath.Rel(at, spec); err == nil {
			spec = rel
		}
	}
	runners := ""
	for _, r := range g.protocol.Roles {
		if r.External {
			continue
		}
		_, maker := api.Runner(r.Name)
		runners += ", " + api.Package() + "." + maker
	}
	return format.Source(fmt.Appendf(nil, `package %s_test

import (
	"testing"

	%q
	"github.com/parley-go/parley/proptest"
)

// TestVerify holds the specification, and the machines that were generated from it, to what it says; see
// proptest.Verify. fsmgen generate --tests wrote it once; change it as you like.
func TestVerify(t *testing.T) {
	proptest.Verify(t, %s%s)
}
`, api.Package(), api.ImportPath(), strconv.Quote(filepath.ToSlash(spec)), runners))
}
