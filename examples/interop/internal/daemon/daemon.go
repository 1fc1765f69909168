// Package daemon runs programs that nobody here wrote, for the tests of examples/interop: each test starts
// its own instance on a free port of this computer, and ends it by its process group. It must not know any
// protocol. Start from [Start].
package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Limit is how long a test waits for anything at all. It is far more than is needed, so that a computer
// that stands still for seconds changes nothing.
const Limit = 60 * time.Second

// Path returns where a program is. The test is skipped if it is not installed.
func Path(t testing.TB, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		for _, dir := range []string{"/usr/sbin/", "/sbin/"} { // not in everybody's PATH
			if path, err = exec.LookPath(dir + program); err == nil {
				break
			}
		}
	}
	if err != nil {
		t.Skipf("%s is not installed here", program)
	}
	return path
}

// Start starts a program that runs until the test ends. What it has printed is shown if the test fails.
func Start(t testing.TB, program string, args ...string) *Process {
	t.Helper()
	p := &Process{ended: make(chan struct{})}
	c := exec.Command(program, args...)
	c.Stdout, c.Stderr = &p.out, &p.out
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.WaitDelay = time.Second
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = c.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // with its children
		<-p.ended
		if t.Failed() {
			t.Logf("%s has printed:\n%s", program, p.out.String())
		}
	})
	return p
}

// Process is a program that runs.
type Process struct {
	out   output
	err   error
	ended chan struct{}
}

// Ended reports whether the program has ended by itself, and what it has printed.
func (p *Process) Ended() (string, bool) {
	select {
	case <-p.ended:
		return p.out.String(), true
	default:
		return "", false
	}
}

// Await tries until a program does what it should, and ends the test if it never does.
func (p *Process) Await(t testing.TB, try func() error) {
	t.Helper()
	deadline := time.Now().Add(Limit)
	for {
		err := try()
		if err == nil {
			return
		}
		if out, ended := p.Ended(); ended {
			t.Fatalf("the program has ended, %v:\n%s", p.err, out)
		}
		if time.Now().After(deadline) {
			t.Fatal("the program does not answer: ", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Port returns a port on 127.0.0.1 that is free in udp and tcp.
func Port(t testing.TB) string {
	t.Helper()
	for range 20 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(l.Addr().String())
		u, err := net.ListenPacket("udp", l.Addr().String())
		l.Close()
		if err == nil {
			u.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}

// Bound reports as an error that nobody has bound a port of 127.0.0.1 yet, in UDP or TCP. It does not try the
// port, or the program could not bind it at that moment, or would serve us.
func Bound(port string) error { return bound(port, "/proc/net/udp", "/proc/net/tcp") }

// Listens is [Bound] for TCP alone.
func Listens(port string) error { return bound(port, "/proc/net/tcp") }

func bound(port string, tables ...string) error {
	n, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	for _, table := range tables {
		b, err := os.ReadFile(table)
		if err != nil || bytes.Contains(b, fmt.Appendf(nil, ": 0100007F:%04X ", n)) {
			return nil // where there is no such file, the client asks again
		}
	}
	return errors.New("nobody has bound the port")
}

// Run runs a program to its end and returns what it has printed.
func Run(t testing.TB, program string, args ...string) (string, error) {
	t.Helper()
	c := exec.CommandContext(t.Context(), program, args...)
	var out output
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	return out.String(), err
}

// output is a buffer that several goroutines use.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}
