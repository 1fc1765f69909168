package impair_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/impair"
	"github.com/parley-go/parley/runtime/transport/linktest"
	"github.com/parley-go/parley/runtime/transport/mem"
)

func wrap(t *testing.T, inner transport.Link, cfg impair.Config) *impair.Link {
	t.Helper()
	l, err := impair.New(inner, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func pairs(m mem.Config, cfg impair.Config) linktest.Pair {
	return func(t *testing.T) (transport.Link, transport.Link) {
		m.Queue, m.Linger = linktest.Queue, 100*time.Millisecond
		a, b := mem.Pair(m)
		return wrap(t, a, cfg), wrap(t, b, cfg)
	}
}

func TestWithoutFaults(t *testing.T) {
	t.Run("stream", func(t *testing.T) { linktest.Run(t, pairs(mem.Config{Stream: true}, impair.Config{})) })
	t.Run("frames", func(t *testing.T) { linktest.Run(t, pairs(mem.Config{MaxFrame: 1024}, impair.Config{})) })
}

// The promises that are left hold under every fault.
func TestPromises(t *testing.T) {
	for name, f := range map[string]impair.Faults{
		"loss":       {Loss: 0.3},
		"duplicates": {Duplicate: 0.3},
		"reordering": {Reorder: 0.3, Late: time.Millisecond},
		"delay":      {Delay: time.Millisecond, Jitter: time.Millisecond},
		"rate":       {Rate: 10 << 20},
		"all of them": {Loss: 0.2, Duplicate: 0.2, Reorder: 0.2, Late: time.Millisecond,
			Jitter: time.Millisecond, Rate: 10 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			linktest.Promises(t, pairs(mem.Config{}, impair.Config{Seed: 1, Faults: f}))
		})
	}
}

// arrival is a frame as it came out of the far end, in virtual time.
type arrival struct {
	n  int
	at time.Duration
}

// transcript sends frames of 100 bytes, one each millisecond, over an impaired link.
func transcript(t *testing.T, cfg impair.Config, frames int, each func(n int, l *impair.Link)) (got []arrival,
	stats impair.Stats) {
	synctest.Test(t, func(t *testing.T) {
		x, y := mem.Pair(mem.Config{Queue: 1 << 20})
		l := wrap(t, x, cfg)
		start := time.Now()
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				buf := make([]byte, 200)
				a, err := y.Receive(buf)
				if err != nil {
					return
				}
				if a.N != 100 || !bytes.Equal(buf[4:100], make([]byte, 96)) {
					t.Errorf("% x arrived", buf[:a.N])
				}
				got = append(got, arrival{int(binary.BigEndian.Uint32(buf)), time.Since(start)})
			}
		}()
		for n := range frames {
			if each != nil {
				each(n, l)
			}
			f := make([]byte, 100)
			binary.BigEndian.PutUint32(f, uint32(n))
			if err := l.Send(0, f); err != nil {
				t.Error(err)
			}
			l.Flush()
			time.Sleep(time.Millisecond) // the bubble's time
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		stats = l.Stats()
		y.Abort()
		l.Abort()
		<-done
	})
	return got, stats
}

// tally says what was observed at the far end, by looking at the arrivals alone.
type tally struct{ arrived, lost, twice, overtaken, late int }

func count(got []arrival, frames int, usual time.Duration) (c tally) {
	seen, last := map[int]int{}, -1
	for _, a := range got {
		seen[a.n]++
		if seen[a.n] == 1 && a.n < last {
			c.overtaken++
		}
		last = max(last, a.n)
		if a.at-time.Duration(a.n)*time.Millisecond > usual {
			c.late++
		}
	}
	for n := range frames {
		switch seen[n] {
		case 0:
			c.lost++
		case 1:
		default:
			c.twice++
		}
	}
	c.arrived = len(got)
	return c
}

