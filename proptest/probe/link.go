package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/parley-go/parley/gen/replay"
)

// arrival is what came from the program: bytes, or the end of the connection.
type arrival struct {
	kind replay.ChunkKind
	at   time.Time
	data []byte
	from netip.AddrPort // of a datagram
	conn *connection
}

// connection is one to the program, over TCP or UDP: that of one instance, in one channel.
type connection struct {
	who, channel int
	stream       *net.TCPConn
	socket       *net.UDPConn
	in           chan arrival  // of all connections of a session
	done         chan struct{} // nobody reads any more
	over         chan struct{} // the reader has ended
	mu           sync.Mutex
	remote       netip.AddrPort // where datagrams go: to where the last one came from, as RFC 1350 has it
	local        netip.AddrPort
	at           netip.AddrPort // that was asked first
	shown        netip.AddrPort // from which the last one came that was looked at
}

// waiting is how many arrivals wait for whoever reads them. A program that says more has to wait, too.
const waiting = 64

// connect opens a connection. Over UDP nobody hears of it.
func connect(ctx context.Context, network, address string, in chan arrival) (*connection, error) {
	c := &connection{in: in, done: make(chan struct{}), over: make(chan struct{})}
	if network == "udp" {
		to, err := net.ResolveUDPAddr("udp", address)
		if err != nil {
			return nil, err
		}
		c.remote = netip.AddrPortFrom(to.AddrPort().Addr().Unmap(), to.AddrPort().Port())
		here := &net.UDPAddr{IP: net.IPv4zero}
		if c.remote.Addr().IsLoopback() && c.remote.Addr().Is4() {
			here.IP = net.IPv4(127, 0, 0, 1)
		} else if c.remote.Addr().Is6() {
			here.IP = net.IPv6unspecified
		}
		if c.socket, err = net.ListenUDP("udp", here); err != nil {
			return nil, err
		}
		c.local, c.at, c.shown = c.socket.LocalAddr().(*net.UDPAddr).AddrPort(), c.remote, c.remote
		return c, nil
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	c.stream = conn.(*net.TCPConn)
	c.local, c.remote = c.stream.LocalAddr().(*net.TCPAddr).AddrPort(), c.stream.RemoteAddr().(*net.TCPAddr).AddrPort()
	c.at, c.shown = c.remote, c.remote
	return c, nil
}

// listen begins to hand over what comes.
func (c *connection) listen() {
	if c.socket != nil {
		go c.datagrams()
	} else {
		go c.bytes()
	}
}

// put hands an arrival over, and reports whether somebody still reads.
func (c *connection) put(a arrival) bool {
	a.at, a.conn = time.Now(), c
	select {
	case c.in <- a:
		return true
	case <-c.done:
		return false
	}
}

func (c *connection) bytes() {
	defer close(c.over)
	for {
		buf := make([]byte, 1<<16)
		n, err := c.stream.Read(buf)
		if n > 0 && !c.put(arrival{kind: replay.Data, data: buf[:n]}) {
			return
		}
		switch {
		case errors.Is(err, io.EOF):
			c.put(arrival{kind: replay.Close})
			return
		case err != nil:
			c.put(arrival{kind: replay.Reset})
			return
		}
	}
}

func (c *connection) datagrams() {
	defer close(c.over)
	for {
		buf := make([]byte, 1<<16)
		n, from, err := c.socket.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
		if err != nil || from.Addr() != c.at.Addr() {
			continue // of somebody else
		}
		c.mu.Lock()
		c.remote = from
		c.mu.Unlock()
		if !c.put(arrival{kind: replay.Data, data: buf[:n], from: from}) {
			return
		}
	}
}

// send sends bytes, or one datagram.
func (c *connection) send(b []byte) error {
	if c.socket != nil {
		c.mu.Lock()
		to := c.remote
		c.mu.Unlock()
		_, err := c.socket.WriteToUDPAddrPort(b, to)
		return err
	}
	c.stream.SetWriteDeadline(time.Now().Add(longestWrite))
	_, err := c.stream.Write(b)
	return err
}

// longestWrite is how long a program may leave its socket full before we take the connection for broken.
const longestWrite = 5 * time.Second

// finish says that we send no more; the program can still be heard.
func (c *connection) finish() {
	if c.stream != nil {
		c.stream.CloseWrite()
	}
}

// reset breaks the connection off.
func (c *connection) reset() {
	if c.stream != nil {
		c.stream.SetLinger(0)
	}
	c.close()
}

// close ends the connection and waits for its reader.
func (c *connection) close() {
	select {
	case <-c.done:
		return
	default:
	}
	close(c.done)
	if c.stream != nil {
		c.stream.Close()
	} else {
		c.socket.Close()
	}
	<-c.over
}

// parseAddress reads `HOST:PORT`, `tcp:HOST:PORT` or `udp:HOST:PORT`.
func parseAddress(text string, datagrams bool) (network, address string, err error) {
	network, address = "tcp", text
	if datagrams {
		network = "udp"
	}
	if len(text) > 4 && (text[:4] == "tcp:" || text[:4] == "udp:") {
		network, address = text[:3], text[4:]
	}
	host, port, err := net.SplitHostPort(address)
	if err == nil && (host == "" || port == "") {
		err = errors.New("the host or the port is missing")
	}
	if err != nil {
		return "", "", fmt.Errorf("%s is no address such as 127.0.0.1:7000 or udp:127.0.0.1:69: %w", text, err)
	}
	return network, address, nil
}

// network is tcp or udp.
func (c *connection) network() string {
	if c.socket != nil {
		return "udp"
	}
	return "tcp"
}
