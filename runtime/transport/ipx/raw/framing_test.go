package raw

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/parley-go/parley/runtime/transport/ipx"
)

var (
	here  = ipx.Node{2, 0, 0, 0, 0, 1}
	there = ipx.Node{2, 0, 0, 0, 0, 2}
)

// packet is an IPX packet with n bytes behind its header.
func packet(n int) []byte {
	h := ipx.Header{Length: uint16(ipx.HeaderSize + n), Type: 4, Dst: ipx.Address{Node: there, Socket: 0x5000}}
	return append(h.Append(nil), bytes.Repeat([]byte{0xAB}, n)...)
}

func TestFraming(t *testing.T) {
	const macs = "020000000002020000000001"
	header := hex.EncodeToString(packet(1)[:30])
	for f, want := range map[Framing]string{
		EthernetII: macs + "8137" + header + "ab",
		Raw8023:    macs + "0020" + header + "ab",
		LLC:        macs + "0022" + "e0e003" + header + "ab",
		SNAP:       macs + "0028" + "aaaa030000008137" + header + "ab",
	} {
		frame := f.appendFrame(nil, there, here, packet(1))
		want += strings.Repeat("00", 60-len(want)/2)
		if got := hex.EncodeToString(frame); got != want {
			t.Errorf("%v:\n got %s\nwant %s", f, got, want)
		}
		for n := range 200 {
			p := packet(n)
			got, framing := open(f.appendFrame(nil, there, here, p))
			if framing != f || len(got) < len(p) || !bytes.Equal(got[:len(p)], p) {
				t.Fatalf("%v with %d bytes comes back as %v: % x", f, n, framing, got)
			}
		}
	}
}

func TestNoIPX(t *testing.T) {
	for name, text := range map[string]string{
		"IP": "0800" + "4500", "ARP": "0806" + "0001", "spanning tree": "0026" + "424203" + "00",
		"too short for its length": "0100" + "ffff", "SNAP of IP": "0008" + "aaaa030000000800", "nothing": "",
	} {
		b, err := hex.DecodeString("020000000002020000000001" + text)
		if err != nil {
			t.Fatal(err)
		}
		if _, f := open(b); f != framings {
			t.Errorf("%s was taken for %v", name, f)
		}
	}
}

func FuzzOpen(f *testing.F) {
	for k := range framings {
		f.Add(k.appendFrame(nil, there, here, packet(5)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, framing := open(b)
		if framing == framings {
			return
		}
		if len(p) > len(b)-etherHeader {
			t.Errorf("% x holds % x", b, p)
		}
	})
}

func TestFrameLimit(t *testing.T) {
	cfg := Config{Framing: SNAP}
	cfg.MaxFrame = 1500 - 8 - 30 + 1
	if err := frameLimit(&cfg, 1500); err == nil || !strings.Contains(err.Error(), "the most is 1462") {
		t.Error(err)
	}
}
