package book

import (
	"math/rand/v2"
	"net/netip"
	"testing"
)

// TestRoom holds how rarely nine random addresses leave no number for the last: they would have it once
// in a hundred times if each new one came in the middle of two.
func TestRoom(t *testing.T) {
	const draws = 20000
	for _, c := range []struct{ peers, most int }{{8, draws / 2000}, {9, draws / 1000}, {12, draws / 100}} {
		r := rand.New(rand.NewPCG(7, uint64(c.peers)))
		full := 0
		for range draws {
			l := &Link[netip.AddrPort]{form: IPv4, parties: 254, self: 127}
			for i := range c.peers {
				a := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(32768+r.IntN(28232)))
				peer := i
				if i == 0 {
					own := entry[netip.AddrPort]{addr: a, key: l.key(a), number: l.self, peer: oneself, up: true}
					l.entries = append(l.entries, own)
					continue
				}
				e := l.place(a, peer, false)
				if e == nil {
					full++
					break
				}
				e.up = true
			}
			for i := 1; i < len(l.entries); i++ {
				if l.entries[i-1].number >= l.entries[i].number {
					t.Fatalf("%v is %d, %v is %d", l.entries[i-1].addr, l.entries[i-1].number, l.entries[i].addr,
						l.entries[i].number)
				}
			}
		}
		t.Logf("%d addresses: no number for one in %d of %d draws", c.peers, full, draws)
		if full > c.most {
			t.Errorf("%d addresses: no number for one in %d of %d draws, %d are allowed", c.peers, full, draws, c.most)
		}
	}
}
