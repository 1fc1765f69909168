package dns

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/examples/interop/internal/daemon"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/impair"
	"github.com/parley-go/parley/runtime/transport/tcp"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// TestUnbound asks an unbound that knows some names itself, plainly and while messages are lost.
func TestUnbound(t *testing.T) {
	path := daemon.Path(t, "unbound")
	folder, port := t.TempDir(), daemon.Port(t)
	config := filepath.Join(folder, "unbound.conf")
	text := fmt.Sprintf(`server:
  interface: 127.0.0.1
  port: %s
  do-daemonize: no
  use-syslog: no
  username: ""
  chroot: ""
  directory: "%s"
  pidfile: "%s/pid"
  module-config: "iterator"
  local-zone: "test." static
  local-data: "one.test. A 192.0.2.1"
  local-data: "two.test. A 192.0.2.2"
  local-data: "two.test. A 192.0.2.3"
remote-control:
  control-enable: no
`, port, folder, folder)
	text = strings.Replace(text, "server:\n", "server:\n  tcp-idle-timeout: 120000\n", 1)
	many := make([]string, 0, 35)
	for i := range cap(many) {
		many = append(many, fmt.Sprintf("192.0.2.%d", 100+i))
		text = strings.Replace(text, "server:\n", "server:\n  local-data: \"many.test. A "+many[i]+"\"\n", 1)
	}
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p := daemon.Start(t, path, "-d", "-c", config)
	p.Await(t, func() error { return daemon.Bound(port) })
	p.Await(t, func() error { return daemon.Listens(port) })
	ctx, stop := context.WithTimeout(t.Context(), daemon.Limit)
	defer stop()
	for _, c := range []struct {
		host string
		want []string
		err  string
		loss float64
	}{
		{"one.test", []string{"192.0.2.1"}, "", 0},
		{"two.test", []string{"192.0.2.2", "192.0.2.3"}, "", 0},
		{"none.test", nil, "the server says 3", 0},
		{"one.test", []string{"192.0.2.1"}, "", 0.5},
	} {
		if c.loss == 0 {
			if got, err := LookupTCP(ctx, dial(t, "127.0.0.1:"+port), c.host); !same(got, err, c.want, c.err) {
				t.Errorf("%s over TCP: %v, %v", c.host, got, err)
			}
		}
		link, err := Dial("127.0.0.1:" + port)
		if err != nil {
			t.Fatal(err)
		}
		lossy, err := impair.New(link, impair.Config{Seed: 2, Faults: impair.Faults{Loss: c.loss, Duplicate: c.loss}})
		if err != nil {
			t.Fatal(err)
		}
		found, err := Lookup(ctx, lossy, c.host)
		if !same(found, err, c.want, c.err) {
			t.Errorf("%s: %v, %v", c.host, found, err)
		}
		if c.loss > 0 && lossy.Stats().Lost == 0 {
			t.Error("nothing was lost")
		}
	}
	link, err := Dial("127.0.0.1:" + port)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lookup(ctx, link, "many.test"); err != ErrTruncated {
		t.Errorf("many.test over UDP: %v", err)
	}
	if got, err := Resolve(ctx, "127.0.0.1:"+port, "many.test"); !same(got, err, many, "") {
		t.Errorf("many.test: %v, %v", got, err)
	}
}

// dial connects to a server.
func dial(t *testing.T, address string) transport.Link {
	t.Helper()
	link, err := tcp.Dial(t.Context(), "tcp", address, tcp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return link
}

// same reports whether an answer has these addresses, in any order, or this error.
func same(got []netip.Addr, err error, want []string, why string) bool {
	var texts []string
	for _, a := range got {
		texts = append(texts, a.String())
	}
	slices.Sort(texts) // a server changes their order
	if err != nil || why != "" {
		return err != nil && err.Error() == why && len(got) == 0
	}
	return slices.Equal(texts, want)
}

// serve starts a server on one port of UDP and TCP until the test ends, and returns the port.
func serve(t *testing.T, known map[string][]netip.Addr) string {
	t.Helper()
	var datagrams *udp.Link
	var streams *tcp.Server
	for range 20 { // the port that is free in UDP may not be in TCP
		var err error
		if datagrams, err = udp.Open("udp4", "127.0.0.1:0", udp.Config{MaxFrame: MaxFrame}); err != nil {
			t.Fatal(err)
		}
		if streams, err = tcp.Serve("tcp4", datagrams.LocalAddr().String(), tcp.ServeConfig{}); err == nil {
			break
		}
		datagrams.Close()
	}
	if streams == nil {
		t.Fatal("no port is free in UDP and TCP")
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- Serve(ctx, datagrams, known) }()
	go func() { ended <- ServeTCP(ctx, streams, known) }()
	t.Cleanup(func() {
		stop()
		<-ended
		<-ended
	})
	_, port, _ := strings.Cut(datagrams.LocalAddr().String(), ":")
	return port
}

// TestDig has dig ask our server over UDP and TCP, and over TCP since the answer over UDP was cut.
func TestDig(t *testing.T) {
	path := daemon.Path(t, "dig")
	long := strings.Repeat("long.", 8) + "test"
	known := map[string][]netip.Addr{"one.test": {netip.MustParseAddr("192.0.2.1")}}
	for i := range 12 {
		known[long] = append(known[long], netip.AddrFrom4([4]byte{192, 0, 2, byte(100 + i)}))
	}
	port := serve(t, known)
	const one = "ANSWER SECTION:\none.test.\t\t0\tIN\tA\t192.0.2.1\n"
	for _, c := range []struct{ how, host, kind, want, over string }{
		{"+notcp", "one.test", "A", one, "(UDP)"},
		{"+notcp", "none.test", "A", "status: NXDOMAIN", "(UDP)"},
		{"+notcp", "one.test", "MX", "status: NOTIMP", "(UDP)"},
		{"+tcp", "one.test", "A", one, "(TCP)"},
		{"+tcp", "none.test", "A", "status: NXDOMAIN", "(TCP)"},
		{"+notcp", long, "A", "ANSWER: 12,", "Truncated, retrying in TCP mode"},
		{"+ignore", long, "A", "flags: qr aa tc rd;", "(UDP)"},
	} {
		said, err := daemon.Run(t, path, "@127.0.0.1", "-p", port, "+tries=10", "+time=5", c.how, c.host, c.kind)
		if err != nil || !strings.Contains(said, c.want) || !strings.Contains(said, c.over) ||
			strings.Contains(said, "WARNING: Message parser") {
			t.Errorf("dig %s %s %s: %v\n%s", c.how, c.host, c.kind, err, said)
		}
	}
}
