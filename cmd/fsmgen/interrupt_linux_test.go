package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// newTerminal makes a pseudo terminal: what is written to the second file is read from the first.
func newTerminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no pseudo terminals here: ", err)
	}
	t.Cleanup(func() { ours.Close() })
	var number, unlock int32
	for request, arg := range map[uintptr]*int32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &unlock} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, ours.Fd(), request,
			uintptr(unsafe.Pointer(arg))); errno != 0 {
			t.Skip("there are no pseudo terminals here: ", errno)
		}
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no pseudo terminals here: ", err)
	}
	return ours, theirs
}

// search is a check of some seconds that tells on a terminal how far it is.
type search struct {
	*exec.Cmd
	terminal *os.File
	told     strings.Builder
}

// longCheck starts a search that reports to out.
func longCheck(t *testing.T, out io.Writer) *search {
	t.Helper()
	if testing.Short() {
		t.Skip("a search of some seconds")
	}
	ours, theirs := newTerminal(t)
	s := &search{Cmd: exec.Command("fsmgen", "check", "--set", "properties=4", "--workers", "1",
		"../../specs/setup/big.yaml"), terminal: ours}
	s.Stdout, s.Stderr = out, theirs
	// A shell lets what it starts in the background ignore interrupts, and this test may be such a
	// thing. What a process handles begins in its children as usual.
	handled := make(chan os.Signal, 1)
	signal.Notify(handled, os.Interrupt)
	err := s.Start()
	signal.Stop(handled)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Process.Kill() }) // it has ended, or the test has failed
	theirs.Close()
	return s
}

// until reads what the search tells on its terminal until it says what pattern describes.
func (s *search) until(t *testing.T, pattern string) {
	t.Helper()
	want, b := regexp.MustCompile(pattern), make([]byte, 4096)
	for !want.MatchString(s.told.String()) {
		n, err := s.terminal.Read(b)
		if s.told.Write(b[:n]); err != nil {
			t.Fatalf("it ended before it said %q: %v\n%s", pattern, err, s.told.String())
		}
	}
}

// interrupt sends one interrupt.
func (s *search) interrupt(t *testing.T) {
	t.Helper()
	if err := s.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
}

// TestInterrupt: an interrupt in the middle of a search ends it with a report of what was covered,
// and exit code 3.
func TestInterrupt(t *testing.T) {
	var out bytes.Buffer
	s := longCheck(t, &out)
	// How far the search is when it tells so first depends on what else the machine does. It
	// reaches an end of the setup in 5 steps.
	s.until(t, `depth ([6-9]|\d\d)`)
	s.interrupt(t)
	s.until(t, "interrupted: ")
	go io.Copy(io.Discard, s.terminal)
	var exit *exec.ExitError
	if err := s.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("it ended with %v", err)
	}
	for _, want := range []string{"big    incomplete", "the search is incomplete: interrupt signal received",
		"✓ both-done, sometimes: holds", "not decided: "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report has no %q:\n%s", want, out.String())
		}
	}
}

// TestSecondInterrupt: as soon as the search has said that it comes to its end, a second interrupt
// ends the program at once, as interrupts usually do.
//
// It gets two signals, each when it is ready for it. Many in a row, until it ends, would be no test
// of it: while a Go program dies of a signal it lets the next one in, on the same small stack, and
// enough of them overflow that, which is a segmentation fault.
func TestSecondInterrupt(t *testing.T) {
	s := longCheck(t, fullPipe(t))
	s.until(t, "to go on from, depth")
	s.interrupt(t)
	s.until(t, "another interrupt ends at once")
	s.interrupt(t)
	ended := make(chan error, 1)
	go func() { ended <- s.Wait() }()
	select {
	case err := <-ended:
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGINT {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(time.Minute): // it waits for somebody to read its report
		_ = s.Process.Kill() // it may have ended just now
		t.Errorf("a second interrupt has not ended it, but %v", <-ended)
	}
}

// fullPipe is a pipe that nobody reads and that takes nothing: who writes to it comes no further.
func fullPipe(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	const getPipeSize = 1032 // F_GETPIPE_SZ
	size, _, errno := syscall.Syscall(syscall.SYS_FCNTL, w.Fd(), getPipeSize, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	if _, err := w.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	return w
}
