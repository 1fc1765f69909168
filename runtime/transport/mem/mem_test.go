package mem_test

import (
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/linktest"
	"github.com/parley-go/parley/runtime/transport/mem"
)

func TestLink(t *testing.T) {
	for name, cfg := range map[string]mem.Config{
		"stream": {Stream: true}, "frames": {}, "bounded frames": {MaxFrame: 1024},
	} {
		cfg.Queue, cfg.Linger = linktest.Queue, 100*time.Millisecond
		t.Run(name, func(t *testing.T) {
			linktest.Run(t, func(*testing.T) (transport.Link, transport.Link) { return mem.Pair(cfg) })
		})
	}
}

// Two nodes of a network, each the other's first peer.
func TestNetwork(t *testing.T) {
	linktest.Run(t, func(t *testing.T) (transport.Link, transport.Link) {
		var n mem.Network
		a, err := n.Join(1, mem.NodeLimits{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := n.Join(2, mem.NodeLimits{})
		if err != nil {
			t.Fatal(err)
		}
		for l, to := range map[*mem.NodeLink]mem.Address{a: 2, b: 1} {
			if _, err := l.Add(to); err != nil {
				t.Fatal(err)
			}
		}
		return a, b
	}, "no allocation") // each receiver gets a copy
}

func TestBroadcast(t *testing.T) {
	var n mem.Network
	var links []*mem.NodeLink
	for i := range 3 {
		l, err := n.Join(mem.Address(i), mem.NodeLimits{})
		if err != nil {
			t.Fatal(err)
		}
		links = append(links, l)
		defer l.Close()
	}
	if _, err := n.Join(1, mem.NodeLimits{}); err == nil {
		t.Error("an address is given twice")
	}
	links[0].Send(transport.All, []byte("all"))
	buf := make([]byte, 9)
	for _, l := range links[1:] {
		if a, err := l.Receive(buf); err != nil || a.Kind != transport.PeerUp {
			t.Fatal(a, err)
		}
		if a, err := l.Receive(buf); err != nil || string(buf[:a.N]) != "all" ||
			l.RemoteAddr(a.Peer).String() != "node 0" {
			t.Fatal(a, err)
		}
	}
	links[2].Close()
	l, err := n.Join(2, mem.NodeLimits{})
	if err != nil {
		t.Fatal("the address of a closed node is not free:", err)
	}
	l.Close()
}
