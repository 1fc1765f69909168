package peer

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/parley-go/parley/machines/startup"
)

// TestCompletesCaptured: the replies of 556 bytes that peers with four slots have sent to original ones are
// read once they have the second list, with the players that they name.
func TestCompletesCaptured(t *testing.T) {
	files, err := filepath.Glob("../../../cmd/internal/traffic/testdata/parsec/*.pcap")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	replies := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, frame := range datagrams(text) {
			if len(frame) != 556 || frame[16] != reply {
				continue
			}
			replies++
			sum := binary.LittleEndian.Uint32(frame[8:])
			clear(frame[8:12])
			if got := crc32.ChecksumIEEE(frame); got != sum {
				t.Fatalf("%s: the checksum is %x, not %x", file, sum, got)
			}
			whole := complete(frame)
			if len(whole) != 968 || !bytes.Equal(whole[:552], frame[:552]) {
				t.Fatalf("%s: %d bytes", file, len(whole))
			}
			// The link gives hosts numbers; and originals have zeros where ours of then said more.
			clear(whole[44:136])
			for at := 352; at < 352+4*16; at += 16 { // the nodes, 10.66.0.N
				n := whole[at+3]
				clear(whole[at : at+6])
				whole[at] = n
			}
			binary.LittleEndian.PutUint32(whole[8:], crc32.ChecksumIEEE(whole))
			var m startup.Message
			if err := startup.DecodeMessage(whole, &m); err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			players := 0
			for s, p := range m.ConnectReply.Players {
				if p.Present {
					players++
					if s >= 4 {
						t.Errorf("%s: somebody is in slot %d", file, s)
					}
				}
			}
			if players != int(frame[25]) {
				t.Errorf("%s: %d players, and the reply says %d", file, players, frame[25])
			}
		}
	}
	if replies < 8 {
		t.Errorf("%d replies of 556 bytes", replies)
	}
}

// datagrams lists what UDP datagrams over Ethernet in a capture hold.
func datagrams(pcap []byte) (list [][]byte) {
	const file, record, headers = 24, 16, 14 + 20 + 8
	for at := file; at+record <= len(pcap); {
		n := int(binary.LittleEndian.Uint32(pcap[at+8:]))
		at += record
		if n >= headers && at+n <= len(pcap) {
			list = append(list, bytes.Clone(pcap[at+headers:at+n]))
		}
		at += n
	}
	return list
}
