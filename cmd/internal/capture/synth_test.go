package capture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// The captures of these tests are written as text, one packet a line, and turned into bytes by
// gopacket's serialisers, so that headers are built by other hands than those that take them apart.
//
//	c SA 100 301 hello    client sends SYN+ACK, number 100, acknowledging 301, payload "hello"
//	c SW 100 0            a SYN that names a window scale of 7; all windows are 65535 before scaling
//	s U - - hello         server sends a datagram
//	c A 100 301 hello cut=2   the last two bytes of the packet are cut off by the snap length
//	... # text            packet comment

var (
	epoch = time.Date(2024, 5, 6, 7, 8, 9, 123456789, time.UTC)
	mac   = net.HardwareAddr{2, 0, 0, 0, 0, 1}
)

type synthPacket struct {
	data    []byte
	length  int
	comment string
}

// shape is one way to wrap the same segments.
type shape struct {
	link layers.LinkType
	v6   bool
	vlan bool
}

// synth builds the packets of a script.
func synth(t testing.TB, sh shape, script string) []synthPacket {
	t.Helper()
	var out []synthPacket
	for _, line := range strings.Split(strings.TrimSpace(script), "\n") {
		line, comment, _ := strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) < 4 {
			t.Fatalf("script line %q: want who, flags, seq, ack", line)
		}
		payload, cut := "", 0
		for _, x := range f[4:] {
			if n, ok := strings.CutPrefix(x, "cut="); ok {
				cut, _ = strconv.Atoi(n)
			} else {
				payload = x
			}
		}
		data := sh.packet(t, f[0] == "c", f[1], number(f[2]), number(f[3]), []byte(payload))
		if cut > 0 { // what the link padded goes first
			data = data[:bytes.LastIndex(data, []byte(payload))+len(payload)]
		}
		out = append(out, synthPacket{data[:len(data)-cut], len(data), strings.TrimSpace(comment)})
	}
	return out
}

func number(s string) uint32 {
	n, _ := strconv.ParseUint(s, 10, 32)
	return uint32(n)
}

func (sh shape) packet(t testing.TB, client bool, flags string, seq, ack uint32, payload []byte) []byte {
	t.Helper()
	src, dst, sport, dport := net.IP{10, 0, 0, 1}, net.IP{10, 0, 0, 2}, 40000, 7000
	if sh.v6 {
		src, dst = net.ParseIP("fd00::1"), net.ParseIP("fd00::2")
	}
	if !client {
		src, dst, sport, dport = dst, src, dport, sport
	}
	proto, l3 := layers.IPProtocolTCP, gopacket.SerializableLayer(nil)
	if flags == "U" {
		proto = layers.IPProtocolUDP
	}
	var ip gopacket.NetworkLayer
	if sh.v6 {
		x := &layers.IPv6{Version: 6, NextHeader: proto, HopLimit: 64, SrcIP: src, DstIP: dst}
		ip, l3 = x, x
	} else {
		x := &layers.IPv4{Version: 4, TTL: 64, Protocol: proto, SrcIP: src, DstIP: dst}
		ip, l3 = x, x
	}
	var l4 gopacket.SerializableLayer
	if flags == "U" {
		x := &layers.UDP{SrcPort: layers.UDPPort(sport), DstPort: layers.UDPPort(dport)}
		_ = x.SetNetworkLayerForChecksum(ip)
		l4 = x
	} else {
		has := func(f string) bool { return strings.Contains(flags, f) }
		x := &layers.TCP{SrcPort: layers.TCPPort(sport), DstPort: layers.TCPPort(dport), Seq: seq, Ack: ack,
			Window: 65535,
			SYN:    has("S"), ACK: has("A"), FIN: has("F"), RST: has("R")}
		if has("W") {
			x.Options = []layers.TCPOption{{OptionType: layers.TCPOptionKindNop},
				{OptionType: layers.TCPOptionKindWindowScale, OptionLength: 3, OptionData: []byte{7}}}
		}
		_ = x.SetNetworkLayerForChecksum(ip)
		l4 = x
	}
	buf := gopacket.NewSerializeBuffer()
	all := append(sh.linkLayers(), l3, l4, gopacket.Payload(payload))
	if err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true},
		all...); err != nil {
		t.Fatal(err)
	}
	return append(sh.rawHeader(), buf.Bytes()...)
}

