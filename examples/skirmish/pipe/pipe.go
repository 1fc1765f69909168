// Package pipe makes a link of anything that bytes go into and come out of, such as a WebSocket. It knows no network.
// Start from [Link].
package pipe

import (
	"errors"
	"io"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// linger is how long a connection stays open for what is on its way when the program has closed its link.
const linger = 5 * time.Second

// Link is a link that carries a stream over a connection, which belongs to it from then on.
func Link(conn io.ReadWriteCloser) transport.Link {
	near, far := mem.Pair(mem.Config{Stream: true})
	go func() { // from the program
		buf := make([]byte, 4096)
		for {
			got, err := far.Receive(buf)
			if err == nil {
				_, err = conn.Write(buf[:got.N])
			}
			if half, ok := conn.(interface{ CloseWrite() error }); ok && err == io.EOF {
				// What is on its way still arrives: closed at once, a connection with unread bytes destroys it.
				half.CloseWrite()
				time.AfterFunc(linger, func() { conn.Close() })
				return
			}
			if err != nil {
				conn.Close()
				return
			}
		}
	}()
	go func() { // to the program
		buf := make([]byte, 4096)
		for closed := false; ; {
			n, err := conn.Read(buf)
			if n > 0 && !closed {
				e := errors.Join(far.Send(0, buf[:n]), far.Flush())
				if closed = errors.Is(e, transport.ErrReset); e != nil && !closed {
					err = e // the program does not read; one that has closed its link is waited for
				}
			}
			switch {
			case err == io.EOF:
				far.Close()
				conn.Close()
				return
			case err != nil:
				far.Abort()
				conn.Close()
				return
			}
		}
	}()
	return near
}
