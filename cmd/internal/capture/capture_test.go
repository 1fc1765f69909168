package capture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// TestStories reads every story in every link type, both IP versions and both formats: the events
// are the same.
func TestStories(t *testing.T) {
	shapes := map[string]shape{
		"ethernet": {link: layers.LinkTypeEthernet}, "ethernet6": {link: layers.LinkTypeEthernet, v6: true},
		"vlan": {link: layers.LinkTypeEthernet, vlan: true},
		"sll":  {link: layers.LinkTypeLinuxSLL}, "sll2": {link: layers.LinkTypeLinuxSLL2, v6: true},
		"null": {link: layers.LinkTypeNull}, "loop": {link: layers.LinkTypeLoop, v6: true},
		"raw": {link: layers.LinkTypeRaw}, "raw6": {link: layers.LinkTypeRaw, v6: true},
		"raw-bsd": {link: 12}, "ipv4": {link: layers.LinkTypeIPv4}, "ipv6": {link: layers.LinkTypeIPv6, v6: true},
	}
	for _, st := range stories {
		for name, sh := range shapes {
			t.Run(st.name+"/"+name, func(t *testing.T) {
				packets := synth(t, sh, st.script)
				plain := strings.TrimPrefix(st.want, "\n")
				noComments := stripComments(plain)
				check(t, "pcapng", pcapngFile(t, packets, sh.link), plain)
				check(t, "pcap", pcapFile(packets, sh.link, binary.LittleEndian, false), noComments)
				check(t, "big-endian nanoseconds", pcapFile(packets, sh.link, binary.BigEndian, true), noComments)
			})
		}
	}
}

func stripComments(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i], _, _ = strings.Cut(l, " # ")
	}
	return strings.Join(lines, "\n")
}

func check(t *testing.T, what string, file []byte, want string) {
	t.Helper()
	c, err := Read(bytes.NewReader(file), Options{})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if d := cmp.Diff(want, story(c)); d != "" {
		t.Errorf("%s: events (-want +got):\n%s", what, d)
	}
}