func (sh shape) etherType() layers.EthernetType {
	if sh.v6 {
		return layers.EthernetTypeIPv6
	}
	return layers.EthernetTypeIPv4
}

func (sh shape) linkLayers() []gopacket.SerializableLayer {
	if sh.link != layers.LinkTypeEthernet {
		return nil
	}
	if sh.vlan {
		return []gopacket.SerializableLayer{
			&layers.Ethernet{SrcMAC: mac, DstMAC: mac, EthernetType: layers.EthernetTypeDot1Q},
			&layers.Dot1Q{VLANIdentifier: 7, Type: sh.etherType()},
		}
	}
	return []gopacket.SerializableLayer{&layers.Ethernet{SrcMAC: mac, DstMAC: mac, EthernetType: sh.etherType()}}
}

// rawHeader builds the link headers that the library cannot write.
func (sh shape) rawHeader() []byte {
	switch sh.link {
	case layers.LinkTypeLinuxSLL:
		h := make([]byte, 16)
		binary.BigEndian.PutUint16(h[14:], uint16(sh.etherType()))
		return h
	case layers.LinkTypeLinuxSLL2:
		h := make([]byte, 20)
		binary.BigEndian.PutUint16(h, uint16(sh.etherType()))
		return h
	case layers.LinkTypeNull:
		return []byte{2, 0, 0, 0}
	case layers.LinkTypeLoop:
		return []byte{0, 0, 0, 30}
	}
	return nil
}

// pcapFile writes a classic capture; packet i is i milliseconds and i units after the epoch.
func pcapFile(packets []synthPacket, link layers.LinkType, order binary.AppendByteOrder, nanos bool) []byte {
	magic, unit := uint32(0xa1b2c3d4), 1000
	if nanos {
		magic, unit = 0xa1b23c4d, 1
	}
	b := order.AppendUint32(nil, magic)
	b = order.AppendUint16(order.AppendUint16(b, 2), 4)
	for _, v := range []uint32{0, 0, 65535, uint32(link)} {
		b = order.AppendUint32(b, v)
	}
	for i, p := range packets {
		at := epoch.Add(time.Duration(i) * time.Millisecond)
		for _, v := range []int{int(at.Unix()), at.Nanosecond() / unit, len(p.data), p.length} {
			b = order.AppendUint32(b, uint32(v))
		}
		b = append(b, p.data...)
	}
	return b
}

// pcapngFile writes a pcapng capture with comments.
func pcapngFile(t testing.TB, packets []synthPacket, link layers.LinkType) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := pcapgo.NewNgWriter(&b, link)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range packets {
		ci := gopacket.CaptureInfo{Timestamp: epoch.Add(time.Duration(i) * time.Millisecond),
			CaptureLength: len(p.data), Length: p.length}
		var opts pcapgo.NgPacketOptions
		if p.comment != "" {
			opts.Comments = []string{p.comment}
		}
		if err := w.WritePacketWithOptions(ci, p.data, opts); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// story tells a capture's events in lines: packet, sender, kind, and what belongs to it.
func story(c *Capture) string {
	var b strings.Builder
	for _, e := range c.Events {
		who := "s"
		if e.FromClient {
			who = "c"
		}
		fmt.Fprintf(&b, "%d %s %s", e.Packet, who, e.Kind)
		if len(c.Conns) > 1 {
			fmt.Fprintf(&b, " conn=%d", e.Conn)
		}
		if e.Carrier != e.Packet {
			fmt.Fprintf(&b, " from=%d", e.Carrier)
		}
		if e.Data != nil {
			fmt.Fprintf(&b, " %q", e.Data)
		}
		if e.Kind == Gap {
			fmt.Fprintf(&b, " lost=%d: %s", e.Lost, e.Why)
		}
		if e.Comment != "" {
			fmt.Fprintf(&b, " # %s", e.Comment)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
