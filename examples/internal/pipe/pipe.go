// Package pipe carries bytes between two ends: a connection that a driver cannot use as it is, because it is a
// WebSocket or because its peer may say too much, and a link in memory that the driver has. It knows no protocol.
// Start from [Join] and [Slowed].
package pipe

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// End is one end of what is joined.
type End struct {
	read  func([]byte) (int, error)
	write func([]byte) error
	close func()
}

// Link is a link with one peer that carries a stream.
func Link(l transport.Link) End {
	return End{
		read: func(b []byte) (int, error) {
			got, err := l.Receive(b)
			return got.N, err
		},
		write: func(b []byte) error {
			until := time.Now().Add(patience)
			for {
				err := l.Send(0, b)
				if err == nil {
					return l.Flush()
				}
				if !errors.Is(err, transport.ErrQueueFull) || time.Now().After(until) {
					return err
				}
				time.Sleep(again)
			}
		},
		close: func() { l.Close() },
	}
}

const (
	patience = 30 * time.Second      // for an end that takes nothing
	again    = 10 * time.Millisecond // between two attempts
)

// Conn is a connection.
func Conn(c io.ReadWriteCloser) End {
	return End{
		read:  c.Read,
		write: func(b []byte) error { _, err := c.Write(b); return err },
		close: func() { c.Close() },
	}
}

// Join carries what comes from each end to the other, until either ends; then both are closed. Of what comes from a,
// rate bytes a second are read, 0 for no limit: a second's worth may come at once.
func Join(a, b End, rate int) {
	var both sync.WaitGroup
	both.Go(func() { carry(a, b, rate) })
	both.Go(func() { carry(b, a, 0) })
	both.Wait()
}

// Slowed returns a link behind which a connection is, of which rate bytes a second are read: who floods a server then
// takes no more of its time than that.
func Slowed(l transport.Link, rate int) transport.Link {
	near, far := mem.Pair(mem.Config{Stream: true})
	go Join(Link(l), Link(far), rate)
	return slowed{near, l}
}

// slowed has the addresses of the link behind it, so that a log says who somebody is.
type slowed struct {
	*mem.Link
	of transport.Link
}

// LocalAddr implements [transport.Link].
func (s slowed) LocalAddr() net.Addr { return s.of.LocalAddr() }

// RemoteAddr implements [transport.Link].
func (s slowed) RemoteAddr(peer int) net.Addr { return s.of.RemoteAddr(peer) }

func carry(from, to End, rate int) {
	defer to.close()
	buf := make([]byte, 4<<10)
	allowed, last := float64(rate), time.Now()
	for {
		n, err := from.read(buf)
		if n > 0 {
			if rate > 0 {
				now := time.Now()
				allowed = min(float64(rate), allowed+now.Sub(last).Seconds()*float64(rate)) - float64(n)
				last = now
				if allowed < 0 {
					time.Sleep(time.Duration(-allowed / float64(rate) * float64(time.Second)))
				}
			}
			if to.write(buf[:n]) != nil {
				from.close()
				return
			}
		}
		if err != nil {
			return
		}
	}
}
