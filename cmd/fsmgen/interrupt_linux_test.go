package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// terminal makes a pseudo terminal: what is written to the second file is read from the first.
func terminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no pseudo terminals here: ", err)
	}
	t.Cleanup(func() { ours.Close() })
	var number, unlock int32
	for request, arg := range map[uintptr]*int32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &unlock} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, ours.Fd(), request, uintptr(unsafe.Pointer(arg))); errno != 0 {
			t.Skip("there are no pseudo terminals here: ", errno)
		}
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no pseudo terminals here: ", err)
	}
	return ours, theirs
}

// longCheck starts a check of some seconds and returns when it has told on its terminal how far it is.
func longCheck(t *testing.T) (cmd *exec.Cmd, out *bytes.Buffer) {
	t.Helper()
	if testing.Short() {
		t.Skip("a search of some seconds")
	}
	ours, theirs := terminal(t)
	cmd, out = exec.Command("fsmgen", "check", "--set", "properties=4", "--workers", "1", "../../specs/setup/big.yaml"), &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, theirs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	var told strings.Builder
	b := make([]byte, 4096)
	for !strings.Contains(told.String(), "to go on from, depth") {
		n, err := ours.Read(b)
		if told.Write(b[:n]); err != nil {
			t.Fatalf("it ended before it said anything: %v\n%s%s", err, told.String(), out.String())
		}
	}
	go io.Copy(io.Discard, ours)
	return cmd, out
}

// TestInterrupt: an interrupt in the middle of a search ends it with a report of what was covered, and exit code 3.
func TestInterrupt(t *testing.T) {
	cmd, out := longCheck(t)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("it ended with %v", err)
	}
	for _, want := range []string{"big    incomplete", "the search is incomplete: interrupt signal received", "✓ both-done, sometimes: holds", "not decided: "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report has no %q:\n%s", want, out.String())
		}
	}
}

// TestSecondInterrupt: while the search still comes to its end a second interrupt ends the program at once, as interrupts usually do, and
// nothing is reported.
func TestSecondInterrupt(t *testing.T) {
	// The report may be out before the second signal comes; then there is nothing left to end.
	for range 10 {
		out, err := interruptOften(t)
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			t.Fatalf("it ended with %v", err)
		}
		status := exit.Sys().(syscall.WaitStatus)
		if status.Signaled() && status.Signal() == syscall.SIGINT {
			return
		}
		if status.ExitStatus() != 3 {
			t.Fatalf("it ended with %v and said\n%s", err, out)
		}
	}
	t.Error("a second interrupt has never ended it at once")
}

// interruptOften sends interrupts to a long search until it has ended.
func interruptOften(t *testing.T) (said string, err error) {
	cmd, out := longCheck(t)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			return out.String(), err
		default:
			_ = cmd.Process.Signal(os.Interrupt) // it may have ended just now
			runtime.Gosched()
		}
	}
}