// Each fault really happens, as often as asked, and no other does.
func TestFaultsHappen(t *testing.T) {
	const frames = 2000
	ms := time.Millisecond
	tests := []struct {
		name   string
		faults impair.Faults
		ok     func(c tally, s impair.Stats) bool
	}{
		{"none", impair.Faults{}, func(c tally, s impair.Stats) bool {
			return c == tally{arrived: frames} && s == impair.Stats{Frames: frames}
		}},
		{"loss", impair.Faults{Loss: 0.1}, func(c tally, s impair.Stats) bool {
			return c.lost > 150 && c.lost < 250 && uint64(c.lost) == s.Lost && c.twice+c.overtaken+c.late == 0
		}},
		{"all lost", impair.Faults{Loss: 1}, func(c tally, s impair.Stats) bool { return c.lost == frames }},
		{"duplicates", impair.Faults{Duplicate: 0.1}, func(c tally, s impair.Stats) bool {
			return c.twice > 150 && c.twice < 250 && uint64(c.twice) == s.Duplicated && c.lost == 0
		}},
		{"reordering", impair.Faults{Reorder: 0.1}, func(c tally, s impair.Stats) bool {
			return c.overtaken > 100 && uint64(c.overtaken) <= s.Reordered && s.Reordered < 250 && c.lost+c.twice == 0
		}},
		{"delay", impair.Faults{Delay: 30 * ms}, func(c tally, s impair.Stats) bool {
			return c == tally{arrived: frames, late: frames} && s.Delayed == frames
		}},
		{"jitter", impair.Faults{Jitter: 30 * ms}, func(c tally, s impair.Stats) bool {
			return c.late > frames/2 && c.lost+c.twice+c.overtaken == 0
		}},
		{"rate", impair.Faults{Rate: 50_000, Queue: 10_000}, func(c tally, s impair.Stats) bool {
			// Half of what is sent fits; 10,000 bytes take 200 ms.
			return c.lost > 850 && c.lost < 1000 && uint64(c.lost) == s.Dropped && c.late > 900 && c.overtaken == 0
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, stats := transcript(t, impair.Config{Seed: 7, Faults: tt.faults, Weak: true}, frames, nil)
			if c := count(got, frames, 0); !tt.ok(c, stats) {
				t.Errorf("%+v; %+v", c, stats)
			}
		})
	}
}

func TestDelayIsExact(t *testing.T) {
	got, _ := transcript(t, impair.Config{Faults: impair.Faults{Delay: 30 * time.Millisecond, Rate: 1_000_000}},
		100, nil)
	for n, a := range got {
		if want := time.Duration(n)*time.Millisecond + 30*time.Millisecond + 100*time.Microsecond; a.at != want {
			t.Fatalf("frame %d came at %v, not %v", n, a.at, want)
		}
	}
}

// A reliable medium shows the same faults as delay.
// Where nothing is overtaken, no frame comes before a copy of an older one.
func TestOrderBindsCopies(t *testing.T) {
	m := impair.NewMedium(1, impair.Faults{Duplicate: 0.5, Late: 100 * time.Millisecond, Jitter: 10 * time.Millisecond})
	var last time.Duration
	for n := range 1000 {
		fate := m.Pass(time.Duration(n)*time.Millisecond, 10)
		for _, at := range fate.At[:fate.Copies] {
			if at < last {
				t.Fatalf("frame %d arrives at %v, one before it at %v", n, at, last)
			}
			last = at
		}
	}
	if m.Stats.Duplicated == 0 {
		t.Error("nothing was copied")
	}
}

func TestReliable(t *testing.T) {
	m := impair.NewMedium(3, impair.Faults{Loss: 0.2, Duplicate: 0.2, Reorder: 0.2, Delay: time.Millisecond})
	last := time.Duration(0)
	for n := range 1000 {
		at := m.PassReliable(time.Duration(n)*time.Microsecond, 10)
		if at < last {
			t.Fatalf("frame %d overtakes", n)
		}
		last = at
	}
	if m.Stats.Lost < 150 || m.Stats.Duplicated+m.Stats.Reordered > 0 {
		t.Errorf("%+v", m.Stats)
	}
}

