package doctest

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Page returns the fenced blocks of a page that is in a file.
func Page(t testing.TB, file string) []Block {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	list, err := Blocks(string(text))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return list
}

// Build builds the programs of these packages, and returns the folder in which they are until the test ends.
func Build(t testing.TB, packages ...string) string {
	t.Helper()
	bin := t.TempDir()
	args := append([]string{"build", "-o", bin + string(filepath.Separator)}, packages...)
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// Free returns n different addresses of this computer that nobody uses, of TCP.
func Free(t testing.TB, n int) (list []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // when all are known, or one could come twice
		list = append(list, l.Addr().String())
	}
	return list
}

// Shell is a line of a page, as a shell runs it. It ends with the test.
func Shell(t testing.TB, line string) *exec.Cmd {
	return exec.CommandContext(t.Context(), "sh", "-c", "exec "+line)
}

// Start starts a command, and kills it when the test ends. It reads what is written to in. Unless cmd.Stdout is set,
// out has the lines that it prints.
func Start(t testing.TB, cmd *exec.Cmd) (in io.WriteCloser, out *bufio.Scanner) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if cmd.Stdout == nil {
		pipe, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		out = bufio.NewScanner(pipe)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return in, out
}
