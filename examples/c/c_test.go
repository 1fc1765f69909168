// Package c has a client in C, client/setup.c, and the library it is linked with, lib.
// Its test builds both ways of linking and plays with a peer in Go.
package c

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

const header = "../../runtime/capi"

// command runs a program and fails with what it printed.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	// ends a test that would hang; building takes long where nothing is cached
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// build links client/setup.c with the library as an archive or a shared object.
func build(t *testing.T, shared bool) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the test knows the C compilers of Unix")
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler (cc) here: the client in C is not built")
	}
	dir := t.TempDir()
	mode, library := "c-archive", filepath.Join(dir, "libparley.a")
	if shared {
		mode, library = "c-shared", filepath.Join(dir, "libparley.so")
	}
	command(t, "go", "build", "-buildmode="+mode, "-o", library, "./lib")
	program := filepath.Join(dir, "setup")
	args := []string{"-Wall", "-Wextra", "-Werror", "-std=c99", "-I", header, "-o", program, "client/setup.c",
		library, "-lpthread"}
	if shared {
		args = append(args, "-Wl,-rpath,"+dir)
	}
	if runtime.GOOS == "darwin" {
		args = append(args, "-framework", "CoreFoundation", "-framework", "Security")
	}
	command(t, cc, args...)
	return program
}

// startPeer runs the command peer, and returns its address and what it prints once it has ended.
func startPeer(t *testing.T) (address string, ended func() string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "peer")
	command(t, "go", "build", "-o", program, "./peer")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	cmd := exec.CommandContext(ctx, program, "-listen", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); cmd.Wait() })
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(first), "waiting at ")
	if err != nil || !ok {
		t.Fatalf("the peer prints %q, %v", first, err)
	}
	return address, func() string {
		rest, _ := io.ReadAll(lines)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the peer ends with %v after\n%s", err, rest)
		}
		return string(rest)
	}
}

func TestClientInC(t *testing.T) {
	for name, shared := range map[string]bool{"archive": false, "shared object": true} {
		t.Run(name, func(t *testing.T) {
			if shared && os.Getenv("PARLEY_LONG") == "" {
				t.Skip("with PARLEY_LONG=1 alone: the standard library is compiled once more for it")
			}
			program := build(t, shared)
			address, ended := startPeer(t)
			out := command(t, program, "tcp:"+address, "0", "7")
			for _, want := range []string{"connected\n", "the peer sets property 1 to 9\n",
				"both sides agree\n", "done{index: 0,"} {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
			said := ended()
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
	program := build(t, false)
	out, err := exec.Command(program, "carrier:pigeon", "0", "7").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "a link begins with tcp:, udp: or ipx:, or is own") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestHeaderIsCPlusPlus: the header is read by a C++ compiler, too.
func TestHeaderIsCPlusPlus(t *testing.T) {
	if _, err := exec.LookPath("c++"); err != nil {
		t.Skip("no C++ compiler (c++) here: the header is not tried with one")
	}
	command(t, "c++", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++", filepath.Join(header, "parley.h"))
}

// TestHeaderIsWhole: the header declares what the library exports, and speaks of nothing else.
func TestHeaderIsWhole(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(header, "parley.h"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(header, "exports.go"))
	if err != nil {
		t.Fatal(err)
	}
	exported := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^//export (\w+)$`).FindAllStringSubmatch(string(source), -1) {
		exported[m[1]] = true
	}
	declared := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^int64_t (parley_\w+)\(`).FindAllStringSubmatch(string(text), -1) {
		declared[m[1]] = true
		if !exported[m[1]] {
			t.Errorf("%s is declared and not there", m[1])
		}
	}
	if len(exported) != len(declared) || len(exported) == 0 {
		t.Errorf("%d functions are exported, %d declared", len(exported), len(declared))
	}
}
