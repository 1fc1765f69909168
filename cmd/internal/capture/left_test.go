package capture

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLeftOut: packets that are not used are told with the connection whose bytes they may carry, and
// segments that no receiver takes are told for the file alone.
func TestLeftOut(t *testing.T) {
	for name, sh := range map[string]shape{"v4": {link: 101}, "v6": {link: 101, v6: true}} {
		t.Run(name, func(t *testing.T) {
			head := 20
			if sh.v6 {
				head = 40
			}
			p := synth(t, sh, `
c S 100 0
s SA 300 101
c A 101 301 one
c R 9 0
c S 777 0
c S 777 0
c A 900000000 301 wild
c FA 104 301
c A 104 301 x
c A 105 301 ghost
c A 101 301 one
s R 301 0
s A 301 105 alive
c U - - other`)
			short := synthPacket{p[2].data[:head+10], p[2].length, ""}
			elsewhere := fragmented(sh, p[2].data, true)
			binary.BigEndian.PutUint16(elsewhere.data[len(elsewhere.data)-3-20:], 1) // another port
			p = append(p, short, fragmented(sh, p[2].data, true), fragmented(sh, p[2].data, false), elsewhere)
			c, err := Read(bytes.NewReader(pcapFile(p, sh.link, binary.LittleEndian, false)), Options{})
			if err != nil || len(c.Conns) != 2 {
				t.Fatal(err, story(c))
			}
			want := []Skip{{skipReset, 1, 4}, {skipSYN, 2, 5}, {skipOutside, 1, 7}, {skipFIN, 2, 9},
				{skipWentOn, 1, 12}, {string(badHeader), 1, 15}, {string(fragment), 3, 16}}
			if d := cmp.Diff(want, c.Skipped); d != "" {
				t.Errorf("skipped (-want +got):\n%s", d)
			}
			want = []Skip{{skipFIN, 2, 9}, {string(badHeader), 1, 15}, {string(fragment), 2, 16}}
			if d := cmp.Diff(want, c.Conns[0].LeftOut); d != "" {
				t.Errorf("of the TCP connection (-want +got):\n%s", d)
			}
			if c.Conns[1].LeftOut != nil {
				t.Errorf("of the datagrams: %v", c.Conns[1].LeftOut)
			}
		})
	}
}

// fragmented is a packet as the first fragment of a larger one, or as a later one.
func fragmented(sh shape, data []byte, first bool) synthPacket {
	at := uint16(1) // more fragments follow
	if !first {
		at = 8
	}
	b := bytes.Clone(data)
	if !first { // no ports are there
		copy(b[len(b)-3-20:], "\xff\xff\xff\xff")
	}
	if !sh.v6 {
		if first {
			at = 0x2000
		}
		binary.BigEndian.PutUint16(b[6:], at)
		return synthPacket{b, len(b), ""}
	}
	rest := b[40:]
	b = append(b[:40:40], protoTCP, 0, byte(at>>8), byte(at), 0, 0, 0, 1)
	b = append(b, rest...)
	b[6] = 44
	return synthPacket{b, len(b), ""}
}
