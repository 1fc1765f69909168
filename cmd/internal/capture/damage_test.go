package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/layers"
)

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
		{"huge record", edit(pcap, second+8, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f),
			"packet 2: capture length exceeds snap length", 2},
		{"unknown link", edit(pcap, 20, 105),
			`packet 1: link type 105 (802.11) is not known here; capture on Ethernet, loopback or "any"`, 0},
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
	file := pcapFile(synth(t, sh, "c U - - one\nc U - - two\nc S 1 1\nc A 2 1 three"), sh.link,
		binary.LittleEndian, false)
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
		if !errors.As(err, &limit) || limit.Packet != tc.packet || limit.Option != tc.option ||
			len(c.Events) != tc.events {
			t.Errorf("%+v: %v with %d events; want packet %d, %s, %d events", tc.opts, err, len(c.Events),
				tc.packet, tc.option, tc.events)
		}
	}
	again := pcapFile(synth(t, sh, "c S 100 1\ns SA 300 101\nc A 104 301 def\nc A 104 301 def\nc A 101 301 "+
		"abc\nc A 107 301 ghi"), sh.link, binary.LittleEndian, false)
	if _, err := Read(bytes.NewReader(again), Options{MaxConnBytes: 9}); err != nil {
		t.Errorf("bytes that came twice count once: %v", err)
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
