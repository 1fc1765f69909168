package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gopacket/gopacket/layers"
)

var stories = []struct{ name, script, want string }{
	{"a whole connection", `
c S 100 0
s SA 300 101
c A 101 301
c A 101 301 hello
s A 301 106 hi
c FA 106 303
s A 303 107 bye
s FA 306 107
c A 107 307
`, `
2 s open
4 c data "hello"
5 s data "hi"
6 c close
7 s data "bye"
8 s close
`},
	{"the first data carries the third acknowledgement", `
c S 100 0
s SA 300 101
c A 101 301 hello
`, `
2 s open
3 c data "hello"
`},
	{"sent again", `
c S 100 0
s SA 300 101
c A 101 301 hello
c A 101 301 hello
c A 100 301 x
c A 106 301 world
c A 101 301 helloworld
`, `
2 s open
3 c data "hello"
6 c data "world"
`},
	{"overlap: the first copy of a byte counts", `
c S 100 0
s SA 300 101
c A 101 301 abcde
c A 104 301 XYfgh
c A 112 301 lmno
c A 110 301 JKLM
c A 109 301 i
`, `
2 s open
3 c data "abcde"
4 c data "fgh"
7 c data "i"
7 c data from=6 "JKLM"
7 c data from=5 "no"
`},
	{"out of order", `
c S 100 0
s SA 300 101
c A 107 301 ghi # third
c FA 110 301
c A 104 301 def # second
s A 301 101 hi
c A 101 301 abc # first
`, `
2 s open
6 s data "hi"
7 c data "abc" # first
7 c data from=5 "def" # second
7 c data from=3 "ghi" # third
7 c close from=4
`},
	{"lost in the capture, known by the acknowledgement", `
c S 100 0
s SA 300 101
c A 101 301 abc
c A 108 301 hij
s A 301 111 ok
c A 111 303 k
`, `
2 s open
3 c data "abc"
5 c gap lost=4: the receiver acknowledged bytes that are not in the file
5 c data from=4 "hij"
5 s data "ok"
6 c data "k"
`},
	{"lost, acknowledged before the later bytes came by", `
c S 100 0
s SA 300 101
s A 301 105
c A 105 301 efg
`, `
2 s open
4 c gap lost=4: the receiver acknowledged bytes that are not in the file
4 c data "efg"
`},
	{"the last bytes and the FIN are acknowledged but not in the file", `
c S 100 0
s SA 300 101
c FA 105 301
s A 301 106 hi
c A 106 309
`, `
2 s open
4 c gap lost=4: the receiver acknowledged bytes that are not in the file
4 c close from=3
4 s data "hi"
5 s gap lost=6: the receiver acknowledged bytes that are not in the file
`},
	{"a hole that nobody filled hides what is behind", `
c S 100 0
s SA 300 101
c A 105 301 efg
s A 301 101
`, `
2 s open
4 c gap lost=4: the bytes did not come before the end of the file
`},
	{"only one direction captured", `
c S 100 0
c A 101 301 abc
c A 108 301 hij
c A 111 301 k
c FA 112 301
`, `
2 c open
2 c data "abc"
5 c gap lost=4: the bytes did not come before the end of the file
5 c data from=3 "hij"
5 c data from=4 "k"
5 c close
`},
	{"cut by the snap length", `
c S 100 0
s SA 300 101
c A 101 301 abcdef cut=2
c A 107 301 ghi
c A 110 301 jkl cut=3
`, `
2 s open
3 c data "abcd"
3 c gap lost=2: the capture's snap length cut the packet
4 c data "ghi"
5 c gap lost=3: the capture's snap length cut the packet
`},
	{"refused", `
c S 100 0
s RA 0 101
`, `
2 s reset
`},
	{"reset", `
c S 100 0
s SA 300 101
c A 104 301 def
s R 301 0
c A 101 301 abc
`, `
2 s open
4 c gap lost=3: the connection was reset before the bytes came
4 s reset
`},
	{"a reset after both sides have finished says nothing", `
c S 100 0
s SA 300 101
c FA 101 301
s FA 301 102
c R 102 0
`, `
2 s open
3 c close
4 s close
`},
	{"the same ports again", `
c S 100 0
c S 100 0
s SA 300 101
c A 101 301 one
c R 104 0
c S 9000 0
s SA 8000 9001
c A 9001 8001 two
`, `
3 s open conn=0
4 c data conn=0 "one"
5 c reset conn=0
7 s open conn=1
8 c data conn=1 "two"
`},
	{"both connect at once", `
c S 100 0
s S 300 0
c SA 100 301
s SA 300 101
c A 101 301 abc
s A 301 104 def
`, `
3 c open
5 c data "abc"
6 s data "def"
`},
	{"begun in the middle", `
s A 301 104 abc
c A 104 304 x
s A 298 105 zzzabcdef
`, `
1 s open
1 s data "abc"
2 c data "x"
3 s data "def"
`},
	{"numbers wrap around", `
c S 4294967293 0
s SA 300 4294967294
c A 4294967294 301 ab
c A 2 301 efg
c A 0 301 cd
`, `
2 s open
3 c data "ab"
5 c data "cd"
5 c data from=4 "efg"
`},
	{"data in the SYN", `
c S 100 0 fast
s SA 300 105
c A 105 301 er
`, `
1 c data "fast"
2 s open
3 c data "er"
`},
	{"not of this stream", `
c S 100 0
s SA 300 101
c A 2000000000 301 wild
s A 301 2000000000 ack
c A 101 304 tame
`, `
2 s open
4 s data "ack"
5 c data "tame"
`},
	{"bytes after the FIN", `
c S 100 0
s SA 300 101
c FA 101 301
c A 102 301 ghost
s A 301 102 hi
`, `
2 s open
3 c close
5 s data "hi"
`},
	{"datagrams", `
c U - - one # first
s U - - two
c U - -
c U - - three cut=2
`, `
1 c open # first
1 c data "one" # first
2 s data "two"
3 c data ""
4 c gap "thr" lost=2: the capture's snap length cut the packet
`},
}