func TestTimes(t *testing.T) {
	sh := shape{link: layers.LinkTypeEthernet}
	packets := synth(t, sh, "c U - - a\nc U - - b")
	for name, tc := range map[string]struct {
		file []byte
		unit time.Duration
	}{
		"pcap, microseconds": {pcapFile(packets, sh.link, binary.LittleEndian, false), time.Microsecond},
		"pcap, nanoseconds":  {pcapFile(packets, sh.link, binary.LittleEndian, true), time.Nanosecond},
		"big-endian":         {pcapFile(packets, sh.link, binary.BigEndian, false), time.Microsecond},
		"pcapng":             {pcapngFile(t, packets, sh.link), time.Nanosecond},
	} {
		c, err := Read(bytes.NewReader(tc.file), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := c.Events[2].Time, epoch.Add(time.Millisecond).Truncate(tc.unit); !got.Equal(want) {
			t.Errorf("%s: second packet at %v, want %v", name, got, want)
		}
	}
}

// TestClient pins who counts as the client when no SYN tells.
func TestClient(t *testing.T) {
	sh := shape{link: layers.LinkTypeEthernet}
	for _, tc := range []struct {
		script string
		ports  []uint16
		client string
		sure   bool
	}{
		{"c S 100 0", nil, "10.0.0.1:40000", true},
		{"s S 100 0", nil, "10.0.0.2:7000", true},
		{"s SA 300 101", nil, "10.0.0.1:40000", true},
		{"s A 300 101 x", nil, "10.0.0.1:40000", false},
		{"c U - - x", nil, "10.0.0.1:40000", false},
		{"s U - - x", nil, "10.0.0.1:40000", false},
		{"s U - - x", []uint16{40000}, "10.0.0.2:7000", false},
		{"c U - - x", []uint16{7000}, "10.0.0.1:40000", false},
	} {
		file := pcapFile(synth(t, sh, tc.script), sh.link, binary.LittleEndian, false)
		c, err := Read(bytes.NewReader(file), Options{Ports: tc.ports})
		if err != nil || len(c.Conns) != 1 {
			t.Fatalf("%q: %d connections, %v", tc.script, len(c.Conns), err)
		}
		if got := c.Conns[0]; got.Client.String() != tc.client || got.Handshake != tc.sure {
			t.Errorf("%q with ports %v: client %v, handshake %v; want %s, %v", tc.script, tc.ports, got.Client,
				got.Handshake, tc.client, tc.sure)
		}
	}
}

func TestPortFilter(t *testing.T) {
	sh := shape{link: layers.LinkTypeEthernet}
	file := pcapFile(synth(t, sh, "c U - - x\ns U - - y"), sh.link, binary.LittleEndian, false)
	for port, want := range map[uint16]int{7000: 3, 40000: 3, 7001: 0} {
		c, err := Read(bytes.NewReader(file), Options{Ports: []uint16{port}})
		if err != nil || len(c.Events) != want || c.Packets != 2 {
			t.Errorf("port %d: %d events of %d packets, %v; want %d events of 2", port, len(c.Events),
				c.Packets, err, want)
		}
	}
}

func TestCounters(t *testing.T) {
	sh := shape{link: layers.LinkTypeEthernet}
	file := pcapFile(synth(t, sh, `
c S 100 0
s SA 300 101
c A 101 301 abc
c A 101 301 abcdef
c A 101 301 abc
c A 110 301 jk
s A 301 107 x
`), sh.link, binary.LittleEndian, false)
	c, err := Read(bytes.NewReader(file), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := Conn{Proto: "tcp", Client: c.Conns[0].Client, Server: c.Conns[0].Server, Handshake: true, First: 1, Last: 7,
		FromClient: Direction{Packets: 5, Bytes: 6, Repeated: 1, RepeatedBytes: 6, Early: 1, Gaps: 1, Lost: 3,
			Unread: 2},
		FromServer: Direction{Packets: 2, Bytes: 1}}
	if got := c.Conns[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
}

// TestSkipped mixes packets that cannot be used among good ones.
func TestSkipped(t *testing.T) {
	sh := shape{link: layers.LinkTypeEthernet}
	good := synth(t, sh, "c U - - a\nc U - - b\nc S 1 1")
	arp := append([]byte{}, good[0].data...)
	arp[12], arp[13] = 8, 6
	icmp := append([]byte{}, good[0].data...)
	icmp[14+9] = 1
	frag := append([]byte{}, good[0].data...)
	frag[14+6] = 0x20
	short := append([]byte{}, good[2].data[:14+20+10]...)
	bad := []synthPacket{{arp, len(arp), ""}, {icmp, len(icmp), ""}, {frag, len(frag), ""},
		{short, len(short), ""}, {short[:20], 20, ""}, {nil, 0, ""}}
	all := append(append([]synthPacket{good[0]}, bad...), good[1])
	c, err := Read(bytes.NewReader(pcapFile(all, sh.link, binary.LittleEndian, false)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []Skip{{string(notIP), 1, 2}, {string(notTCPorUDP), 1, 3}, {string(fragment), 1, 4},
		{string(badHeader), 3, 5}}
	if d := cmp.Diff(want, c.Skipped); d != "" {
		t.Errorf("skipped (-want +got):\n%s", d)
	}
	if got := story(c); got != "1 c open\n1 c data \"a\"\n8 c data \"b\"\n" {
		t.Errorf("events:\n%s", got)
	}
}

// TestMixedLinks reads a pcapng file of two interfaces, one of a link type that is not known: its
// packets are skipped.
func TestMixedLinks(t *testing.T) {
	const radio = layers.LinkTypeIEEE802_11
	var b bytes.Buffer
	w, err := pcapgo.NewNgWriter(&b, radio)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.AddInterface(pcapgo.NgInterface{LinkType: layers.LinkTypeRaw, TimestampResolution: 9}); err != nil {
		t.Fatal(err)
	}
	data := synth(t, shape{link: layers.LinkTypeRaw}, "c U - - abc")[0].data
	for i := range 4 {
		ci := gopacket.CaptureInfo{Timestamp: epoch, CaptureLength: len(data), Length: len(data), InterfaceIndex: i % 2}
		if err := w.WritePacketWithOptions(ci, data,
			pcapgo.NgPacketOptions{Comments: []string{"one", "two"}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	c, err := Read(&b, Options{})
	if err != nil || story(c) != "2 c open # one\ntwo\n2 c data \"abc\" # one\ntwo\n4 c data \"abc\" # one\ntwo\n" {
		t.Errorf("%v, events:\n%s", err, story(c))
	}
	if d := cmp.Diff([]Skip{{linkError(radio).Error(), 2, 1}}, c.Skipped); d != "" {
		t.Errorf("skipped (-want +got):\n%s", d)
	}
}

// TestIPv6Extensions puts an options header before TCP and padding of the link after it.
func TestIPv6Extensions(t *testing.T) {
	sh := shape{link: layers.LinkTypeRaw, v6: true}
	p := synth(t, sh, "c A 101 301 abc")[0].data
	with := append([]byte{}, p[:40]...)
	with[6] = 60
	with = append(with, protoTCP, 0, 1, 4, 0, 0, 0, 0)
	with = append(with, p[40:]...)
	binary.BigEndian.PutUint16(with[4:], binary.BigEndian.Uint16(p[4:])+8)
	with = append(with, "padding"...)
	c, err := Read(bytes.NewReader(pcapFile([]synthPacket{{with, len(with), ""}}, sh.link, binary.LittleEndian,
		false)), Options{})
	if err != nil || story(c) != "1 c open\n1 c data \"abc\"\n" {
		t.Errorf("%v, skipped %v, events:\n%s", err, c.Skipped, story(c))
	}
}

// TestTooMuchWaiting: a hole that nobody fills or confirms must not collect segments without end.
func TestTooMuchWaiting(t *testing.T) {
	sh := shape{link: layers.LinkTypeEthernet}
	var script strings.Builder
	script.WriteString("c S 100 0\ns SA 300 101\n")
	for i := range maxHeldSegments + 1 {
		fmt.Fprintf(&script, "c A %d 301 x\n", 200+i)
	}
	c, err := Read(bytes.NewReader(pcapFile(synth(t, sh, script.String()), sh.link, binary.LittleEndian,
		false)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e := c.Events[1]; e.Kind != Gap || e.Lost != 99 || e.Why != whyFull ||
		c.Conns[0].FromClient.Bytes != maxHeldSegments+1 {
		t.Errorf("second event %+v, %d bytes delivered", e, c.Conns[0].FromClient.Bytes)
	}

	packets := synth(t, sh, "c SW 100 0\ns SAW 300 101\nc A 101 301\ns A 301 101")
	const size = 60_000
	for i := range maxHeldBytes/size + 1 {
		data := sh.packet(t, true, "A", uint32(200+i*size), 301, make([]byte, size))
		packets = append(packets, synthPacket{data, len(data), ""})
	}
	c, err = Read(bytes.NewReader(pcapFile(packets, sh.link, binary.LittleEndian, false)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e := c.Events[1]; e.Kind != Gap || e.Why != whyFull {
		t.Errorf("after %d bytes: second event %v, %s", maxHeldBytes, e.Kind, e.Why)
	}
}

// TestWrongSnapLength: some writers put a snap length into the header that their packets exceed, or
// zero.
func TestWrongSnapLength(t *testing.T) {
	sh := shape{link: layers.LinkTypeRaw}
	file := pcapFile(synth(t, sh, "c U - - abc"), sh.link, binary.LittleEndian, false)
	for _, n := range []byte{0, 10} {
		copy(file[16:], []byte{n, 0, 0, 0})
		if c, err := Read(bytes.NewReader(file), Options{}); err != nil || len(c.Events) != 2 {
			t.Errorf("snap length %d: %d events, %v", n, len(c.Events), err)
		}
	}
}
