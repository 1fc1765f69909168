// Package c has programs in C and the library they are linked with, lib: in client, a peer of the
// protocol setup, one of the startup, and a masterserver. Its tests build the library once, link the
// programs with it, and play; in testdata are programs that call wrongly on purpose, and one with
// many threads.
package c

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/internal/waits"
)

const header = "../../runtime/capi"

// sanitizer is address or thread where the programs are built with that of the C compiler.
var sanitizer = os.Getenv("PARLEY_SANITIZE")

func TestMain(m *testing.M) {
	code := waits.Main(m)
	if folder != "" {
		os.RemoveAll(folder)
	}
	os.Exit(code)
}

// folder is where everything is built.
var folder string

// command runs a program and fails with what it printed.
func command(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := run(t, name, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}

func run(t testing.TB, name string, args ...string) (string, error) {
	// ends a test that would hang; building takes long where nothing is cached
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	return string(out), err
}

// compiler finds the C compiler, or skips the test.
func compiler(t testing.TB) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the test knows the C compilers of Unix")
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler (cc) here: the programs in C are not built")
	}
	return cc
}

// made keeps what has been built, by its name.
var made = struct {
	sync.Mutex
	by map[string]error
}{by: map[string]error{}}

// makeOnce builds a file in folder unless that was done before.
func makeOnce(t testing.TB, name string, build func(file string) error) string {
	t.Helper()
	made.Lock()
	defer made.Unlock()
	if folder == "" {
		var err error
		if folder, err = os.MkdirTemp("", "parley-c-"); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(folder, name)
	err, done := made.by[name]
	if !done {
		err = build(file)
		made.by[name] = err
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// goBuild builds a package of Go.
func goBuild(t testing.TB, name, pkg string, args ...string) string {
	return makeOnce(t, name, func(file string) error {
		cmd := exec.Command("go", append(append([]string{"build", "-ldflags=-w"}, args...), "-o", file, pkg)...)
		with := sanitizer
		if len(args) == 0 {
			with = "" // no library
		}
		switch with { // Go has a flag for one; for the other the C parts alone are built with it
		case "address":
			cmd.Args = slices.Insert(cmd.Args, 2, "-asan")
		case "thread":
			cmd.Env = append(os.Environ(), "CGO_CFLAGS=-g -O2 -fsanitize=thread", "CGO_LDFLAGS=-fsanitize=thread")
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %v\n%s", cmd.Args, err, out)
		}
		return nil
	})
}

func archive(t testing.TB) string { return goBuild(t, "libparley.a", "./lib", "-buildmode=c-archive") }

// program compiles a program in C and links it with a library.
func program(t testing.TB, source, library string) string {
	t.Helper()
	cc := compiler(t)
	name := strings.TrimSuffix(filepath.Base(source), ".c") + strings.ReplaceAll(filepath.Ext(library), ".", "-")
	return makeOnce(t, name, func(file string) error {
		args := []string{"-Wall", "-Wextra", "-Werror", "-std=gnu99", "-g", "-I", header, "-o", file,
			source, library, "-lpthread", "-Wl,-rpath," + filepath.Dir(library)}
		if sanitizer != "" {
			args = append(args, "-fsanitize="+sanitizer)
		}
		if runtime.GOOS == "darwin" {
			args = append(args, "-framework", "CoreFoundation", "-framework", "Security")
		}
		if out, err := run(t, cc, args...); err != nil {
			return fmt.Errorf("%s %v: %v\n%s", cc, args, err, out)
		}
		return nil
	})
}

// started is a program that runs.
type started struct {
	t     *testing.T
	name  string
	in    io.WriteCloser
	lines *bufio.Reader
	errs  bytes.Buffer
	cmd   *exec.Cmd
}

func start(t *testing.T, program string, args ...string) *started {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	s := &started{t: t, name: filepath.Base(program), cmd: exec.CommandContext(ctx, program, args...)}
	s.cmd.Stderr = &s.errs
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		s.in, err = s.cmd.StdinPipe()
	}
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); s.cmd.Wait() })
	s.lines = bufio.NewReader(out)
	return s
}

// until reads lines up to one that begins with a word, and returns what follows that.
func (s *started) until(word string) string {
	s.t.Helper()
	for {
		line, err := s.lines.ReadString('\n')
		if rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), word); ok {
			return rest
		}
		if err != nil {
			s.cmd.Wait()
			s.t.Fatalf("%s ends before it prints %q\n%s", s.name, word, &s.errs)
		}
	}
}

// ended returns what the program prints until its end, which has to be a good one.
func (s *started) ended() string {
	s.t.Helper()
	rest, _ := io.ReadAll(s.lines)
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("%s ends with %v after\n%s%s", s.name, err, rest, &s.errs)
	}
	return string(rest)
}

