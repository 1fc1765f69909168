package driver_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/internal/pingpong"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// oneByOne is a runner that takes the frames of a stream one by one.
type oneByOne struct{ fsm.Runner }

// together takes them together and counts those with a plain outcome.
type together struct {
	*pingpong.Runner
	plain *int
}

func (r together) Stream(from fsm.Peer, in, out []byte, limit int) fsm.Streamed {
	run := r.Runner.Stream(from, in, out, limit)
	*r.plain += run.Frames
	return run
}

// TestTogether gives the same random bytes, in the same pieces, to a driver that has its machine
// take frames together and to one that does not: the answers, the handlers' calls and the counters
// must be the same.
func TestTogether(t *testing.T) {
	plain, handed := 0, 0
	for seed := range uint64(150) {
		o := driver.Options[fsm.Runner]{KeepRefused: seed%2 == 0, KeepMalformed: seed%3 == 0, ReceiveBuffer: 1 << 17}
		if seed%4 == 0 {
			o.IdleLimit, o.HandshakeLimit = 2*time.Second, 3*time.Second
		}
		want := converse(t, seed, false, &plain, o)
		got := converse(t, seed, true, &plain, o)
		if len(want.answers) > 16<<10 {
			handed++
		}
		if !slices.Equal(got.answers, want.answers) {
			t.Fatalf("seed %d: %d bytes of answers, one by one %d", seed, len(got.answers), len(want.answers))
		}
		if !slices.Equal(got.log, want.log) || !slices.Equal(got.sent, want.sent) {
			t.Fatalf("seed %d: %q, %q\none by one %q, %q", seed, got.log, got.sent, want.log, want.sent)
		}
		if got.record != want.record {
			t.Fatalf("seed %d: the record has %d bytes, one by one %d", seed, len(got.record), len(want.record))
		}
		if got.counters != want.counters {
			t.Fatalf("seed %d: %+v\none by one %+v", seed, got.counters, want.counters)
		}
	}
	if plain == 0 || handed == 0 {
		t.Errorf("%d frames together, %d runs with more answers than a driver gathers", plain, handed)
	}
}

// conversation records what a driver did with what a peer sent.
type conversation struct {
	answers  []byte
	log      []string
	sent     []string // what sending to it came to
	counters driver.Counters
	record   string
}

// converse runs a driver, in virtual time, with a peer that sends what the seed says.
func converse(t *testing.T, seed uint64, whole bool, plain *int, o driver.Options[fsm.Runner]) (c conversation) {
	p := pingpong.New()
	var r fsm.Runner = oneByOne{p}
	if whole {
		r = together{p, plain}
	}
	var record bytes.Buffer
	if seed%5 == 0 {
		o.Trace = []trace.Sink{trace.NewWriter(&record)}
	}
	note := func(format string, args ...any) { c.log = append(c.log, fmt.Sprintf(format, args...)) }
	o.OnReport = func(r fsm.Runner, i int) { note("%s after %s", r.AppendEffect(nil, i), r.AppendMachine(nil)) }
	o.OnState = func(r fsm.Runner, from, to uint16) { note("state %d to %d", from, to) }
	o.OnLink = func(_ fsm.Runner, p fsm.Peer, up bool, why error) { note("peer %d %v %v", p, up, why) }
	o.OnError = func(_ fsm.Runner, err *driver.Error) { note("%v", err) }
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(seed, 0))
		d := driver.New(r, o)
		x, y := mem.Pair(mem.Config{Stream: true, Queue: 1 << 20})
		must(t, d.Attach(0, x))
		go d.Run(t.Context())
		synctest.Wait()
		for range 12 {
			if k := random.IntN(6); k < 2 {
				must(t, d.Post(func(fsm.Runner) fsm.Result {
					return [...]func() fsm.Result{func() fsm.Result { return p.Ping(7) }, p.Barrier}[k]()
				}))
				synctest.Wait()
			}
			time.Sleep(time.Duration(random.IntN(1800)) * time.Millisecond)
			synctest.Wait()
			c.sent = append(c.sent, fmt.Sprint(errors.Join(y.Send(0, frames(random)), y.Flush())))
			synctest.Wait()
			c.answers = append(c.answers, waiting(y)...)
		}
		d.Stop()
		<-d.Done()
		c.counters = d.Counters()
		y.Abort()
		synctest.Wait()
	})
	c.record = record.String()
	return c
}

// frames is some frames, mostly pings, perhaps cut or spoilt.
func frames(random *rand.Rand) (out []byte) {
	n := random.IntN(40)
	if random.IntN(8) == 0 {
		n = 5000
	}
	kinds := n + 4
	if random.IntN(3) == 0 {
		kinds = 1 << 30 // pings alone
	}
	for i := range n {
		switch random.IntN(kinds) {
		case 0:
			out = append(out, note("some text")...)
		case 1:
			out = append(out, 0, 7, pingpong.PONG, 0, 0, 0, 7)
		case 2:
			out = append(out, readyFrame...)
		case 3:
			out = append(out, [][]byte{{0, 3, pingpong.BYE}, {0, 8, pingpong.PING, 1, 2, 3, 4, 5}, {0, 9, 9},
				{0, 7, pingpong.PONG, 0, 0, 0, 9}}[random.IntN(4)]...)
		default:
			out = appendPing(out, uint32(i))
		}
	}
	if random.IntN(3) == 0 {
		out = out[:len(out)-random.IntN(min(len(out), 6)+1)]
	}
	return append(out, 0)[:len(out)+random.IntN(2)*random.IntN(2)]
}

// waiting has everything that a link has brought so far.
func waiting(y transport.Link) (out []byte) {
	buf := make([]byte, 1<<12)
	y.Interrupt(time.Now().Add(time.Nanosecond))
	for {
		got, err := y.Receive(buf)
		if err != nil {
			return out
		}
		out = append(out, buf[:got.N]...)
	}
}
