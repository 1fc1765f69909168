package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parley-go/parley/proptest/race"
)

// speaks is why a counterexample may have no test: its claim is not about one run.
var speaks = regexp.MustCompile(`speaks of all runs`)

// TestFound writes the counterexamples of every shipped specification that is refuted as tests of
// its generated machines. Each of them must be found again there.
func TestFound(t *testing.T) {
	race.SkipShort(t, "TestScripts/checktest has a test of each kind of claim")
	files, err := filepath.Glob("../../specs/*/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	dir, root := t.TempDir(), repository(t)
	module := fmt.Sprintf("module example.org/mine\n\ngo 1.26\n\nrequire github.com/parley-go/parley v0.0.0\n"+
		"\nreplace github.com/parley-go/parley => %s\n", root)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o666); err != nil {
		t.Fatal(err)
	}
	written := 0
	for i, f := range files {
		if !race.Some(i, 9) {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("expect:")) {
			written += found(t, dir, filepath.Join(root, strings.TrimPrefix(f, "../../")))
		}
	}
	test := exec.Command("go", "test", "-v", "./...")
	test.Dir, test.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	out, err := test.CombinedOutput()
	if err == nil {
		t.Error("all tests pass")
	}
	failed := bytes.Count(out, []byte("\n--- FAIL: "))
	if bytes.Contains(out, []byte("\n--- PASS: ")) || bytes.Contains(out, []byte("\n--- SKIP: ")) ||
		bytes.Contains(out, []byte("[build failed]")) || failed != written {
		t.Errorf("%d tests were written, %d fail as they should\n%s", written, failed, out)
	}
	t.Logf("%d counterexamples are found again", failed)
}

// repository is the folder of the repository.
func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// found writes the tests of one specification, and returns how many there are.
func found(t *testing.T, dir, spec string) int {
	t.Helper()
	out := filepath.Join(dir, strings.ReplaceAll(filepath.Base(filepath.Dir(spec))+
		strings.TrimSuffix(filepath.Base(spec), ".yaml"), "-", ""))
	fsmgen := func(want string, args ...string) string {
		c := exec.Command("fsmgen", append(args, spec)...)
		c.Dir = dir
		text, err := c.CombinedOutput()
		if code := fmt.Sprint(c.ProcessState.ExitCode()); !strings.Contains(want, code) {
			t.Fatalf("fsmgen %q: exit code %s, %v\n%s", args, code, err, text)
		}
		return string(text)
	}
	fsmgen("0", "generate", "--out", out)
	packages, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(out, packages[0].Name(), "found_test.go")
	check := func() string {
		return fsmgen("013", "check", "--table", "--max-configurations", "200000", "--test", "-o", file,
			"--machines", out)
	}
	for _, m := range regexp.MustCompile(`--for (\S+)`).FindAllStringSubmatch(check(), -1) {
		fsmgen("0", "generate", "--out", out, "--for", m[1])
	}
	for line := range strings.Lines(check()) {
		if strings.Contains(line, "no test for") && !speaks.MatchString(line) {
			t.Error(line)
		}
	}
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return 0 // nothing is refuted but claims about all runs
	}
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(text, []byte("\nfunc Test"))
}
