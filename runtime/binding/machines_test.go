package binding_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/parley-go/parley/machines/masterserver"
	"github.com/parley-go/parley/machines/startup"
	"github.com/parley-go/parley/runtime/binding"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/ipx"
	"github.com/parley-go/parley/runtime/transport/tcp"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// netSystem is what the program of this test can do with whatever is bound.
type netSystem interface {
	binding.System
	connect(ctx context.Context) error
	disconnect(ctx context.Context) error
}

type peers struct {
	*binding.Machine[*startup.PeerRunner]
}

func (p peers) connect(ctx context.Context) error {
	_, err := p.Do(ctx, (*startup.PeerRunner).Connect)
	return err
}

func (p peers) disconnect(ctx context.Context) error {
	_, err := p.Do(ctx, (*startup.PeerRunner).Leave)
	return err
}

func newPeers(_ context.Context, link transport.Link) (netSystem, error) {
	r, err := startup.NewPeerRunner(0)
	if err != nil {
		return nil, err
	}
	connected := func(r *startup.PeerRunner) bool {
		return r.Machine.State != startup.StateIdle
	}
	m, err := binding.Start(r, driver.Options[*startup.PeerRunner]{}, connected,
		func(d *driver.Driver[*startup.PeerRunner]) error { return d.Attach(0, link) })
	return peers{m}, err
}

type server struct {
	*binding.Machine[*masterserver.GameserverRunner]
}

func (s server) connect(ctx context.Context) error {
	_, err := s.Do(ctx, func(r *masterserver.GameserverRunner) fsm.Result {
		name, _ := masterserver.NewName("arena")
		os, _ := masterserver.NewSystem("LINUX")
		url, _ := masterserver.NewUrl("none")
		return r.Begin(name, os, url, masterserver.Version{})
	})
	return err
}

func (s server) disconnect(ctx context.Context) error {
	_, err := s.Do(ctx, (*masterserver.GameserverRunner).End)
	return err
}

func newServer(_ context.Context, link transport.Link) (netSystem, error) {
	connected := func(r *masterserver.GameserverRunner) bool { return r.Machine != masterserver.NewGameserver() }
	m, err := binding.Start(masterserver.NewGameserverRunner(),
		driver.Options[*masterserver.GameserverRunner]{}, connected,
		func(d *driver.Driver[*masterserver.GameserverRunner]) error { return d.Attach(0, link) })
	return server{m}, err
}

// realBinding offers two protocols, and links to the IPX server and the masterserver at these
// addresses.
func realBinding(master, tunnel string) (*binding.Binding[netSystem, transport.Link], error) {
	return binding.New(
		[]binding.Protocol[netSystem, transport.Link]{{Name: "peers", PeerToPeer: true, Init: newPeers},
			{Name: "server", Init: newServer}},
		[]binding.Transport[transport.Link]{
			{Name: "udp", Open: func(context.Context) (transport.Link, error) {
				return udp.Open("udp4", "127.0.0.1:0", udp.Config{})
			}},
			{Name: "ipx", PeerToPeerOnly: true, Open: func(ctx context.Context) (transport.Link, error) {
				return ipx.Dial(ctx, "udp4", tunnel, ipx.Config{Socket: 0x5000, MaxFrame: 1400})
			}},
			{Name: "tcp", Open: func(ctx context.Context) (transport.Link, error) {
				return tcp.Dial(ctx, "tcp4", master, tcp.Config{})
			}},
		})
}

// TestMachinesOnRealLinks switches a running program between equal peers and a
// server's registration, over UDP, the IPX tunnel and TCP.
func TestMachinesOnRealLinks(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	master, tunnel := realServers(ctx, t)
	b, err := realBinding(master.Addr().String(), tunnel.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	to := func(text string) error {
		p, err := b.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return b.Switch(ctx, p)
	}
	use := func(f func(netSystem) error) {
		t.Helper()
		if err := b.Use(f); err != nil {
			t.Fatal(err)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	must(to("peers udp"))
	use(func(s netSystem) error { return s.connect(ctx) })
	if err := to("ipx"); !errors.Is(err, binding.ErrConnected) {
		t.Errorf("a switch while connected: %v", err)
	}
	use(func(s netSystem) error { return s.disconnect(ctx) })
	must(to("ipx"))
	if err := to("server ipx"); !errors.Is(err, binding.ErrPeerToPeerOnly) {
		t.Errorf("a server over IPX: %v", err)
	}
	// The machine was checked for a reliable stream: its driver refuses UDP, and the peers come back.
	err = to("server udp")
	var failed *binding.SwitchError
	if !errors.Is(err, driver.ErrLinkTooWeak) || !errors.As(err, &failed) ||
		failed.Bound != (binding.Pair{Protocol: "peers", Transport: "ipx"}) {
		t.Errorf("a server over UDP: %v", err)
	}
	use(func(s netSystem) error { return s.connect(ctx) })
	use(func(s netSystem) error { return s.disconnect(ctx) })

	must(to("server tcp"))
	conn, err := master.Accept()
	must(err)
	use(func(s netSystem) error { return s.connect(ctx) })
	line, err := bufio.NewReader(conn).ReadString('\n')
	if want := "version: 0.0 join me: arena os: LINUX maxplayers: 16 url: none\n"; err != nil || line != want {
		t.Errorf("the master reads %q, %v; want %q", line, err, want)
	}
	closed := closing(conn)
	must(b.Unbind(ctx))
	<-closed
}

// realServers opens what the program connects to: a masterserver, which nobody serves yet, and an
// IPX server.
func realServers(ctx context.Context, t *testing.T) (net.Listener, *ipx.Server) {
	t.Helper()
	master, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	tunnel, err := ipx.Listen("udp4", "127.0.0.1:0", ipx.ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tunnel.Close() })
	go tunnel.Serve(ctx)
	return master, tunnel
}

// closing closes a connection in good order, which waits for the other side.
func closing(conn net.Conn) (closed chan struct{}) {
	closed = make(chan struct{})
	go func() {
		conn.SetReadDeadline(time.Now().Add(time.Minute))
		io.Copy(io.Discard, conn)
		conn.Close()
		close(closed)
	}()
	return closed
}
