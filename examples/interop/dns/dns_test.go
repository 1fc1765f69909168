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
	"github.com/parley-go/parley/runtime/transport/impair"
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
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	daemon.Start(t, path, "-d", "-c", config).Await(t, func() error { return daemon.Bound(port) })
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
		link, err := Dial("127.0.0.1:" + port)
		if err != nil {
			t.Fatal(err)
		}
		lossy, err := impair.New(link, impair.Config{Seed: 2, Faults: impair.Faults{Loss: c.loss, Duplicate: c.loss}})
		if err != nil {
			t.Fatal(err)
		}
		found, err := Lookup(ctx, lossy, c.host)
		var got []string
		for _, a := range found {
			got = append(got, a.String())
		}
		slices.Sort(got) // a server changes their order
		if !slices.Equal(got, c.want) || err == nil && c.err != "" || err != nil && err.Error() != c.err {
			t.Errorf("%s: %v, %v", c.host, got, err)
		}
		if c.loss > 0 && lossy.Stats().Lost == 0 {
			t.Error("nothing was lost")
		}
	}
}

// TestDig has dig ask our server.
func TestDig(t *testing.T) {
	path := daemon.Path(t, "dig")
	link, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{MaxFrame: MaxFrame})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(ctx, link, map[string]netip.Addr{"one.test": netip.MustParseAddr("192.0.2.1")})
	}()
	_, port, _ := strings.Cut(link.LocalAddr().String(), ":")
	for _, c := range []struct{ host, kind, want string }{
		{"one.test", "A", "ANSWER SECTION:\none.test.\t\t0\tIN\tA\t192.0.2.1\n"},
		{"none.test", "A", "status: NXDOMAIN"},
		{"one.test", "MX", "status: NOTIMP"},
	} {
		said, err := daemon.Run(t, path, "@127.0.0.1", "-p", port, "+tries=10", "+time=5", c.host, c.kind)
		if err != nil || !strings.Contains(said, c.want) || strings.Contains(said, "WARNING: Message parser") {
			t.Errorf("dig %s %s: %v\n%s", c.host, c.kind, err, said)
		}
	}
	stop()
	<-ended
}
