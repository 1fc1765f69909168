package driver_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/internal/pingpong"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// FuzzPeer lets a peer send any bytes, in any pieces: the driver survives, and
// either takes all of them or names an error and closes the link.
func FuzzPeer(f *testing.F) {
	f.Add([]byte{0, 7, 0, 0, 0, 0, 1, 0, 3, 2, 0, 3, 3}, uint8(3))
	f.Add([]byte{0, 9, 9, 9, 9}, uint8(0))
	f.Add([]byte{0, 3, 2, 0, 3, 2}, uint8(1))
	f.Fuzz(func(t *testing.T, bytes []byte, piece uint8) {
		if len(bytes) > 1<<12 {
			return
		}
		errs := 0
		d := driver.New(pingpong.New(), driver.Options[runner]{OnError: func(_ runner, err *driver.Error) {
			errs++
			if err.Error() == "" || err.State == "" {
				t.Errorf("%+v", err)
			}
		}})
		x, y := mem.Pair(mem.Config{Stream: true, Linger: time.Second})
		must(t, d.Attach(0, x))
		go d.Run(context.Background())
		for rest := bytes; len(rest) > 0; {
			n := min(int(piece)+1, len(rest))
			y.Send(0, rest[:n])
			if y.Flush() != nil {
				break
			}
			rest = rest[n:]
		}
		y.Close()
		d.Stop()
		<-d.Done()
		if c := d.Counters(); c.Malformed+c.Refused != uint64(errs) && errs != 0 {
			t.Errorf("%d errors, %+v", errs, c)
		}
		if _, err := y.Receive(make([]byte, 1)); !errors.Is(err, transport.ErrClosed) && err != io.EOF {
			t.Error(err)
		}
	})
}
