package conform

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/parley-go/parley/machines/startup"
	"github.com/parley-go/parley/runtime/fsm"
)

// packet assembles a peer packet of P2P protocol 0.4 by the table of facts b.1: signature at 0,
// protocol 0x0100 at 4, version 0.4 at 6, CRC-32 over all with its own field zero at 8, message id
// at 12, command at 16, slots of sender and receiver at 26 and 27, the remote events from 140 on,
// closed by four zero bytes. The numbers are written out here, independent of the specification.
func packet(command, players, from, to byte, events []byte, at map[int]string) []byte {
	b := make([]byte, 140, 1400)
	copy(b, "PP2\x00")
	b[5], b[7] = 0x01, 4
	b[16], b[24], b[25], b[26], b[27] = command, 1, players, from, to
	b = append(append(b, events...), 0, 0, 0, 0)
	for i, s := range at {
		x, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
		if err != nil {
			panic(err)
		}
		copy(b[i:], x)
	}
	binary.LittleEndian.PutUint32(b[8:], crc32.ChecksumIEEE(b))
	return b
}

// queue is RE_CONNECTQUEUE, 388 bytes: type 0x0B, size byte 0, 8 names of 32 bytes at 2, 8 nodes of
// 16 at 258, count at 386 (facts b.4).
func queue(count byte) []byte {
	b := make([]byte, 388)
	b[0], b[386] = 0x0b, count
	return b
}

// playerLists is RE_PLAYERLIST twice, for slots 0 to 3 and 4 to 7. Each has 412 bytes: type 0x0A,
// size byte 0, ships at 4, 4 nodes of 16 bytes at 212, status at 278 (facts b.4).
func playerLists(status ...byte) []byte {
	b := make([]byte, 824)
	b[0], b[412] = 0x0a, 0x0a
	copy(b[278:282], status)
	copy(b[412+278:], status[min(4, len(status)):])
	return b
}

// TestParsecFrames holds the frames to the formats of the original peers. The frames of a machine
// have numbers + 1 where a link puts addresses.
func TestParsecFrames(t *testing.T) {
	some := startup.Some[fsm.Peer]
	var asks, table startup.Message
	asks.Kind, table.Kind = startup.MessageConnect, startup.MessageConnectReply
	asks.Connect.Asks.Len = 2
	asks.Connect.Asks.Items[0] = startup.Ask{Node: 3, Attempt: 7}
	asks.Connect.Asks.Items[1] = startup.Ask{Node: 40}
	request := asks
	request.Kind, request.Connect = startup.MessageSlotRequest, startup.ConnectMessage{}
	request.SlotRequest.Asks = asks.Connect.Asks
	again := request // of an original that was given slot 5, and then sent away
	again.SlotRequest.Slot = startup.Some[startup.Slot](5)
	table.ConnectReply = startup.ConnectReplyMessage{From: 2, Slot: startup.Some[startup.Slot](1),
		Epoch: startup.Epoch{Height: 3, Founder: some(5), Round: 9}, Joiner: some(3), Attempt: 7,
		Players: startup.Table{1: some(3), 2: some(5), 6: some(8)}, Attempts: startup.Attempts{1: 7, 2: 9, 6: 10}}
	full := startup.Message{Kind: startup.MessageConnectReply,
		ConnectReply: startup.ConnectReplyMessage{From: 0,
			Players: startup.Table{0: some(0), 1: some(1), 2: some(2), 3: some(3)}}}
	subdue := startup.Message{Kind: startup.MessageSubdueSlave}
	alive := startup.Message{Kind: startup.MessageNodeAlive,
		NodeAlive: startup.NodeAliveMessage{Slot: 3,
			Epoch:   startup.Epoch{Height: 258, Founder: some(61), Round: 1 << 24},
			Players: startup.Table{0: some(61), 7: some(4)}, Attempts: startup.Attempts{0: 255, 7: 8}}}
	leave := startup.Message{Kind: startup.MessageDisconnect,
		Disconnect: startup.DisconnectMessage{Slot: startup.Some[startup.Slot](2), Node: some(2), Attempt: 6}}
	for name, c := range map[string]struct {
		m    startup.Message
		want []byte
		size int // by measurement of the original modules, facts b.1
	}{
		"CONNECT": {asks, packet(0, 0, 0xfe, 0, queue(2),
			map[int]string{44: "07", 140 + 258: "04", 140 + 274: "29"}), 532},
		"SLOT_REQUEST": {request, packet(3, 0, 0xfe, 0, queue(2),
			map[int]string{44: "07", 140 + 258: "04", 140 + 274: "29"}), 532},
		"SLOT_REQUEST with a slot": {again, packet(3, 0, 5, 0, queue(2),
			map[int]string{44: "07", 140 + 258: "04", 140 + 274: "29"}), 532},
		"CONNECT_REPLY": {table, packet(1, 3, 2, 1, playerLists(0, 1, 1, 0, 0, 0, 1),
			map[int]string{44: "06", 50: "09", 54: "03", 56: "04", 62: "07", 70: "07", 74: "09", 90: "0a",
				140 + 228: "04", 140 + 244: "06", 552 + 244: "09"}), 968},
		"refusal": {full, packet(1, 4, 0, 0xff, playerLists(1, 1, 1, 1),
			map[int]string{140 + 212: "01", 140 + 228: "02", 140 + 244: "03", 140 + 260: "04"}), 968},
		"SUBDUE_SLAVE": {subdue, packet(4, 0, 0xfe, 0, nil, nil), 144},
		"NODE_ALIVE": {alive, packet(8, 0, 3, 0, nil,
			map[int]string{44: "3e", 53: "01", 54: "02 01", 56: "3e", 98: "05", 104: "ff", 132: "08"}), 144},
		"DISCONNECT": {leave, packet(2, 0, 2, 0, nil, map[int]string{56: "03", 62: "06"}), 144},
	} {
		got, err := startup.AppendMessage(nil, &c.m)
		if err != nil || !bytes.Equal(got, c.want) || len(got) != c.size {
			t.Errorf("%s: %v\n%s\nwanted\n%s", name, err, hex.Dump(got), hex.Dump(c.want))
			continue
		}
		var back startup.Message
		if err := startup.DecodeMessage(c.want, &back); err != nil || back != c.m {
			t.Errorf("%s: read back as %+v, %v", name, back, err)
		}
		for i := range got {
			got[i] ^= 0x10
			if startup.DecodeMessage(got, &back) == nil && (i < 12 || i > 15) {
				t.Errorf("%s: byte %d changed, and nobody sees it", name, i)
			}
			got[i] ^= 0x10
		}
	}
}