func TestPartition(t *testing.T) {
	cut := func(n int, l *impair.Link) {
		if n == 100 || n == 200 {
			l.Partition(transport.All, n == 100)
		}
	}
	got, stats := transcript(t, impair.Config{Weak: true}, 300, cut)
	if c := count(got, 300, 0); c.lost != 100 || stats.Cut != 100 || got[100].n != 200 {
		t.Errorf("unreliable: %+v, %+v", c, stats)
	}
	got, _ = transcript(t, impair.Config{}, 300, cut)
	c := count(got, 300, 0)
	if c.lost+c.overtaken > 0 || c.late != 100 || got[100].at != 200*time.Millisecond {
		t.Errorf("reliable: %+v, %v", c, got[100])
	}
}

// The same seed meets the same faults, another one others.
func TestSeed(t *testing.T) {
	cfg := impair.Config{Faults: impair.Faults{Loss: 0.1, Duplicate: 0.1, Reorder: 0.1,
		Delay: 5 * time.Millisecond, Jitter: 5 * time.Millisecond, Rate: 200_000}}
	var runs []string
	for _, seed := range []uint64{1, 1, 2} {
		cfg.Seed = seed
		got, stats := transcript(t, cfg, 500, nil)
		runs = append(runs, fmt.Sprint(got, stats))
	}
	if runs[0] != runs[1] || runs[0] == runs[2] {
		t.Errorf("equal seeds equal: %v, different seeds equal: %v", runs[0] == runs[1], runs[0] == runs[2])
	}
}

func TestRefusals(t *testing.T) {
	a, _ := mem.Pair(mem.Config{Stream: true})
	if _, err := impair.New(a, impair.Config{Faults: impair.Faults{Loss: 0.1}}); err == nil {
		t.Error("a stream that loses bytes was accepted")
	}
	b, _ := mem.Pair(mem.Config{})
	l := wrap(t, b, impair.Config{})
	for _, f := range []impair.Faults{{Loss: 0.1}, {Duplicate: 0.1}, {Reorder: 0.1}} {
		if l.SetFaults(f) == nil {
			t.Errorf("%+v was accepted by a link declared %+v", f, l.Properties())
		}
	}
	if err := l.SetFaults(impair.Faults{Delay: time.Second}); err != nil {
		t.Error(err)
	}
}

// What is held back is bounded.
func TestHeldIsBounded(t *testing.T) {
	x, _ := mem.Pair(mem.Config{})
	l := wrap(t, x, impair.Config{Faults: impair.Faults{Delay: time.Hour}, Held: 1000})
	var err error
	n := 0
	for ; err == nil && n < 100; n++ {
		err = l.Send(0, make([]byte, 100))
	}
	if err != transport.ErrQueueFull || n != 11 {
		t.Errorf("frame %d: %v", n, err)
	}
	l.Abort()
}

// guarded is a link on which strangers become peers.
type guarded struct {
	transport.Link
	valid     func(frame []byte) bool
	confirmed []int
	dropped   []int
}

func (g *guarded) Guard(valid func(frame []byte) bool) { g.valid = valid }
func (g *guarded) Confirm(peer int)                    { g.confirmed = append(g.confirmed, peer) }
func (g *guarded) Drop(peer int)                       { g.dropped = append(g.dropped, peer) }
func (g *guarded) Counts() []transport.Count           { return []transport.Count{{Name: "strangers"}} }

// An impaired link has the door of the link inside.
func TestGuarded(t *testing.T) {
	x, y := mem.Pair(mem.Config{})
	defer x.Abort()
	defer y.Abort()
	g := &guarded{Link: x}
	l := wrap(t, g, impair.Config{})
	var _ transport.Guarded = l
	l.Guard(func(frame []byte) bool { return len(frame) == 3 })
	l.Confirm(4)
	l.Drop(5)
	if g.valid == nil || !g.valid([]byte("abc")) || g.valid(nil) {
		t.Error("what is valid was not passed through")
	}
	if fmt.Sprint(g.confirmed, g.dropped, l.Counts()) != "[4] [5] [{strangers  false 0}]" {
		t.Error(g.confirmed, g.dropped, l.Counts())
	}
	without := wrap(t, y, impair.Config{})
	without.Guard(nil)
	without.Confirm(0)
	without.Drop(0)
	if without.Counts() != nil {
		t.Error("a link without counts has some")
	}
}
