package node

import (
	"net"
	"testing"
)

// One address cannot have all places, nor can all have more than there are; an IPv6 network is one address.
func TestPlaces(t *testing.T) {
	p := newPlaces(5, 2)
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
	for a, c := range p.taken {
		if p.sum != 0 || c.count != 0 {
			t.Errorf("%d places are taken, %d by %v", p.sum, c.count, a)
		}
	}
}

// Who comes and goes has no more places than so many in a time, however few at once. Those who are remembered for it
// are not more than so many either, and nobody who is there is forgotten.
func TestPlacesInTime(t *testing.T) {
	p := newPlaces(10, 4)
	come := func(ip string) bool {
		free, ok := p.take(&net.TCPAddr{IP: net.ParseIP(ip), Port: 1})
		if ok {
			free()
		}
		return ok
	}
	in := 0
	for range 1000 {
		if come("192.0.2.1") {
			in++
		}
	}
	if in < 4 || in > 500 { // one more for each second that this takes
		t.Errorf("one address came in %d times", in)
	}
	stays := &net.TCPAddr{IP: net.ParseIP("192.0.2.2"), Port: 1}
	if _, ok := p.take(stays); !ok {
		t.Error("another one has no place")
	}
	for i := range 1000 {
		if !come(net.IPv4(198, 51, byte(i>>8), byte(i)).String()) {
			t.Fatal("the others have no place")
		}
	}
	if len(p.taken) > maxCustomers*p.most || p.taken[address(stays)] == nil {
		t.Errorf("%d addresses are remembered, and who is there: %v", len(p.taken), p.taken[address(stays)])
	}
}
