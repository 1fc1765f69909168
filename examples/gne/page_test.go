package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/parley-go/parley/internal/doctest"
)

// TestPage does what docs/GNE.md shows, on a port that is free.
func TestPage(t *testing.T) {
	t.Parallel()
	blocks := doctest.Page(t, "../../docs/GNE.md")
	if len(blocks) != 3 {
		t.Fatalf("the page has %d blocks", len(blocks))
	}
	bin := doctest.Build(t, "./...")
	here := strings.NewReplacer("127.0.0.1:4300", doctest.Free(t, 1)[0], "go run ./examples/gne/", bin+"/",
		"go run ./examples/gne", bin+"/gne")
	lines := func(n int) []string { return strings.Split(strings.TrimSpace(here.Replace(blocks[n].Text)), "\n") }
	// run starts a command of the page, and returns its input and what it prints.
	run := func(line string) (in io.WriteCloser, until func(want string)) {
		cmd := doctest.Shell(t, line)
		cmd.Stderr = os.Stderr
		in, s := doctest.Start(t, cmd)
		return in, func(want string) {
			t.Helper()
			if !s.Scan() || strings.TrimSpace(s.Text()) != want && !strings.HasPrefix(want, "listening") {
				t.Fatalf("%s printed %q, not %q: %v", line, s.Text(), want, s.Err())
			}
		}
	}
	commands := lines(0)
	_, server := run(commands[0])
	server("listening on")
	_, first := run(commands[1])
	first("you are player 1")
	first(lines(2)[2])
	first("Jason is in the game")
	typed, second := run(commands[2])
	read := lines(2)
	for _, want := range read[:4] {
		second(want)
	}
	for i, line := range lines(1) { // each is read before the next is typed, since the last one shows what there is
		io.WriteString(typed, line+"\n")
		second(read[4+i])
	}
	first("Jason2 is in the game")
}
