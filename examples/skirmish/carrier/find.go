package carrier

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/parley-go/parley/machines/stream"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/ipx"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// Find finds a door of this network by a broadcast, and returns where it is: of several whichever answers first. The
// question is a call that is not gone on with, so a door need know nothing of it. The address is that of everybody:
// host:port, and over IPX the number of the socket in hexadecimal.
func Find(ctx context.Context, network, address string, cfg Config) (at string, err error) {
	var l transport.Link
	switch network {
	case UDP:
		own := "0.0.0.0:0"
		if a, err := net.ResolveUDPAddr("udp4", address); err == nil && a.IP.IsLoopback() {
			own = "127.0.0.1:0"
		}
		l, err = udp.Open("udp4", own, udp.Config{Broadcast: []string{address}})
	case IPX:
		socket, e := socketOf(address)
		if e != nil {
			return "", e
		}
		l, err = ipx.Dial(ctx, "udp", cfg.Tunnel, ipx.Config{Socket: socket})
	default:
		return "", fmt.Errorf("network %q: nobody can be found there by a broadcast", network)
	}
	if err != nil {
		return "", err
	}
	defer l.Abort()
	stop := context.AfterFunc(ctx, func() { l.Interrupt(interrupted) })
	defer stop()
	own := token()
	hello, err := stream.AppendMessage(nil, &stream.Message{Kind: stream.MessageHello,
		Hello: stream.HelloMessage{Mine: own}})
	if err != nil {
		return "", err
	}
	buf := make([]byte, 2048)
	for next := time.Now(); ; {
		if now := time.Now(); !now.Before(next) {
			next = now.Add(500 * time.Millisecond)
			if err := errors.Join(l.Send(transport.All, hello), l.Flush()); err != nil {
				return "", err
			}
		}
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		l.Interrupt(next)
		got, err := l.Receive(buf)
		if errors.Is(err, transport.ErrInterrupted) || err == nil && got.Kind != transport.Data {
			continue
		}
		if err != nil {
			return "", err
		}
		var m stream.Message
		if stream.DecodeMessage(buf[:got.N], &m) == nil && m.Kind == stream.MessageWelcome && m.Welcome.Yours == own {
			return l.RemoteAddr(got.Peer).String(), nil
		}
	}
}
