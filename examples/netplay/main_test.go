package main

import (
	"bytes"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/replay"
	"github.com/parley-go/parley/runtime/trace"
)

// output collects what a command prints, and says where it listens.
type output struct {
	mu       sync.Mutex
	text     bytes.Buffer
	once     sync.Once
	listens  string
	listened chan struct{}
}

func newOutput() *output { return &output{listened: make(chan struct{})} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(p)
	if at, ok := strings.CutPrefix(o.text.String(), "listening on "); ok {
		if at, _, ok = strings.Cut(at, "\n"); ok {
			o.once.Do(func() { o.listens = at; close(o.listened) })
		}
	}
	return len(p), nil
}

// Two commands play a match; what they print can be cut into words, and what they record is a run
// of the protocol.
func TestCommands(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(file("script"),
		[]byte("edit own 3 spathi # one more\nwait inBattle\nwait frames 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, b := newOutput(), newOutput()
	code := make(chan int)
	go func() {
		code <- run([]string{"-listen", "127.0.0.1:0", "-checksums", "own", "-trace", file("a.jsonl"), "-pcap",
			file("a.pcapng"), "-timeout", "2m", "-script", file("script")}, a, a)
	}()
	<-a.listened
	if c := run([]string{"-connect", a.listens, "-checksums", "own", "-game", "0.8.0", "-fleet",
		"orz,-,kohr-ah", "-delay", "0", "-timeout", "2m", "-v"}, b, b); c != exitOK {
		t.Errorf("exit code %d", c)
	}
	if c := <-code; c != exitOK {
		t.Errorf("exit code %d", c)
	}
	text := a.text.String()
	for _, want := range []string{"\nstate unconnected -> connecting\n", "\nstate inSetup -> preBattle\n",
		"\nreport matchEnded\n", "script:1: edit own 3 spathi\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "heardChecksum") ||
		!strings.Contains(b.text.String(), "report heardChecksum{frame: 0, crc: ") {
		t.Error("the reports of frames belong into the verbose account alone")
	}
	checkTrace(t, file("a.jsonl"))
	if pcap, err := os.ReadFile(file("a.pcapng")); err != nil || !bytes.Contains(pcap, []byte("inSetup confirm")) {
		t.Errorf("the capture does not name transitions: %v", err)
	}
}

func checkTrace(t *testing.T, name string) {
	t.Helper()
	p, errs := compile.Load("../../specs/netplay/spec.yaml", compile.Options{})
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := trace.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := replay.Check(p, r); err != nil || c.Deviation != nil || c.Frames < 100 {
		t.Errorf("%v, %+v", err, c)
	}
}

// What can be wrong with the command line, a script, a connection or the other
// side has its exit code and names what is wrong.
func TestExitCodes(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	go func() {
		for {
			conn, err := taken.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
				conn.(*net.TCPConn).CloseWrite()
				io.Copy(io.Discard, conn) // what is not read would destroy the answer
			}()
		}
	}()
	bad := filepath.Join(t.TempDir(), "bad.txt")
	os.WriteFile(bad, []byte("confirm\nedit own 14 orz\njump\nwait inBatle\ninput fire\npick 3 4\n"), 0o600)
	at := taken.Addr().String()
	for _, x := range []struct {
		args string
		code int
		want []string
	}{
		{"", exitUsage, []string{"-listen", "-connect"}},
		{"-listen :1 -connect :2", exitUsage, []string{"exclude each other", "netplay -help"}},
		{"here -listen :1", exitUsage, []string{`unexpected argument "here"`}},
		{"-listen :1 -wait 1s", exitUsage, []string{"-wait belongs to -connect", "-timeout"}},
		{"-listen :1 -idle -script x", exitUsage, []string{"-idle and -script exclude each other"}},
		{"-listen :1 -silence -1s", exitUsage, []string{"-silence -1s", "not negative"}},
		{"-listen :1 -fps -1", exitUsage, []string{"-fps -1", "not negative"}},
		{"-listen :1 -game 0.5.0", exitUsage, []string{"-game 0.5.0", "0.6.9"}},
		{"-listen 203.0.113.77:1", exitUsage,
			[]string{"listening on 203.0.113.77:1 (TCP)", "does not have the address", "it has 127.0.0.1"}},
		{"-connect 127.0.0.1:99999", exitUsage, []string{"connecting to 127.0.0.1:99999 (TCP)", "0 to 65535"}},
		{"-nonsense", exitUsage, []string{"nonsense"}},
		{"-listen " + at, exitUsage, []string{"another program of this computer has port", "in use"}},
		{"-connect 127.0.0.1:1 -wait 2s", exitUsage,
			[]string{"note attempt 1", "connecting to 127.0.0.1:1 (TCP)", "start the other side first", "refused"}},
		{"-connect " + at + " -fleet orc", exitUsage, []string{"orc", "orz", "zoq"}},
		{"-connect " + at + " -game 1.0", exitUsage, []string{"1.0", "0.8.0"}},
		{"-connect " + at + " -delay 36", exitUsage, []string{"36", "35"}},
		{"-connect " + at + " -checksums none", exitUsage, []string{"none", "echo"}},
		{"-connect " + at + " -name " + strings.Repeat("x", 31), exitUsage, []string{"31 bytes", "30"}},
		{"-connect " + at + " -script /nowhere", exitUsage, []string{"/nowhere"}},
		{"-connect " + at + " -trace /nowhere/x", exitUsage, []string{"/nowhere/x"}},
		{"-connect " + at + " -script " + bad, exitUsage,
			[]string{bad + ":2: edit own 14 orz: \"14\"", ":3: \"jump\"", ":4: wait inBatle", "inBattle",
				":5: input fire", "weapon", ":6: pick 3 4"}},
		{"-connect " + at, exitFailed, []string{"in state init", "malformed frame",
			"the other side seems to speak HTTP, as web servers do: check address and port"}},
		{"-listen 127.0.0.1:0 -timeout 50ms", exitUsage, []string{"not over after 50ms"}},
		{"-help-script", exitOK, []string{"wait STATE"}},
	} {
		out := newOutput()
		if code := run(strings.Fields(x.args), out, out); code != x.code {
			t.Errorf("%s: exit code %d, want %d", x.args, code, x.code)
		}
		for _, want := range x.want {
			if !strings.Contains(out.text.String(), want) {
				t.Errorf("%s: no %q in %s", x.args, want, out.text.String())
			}
		}
	}
}

func TestDefaultPort(t *testing.T) {
	for in, want := range map[string]string{"localhost": "localhost:21837", "127.0.0.1:5": "127.0.0.1:5",
		"::1": "[::1]:21837", "[::1]": "[::1]:21837", ":7": ":7", "": ""} {
		if got := withPort(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
