package otel_test

import (
	"net"
	"testing"

	"github.com/parley-go/parley/runtime/observe/otel"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/udp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
)

// TestLink: whom a link lets in and turns away is shown, until it is closed.
func TestLink(t *testing.T) {
	link, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer link.Abort()
	reader := metric.NewManualReader()
	meter := metric.NewMeterProvider(metric.WithReader(reader)).Meter("parley")
	shown, err := otel.NewLink(meter, link, attribute.String("instance", "door"))
	if err != nil {
		t.Fatal(err)
	}
	link.Guard(func([]byte) bool { return false })
	c, err := net.Dial("udp4", link.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	known, err := link.AddPeer(c.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := net.Dial("udp4", link.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	stranger.Write([]byte("hello"))
	c.Write([]byte("hello"))
	for buf := make([]byte, 100); ; { // what comes after the stranger's shows that that has been looked at
		if got, err := link.Receive(buf); err != nil || got.Kind == transport.Data && got.Peer == known {
			break
		}
	}
	got := collect(t, reader)
	if got["parley.link.invalid door"] != 1 || got["parley.link.peers door"] != 1 {
		t.Errorf("%v", got)
	}
	if err := shown.Close(); err != nil {
		t.Error(err)
	}
	if got := collect(t, reader); len(got) != 0 {
		t.Errorf("%v after it was closed", got)
	}
}
