package impair_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/impair"
	"github.com/parley-go/parley/runtime/transport/mem"
)

const ms = time.Millisecond

// TestSchedule: a partition takes the frames that are sent while it lasts, a break what is held back and
// all after it, and the program is told when the link may come back.
func TestSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		a, b := mem.Pair(mem.Config{})
		returned := make(chan time.Duration, 9)
		l := wrap(t, a, impair.Config{Weak: true, Faults: impair.Faults{Delay: 2 * ms}, Schedule: impair.Schedule{
			{At: 40*ms + ms/2, What: impair.Break}, {At: 10*ms - ms/2, What: impair.Partition, Peers: []int{0}},
			{At: 20*ms - ms/2, What: impair.Heal}, {At: 60 * ms, What: impair.Return},
		}, Returned: func() { returned <- time.Since(begun) }})
		var got []byte
		far := make(chan error)
		go func() {
			buf := make([]byte, 8)
			for {
				x, err := b.Receive(buf)
				if err != nil {
					far <- err
					return
				}
				got = append(got, buf[:x.N]...)
			}
		}()
		near := make(chan error)
		go func() {
			_, err := l.Receive(make([]byte, 8))
			near <- err
		}()
		for n := range 100 {
			err := l.Send(0, []byte{byte(n)})
			if want := n > 40; errors.Is(err, transport.ErrSilent) != want || err != nil != want {
				t.Errorf("sending frame %d: %v", n, err)
			}
			l.Flush()
			time.Sleep(ms)
		}
		if err := <-near; !errors.Is(err, transport.ErrSilent) {
			t.Errorf("who takes the link for dead hears %v", err)
		}
		<-far
		var want []byte
		for n := range byte(39) { // two are still held back when the link breaks
			if n < 10 || n >= 20 {
				want = append(want, n)
			}
		}
		if string(got) != string(want) {
			t.Errorf("%v arrived, not %v", got, want)
		}
		if n := len(returned); n != 1 {
			t.Errorf("the link came back %d times", n)
		} else if at := <-returned; at != 60*ms {
			t.Errorf("the link came back at %v", at)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestScheduleEnds: a link that its owner closes has no faults any more.
func TestScheduleEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := mem.Pair(mem.Config{Stream: true})
		defer b.Abort()
		l := wrap(t, a, impair.Config{Returned: func() { t.Error("a link came back that had been closed") },
			Schedule: impair.Schedule{{At: ms, What: impair.Break}, {At: 2 * ms, What: impair.Return}}})
		l.Abort()
		time.Sleep(10 * ms)
		if _, err := l.Receive(make([]byte, 1)); !errors.Is(err, transport.ErrClosed) {
			t.Error(err)
		}
	})
}

func TestScheduleRefusals(t *testing.T) {
	back := func() {}
	for _, x := range []struct {
		schedule impair.Schedule
		returned func()
		want     string
	}{
		{impair.Schedule{{At: -1, What: impair.Heal}}, nil, "a heal of the schedule is at -1ns"},
		{impair.Schedule{{What: 9}}, nil, "of no kind: 9"},
		{impair.Schedule{{At: 5, What: impair.Partition, Peers: []int{1}}}, nil,
			"names peer 1: the link has no such peer"},
		{impair.Schedule{{What: impair.Break, Peers: []int{0}}}, nil, "it is the whole link"},
		{impair.Schedule{{At: 1, What: impair.Return}}, back, "has not broken before"},
		{impair.Schedule{{What: impair.Break}, {At: 1, What: impair.Return}}, nil, "Returned is not set"},
		{impair.Schedule{{What: impair.Break}, {At: 1, What: impair.Heal}}, nil, "give it to the next link"},
		{impair.Schedule{{What: impair.Break}, {At: 1, What: impair.Return}, {At: 2, What: impair.Break}}, back,
			"give it to the next link"},
	} {
		a, b := mem.Pair(mem.Config{})
		_, err := impair.New(a, impair.Config{Schedule: x.schedule, Returned: x.returned})
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v: %v, want %s", x.schedule, err, x.want)
		}
		a.Abort()
		b.Abort()
	}
}
