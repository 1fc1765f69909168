package secure

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/machines/ready"
	"github.com/parley-go/parley/machines/setup"
	"github.com/parley-go/parley/machines/startup"
	"github.com/parley-go/parley/runtime/capi"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport/tlslink"
)

func init() {
	capi.Register("setup.peer", func(p *capi.Params) (fsm.Commander, error) {
		return setup.NewPeerRunner(uint8(p.Int("index", 0, 1)))
	})
	capi.Register("ready.datagrams", func(*capi.Params) (fsm.Commander, error) {
		return datagrams{ready.NewPeerRunner()}, nil
	})
	capi.Register("ready.peer", func(*capi.Params) (fsm.Commander, error) { return ready.NewPeerRunner(), nil })
	capi.Register("startup.peer", func(*capi.Params) (fsm.Commander, error) { return startup.NewPeerRunner(1) })
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// made writes an identity into files and returns the options that name it, and its fingerprint.
func made(t *testing.T) (options, pin string) {
	t.Helper()
	cert, print, err := tlslink.SelfSigned("peer")
	must(t, err)
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	must(t, err)
	dir := t.TempDir()
	for name, b := range map[string]*pem.Block{
		"c.pem": {Type: "CERTIFICATE", Bytes: cert.Certificate[0]},
		"k.pem": {Type: "PRIVATE KEY", Bytes: key},
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(b), 0o600))
	}
	options = fmt.Sprintf("certificate: %q, key: %q", filepath.Join(dir, "c.pem"), filepath.Join(dir, "k.pem"))
	return options, print.String()
}

func open(t *testing.T, name string) *capi.Machine {
	t.Helper()
	m, err := capi.Open(name, "")
	must(t, err)
	t.Cleanup(m.Close)
	return m
}

func wait(t *testing.T, m *capi.Machine, want capi.Kind) capi.Event {
	t.Helper()
	for {
		e, err := m.Poll(time.Minute, 1<<16)
		must(t, err)
		if e.Kind == want {
			return e
		}
	}
}

// TestTLS: both sides know each other by their keys, and nobody else is let in.
func TestTLS(t *testing.T) {
	here, herePin := made(t)
	there, therePin := made(t)
	a := open(t, "ready.peer")
	at, err := a.Serve(0, 1, fmt.Sprintf("tls:127.0.0.1:0 {%s, pin: %q}", here, therePin))
	must(t, err)
	stranger := open(t, "ready.peer")
	err = stranger.Connect(0, fmt.Sprintf("tls:%s {%s, pin: %q}", at, there, therePin))
	if err == nil || !strings.Contains(err.Error(), "key") {
		t.Errorf("a server with another key: %v", err)
	}
	b := open(t, "ready.peer")
	must(t, b.Connect(0, fmt.Sprintf("tls:%s {%s, pin: %q}", at, there, herePin)))
	wait(t, b, capi.LinkUp)
	must(t, b.Step("ready"))
	for {
		if e := wait(t, a, capi.State); e.Text == "remoteReady" {
			break
		}
	}
}

// TestDTLS: datagrams, with a server that takes who comes.
func TestDTLS(t *testing.T) {
	here, herePin := made(t)
	there, therePin := made(t)
	a, b := open(t, "startup.peer"), open(t, "startup.peer")
	const at = "127.0.0.1:"
	port := 0
	for try := range 20 { // a port that is free is found by trying
		link := fmt.Sprintf("dtls:%s%d {%s, pin: %q, peers: 4}", at, 42000+try*7, here, therePin)
		if err := a.Connect(0, link); err == nil {
			port = 42000 + try*7
			break
		} else if !strings.Contains(err.Error(), "another program") {
			t.Fatal(err)
		}
	}
	must(t, b.Connect(0, fmt.Sprintf("dtls:127.0.0.1:0>%s%d {%s, pin: %q}", at, port, there, herePin)))
	wait(t, a, capi.LinkUp)
	wait(t, b, capi.LinkUp)
}

// datagrams is a machine that was checked for a network that promises nothing.
type datagrams struct{ *ready.PeerRunner }

func (d datagrams) Info() *fsm.Info {
	info := *d.PeerRunner.Info()
	info.Ordered, info.Reliable, info.Duplicates = false, false, true
	return &info
}

