package door

import (
	"encoding/binary"
	"net/netip"
	"runtime"
	"testing"
	"time"
)

// v4 is the nth of many addresses.
func v4(n uint32) netip.Addr {
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, 10<<24+n)))
}

func TestOrigin(t *testing.T) {
	for _, tt := range []struct{ a, b string }{
		{"192.0.2.1", "::ffff:192.0.2.1"},
		{"2001:db8:0:1::1", "2001:db8:0:1:ffff::2"},
	} {
		if x, y := Origin(netip.MustParseAddr(tt.a)), Origin(netip.MustParseAddr(tt.b)); x != y {
			t.Errorf("%s and %s are %v and %v, should be one", tt.a, tt.b, x, y)
		}
	}
	for _, tt := range []struct{ a, b string }{
		{"192.0.2.1", "192.0.2.2"},
		{"2001:db8:0:1::1", "2001:db8:0:2::1"},
		{"fe80::1%eth0", "fe80::2%eth0"},
		{"fe80::1%eth0", "fe80::1%eth1"},
	} {
		if x, y := Origin(netip.MustParseAddr(tt.a)), Origin(netip.MustParseAddr(tt.b)); x == y {
			t.Errorf("%s and %s are both %v, should be two", tt.a, tt.b, x)
		}
	}
}

// One origin that takes all it can gets so much, and leaves the rest to others.
func TestLimits(t *testing.T) {
	tests := []struct {
		name   string
		limits Limits
		in     int // of 100 who come at once from one origin
		why    Verdict
		other  Verdict // what another origin is told then
	}{
		{"none", Limits{}, 100, In, In},
		{"negative is none", Limits{-1, -1, -1, -1}, 100, In, In},
		{"open", Limits{Open: 10}, 10, Full, Full},
		{"per origin", Limits{Open: 100, PerOrigin: 10, Rate: 50, OriginRate: 20}, 10, Crowded, In},
		{"rate", Limits{Rate: 10, PerOrigin: 20}, 10, Flooded, Flooded},
		{"rate of an origin", Limits{Rate: 30, OriginRate: 10}, 10, Hasty, In},
		{"both rates, the origin's first", Limits{Rate: 10, OriginRate: 10}, 10, Hasty, Flooded},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, in := New(tt.limits), 0
			for range 100 {
				switch v := d.Enter(v4(1), time.Hour); v {
				case In:
					in++
				case tt.why:
				default:
					t.Fatalf("verdict %d", v)
				}
			}
			if c := d.Counts(); in != tt.in || d.Open() != in || c[In] != uint64(in) ||
				tt.why != In && c[tt.why] != uint64(100-in) {
				t.Errorf("%d are in, %d by the door, want %d; %v", in, d.Open(), tt.in, c)
			}
			if v := d.Enter(netip.Addr{}, time.Hour); v != tt.other {
				t.Errorf("somebody without an origin is told %d, want %d", v, tt.other)
			} else if v == In {
				d.Leave(netip.Addr{})
			}
			if v := d.Enter(v4(2), time.Hour); v != tt.other {
				t.Errorf("another origin is told %d, want %d", v, tt.other)
			}
		})
	}
}

// Places are given again.
func TestLeave(t *testing.T) {
	d := New(Limits{Open: 3, PerOrigin: 2})
	for round := range 10 {
		a, b, c := d.Enter(v4(1), 0), d.Enter(v4(1), 0), d.Enter(v4(1), 0)
		if e := d.Enter(v4(2), 0); a != In || b != In || c != Crowded || e != In {
			t.Fatalf("round %d: %d %d %d %d", round, a, b, c, e)
		}
		if e := d.Enter(v4(3), 0); e != Full {
			t.Fatalf("round %d: %d", round, e)
		}
		d.Leave(v4(1))
		d.Leave(v4(1))
		d.Leave(v4(2))
	}
	if d.Open() != 0 || len(d.from) != 0 {
		t.Errorf("%d are in, %d are remembered", d.Open(), len(d.from))
	}
}

// Over a long time, no more come in than the rate says, however they are spread; and as many do.
func TestRate(t *testing.T) {
	const rate, seconds = 20, 50
	for _, every := range []time.Duration{100 * time.Microsecond, 7 * time.Millisecond, 49 * time.Millisecond,
		333 * time.Millisecond} {
		for name, d := range map[string]*Door{"all": New(Limits{Rate: rate}), "origin": New(Limits{OriginRate: rate})} {
			in, came := 0, 0
			for now := time.Duration(0); now < seconds*time.Second; now += every {
				if came++; d.Enter(v4(1), now) == In {
					in++
					d.Leave(v4(1))
				}
			}
			if most, least := rate*(seconds+1), min(came, rate*seconds*8/10); in > most || in < least {
				t.Errorf("%s, one each %v: %d came in of %d in %d seconds, want %d to %d", name, every, in,
					came, seconds, least, most)
			}
		}
	}
	for now, want := range map[time.Duration]Verdict{1010 * time.Millisecond: Hasty, 1950 * time.Millisecond: In} {
		d := New(Limits{OriginRate: 5})
		for range 5 {
			d.Enter(v4(1), 900*time.Millisecond)
		}
		if v := d.Enter(v4(1), now); v != want { // the end of one second counts at the beginning of the next
			t.Errorf("at %v: %d, want %d", now, v, want)
		}
	}
	d := New(Limits{OriginRate: 5})
	// after a rest, a second's worth comes in at once
	for _, now := range []time.Duration{0, 3 * time.Second, time.Hour} {
		for range 5 {
			if v := d.Enter(v4(1), now); v != In {
				t.Fatalf("at %v: %d", now, v)
			}
		}
		if v := d.Enter(v4(1), now); v != Hasty {
			t.Fatalf("at %v: %d", now, v)
		}
	}
}

// A flood from ever new addresses does not make a door grow, whether they are let in or not.
func TestMemory(t *testing.T) {
	occupied := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for name, l := range map[string]Limits{
		"let in":        {Open: 100, PerOrigin: 4, OriginRate: 10},
		"too many":      {Open: 100, PerOrigin: 4, Rate: 50, OriginRate: 10},
		"none may stay": {PerOrigin: 1, Rate: -1, OriginRate: 1},
	} {
		before, d := occupied(), New(l)
		for n := range uint32(100_000) {
			from := v4(n)
			if d.Enter(from, time.Duration(n)*5*time.Microsecond) == In {
				d.Leave(from)
			}
			if most := max(len(d.from), len(d.now.from), len(d.before.from)); most > maxOrigins {
				t.Fatalf("%s: %d origins are remembered", name, most)
			}
		}
		if after := occupied(); after > before+1<<20 {
			t.Errorf("%s: %d KB more than before", name, (after-before)>>10)
		}
		runtime.KeepAlive(d)
	}
}

// BenchmarkEnter measures a connection that is let in, and one that is not.
func BenchmarkEnter(b *testing.B) {
	for name, l := range map[string]Limits{"in": {Open: 1 << 20, PerOrigin: 1 << 20, Rate: 1 << 30,
		OriginRate: 1 << 30}, "hasty": {OriginRate: 1, PerOrigin: 1 << 20}} {
		b.Run(name, func(b *testing.B) {
			var who [1000]netip.Addr
			for n := range who {
				who[n] = Origin(v4(uint32(n)))
			}
			d, began, n := New(l), time.Now(), 0
			for b.Loop() {
				from := who[n%len(who)]
				n++
				if d.Enter(from, time.Since(began)) == In {
					d.Leave(from)
				}
			}
		})
	}
}
