// Package pipe makes a link of anything that bytes go into and come out of, such as a WebSocket. It knows no network.
// Start from [Link].
package pipe

import (
	"errors"
	"io"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/mem"
)

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
			if err != nil {
				conn.Close()
				return
			}
		}
	}()
	go func() { // to the program
		buf := make([]byte, 4096)
		for {
			n, err := conn.Read(buf)
			if n > 0 {
				if e := errors.Join(far.Send(0, buf[:n]), far.Flush()); e != nil {
					err = e // the program does not read, or has gone
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
