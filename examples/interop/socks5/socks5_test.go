// Package socks5 holds the client and the proxy of specs/library/socks5 against microsocks and curl: the handshake is
// theirs, and the connection behind it the program's.
package socks5

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/parley-go/parley/examples/interop/internal/daemon"
	"github.com/parley-go/parley/machines/socks5"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/play"
)

// login is a name and a password; the zero value is none.
type login struct{ name, password string }

// errRefused is what a client returns whom the proxy does not connect.
var errRefused = errors.New("the proxy refuses")

// dial connects to a port of this computer through a proxy, with our machine.
func dial(ctx context.Context, proxy string, who login, to netip.AddrPort) (net.Conn, error) {
	said := make(chan any, 4)
	h := &socks5.ClientHandlers{
		Chosen:    func(r socks5.ClientChosenReport) { said <- r },
		Welcome:   func() { said <- "welcome" },
		Connected: func(r socks5.ClientConnectedReport) { said <- r },
		Refused:   func(r socks5.ClientRefusedReport) { said <- fmt.Errorf("%w: %s", errRefused, r.Code) },
		Closed:    func() { said <- errRefused },
	}
	conns := make(chan net.Conn, 1)
	s, err := play.Dial(ctx, "tcp", proxy, socks5.NewClientRunner(), h,
		play.Options{Handshake: -1, HandOver: func(c net.Conn) { conns <- c }})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	four, _ := socks5.NewIPv4(string(to.Addr().AsSlice()))
	greet := func(m *socks5.ClientRunner) fsm.Result {
		methods := socks5.Methods{Len: 1}
		if who != (login{}) {
			methods.Items[1], methods.Len = 2, 2
		}
		return m.Greet(methods)
	}
	ask := func(m *socks5.ClientRunner) fsm.Result {
		return m.Ask(socks5.KindIpv4, socks5.Some(four), socks5.Optional[socks5.Text]{}, socks5.Optional[socks5.IPv6]{},
			socks5.Port(to.Port()))
	}
	if err := s.Give(greet); err != nil {
		return nil, err
	}
	for {
		var err error
		select {
		case x := <-said:
			switch x := x.(type) {
			case socks5.ClientChosenReport:
				if err = s.Give(ask); x.Method == 2 {
					name, _ := socks5.NewText(who.name)
					password, _ := socks5.NewText(who.password)
					err = s.Give(func(m *socks5.ClientRunner) fsm.Result { return m.Login(name, password) })
				}
			case string:
				err = s.Give(ask)
			case error:
				err = x
			case socks5.ClientConnectedReport:
				if err = s.Wait(); err == nil {
					return <-conns, nil
				}
			}
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
	}
}

// ours is a proxy of ours. It connects clients that say the right name and password, if there is one, to ports of
// this computer.
type ours struct {
	t       *testing.T
	address string
	who     login
	names   chan string // that clients have asked for
}

func serve(t *testing.T, who login) *ours {
	t.Helper()
	l, err := play.Listen("tcp4", "127.0.0.1:0", play.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := &ours{t, l.Addr().String(), who, make(chan string, 16)}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		l.Close()
		running.Wait()
	})
	running.Go(func() {
		for {
			said := make(chan any, 4)
			h := &socks5.ProxyHandlers{
				Login: func(r socks5.ProxyLoginReport) { said <- r },
				Asked: func(r socks5.ProxyAskedReport) { said <- r },
			}
			conns := make(chan net.Conn, 1)
			s, err := play.Accept(ctx, l, socks5.NewProxyRunner(who != login{}), h,
				play.Options{Handshake: -1, HandOver: func(c net.Conn) { conns <- c }})
			if err != nil {
				return
			}
			running.Go(func() { o.proxy(ctx, s, said, conns) })
		}
	})
	return o
}

// proxy serves one client.
func (o *ours) proxy(ctx context.Context, s *play.Session[*socks5.ProxyRunner], said <-chan any,
	conns <-chan net.Conn) {
	defer s.Close()
	for {
		select {
		case <-s.Done():
			return
		case x := <-said:
			switch x := x.(type) {
			case socks5.ProxyLoginReport:
				right := login{x.Name.String(), x.Password.String()} == o.who
				_ = s.Give(func(m *socks5.ProxyRunner) fsm.Result { return m.Judge(right) })
			case socks5.ProxyAskedReport:
				to := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(x.Port))
				if x.Name.Present {
					o.names <- x.Name.Value.String()
				} else if a, ok := netip.AddrFromSlice([]byte(x.Four.Value.String())); ok {
					to = netip.AddrPortFrom(a, uint16(x.Port))
				}
				there, err := new(net.Dialer).DialContext(ctx, "tcp4", to.String())
				if err != nil {
					_ = s.Give(func(m *socks5.ProxyRunner) fsm.Result { return m.Deny(socks5.CodeRefused) })
					return
				}
				defer there.Close()
				bound := there.LocalAddr().(*net.TCPAddr).AddrPort()
				four, _ := socks5.NewIPv4(string(bound.Addr().AsSlice()))
				if s.Give(func(m *socks5.ProxyRunner) fsm.Result {
					return m.Grant(socks5.KindIpv4, socks5.Some(four), socks5.Optional[socks5.Text]{},
						socks5.Optional[socks5.IPv6]{}, socks5.Port(bound.Port()))
				}) != nil || s.Wait() != nil {
					return
				}
				carry(ctx, <-conns, there)
				return
			}
		}
	}
}

