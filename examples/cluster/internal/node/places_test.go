package node

import (
	"net"
	"net/netip"
	"testing"
)

// One address cannot have all places, nor can all have more than there are; an IPv6 network is one address.
func TestPlaces(t *testing.T) {
	p := places{most: 5, each: 2, taken: map[netip.Addr]int{}}
	var free []func()
	for _, tt := range []struct {
		from string
		ok   bool
	}{
		{"192.0.2.1:1", true}, {"192.0.2.1:2", true}, {"192.0.2.1:3", false}, {"[::ffff:192.0.2.1]:4", false},
		{"[2001:db8::1]:1", true}, {"[2001:db8::2]:1", true}, {"[2001:db8::3]:1", false},
		{"[2001:db8:0:1::1]:1", true}, {"192.0.2.2:1", false},
	} {
		a, err := net.ResolveTCPAddr("tcp", tt.from)
		if err != nil {
			t.Fatal(err)
		}
		f, ok := p.take(a)
		if ok != tt.ok {
			t.Errorf("%s: %t", tt.from, ok)
		}
		if ok {
			free = append(free, f)
		}
	}
	for _, f := range free {
		f()
		f()
	}
	if p.sum != 0 || len(p.taken) != 0 {
		t.Errorf("%d places are taken, by %v", p.sum, p.taken)
	}
}
