package store_test

import (
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/cluster/internal/store"
)

// opened is a NATS server, and as many connections to its buckets as there are configurations.
func opened(t testing.TB, cfgs ...store.Config) (list []*store.Store) {
	t.Helper()
	e, err := store.Embed(store.EmbedConfig{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Shutdown)
	for _, cfg := range cfgs {
		nc, err := store.Connect(e.URL(), t.Name())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		cfg.Patience = 30 * time.Second
		s, err := store.Open(t.Context(), nc, cfg)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

// However many servers an address asks at once, it begins as many games as it may, and another address still may.
func TestSpend(t *testing.T) {
	t.Parallel()
	cfg := store.Config{Burst: 100, Refill: time.Hour}
	all := opened(t, cfg, cfg, cfg)
	from := func(s string) netip.Addr { return netip.MustParseAddr(s) }
	var got atomic.Int64
	var asking sync.WaitGroup
	for i := range 12 {
		asking.Go(func() {
			for {
				// One network of IPv6 is one customer, and so is an IPv4 address however it is written.
				n, wait, err := all[i%3].Spend(t.Context(), from([]string{"2001:db8::1", "2001:db8::2"}[i%2]), 1+i%4)
				if err != nil {
					t.Error(err)
				}
				got.Add(int64(n))
				if n == 0 {
					if wait <= 0 || wait > time.Hour {
						t.Errorf("it is to wait %v", wait)
					}
					return
				}
			}
		})
	}
	asking.Wait()
	if got.Load() != 100 {
		t.Errorf("one address began %d games of 100", got.Load())
	}
	for _, other := range []string{"2001:db8:0:1::1", "192.0.2.1"} {
		if n, _, err := all[0].Spend(t.Context(), from(other), 8); n != 8 || err != nil {
			t.Errorf("%s: %d, %v", other, n, err)
		}
	}
	if n, _, err := all[1].Spend(t.Context(), from("::ffff:192.0.2.1"), 100); n != 92 || err != nil {
		t.Errorf("the rest is %d, %v", n, err)
	}
}

// What was spent comes back with time, and no more than there was.
func TestSpendAgain(t *testing.T) {
	t.Parallel()
	var shift atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(shift.Load())) }
	s := opened(t, store.Config{Burst: 10, Refill: time.Hour, Now: now})[0]
	a := netip.MustParseAddr("192.0.2.1")
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{0, 10}, {0, 0}, {3*time.Hour + time.Minute, 3}, {0, 0}, {1000 * time.Hour, 10}, {-2000 * time.Hour, 0},
		{10*time.Hour + time.Minute, 10}} {
		shift.Add(int64(step.after))
		if n, _, err := s.Spend(t.Context(), a, 20); n != step.want || err != nil {
			t.Errorf("after %v: %d, %v; want %d", step.after, n, err, step.want)
		}
	}
}

// A server whose clock is a year off, or is set while it runs, begins games in epochs like anybody else's.
func TestClocks(t *testing.T) {
	t.Parallel()
	var set atomic.Int64
	wrong := func() time.Time { return time.Now().Add(time.Duration(set.Load())) }
	all := opened(t, store.Config{}, store.Config{Now: wrong})
	if now := all[0].Now(); !strings.Contains(now.String(), " m=") { // before it knows that of NATS
		t.Errorf("the steps of the clock that reads %v are those of one that is set", now)
	}
	set.Store(int64(-9000 * time.Hour))
	for _, s := range all {
		if _, err := s.NewID(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if d := all[1].Now().Sub(all[0].Now()); d.Abs() > time.Minute {
		t.Errorf("the clocks are %v apart", d)
	}
}
