package stun

import (
	"context"
	"net"
	"path/filepath"
	"testing"

	"github.com/parley-go/parley/examples/interop/internal/daemon"
	"github.com/parley-go/parley/runtime/transport/impair"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// TestCoturn asks a turnserver, once plainly and once while requests are lost and copied. It sees us from
// where we send.
func TestCoturn(t *testing.T) {
	path := daemon.Path(t, "turnserver")
	folder, port := t.TempDir(), daemon.Port(t)
	p := daemon.Start(t, path, "-n", "--listening-ip=127.0.0.1", "--listening-port="+port, "--no-tls", "--no-dtls",
		"--no-cli", "--stun-only", "--log-file=stdout", "--pidfile="+filepath.Join(folder, "pid"),
		"--db="+filepath.Join(folder, "db"))
	p.Await(t, func() error { return daemon.Bound(port) })
	ctx, stop := context.WithTimeout(t.Context(), daemon.Limit)
	defer stop()
	for _, loss := range []float64{0, 0.5} {
		link, err := udp.Open("udp4", "127.0.0.1:0",
			udp.Config{Peers: []string{"127.0.0.1:" + port}, MaxFrame: 20000})
		if err != nil {
			t.Fatal(err)
		}
		want := link.LocalAddr().(*net.UDPAddr).AddrPort()
		lossy, err := impair.New(link, impair.Config{Seed: 2, Faults: impair.Faults{Loss: loss, Duplicate: loss}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Bind(ctx, lossy)
		if err != nil || got != want {
			t.Errorf("the server sees us as %v, and we are %v: %v", got, want, err)
		}
		if loss > 0 && lossy.Stats().Lost == 0 {
			t.Error("nothing was lost")
		}
	}
}
