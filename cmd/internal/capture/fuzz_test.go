package capture

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"slices"
	"testing"

	"github.com/gopacket/gopacket/layers"
)

// FuzzRead feeds damaged captures: whatever the bytes, Read returns, its counters agree with its
// events, and it keeps no more than the file holds.
func FuzzRead(f *testing.F) {
	for _, st := range stories {
		sh := shape{link: layers.LinkTypeRaw}
		packets := synth(f, sh, st.script)
		f.Add(pcapFile(packets, sh.link, binary.LittleEndian, false))
		f.Add(pcapngFile(f, packets, sh.link))
	}
	for _, sh := range []shape{{link: layers.LinkTypeEthernet, vlan: true},
		{link: layers.LinkTypeLinuxSLL2, v6: true}, {link: layers.LinkTypeNull}} {
		f.Add(pcapFile(synth(f, sh, stories[0].script), sh.link, binary.BigEndian, true))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		opts := Options{MaxPackets: 1000, MaxConns: 100, MaxConnBytes: 1 << 16}
		c, err := Read(bytes.NewReader(file), opts)
		if c == nil {
			t.Fatal("no capture")
		}
		if c.Packets > opts.MaxPackets || len(c.Conns) > opts.MaxConns {
			t.Errorf("%d packets, %d connections: beyond the limits", c.Packets, len(c.Conns))
		}
		checkBooks(t, c, len(file))
		again, err2 := Read(bytes.NewReader(file), opts)
		if !reflect.DeepEqual(c, again) || (err == nil) != (err2 == nil) {
			t.Errorf("a second reading differs: %v, %v\n%+v\n%+v", err, err2, c, again)
		}
	})
}

// checkBooks compares the events with the counters of each direction.
func checkBooks(t *testing.T, c *Capture, fileSize int) {
	t.Helper()
	type key struct {
		conn   int
		client bool
	}
	bytesOf, lost, total, last := map[key]int{}, map[key]int{}, 0, 0
	for i, e := range c.Events {
		k := key{e.Conn, e.FromClient}
		if e.Packet < last || e.Carrier > e.Packet || e.Carrier < 1 || e.Packet > c.Packets {
			t.Fatalf("event %d: packet %d, carried by %d, after packet %d of %d", i, e.Packet, e.Carrier, last,
				c.Packets)
		}
		last = e.Packet
		if e.Kind == Data {
			bytesOf[k] += len(e.Data)
		}
		lost[k] += int(e.Lost)
		total += len(e.Data)
	}
	if total > fileSize {
		t.Errorf("%d bytes of data from a file of %d", total, fileSize)
	}
	for i, conn := range c.Conns {
		for _, left := range conn.LeftOut {
			k := slices.IndexFunc(c.Skipped, func(x Skip) bool { return x.Reason == left.Reason })
			if k < 0 || c.Skipped[k].Packets < left.Packets || c.Skipped[k].First > left.First {
				t.Errorf("connection %d lacks %+v, and the file %+v", i, left, c.Skipped)
			}
		}
		for _, d := range []struct {
			Direction
			client bool
		}{{conn.FromClient, true}, {conn.FromServer, false}} {
			k := key{i, d.client}
			if d.Bytes != bytesOf[k] || d.Lost != lost[k] {
				t.Errorf("connection %d, from client %v: counters say %d bytes and %d lost, events %d and %d",
					i, d.client, d.Bytes, d.Lost, bytesOf[k], lost[k])
			}
		}
	}
}

// TestTruncatedAnywhere cuts captures at every length: the events before the cut are those of the
// whole file.
func TestTruncatedAnywhere(t *testing.T) {
	sh := shape{link: layers.LinkTypeRaw}
	packets := synth(t, sh, stories[0].script)
	for name, file := range map[string][]byte{
		"pcap":   pcapFile(packets, sh.link, binary.LittleEndian, false),
		"pcapng": pcapngFile(t, packets, sh.link),
	} {
		whole, err := Read(bytes.NewReader(file), Options{})
		if err != nil {
			t.Fatal(err)
		}
		clean := 0
		for n := range len(file) {
			c, err := Read(bytes.NewReader(file[:n]), Options{})
			if err == nil {
				clean++
			}
			for i, e := range c.Events {
				if !reflect.DeepEqual(e, whole.Events[i]) {
					t.Fatalf("%s cut to %d bytes: event %d is %+v, in the whole file %+v", name, n, i, e,
						whole.Events[i])
				}
			}
		}
		// Only a cut between two records leaves a file without fault.
		if clean > len(packets)+1 {
			t.Errorf("%s: %d of %d cuts went unnoticed, want at most %d", name, clean, len(file), len(packets)+1)
		}
	}
}
