package capture

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// realMatch is a whole match between two real games, recorded on the loopback interface: one TCP
// connection, 156 segments sent twice, no third packet of the handshake, no end.
const realMatch = "../../../specs/netplay/testdata/uqm-match.pcap"

func readFile(t testing.TB, path string, opts Options) *Capture {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Read(bytes.NewReader(data), opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRealMatch(t *testing.T) {
	c := readFile(t, realMatch, Options{Ports: []uint16{21837}})
	if c.Format != "pcap" || c.Packets != 4509 || len(c.Conns) != 1 || len(c.Skipped) != 0 {
		t.Fatalf("format %s, %d packets, %d connections, skipped %v; want pcap, 4509, 1, none", c.Format,
			c.Packets, len(c.Conns), c.Skipped)
	}
	conn := c.Conns[0]
	if conn.Client.String() != "127.0.0.1:33074" || conn.Server.String() != "127.0.0.1:21837" || !conn.Handshake {
		t.Errorf("client %v, server %v, handshake %v", conn.Client, conn.Server, conn.Handshake)
	}
	if conn.Ended() {
		t.Error("the capture was stopped with the connection open")
	}
	wantC := Direction{Packets: 2236, Bytes: 18156, Repeated: 97, RepeatedBytes: 18946 - 18156}
	wantS := Direction{Packets: 2273, Bytes: 18148, Repeated: 59, RepeatedBytes: 18620 - 18148}
	if conn.FromClient != wantC {
		t.Errorf("from the client\n got %+v\nwant %+v", conn.FromClient, wantC)
	}
	if conn.FromServer != wantS {
		t.Errorf("from the server\n got %+v\nwant %+v", conn.FromServer, wantS)
	}
	// One Open, then Data alone: 3781 segments with payload less the 156 repeated ones.
	if got := len(c.Events); got != 1+3781-156 || c.Events[0].Kind != Open {
		t.Errorf("%d events, the first %v", got, c.Events[0].Kind)
	}
}

// TestRealMatchFrames cuts both streams into their frames (16-bit length first): a byte too many or
// too few anywhere would leave a rest or make nonsense of the lengths.
func TestRealMatchFrames(t *testing.T) {
	c := readFile(t, realMatch, Options{})
	var stream [2][]byte
	last := 0
	for _, e := range c.Events {
		if e.Packet < last {
			t.Fatalf("packet %d after packet %d", e.Packet, last)
		}
		last = e.Packet
		if e.FromClient {
			stream[0] = append(stream[0], e.Data...)
		} else {
			stream[1] = append(stream[1], e.Data...)
		}
	}
	sums := [2]string{
		"8407e411512f5ad84193811c7b3d8e1c55553eb73245d9009c3819633002992a",
		"b7974ab74134e0ac8b291a0c0ac2f05319d43b5ca272e08bb345cd2f1da7a2b7",
	}
	for side, s := range stream {
		frames := 0
		for len(s) >= 4 {
			n := int(binary.BigEndian.Uint16(s))
			if n < 4 || n > len(s) {
				t.Fatalf("side %d, frame %d: length %d with %d bytes left", side, frames, n, len(s))
			}
			s = s[n:]
			frames++
		}
		// The sums are those of another program's reassembly of the same file.
		if got := fmt.Sprintf("%x", sha256.Sum256(stream[side])); got != sums[side] {
			t.Errorf("side %d: the bytes sum up to %s, want %s", side, got, sums[side])
		}
		if frames != 1815 || len(s) != 0 {
			t.Errorf("side %d: %d frames and %d bytes over, want 1815 and 0", side, frames, len(s))
		}
	}
}

func BenchmarkRead(b *testing.B) {
	data, err := os.ReadFile(filepath.FromSlash(realMatch))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(bytes.NewReader(data), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
