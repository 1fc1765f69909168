package prometheus_test

import (
	"net"
	"strings"
	"testing"

	observe "github.com/parley-go/parley/runtime/observe/prometheus"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/ipx"
	"github.com/parley-go/parley/runtime/transport/tcp"
	"github.com/parley-go/parley/runtime/transport/udp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// TestListener: whom a listener lets in and turns away is shown.
func TestListener(t *testing.T) {
	ln, err := tcp.Listen("tcp4", "127.0.0.1:0", tcp.Config{PerAddress: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(observe.NewLink(ln, prometheus.Labels{"link": "door"}))
	first, err := net.Dial("tcp4", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	link, err := ln.Accept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	go ln.Accept(t.Context())
	second, err := net.Dial("tcp4", ln.Addr().String())
	if err == nil {
		second.Read(make([]byte, 1)) // ends when it has been turned away
		second.Close()
	}
	want := `
# HELP parley_link_crowded_total Connections turned away because their address has its places.
# TYPE parley_link_crowded_total counter
parley_link_crowded_total{link="door"} 1
# HELP parley_link_peers Connections now.
# TYPE parley_link_peers gauge
parley_link_peers{link="door"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want),
		"parley_link_crowded_total", "parley_link_peers"); err != nil {
		t.Error(err)
	}
	link.Abort()
}

// TestEverythingThatCounts: each kind of link has its counts, under names that no other has.
func TestEverythingThatCounts(t *testing.T) {
	server, err := tcp.Serve("tcp4", "127.0.0.1:0", tcp.ServeConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Abort()
	datagrams, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer datagrams.Abort()
	network, err := ipx.Listen("udp4", "127.0.0.1:0", ipx.ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer network.Close()
	for name, c := range map[string]transport.Counted{"tcp": server, "udp": datagrams, "ipx": network} {
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(observe.NewLink(c, prometheus.Labels{"link": name}))
		if n, err := testutil.GatherAndCount(registry); err != nil || n != len(c.Counts()) || n == 0 {
			t.Errorf("%s: %d metrics, %v", name, n, err)
		}
	}
}