// TestServerDTLS: a server has a machine for each client whose key it knows.
func TestServerDTLS(t *testing.T) {
	here, herePin := made(t)
	there, therePin := made(t)
	link := fmt.Sprintf("dtls:127.0.0.1:0 {%s, pin: %q}", here, therePin)
	s, at, err := capi.OpenServer("ready.datagrams", "", 2, link)
	must(t, err)
	defer s.Close()
	c := open(t, "ready.datagrams")
	must(t, c.Connect(0, fmt.Sprintf("dtls:127.0.0.1:0>%s {%s, pin: %q}", at, there, herePin)))
	wait(t, c, capi.LinkUp)
	must(t, c.Step("ready"))
	for {
		e, err := s.Poll(time.Minute, 1<<16)
		must(t, err)
		if e.Kind == capi.State && e.Peer == 0 && e.Text == "remoteReady" {
			return
		}
	}
}

// TestOptions: what is wrong with them is said before anybody is let in or called.
func TestOptions(t *testing.T) {
	here, pin := made(t)
	m := open(t, "ready.peer")
	for link, want := range map[string]string{
		"tls:127.0.0.1:1":                                               "says whom it expects",
		"tls:127.0.0.1:1 {pin: \"zz\"}":                                 "pin:",
		"tls:127.0.0.1:1 {certificate: \"c\"}":                          "one is of no use without the other",
		"tls:127.0.0.1:1 {certificate: \"nowhere\", key: \"nowhere\"}":  "the certificate: open nowhere",
		"tls:127.0.0.1:1 {name: \"x\", roots: \"nowhere\"}":             "roots: open nowhere",
		"tls:127.0.0.1:1 {" + here + ", pin: \"" + pin + "\", more: 1}": "there is no parameter more",
		"tls:127.0.0.1:1 {" + here + ", pin: 1}":                        "in quotation marks",
		"dtls:127.0.0.1:0>127.0.0.1:9 {pin: \"" + pin + "\"}":           "promises too little",
		"carrier:pigeon": "a link begins with dtls:, tls:, tcp:, udp: or ipx:",
	} {
		if err := m.Connect(0, link); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", link, err, want)
		}
	}
	_, err := m.Listen(0, "tls:127.0.0.1:0")
	if err == nil || !strings.Contains(err.Error(), "a server shows who it is") {
		t.Errorf("without a certificate: %v", err)
	}
}

// TestFromC: the client of examples/c agrees with a peer over TLS.
func TestFromC(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("no C compiler (cc) here")
	}
	dir := t.TempDir()
	library, client := filepath.Join(dir, "libparley.a"), filepath.Join(dir, "setup")
	for _, args := range [][]string{
		{"go", "build", "-buildmode=c-archive", "-o", library, "./lib"},
		{cc, "-I", "..", "-o", client, "../../../examples/c/client/setup.c", library, "-lpthread"},
	} {
		if runtime.GOOS == "darwin" && args[0] == cc {
			args = append(args, "-framework", "CoreFoundation", "-framework", "Security")
		}
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	here, herePin := made(t)
	there, therePin := made(t)
	m, err := capi.Open("setup.peer", "index: 1")
	must(t, err)
	defer m.Close()
	at, err := m.Listen(0, fmt.Sprintf("tls:127.0.0.1:0 {%s, pin: %q}", here, therePin))
	must(t, err)
	type output struct {
		text string
		err  error
	}
	ended := make(chan output, 1)
	go func() {
		link := fmt.Sprintf("tls:%s {%s, pin: %q}", at, there, herePin)
		b, err := exec.CommandContext(t.Context(), client, link, "0", "7").CombinedOutput()
		ended <- output{string(b), err}
	}()
	wait(t, m, capi.LinkUp)
	must(t, m.Step("change{property: 1, value: 9}"))
	for done := false; !done; {
		if err := m.Step("confirm"); err != nil && !errors.Is(err, capi.ErrRefused) {
			t.Fatal(err)
		}
		e, err := m.Poll(time.Minute, 1<<16)
		must(t, err)
		done = e.Kind == capi.State && e.Text == "done" || e.Kind == capi.LinkLost
	}
	if out := <-ended; out.err != nil || !strings.Contains(out.text, "both sides agree") {
		t.Errorf("%v\n%s", out.err, out.text)
	}
}
