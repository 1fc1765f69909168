// Package process is for tests of programs as processes of their own: the test's binary is the program as well, so
// nothing is built for it. It knows no program. Start from [Main].
package process

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asked is the variable of the environment by which the test's binary is the program.
const asked = "PARLEY_TEST_IS_PROGRAM"

// Main is for the beginning of TestMain: in a process that [Start] has begun it runs the program, and does not return.
func Main(main func()) {
	if os.Getenv(asked) != "" {
		main()
		os.Exit(0)
	}
}

// Process is a program that runs.
type Process struct {
	tb     testing.TB
	Cmd    *exec.Cmd
	out    *bufio.Scanner
	errors strings.Builder
	ended  bool
	// Got is what stands behind the beginnings of lines that were waited for.
	Got []string
}

// Start begins the program, and waits until it has printed lines that begin with these words, one after another. At
// the end of the test it is killed.
func Start(tb testing.TB, args []string, lines ...string) *Process {
	tb.Helper()
	p := &Process{tb: tb, Cmd: exec.Command(os.Args[0], args...)}
	p.Cmd.Env = append(os.Environ(), asked+"=yes")
	p.Cmd.Stderr = &p.errors
	stdin, err := p.Cmd.StdinPipe() // open until the process ends: who reads lines waits for them
	if err != nil {
		tb.Fatal(err)
	}
	out, err := p.Cmd.StdoutPipe()
	if err == nil {
		err = p.Cmd.Start()
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { stdin.Close(); p.Kill() })
	p.out = bufio.NewScanner(out)
	for len(p.Got) < len(lines) && p.out.Scan() {
		if rest, ok := strings.CutPrefix(p.out.Text(), lines[len(p.Got)]); ok {
			p.Got = append(p.Got, rest)
		}
	}
	if len(p.Got) < len(lines) {
		p.Kill()
		tb.Fatalf("%q: it never said %q\n%s", args, lines[len(p.Got)], &p.errors)
	}
	return p
}

// Kill ends the program as a power cut does.
func (p *Process) Kill() {
	if !p.ended {
		p.ended = true
		p.Cmd.Process.Kill()
		p.Cmd.Wait()
	}
}

// Terminate asks the program to end as a service manager does, and fails the test unless it ends by itself with exit
// code 0. It returns what the program has printed since Start. A program that does not end is killed after a minute.
func (p *Process) Terminate() (printed string) {
	p.tb.Helper()
	if err := p.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.tb.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { p.Cmd.Process.Kill() })
	defer late.Stop()
	var rest strings.Builder
	for p.out.Scan() {
		fmt.Fprintln(&rest, p.out.Text())
	}
	p.ended = true
	if err := p.Cmd.Wait(); err != nil {
		p.tb.Errorf("%q: asked to end, it ends with %v\n%s", p.Cmd.Args[1:], err, &p.errors)
	}
	return rest.String()
}