func TestClientInC(t *testing.T) {
	t.Parallel()
	compiler(t)
	for name, shared := range map[string]bool{"archive": false, "shared object": true} {
		t.Run(name, func(t *testing.T) {
			if shared && os.Getenv("PARLEY_LONG") != "all" {
				t.Skip("with PARLEY_LONG=all alone: the standard library is compiled once more for it")
			}
			var library string
			if shared {
				library = goBuild(t, "libparley.so", "./lib", "-buildmode=c-shared")
			} else {
				library = archive(t)
			}
			peer := start(t, goBuild(t, "peer", "./peer"), "-listen", "127.0.0.1:0")
			address := peer.until("waiting at ")
			out := command(t, program(t, "client/setup.c", library), "tcp:"+address, "0", "7")
			for _, want := range []string{"connected\n", "the peer sets property 1 to 9\n",
				"both sides agree\n", "done{index: 0,"} {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
			said := peer.ended()
			for _, want := range []string{"changed{property: 0, value: 7}", "done{index: 1,", "own: 7", "own: 9"} {
				if !strings.Contains(said, want) {
					t.Errorf("no %q in what the peer in Go says:\n%s", want, said)
				}
			}
		})
	}
}

// TestClientSaysWhatIsWrong: errors reach C as text.
func TestClientSaysWhatIsWrong(t *testing.T) {
	compiler(t)
	out, err := run(t, program(t, "client/setup.c", archive(t)), "carrier:pigeon", "0", "7")
	if err == nil || !strings.Contains(out, "a link begins with tcp:, udp: or ipx:, or is own") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestStartup: two programs in C find each other by broadcast and are in one game.
func TestStartup(t *testing.T) {
	t.Parallel()
	compiler(t)
	port, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 255, 255, 255)})
	if err != nil {
		t.Skip(err)
	}
	all := port.LocalAddr().String() // nobody else hears there
	port.Close()
	startup := program(t, "client/startup.c", archive(t))
	var peers [2]*started
	for i := range peers {
		peers[i] = start(t, startup, "127.0.0.1", all)
	}
	for _, p := range peers {
		p.until("game")
		p.until("players: 2")
	}
	for _, p := range peers {
		p.in.Close()
		p.ended()
	}
}

// TestMaster: a masterserver in C has many peers.
func TestMaster(t *testing.T) {
	t.Parallel()
	compiler(t)
	master := start(t, program(t, "client/master.c", archive(t)), "tcp:127.0.0.1:0")
	address := master.until("listening on ")
	for i, name := range []string{"one", "two"} {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if from := master.until(fmt.Sprint(i+1, " comes from ")); from != c.LocalAddr().String() {
			t.Errorf("%s comes from %s", c.LocalAddr(), from)
		}
		fmt.Fprintf(c, "version: 1.0 join me: %s os: linux maxplayers: 16 url: http://x/\n", name)
		if answer, err := bufio.NewReader(c).ReadString('\n'); answer != "join accepted\n" {
			t.Errorf("%q, %v", answer, err)
		}
		if list := master.until("up{"); !strings.Contains(list, `"`+name+`"`) {
			t.Errorf("no %s in %s", name, list)
		}
		if i == 0 {
			continue
		}
		c.Close()
		if list := master.until("up{"); !strings.Contains(list, `"one"`) || strings.Contains(list, `"two"`) {
			t.Errorf("two has gone, and the list is %s", list)
		}
		master.until("2 goes")
	}
	master.in.Close()
	master.ended()
}

// TestFaults: wrong calls, and calls in unusual places, are answered.
func TestFaults(t *testing.T) {
	t.Parallel()
	compiler(t)
	faults := program(t, "testdata/faults.c", archive(t))
	for _, name := range []string{"lengths", "missing", "twice", "nobody", "waiters", "forked"} {
		t.Run(name, func(t *testing.T) {
			if name == "forked" && sanitizer == "thread" {
				t.Skip("the thread sanitizer does not go on in the child of a process with threads")
			}
			command(t, faults, name)
		})
	}
}

// TestServer: a server with a machine for each connection, and several threads at once. The library
// has every role of the shipped protocols but those that only attack.
func TestServer(t *testing.T) {
	t.Parallel()
	compiler(t)
	out := command(t, program(t, "testdata/server.c", archive(t)))
	names := strings.Fields(out)
	sources, err := filepath.Glob("../../machines/*/*_runner.go")
	if err != nil || len(sources) == 0 {
		t.Fatal(err)
	}
	role := regexp.MustCompile(`Protocol: "(\w+)",\n\tRole: +"(\w+)",`)
	attackers := []string{"connection.other", "masterserver.impostor", "masterserver.other", "masterserver.stranger",
		"slotserver.other", "slotserver.stranger", "gameserver.other", "gameserver.stranger"}
	for _, file := range sources {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "specs/library/") {
			continue // not one of ours; a library that wants it registers it
		}
		m := role.FindStringSubmatch(string(text))
		if m == nil {
			t.Errorf("%s says no role", file)
		} else if name := m[1] + "." + m[2]; !slices.Contains(names, name) && !slices.Contains(attackers, name) {
			t.Errorf("the library has no %s", name)
		}
	}
}

// TestHeaderIsCPlusPlus: the header is read by a C++ compiler, too.
func TestHeaderIsCPlusPlus(t *testing.T) {
	if _, err := exec.LookPath("c++"); err != nil {
		t.Skip("no C++ compiler (c++) here: the header is not tried with one")
	}
	command(t, "c++", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++", filepath.Join(header, "parley.h"))
}

// TestHeaderIsWhole: the header declares what the library defines, and speaks of nothing else.
func TestHeaderIsWhole(t *testing.T) {
	in := func(file, pattern string) map[string]bool {
		text, err := os.ReadFile(filepath.Join(header, file))
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			found[m[1]] = true
		}
		return found
	}
	declared, defined := in("parley.h", `(?m)^int64_t (parley_\w+)\(.*;$`),
		in("parley.c", `(?m)^int64_t (parley_\w+)\(.*\{`)
	for name := range declared {
		if !defined[name] {
			t.Errorf("%s is declared and not there", name)
		}
	}
	if len(defined) != len(declared) || len(defined) == 0 {
		t.Errorf("%d functions are defined, %d declared", len(defined), len(declared))
	}
}