// TestStories reads every story in every link type, both IP versions and both formats: the events are the same.
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
			t.Errorf("%q with ports %v: client %v, handshake %v; want %s, %v", tc.script, tc.ports, got.Client, got.Handshake, tc.client, tc.sure)
		}
	}
}

func TestPortFilter(t *testing.T) {
	sh := shape{link: layers.LinkTypeEthernet}
	file := pcapFile(synth(t, sh, "c U - - x\ns U - - y"), sh.link, binary.LittleEndian, false)
	for port, want := range map[uint16]int{7000: 3, 40000: 3, 7001: 0} {
		c, err := Read(bytes.NewReader(file), Options{Ports: []uint16{port}})
		if err != nil || len(c.Events) != want || c.Packets != 2 {
			t.Errorf("port %d: %d events of %d packets, %v; want %d events of 2", port, len(c.Events), c.Packets, err, want)
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
		FromClient: Direction{Packets: 5, Bytes: 6, Repeated: 1, RepeatedBytes: 6, Early: 1, Gaps: 1, Lost: 3, Unread: 2},
		FromServer: Direction{Packets: 2, Bytes: 1}}
	if got := c.Conns[0]; got != want {
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
	bad := []synthPacket{{arp, len(arp), ""}, {icmp, len(icmp), ""}, {frag, len(frag), ""}, {short, len(short), ""}, {short[:20], 20, ""}, {nil, 0, ""}}
	all := append(append([]synthPacket{good[0]}, bad...), good[1])
	c, err := Read(bytes.NewReader(pcapFile(all, sh.link, binary.LittleEndian, false)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []Skip{{string(notIP), 1, 2}, {string(notTCPorUDP), 1, 3}, {string(fragment), 1, 4}, {string(badHeader), 3, 5}}
	if d := cmp.Diff(want, c.Skipped); d != "" {
		t.Errorf("skipped (-want +got):\n%s", d)
	}
	if got := story(c); got != "1 c open\n1 c data \"a\"\n8 c data \"b\"\n" {
		t.Errorf("events:\n%s", got)
	}
}

// TestIPv6Extensions puts an options header before TCP and padding of the link after it.
func TestIPv6Extensions(t *testing.T) {
	sh := shape{link: layers.LinkTypeRaw, v6: true}
	p := synth(t, sh, "c U - - abc")[0].data
	with := append([]byte{}, p[:40]...)
	with[6] = 60
	with = append(with, 17, 0, 1, 4, 0, 0, 0, 0)
	with = append(with, p[40:]...)
	binary.BigEndian.PutUint16(with[4:], binary.BigEndian.Uint16(p[4:])+8)
	with = append(with, "padding"...)
	c, err := Read(bytes.NewReader(pcapFile([]synthPacket{{with, len(with), ""}}, sh.link, binary.LittleEndian, false)), Options{})
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
	c, err := Read(bytes.NewReader(pcapFile(synth(t, sh, script.String()), sh.link, binary.LittleEndian, false)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e := c.Events[1]; e.Kind != Gap || e.Lost != 99 || e.Why != whyFull || c.Conns[0].FromClient.Bytes != maxHeldSegments+1 {
		t.Errorf("second event %+v, %d bytes delivered", e, c.Conns[0].FromClient.Bytes)
	}
}

func TestDamagedFiles(t *testing.T) {
	sh := shape{link: layers.LinkTypeEthernet}
	packets := synth(t, sh, "c U - - first\nc U - - second")
	pcap := pcapFile(packets, sh.link, binary.LittleEndian, false)
	ng := pcapngFile(t, packets, sh.link)
	edit := func(b []byte, at int, v ...byte) []byte {
		b = append([]byte{}, b...)
		copy(b[at:], v)
		return b
	}
	second := 24 + 16 + len(packets[0].data)
	for _, tc := range []struct {
		name   string
		file   []byte
		want   string
		events int
	}{
		{"empty", nil, "the capture file is empty", 0},
		{"three bytes", []byte("abc"), "not a pcap or pcapng file: it has only 3 bytes", 0},
		{"text", []byte("hello world"), "not a pcap or pcapng file: it begins with the bytes 68656c6c", 0},
		{"gzip", []byte("\x1f\x8b\x08\x00"), "the capture file is compressed with gzip; unpack it first", 0},
		{"header cut", pcap[:20], "the header of the file: the file ends inside it", 0},
		{"version", edit(pcap, 4, 9), "the header of the file: Unknown major version 9", 0},
		{"record header cut", pcap[:second+7], "packet 2: the file ends inside it", 2},
		{"record without bytes", pcap[:second+16], "packet 2: the file ends inside it", 2},
		{"record cut", pcap[:len(pcap)-1], "packet 2: the file ends inside it", 2},
		{"huge record", edit(pcap, second+8, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f), "packet 2: capture length exceeds snap length", 2},
		{"unknown link", edit(pcap, 20, 105), `packet 1: link type 105 (802.11) is not known here; capture on Ethernet, loopback or "any"`, 0},
		{"pcapng cut", ng[:len(ng)-5], "packet 2: the file ends inside it", 2},
		{"pcapng byte order", edit(ng, 8, 1, 2, 3, 4), "the header of the file: Wrong byte order value", 0},
		{"pcapng header cut", ng[:15], "the header of the file: the file ends inside it", 0},
	} {
		c, err := Read(bytes.NewReader(tc.file), Options{})
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s:\n got error %v\nwant %s", tc.name, err, tc.want)
		}
		if c == nil || len(c.Events) != tc.events {
			t.Errorf("%s: %d events before the error, want %d", tc.name, len(c.Events), tc.events)
		}
	}
}

func TestLimits(t *testing.T) {
	sh := shape{link: layers.LinkTypeEthernet}
	file := pcapFile(synth(t, sh, "c U - - one\nc U - - two\nc S 1 1\nc A 2 1 three"), sh.link, binary.LittleEndian, false)
	for _, tc := range []struct {
		opts   Options
		packet int
		option string
		events int
	}{
		{Options{MaxPackets: 1}, 2, "MaxPackets", 2},
		{Options{MaxConns: 1}, 3, "MaxConns", 3},
		{Options{MaxConnBytes: 5}, 2, "MaxConnBytes", 2},
		{Options{MaxFileBytes: 100}, 2, "MaxFileBytes", 2},
		{Options{MaxFileBytes: 10}, 0, "MaxFileBytes", 0},
	} {
		c, err := Read(bytes.NewReader(file), tc.opts)
		var limit *LimitError
		if !errors.As(err, &limit) || limit.Packet != tc.packet || limit.Option != tc.option || len(c.Events) != tc.events {
			t.Errorf("%+v: %v with %d events; want packet %d, %s, %d events", tc.opts, err, len(c.Events), tc.packet, tc.option, tc.events)
		}
	}
	exact := Options{MaxPackets: 4, MaxConns: 2, MaxConnBytes: 6, MaxFileBytes: int64(len(file))}
	if _, err := Read(bytes.NewReader(file), exact); err != nil {
		t.Errorf("limits that just suffice: %v", err)
	}
}

// TestReadError passes on what the file system says.
func TestReadError(t *testing.T) {
	broken := errors.New("disk on fire")
	_, err := Read(io.MultiReader(strings.NewReader("\xd4\xc3\xb2\xa1"), errReader{broken}), Options{})
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }
