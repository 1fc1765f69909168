//go:build linux

package ipx_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/ipx"
)

// inside is set in the process that runs in a network of its own: DOSBox
// binds all addresses, and must not be reachable from outside.
const inside = "PARLEY_DOSBOX_NETWORK"

// TestDOSBox runs the tests against DOSBox in a network that has only lo.
func TestDOSBox(t *testing.T) {
	for _, program := range []string{"dosbox", "unshare", "ip"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	if err := exec.Command("unshare", "-Urn", "true").Run(); err != nil {
		t.Skipf("no network of one's own can be made here: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // ends a test that would hang
	defer cancel()
	script := `ip link set lo up && exec "$0" -test.run '^TestInside' -test.v -test.timeout 4m`
	cmd := exec.CommandContext(ctx, "unshare", "-Urn", "sh", "-c", script, os.Args[0])
	cmd.Env = append(os.Environ(), inside+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := strings.Count(string(out), "--- PASS: TestInside"); n != 2 {
		t.Errorf("%d of 2 tests ran:\n%s", n, out)
	}
}

// dosbox starts a DOSBox that runs commands and then waits, until the test ends.
func dosbox(t *testing.T, commands ...string) {
	t.Helper()
	dir := t.TempDir()
	conf := "[sdl]\noutput=surface\n[mixer]\nnosound=true\n[ipx]\nipx=true\n[autoexec]\n" +
		strings.Join(commands, "\n") + "\npause\n"
	file := filepath.Join(dir, "dosbox.conf")
	if err := os.WriteFile(file, []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("dosbox", "-conf", file, "-noconsole")
	cmd.Env = append(os.Environ(), "SDL_VIDEODRIVER=dummy", "SDL_AUDIODRIVER=dummy", "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // it must not outlive a test that is cut short
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}

func needInside(t *testing.T) {
	if os.Getenv(inside) == "" {
		t.Skip("runs as a part of TestDOSBox")
	}
}

// A DOSBox is the server: we register, it answers our ping, and two of us
// exchange frames through it.
func TestInsideDOSBoxIsServer(t *testing.T) {
	needInside(t)
	const port = 19213
	dosbox(t, fmt.Sprint("ipxnet startserver ", port))
	echoes := make(chan ipx.Address, 100)
	cfg := ipx.Config{Socket: socket, Retry: 200 * time.Millisecond, Attempts: 300,
		OnEcho: func(from ipx.Address) { echoes <- from }}
	dial := func() *ipx.Link {
		l, err := ipx.Dial(t.Context(), "udp4", fmt.Sprint("127.0.0.1:", port), cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Abort() })
		return l
	}
	a := dial()
	cfg.OnEcho = nil
	b := dial()
	pump(t, b, nil)
	t.Logf("registered as %v and %v", a.Address(), b.Address())
	received := make(chan string, 10)
	pump(t, a, received)
	answers := map[ipx.Node]bool{}
	for len(answers) < 2 { // the other one of us, and DOSBox itself
		if err := a.Ping(); err != nil {
			t.Fatal(err)
		}
		select {
		case from := <-echoes:
			answers[from.Node] = true
		case <-time.After(time.Minute):
			t.Fatalf("answers to pings from %v alone", answers)
		}
	}
	if !answers[b.Address().Node] {
		t.Errorf("our own other link has not answered: %v", answers)
	}
	if err := errors.Join(b.Send(transport.All, []byte("hello through DOSBox")), b.Flush()); err != nil {
		t.Fatal(err)
	}
	expectText(t, received, "hello through DOSBox")
}

// A DOSBox is the client of our server: it registers and answers our ping.
func TestInsideDOSBoxIsClient(t *testing.T) {
	needInside(t)
	for _, plain := range []bool{true, false} {
		s := serve(t, "udp4", "127.0.0.1:0", ipx.ServerConfig{PlainNodes: plain})
		_, port, _ := strings.Cut(s.Addr().String(), ":")
		dosbox(t, "ipxnet connect 127.0.0.1 "+port)
		echoes := make(chan ipx.Address, 1000)
		l := dial(t, s, ipx.Config{OnEcho: func(from ipx.Address) { echoes <- from }})
		pump(t, l, nil)
		deadline := time.After(time.Minute)
		ticks := time.NewTicker(50 * time.Millisecond)
		defer ticks.Stop()
		for answered := false; !answered; {
			if err := l.Ping(); err != nil {
				t.Fatal(err)
			}
			select {
			case from := <-echoes:
				answered = true
				t.Logf("%v has answered; clients: %d", from, s.Clients())
			case <-ticks.C:
			case <-deadline:
				t.Fatalf("DOSBox has not answered; %d clients, %+v", s.Clients(), s.Stats())
			}
		}
	}
}

// pump receives, so that pings are answered, and passes frames on as text.
func pump(t *testing.T, l *ipx.Link, to chan string) {
	go func() {
		buf := make([]byte, 2000)
		for {
			got, err := l.Receive(buf)
			switch {
			case errors.Is(err, transport.ErrClosed):
				return
			case err == nil && got.Kind == transport.Data && to != nil:
				to <- string(buf[:got.N])
			}
		}
	}()
}

func expectText(t *testing.T, received chan string, want string) {
	t.Helper()
	select {
	case got := <-received:
		if got != want {
			t.Errorf("received %q, want %q", got, want)
		}
	case <-time.After(time.Minute):
		t.Errorf("%q has not arrived", want)
	}
}
