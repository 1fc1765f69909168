// Package clitest runs the scripts that test the commands: txtar files with
// command lines, what they must print, and the files they need. Only tests
// import it. To add a test, add a file to testdata/script of the command; the
// scripts' language is that of testscript, with one addition:
//
//	exits CODE COMMAND [ARGS…]
//
// runs a command that must end with exactly this exit code. Each script starts
// in a folder of its own that has its files and, if it mentions specs, a copy of the repository's
// specifications there. The variable BIN is the folder of the command under
// test: a script that sets PATH to it has no other programs. REPOSITORY is the folder of the
// repository, for modules of scripts that use it. The condition [long] holds where tests have all the
// time they want. Start from [Run].
package clitest

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/parley-go/parley/proptest/race"
)

var update = flag.Bool("update", false, "write what the commands print into the scripts; look at it before "+
	"you commit it")

// Main is for the TestMain of a command: it lets scripts call the command by
// name, as a process of its own.
func Main(m *testing.M, name string, run func() int) {
	command = name
	testscript.Main(m, map[string]func(){name: func() { os.Exit(run()) }})
}

// command is the name under which the command under test is found.
var command string

// Run runs all scripts in testdata/script, in parallel. root is the
// repository, seen from the test.
func Run(t *testing.T, root string) {
	specs, err := filepath.Abs(filepath.Join(root, "specs"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition: func(name string) (bool, error) {
			if name == "long" {
				return race.Long(), nil
			}
			return false, fmt.Errorf("no condition is called %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Setup: func(env *testscript.Env) error {
			if path, err := exec.LookPath(command); err == nil {
				env.Setenv("BIN", filepath.Dir(path))
			}
			env.Setenv("REPOSITORY", filepath.Dir(specs))
			env.Setenv("GOGC", "400") // commands end soon
			for i, v := range goEnv() {
				env.Setenv(goVars[i], v)
			}
			script, err := os.ReadFile(filepath.Join("testdata", "script",
				strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")+".txtar"))
			if err != nil || !strings.Contains(string(script), "specs") {
				return err // copying takes longer than most scripts
			}
			return copySpecs(filepath.Join(env.WorkDir, "specs"), specs, string(script))
		},
	})
}

// copySpecs copies all specifications, which extend each other, and the other files of the folders that a
// script names; of all if it names the whole.
func copySpecs(to, from, script string) error {
	whole := wholeSpecs.MatchString(script)
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(from, path)
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		}
		folder, _, _ := strings.Cut(filepath.ToSlash(name), "/")
		if !whole && filepath.Ext(name) != ".yaml" && !strings.Contains(script, "specs/"+folder) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), text, 0o644)
	})
}

// wholeSpecs finds the whole folder in a script, or a pattern below it.
var wholeSpecs = regexp.MustCompile(`specs(/?[\s'"*\[]|/?$)`)

// goVars are where Go keeps what it has built and fetched: scripts that call it use the same.
var goVars = []string{"GOCACHE", "GOMODCACHE"}

var goEnv = sync.OnceValue(func() []string {
	out, err := exec.Command("go", append([]string{"env"}, goVars...)...).Output()
	if err != nil {
		return nil
	}
	return strings.Fields(string(out))
})

// exits runs a command and compares its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGS…]")
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		ts.Fatalf("exits: %q is no exit code", args[0])
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s ended with exit code %d, want %d", args[1], got, want)
	}
}
