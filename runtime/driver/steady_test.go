package driver_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/machines/clock"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// A clock that goes by a timer loses what its expiries are late, unless the driver is steady.
func TestSteadyCore(t *testing.T) {
	for _, steady := range []bool{false, true} {
		r := clock.NewServerRunner()
		c := driver.NewCore(r, driver.Options[*clock.ServerRunner]{Steady: steady}, &world{})
		c.Start(time.Unix(0, 0))
		for now := time.Duration(0); now < 100*time.Millisecond; now += 2500 * time.Microsecond {
			c.Expire(now)
		}
		if want := map[bool]clock.Clock{false: 39, true: 97}[steady]; r.Machine.Counter.Clock != want {
			t.Errorf("steady %v: the clock shows %d ms, want %d", steady, r.Machine.Counter.Clock, want)
		}
	}
}

// What is due expires before what has come meanwhile is handled, and all that was missed is made up for.
func TestSteadyDriver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := clock.NewServerRunner()
		d := driver.New(r, driver.Options[*clock.ServerRunner]{Steady: true})
		x, y := mem.Pair(mem.Config{Stream: true})
		must(t, d.Attach(1, x))
		go d.Run(t.Context())
		synctest.Wait()
		// The driver is kept from running for five seconds.
		d.Read(t.Context(), func(*clock.ServerRunner) { time.Sleep(5 * time.Second) })
		ask := clock.Message{Kind: clock.MessagePing}
		frame, _ := clock.AppendMessage(nil, &ask)
		must(t, y.Send(0, frame))
		must(t, y.Flush())
		synctest.Wait()
		buf := make([]byte, 64)
		got, err := y.Receive(buf)
		must(t, err)
		var answer clock.Message
		must(t, clock.DecodeMessage(buf[:got.N], &answer))
		if answer.Time.Now != 5000 {
			t.Errorf("after five seconds the clock shows %d ms", answer.Time.Now)
		}
		y.Abort()
		d.Stop()
		<-d.Done()
	})
}
