package doctest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/proptest/race"
)

const root = "../.."

// elsewhere are the commands that pages show in `sh` blocks, each with who runs it.
var elsewhere = map[string]string{
	"go run ./cmd/fsmgen demo":                                                    "the test of cmd/internal/demo",
	"go run ./examples/netplay -listen 127.0.0.1:21837":                           "the tests of examples/netplay",
	"go run ./examples/netplay -connect 127.0.0.1:21837":                          "the tests of examples/netplay",
	"go run ./examples/startup":                                                   "the tests of examples/startup",
	"go run ./examples/skirmish":                                                  "the tests of examples/skirmish",
	"go run ./examples/skirmish -name Ann -join 192.168.1.5:7532":                 "the tests of examples/skirmish",
	"go run ./examples/skirmish -headless -bots 4 -matches 2 -link udp -loss 0.1": "the tests of examples/skirmish",
	"go run ./examples/skirmish -headless -fast -bots 4 -matches 1000 -seed 1":    "the tests of examples/skirmish",
	"go test ./...":                        ".ci/run",
	"go run ./cmd/fsmgen generate --check": ".ci/run",
	"go run ./cmd/fsmviz --live trade/spec.yaml ann.jsonl bob.jsonl":                "TestLive of cmd/fsmviz",
	"go build -buildmode=c-archive -o libparley.a ./examples/c/lib":                 "the test of examples/c",
	"go run ./examples/c/peer -listen 127.0.0.1:21837":                              "the test of examples/c",
	"./setup tcp:127.0.0.1:21837 0 7":                                               "the test of examples/c",
	"cc -I runtime/capi -o setup examples/c/client/setup.c libparley.a -lpthread":   "the test of examples/c",
	"go run ./examples/ssr-server/script -listen 127.0.0.1:8000 -list servers.json": ssrPage,
	"go run ./examples/ssr-server -listen 127.0.0.1:4000 -name Arena -region EU " +
		"-script http://127.0.0.1:8000/servers": ssrPage,
	"go run ./examples/ssr-server/client -script http://127.0.0.1:8000/servers": ssrPage,
	"go run ./examples/ssr-server/client -connect 127.0.0.1:4000":               ssrPage,
	"curl 'http://127.0.0.1:8000/servers?version=1&action=reg&" +
		"name=my%20arena&port=4000&cont=EU'": ssrPage,
	"curl http://127.0.0.1:8000/servers":                                                       ssrPage,
	"curl 'http://127.0.0.1:8000/servers?action=unreg&port=4000'":                              ssrPage,
	"GOOS=js GOARCH=wasm go -C examples/ssr-server/web build -o player.wasm ./player":          ssrWeb,
	"go run ./examples/ssr-server -listen 127.0.0.1:4000 -per-address 57":                      ssrWeb,
	"go -C examples/ssr-server/web run . -listen 127.0.0.1:8080 -server 127.0.0.1:4000":        ssrWeb,
	"go run ./examples/lockstep -listen 127.0.0.1:3665 -players 2 -record game.replay":         lockstepPage,
	"go run ./examples/lockstep -connect 127.0.0.1:3665":                                       lockstepPage,
	"go run ./examples/lockstep -connect 127.0.0.1:3665 -steps 100":                            lockstepPage,
	"go run ./examples/lockstep -connect 127.0.0.1:3665 -slot -1":                              lockstepPage,
	"go run ./examples/lockstep -replay game.replay":                                           lockstepPage,
	"go run ./examples/parsec-server -mode master -listen 127.0.0.1:6502 -http 127.0.0.1:8081": parsecPage,
	"go run ./examples/parsec-server -mode game -listen 127.0.0.1:6581 -udp 127.0.0.1:6522" +
		" -http 127.0.0.1:8080 -name Orbit -master 127.0.0.1:6502": parsecPage,
	"go run ./examples/parsec-server/client -connect 127.0.0.1:6581 -udp 127.0.0.1:6522" +
		" -name anna -record anna.rec": parsecPage,
	"go run ./examples/parsec-server/client -connect 127.0.0.1:6581 -udp 127.0.0.1:6522" +
		" -name bob": parsecPage,
	"go run ./examples/parsec-server/client -play anna.rec -speed 10":          parsecPage,
	"go run ./examples/gne -listen 127.0.0.1:4300":                             gnePage,
	"go run ./examples/gne/client -connect 127.0.0.1:4300 -name Jason":         gnePage,
	"go run ./examples/gne/client -connect 127.0.0.1:4300 -name Jason -no-udp": gnePage,
	"go test -run xxx -bench RealMatch -benchtime 30x -cpu 1" +
		" ./cmd/internal/traffic": "whoever measures",
	".ci/run":           "whoever changes something",
	".ci/nightly":       "whoever measures",
	"go generate ./...": "the step of .ci/run that looks for stale files",
	"go get -tool github.com/parley-go/parley/cmd/fsmgen " +
		"github.com/parley-go/parley/cmd/fsmviz": "users",
	"go install github.com/parley-go/parley/cmd/fsmgen@latest": "users",
	"go mod edit -replace=github.com/parley-go/parley=../parley " +
		"-tool=github.com/parley-go/parley/cmd/fsmgen -tool=github.com/parley-go/parley/cmd/fsmviz": "users",
	"go mod tidy":             "users",
	"go tool fsmgen generate": "users",
	"go -C examples/cluster run . -nodes 3 " +
		"-lobbies 1000 -joins 3000 -matches 10 -kill": clusterPage,
	"go -C examples/cluster run . -serve -listen 127.0.0.1:4100 " +
		"-nats-listen 127.0.0.1:4222 -dir nats-data": clusterPage,
	"go -C examples/cluster run . -serve -listen 127.0.0.1:4101 " +
		"-nats nats://127.0.0.1:4222 -script 127.0.0.1:8000 -status 127.0.0.1:8001": clusterPage,
	"PARLEY_BIG=1 go test -run xxx -bench AgainstSpin -benchtime 1x -v ./proptest/explore": "whoever measures",
	"PARLEY_BIG=1 go test -run xxx -bench ManyParties -benchtime 1x -v ./proptest/check":   "whoever measures",
	"PARLEY_BIG=1 go test ./proptest/check -run GrowthPage -measure":                       "whoever measures",
	"PARLEY_BIG=1 go test -run xxx -bench AgainstSpin -benchtime 1x -v ./proptest/check":   "whoever measures",
	"spin -o2 -a confirm.pml && cc -O3 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan " +
		"-m1000000": "the tests of proptest/check",
	"spin -o2 -search -bitstate" +
		" -safety -noreduce -w24 -k3 confirm.pml": "the tests of proptest/check",
	"spin -o2 -search -swarm4,4" +
		" -safety -noreduce -w24 confirm.pml": "the tests of proptest/check",
	"java -cp tla2tools.jar tlc2.TLC" +
		" -workers auto -config Confirm.cfg Confirm.tla": "the tests of proptest/tla",
	"java -cp tla2tools.jar tlc2.tool.distributed.TLCServer" +
		" -config Confirm.cfg Confirm.tla": "whoever has several machines",
	"java -cp tla2tools.jar tlc2.tool.distributed.TLCWorker" +
		" SERVER": "whoever has several machines",
	"java -cp tla2tools.jar tlc2.tool.distributed.fp" +
		".DistributedFPSet SERVER": "whoever has several machines",
	"tshark -X lua_script:netplay.lua -r " +
		"specs/netplay/testdata/uqm-match.pcap": "the tests of cmd/internal/traffic",
}