// carry takes the bytes of each to the other, until both have said all, or ctx ends.
func carry(ctx context.Context, a, b net.Conn) {
	stop := context.AfterFunc(ctx, func() { a.Close(); b.Close() })
	defer stop()
	one := func(to, from net.Conn) {
		if _, err := io.Copy(to, from); err != nil {
			from.Close() // so that whoever sends learns of it
		}
		_ = to.(interface{ CloseWrite() error }).CloseWrite() // it may be gone
	}
	var both sync.WaitGroup
	both.Go(func() { one(a, b) })
	one(b, a)
	both.Wait()
	a.Close()
	b.Close()
}

// large is what a server of these tests sends: more than any buffer holds.
var large = strings.Repeat("0123456789abcdef", 1<<16)

func web(t *testing.T) (url string, at netip.AddrPort) {
	server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/large":
			io.WriteString(w, large)
		case "/count":
			fmt.Fprint(w, len(body))
		default:
			fmt.Fprintf(w, "%s %s", r.Method, r.URL.Path)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, server.Listener.Addr().(*net.TCPAddr).AddrPort()
}

// get asks a web server for a page over a connection.
func get(conn net.Conn, path string) (string, error) {
	client := nethttp.Client{Timeout: daemon.Limit, Transport: &nethttp.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }}}
	defer client.CloseIdleConnections()
	res, err := client.Get("http://there" + path)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return string(b), err
}

// TestMicrosocks: our client goes through microsocks, with and without a password, and hears why it may not.
func TestMicrosocks(t *testing.T) {
	program := daemon.Path(t, "microsocks")
	_, at := web(t)
	closed := netip.MustParseAddrPort("127.0.0.1:" + daemon.Port(t)) // nobody listens there
	ctx, cancel := context.WithTimeout(t.Context(), daemon.Limit)
	defer cancel()
	right := login{"somebody", "secret"}
	for _, args := range [][]string{nil, {"-u", right.name, "-P", right.password}} {
		port := daemon.Port(t)
		p := daemon.Start(t, program, append([]string{"-i", "127.0.0.1", "-p", port}, args...)...)
		proxy := "127.0.0.1:" + port
		who := login{}
		if args != nil {
			who = right
		}
		p.Await(t, func() error {
			c, err := dial(ctx, proxy, who, at)
			if err != nil {
				return err
			}
			return c.Close()
		})
		for path, want := range map[string]string{"/small": "GET /small", "/large": large} {
			conn, err := dial(ctx, proxy, who, at)
			if err != nil {
				t.Fatal(args, err)
			}
			if got, err := get(conn, path); got != want || err != nil {
				t.Errorf("%q %s: %d bytes, %v", args, path, len(got), err)
			}
		}
		if _, err := dial(ctx, proxy, who, closed); !errors.Is(err, errRefused) {
			t.Errorf("%q: a port at which nobody listens: %v", args, err)
		}
		if args != nil {
			for _, wrong := range []login{{}, {right.name, "guess"}} {
				if _, err := dial(ctx, proxy, wrong, at); !errors.Is(err, errRefused) {
					t.Errorf("login %v: %v", wrong, err)
				}
			}
		}
	}
}

// TestCurl: curl goes through our proxy.
func TestCurl(t *testing.T) {
	curl := daemon.Path(t, "curl")
	url, at := web(t)
	file := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(file, []byte(large), 0o600); err != nil {
		t.Fatal(err)
	}
	open, strict := serve(t, login{}), serve(t, login{"somebody", "secret"})
	for _, x := range []struct {
		proxy *ours
		args  []string
		want  string
		code  bool // curl fails
	}{
		{open, []string{"--socks5", open.address, url + "/a"}, "GET /a", false},
		{open, []string{"--socks5", open.address, url + "/large"}, large, false},
		{open, []string{"--socks5", open.address, "--data-binary", "@" + file, url + "/count"},
			fmt.Sprint(len(large)), false},
		{open, []string{"--socks5-hostname", open.address, fmt.Sprintf("http://some.where:%d/b", at.Port())},
			"GET /b", false},
		{open, []string{"--socks5", open.address, "http://127.0.0.1:" + daemon.Port(t)}, "", true},
		{strict, []string{"--socks5", strict.address, "--proxy-user", "somebody:secret", url + "/c"}, "GET /c", false},
		{strict, []string{"--socks5", strict.address, "--proxy-user", "somebody:guess", url + "/c"}, "", true},
		{strict, []string{"--socks5", strict.address, url + "/c"}, "", true},
	} {
		out, err := daemon.Run(t, curl, append([]string{"-sS", "--noproxy", "", "--max-time", "60"}, x.args...)...)
		if (err != nil) != x.code || !x.code && out != x.want {
			t.Errorf("%.80q: %d bytes, %v", x.args, len(out), err)
		}
	}
	select {
	case name := <-open.names:
		if name != "some.where" {
			t.Errorf("curl has asked for %q", name)
		}
	default:
		t.Error("curl has asked for no name")
	}
}

// TestBoth: our client goes through our proxy.
func TestBoth(t *testing.T) {
	_, at := web(t)
	ctx, cancel := context.WithTimeout(t.Context(), daemon.Limit)
	defer cancel()
	for _, who := range []login{{}, {"somebody", "secret"}} {
		o := serve(t, who)
		conn, err := dial(ctx, o.address, who, at)
		if err != nil {
			t.Fatal(who, err)
		}
		if got, err := get(conn, "/large"); got != large || err != nil {
			t.Errorf("%v: %d bytes, %v", who, len(got), err)
		}
	}
}