// TestParsecOthers reads what an original peer sends that the machine does not look at: events
// behind NODE_ALIVE, the states of a battle, garbage behind the end of a queue and in the rows of
// free slots.
func TestParsecOthers(t *testing.T) {
	var m startup.Message
	text := append([]byte{0x07, 12}, "sid hello\x00"...)
	for want, b := range map[startup.MessageKind][]byte{
		startup.MessageNodeAlive: packet(8, 3, 1, 0, text,
			map[int]string{12: "01 02 03 04", 28: "09 09", 136: "ff ff"}),
		startup.MessageGameState: packet(7, 3, 1, 0, append(text, make([]byte, 76)...),
			map[int]string{18: "03", 20: "01", 60: "aa bb cc"}),
		startup.MessageJoin:   packet(5, 3, 1, 0, make([]byte, 34), nil),
		startup.MessageUnjoin: packet(6, 3, 1, 0, nil, map[int]string{17: "01", 19: "02"}),
		startup.MessageConnect: packet(0, 0, 0xfe, 0, queue(1),
			map[int]string{140 + 2: "73 69 64", 140 + 258: "01", 140 + 274: "c0 a8 00 02 19 b5"}),
		startup.MessageConnectReply: packet(1, 1, 0, 1, playerLists(1),
			map[int]string{140 + 212: "01", 140 + 228: "c0 a8 00 02 19 b5"}),
	} {
		if err := startup.DecodeMessage(b, &m); err != nil || m.Kind != want {
			t.Errorf("%v: %v, %v", want, m.Kind, err)
		}
	}
	for why, b := range map[string][]byte{
		"another version":  packet(8, 0, 1, 0, nil, map[int]string{7: "03"}),
		"encrypted":        packet(8, 0, 1, 0, nil, map[int]string{4: "00 f1"}),
		"another universe": packet(8, 0, 1, 0, nil, map[int]string{24: "02"}),
		"a ninth request":  packet(0, 0, 0xfe, 0, queue(9), nil),
		"too short":        packet(8, 0, 1, 0, nil, nil)[:143],
	} {
		if startup.DecodeMessage(b, &m) == nil {
			t.Errorf("%s is accepted", why)
		}
	}
}