// ssrPage and ssrWeb run what docs/SSR.md shows.
const (
	ssrPage = "TestPage of examples/ssr-server"
	ssrWeb  = "the tests of examples/ssr-server/web"

	clusterPage = "TestPage of examples/cluster" // of docs/SCALE.md
)

const (
	lockstepPage = "TestPage of examples/lockstep"
	gnePage      = "TestPage of examples/gne"
	parsecPage   = "TestPage of examples/parsec-server"
)

// patience is how long one command of a page may take.
const patience = 2 * time.Minute

// TestPages does what README.md and the pages in docs say, in a copy of the
// repository, and compares what is printed.
func TestPages(t *testing.T) {
	if race.Enabled {
		t.Skip("the commands of the pages are built without the race detector: it would be the same once more")
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	bin, c := t.TempDir(), &checkout{root: root, dir: t.TempDir(), files: map[string]fs.FileInfo{}}
	done := false
	for _, page := range append([]string{filepath.Join(root, "README.md")}, pages...) {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		blocks, err := Blocks(string(data))
		if err != nil {
			t.Errorf("%s: %v", page, err)
		}
		if !done && slices.ContainsFunc(blocks, Block.Runs) {
			build(t, bin)
			done = true
		}
		t.Run(filepath.Base(page), func(t *testing.T) { runPage(t, blocks, bin, c) })
	}
}

// helpPage is a page that a help text, a message or a comment of the commands names.
var helpPage = regexp.MustCompile(`docs/[A-Za-z0-9_/-]+\.(?:md|json)`)

// TestNamedPages: the pages that the commands name exist.
func TestNamedPages(t *testing.T) {
	found := 0
	for _, dir := range []string{"cmd", "gen"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" && filepath.Ext(path) != ".yaml" {
				return err
			}
			text, err := os.ReadFile(path)
			for _, page := range helpPage.FindAllString(string(text), -1) {
				found++
				if _, err := os.Stat(filepath.Join(root, page)); err != nil {
					t.Errorf("%s names %s, which is not there", path, page)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found == 0 {
		t.Error("no page is named at all")
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "LANGUAGE.md"))
	if err != nil || !strings.Contains(string(text), "\n## Scenarios\n") {
		t.Error("docs/LANGUAGE.md has no section on scenarios, which the help of fsmgen scenario names", err)
	}
}

// build makes the commands and an example once; `go run ./cmd/x` in a page then calls x. In the checkout everything
// would be compiled anew, since it is another folder.
func build(t *testing.T, bin string) {
	t.Helper()
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", bin+string(filepath.Separator), "./cmd/...",
		"./examples/startup")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
}

func runPage(t *testing.T, blocks []Block, bin string, c *checkout) {
	dir := ""
	folder := func() string {
		if dir == "" {
			if err := c.mend(); err != nil {
				t.Fatal(err)
			}
			dir = c.dir
		}
		return dir
	}
	try := func(cmd Command) {
		if got := runCommand(t, folder(), bin, cmd); !cmd.Matches(got) {
			t.Errorf("line %d: $ %s\nprinted\n%s\nthe page says\n%s", cmd.Line, cmd.Text, got, cmd.Want)
		}
	}
	for _, b := range blocks {
		switch {
		case b.Lang == "console":
			cmds, err := b.Commands()
			if err != nil {
				t.Error(err)
			}
			for _, c := range cmds {
				try(c)
			}
		case b.Lang == "mermaid":
			try(Command{Line: b.Line, Text: b.File, Want: b.Text})
		case b.Lang == "sh":
			for line := range strings.Lines(b.Text) {
				line, _, _ = strings.Cut(line, "#")
				if line = strings.TrimSpace(line); line != "" && elsewhere[line] == "" {
					t.Errorf("line %d: nothing runs `%s`; make it a console block, or say in this test who "+
						"does", b.Line, line)
				}
			}
		case b.File != "":
			name := filepath.Join(folder(), filepath.FromSlash(b.File))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(b.Text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// built is what build has made.
var built = strings.NewReplacer("go run ./cmd/", "", "go run ./examples/startup", "startup")

// runCommand returns all that a command prints, and as `go run` does a last
// line with the exit code if that is not 0.
func runCommand(t *testing.T, dir, bin string, c Command) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", built.Replace(c.Text))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOGC=400", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		t.Errorf("line %d: $ %s took longer than %v", c.Line, c.Text, patience)
	case errors.As(err, &exit):
		fmt.Fprintf(&out, "exit status %d\n", exit.ExitCode())
	case err != nil:
		t.Errorf("line %d: $ %s: %v", c.Line, c.Text, err)
	}
	return out.String()
}

// checkout is a copy of the repository in which the commands of a page may write. Pages use it one
// after the other: mending it takes hardly any time, unlike a copy.
type checkout struct {
	root, dir string
	// files are those that were copied, with what they look like untouched.
	files map[string]fs.FileInfo
}

// unseen are folders that no page needs, a third of all files.
var unseen = regexp.MustCompile(`^(gen|proptest)/(.*/)?testdata$|^proptest/conform/sample$`)

// mend makes the checkout what the repository is: it copies what is missing or was written to, and
// removes what is new.
func (c *checkout) mend() error {
	present := map[string]bool{}
	err := filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(c.dir, path)
		if d.IsDir() {
			info, err := os.Stat(filepath.Join(c.root, name))
			if err == nil && info.IsDir() && name != ".git" && name != "bin" {
				return nil
			}
			return cmp.Or(os.RemoveAll(path), fs.SkipDir)
		}
		now, err := d.Info()
		if err != nil {
			return err
		}
		was := c.files[name]
		if was == nil || now.Mode() != was.Mode() || now.Size() != was.Size() ||
			!now.ModTime().Equal(was.ModTime()) {
			return os.Remove(path)
		}
		present[name] = true
		return nil
	})
	if err != nil {
		return err
	}
	return filepath.WalkDir(c.root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a temporary file of another process
		}
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(c.root, path)
		switch {
		case d.IsDir() && (name == ".git" || name == "bin" || unseen.MatchString(filepath.ToSlash(name))):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(c.dir, name), 0o755)
		case !d.Type().IsRegular() || present[name]:
			return nil
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		to := filepath.Join(c.dir, name)
		if err := os.WriteFile(to, data, 0o644); err != nil {
			return err
		}
		c.files[name], err = os.Lstat(to)
		return err
	})
}

// TestMend holds that a page finds the repository as it is, whatever the page before did.
func TestMend(t *testing.T) {
	c := &checkout{root: t.TempDir(), dir: t.TempDir(), files: map[string]fs.FileInfo{}}
	for _, name := range []string{"README.md", "go.mod", "docs/LANGUAGE.md", "specs/ready/spec.yaml"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(c.root, name)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(c.root, name), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := c.mend(); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(c.dir, name) }
	if err := errors.Join(os.WriteFile(at("README.md"), []byte("other"), 0o644), os.Remove(at("go.mod")),
		os.WriteFile(at("specs/new.yaml"), nil, 0o644), os.RemoveAll(at("docs")),
		os.MkdirAll(at("new/folder"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := c.mend(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", "go.mod", "docs/LANGUAGE.md"} {
		want, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(at(name)); err != nil || string(got) != string(want) {
			t.Errorf("%s is not what it is in the repository: %v", name, err)
		}
	}
	for _, name := range []string{"specs/new.yaml", "new"} {
		if _, err := os.Stat(at(name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
}
