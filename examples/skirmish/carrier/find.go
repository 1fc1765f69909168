package carrier

import (
	"context"
	"errors"
	"time"

	"github.com/parley-go/parley/machines/stream"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/ipx"
)

// Find finds a door of an IPX network by a broadcast, and returns where it is: of several whichever answers first. The
// question is a call that is not gone on with, so a door need know nothing of it. It goes to everybody's socket of this
// number, in hexadecimal. A door of UDP answers nobody who has not shown where it is, so nobody is found there.
func Find(ctx context.Context, number string, cfg Config) (at string, err error) {
	socket, err := socketOf(number)
	if err != nil {
		return "", err
	}
	l, err := ipx.Dial(ctx, "udp", cfg.Tunnel, ipx.Config{Socket: socket})
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
