package main

import (
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/parley-go/parley/internal/doctest"
)

// TestPage does what docs/SSR.md shows, on ports that are free.
func TestPage(t *testing.T) {
	blocks := doctest.Page(t, "../../docs/SSR.md")
	bin := doctest.Build(t, "./...")
	free := doctest.Free(t, 2)
	here := strings.NewReplacer("127.0.0.1:8000", free[0], "127.0.0.1:4000", free[1], "port=4000", "port=4001",
		"go run ./examples/ssr-server/", bin+"/", "go run ./examples/ssr-server", bin+"/ssr-server")
	var shell []string
	printed := ""
	for _, b := range blocks {
		switch {
		case b.Lang == "sh" && !strings.Contains(b.Text, "wasm"):
			shell = append(shell, strings.Split(strings.TrimSpace(here.Replace(b.Text)), "\n")...)
		case b.Lang == "text":
			printed = here.Replace(b.Text)
		}
	}
	if len(shell) != 7 {
		t.Fatalf("the page has other commands: %q", shell)
	}
	// run starts a command of the page, and returns what it prints.
	run := func(line string) (in io.WriteCloser, out *lineWriter, cmd *exec.Cmd) {
		cmd = doctest.Shell(t, line)
		cmd.Dir = t.TempDir()
		out = newLines()
		cmd.Stdout, cmd.Stderr = out, out
		in, _ = doctest.Start(t, cmd)
		return in, out, cmd
	}
	expect := func(out *lineWriter, want ...string) {
		t.Helper()
		for _, w := range want {
			if got := out.next(t); !strings.HasPrefix(got, w) {
				t.Fatalf("printed %q, want %q", got, w)
			}
		}
	}
	_, script, _ := run(shell[0])
	expect(script, "the script is at ")
	_, server, _ := run(shell[1])
	expect(server, "listening on ", "players can find the server in the list")
	_, list, _ := run(shell[2])
	expect(list, strings.TrimSpace(printed))
	in, client, cmd := run(shell[3])
	expect(client, "you are in the general chat; ")
	io.WriteString(in, "hello\n/fly\n/quit\n")
	seen := ""
	for !strings.Contains(seen, "the connection is over") {
		seen += client.next(t) + "\n"
	}
	err := cmd.Wait()
	if err != nil || !strings.Contains(seen, "you: hello\n") || !strings.Contains(seen, "there is no /fly") {
		t.Errorf("%v, and the player read\n%s", err, seen)
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	for i, want := range [][]string{
		{"<!-- done -->", "</html>"},
		{"<!-- servers -->", "1;127.0.0.1;", "1;127.0.0.1;4001;my arena;EU", "<!-- end -->", "</html>"},
		{"<!-- done -->", "</html>"},
	} {
		_, out, _ := run(strings.Replace(shell[4+i], "curl", "curl -sS", 1))
		expect(out, want...)
	}
}
