package traffic

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/replay"
	"github.com/parley-go/parley/proptest/conform/sample/gne"
)

// packets writes a capture by hand, packet by packet, a tenth of a second apart.
type packets struct {
	bytes.Buffer
	n     int
	flags byte
	seq   map[string]uint32
}

func newPackets() *packets {
	w := &packets{seq: map[string]uint32{}, flags: 0x18}
	binary.Write(w, binary.LittleEndian, []uint32{0xa1b2c3d4, 4<<16 | 2, 0, 0, 65535, 101}) // raw IP
	return w
}

// opens writes the handshake of a TCP connection.
func (w *packets) opens(from, to string) {
	w.flags = 2
	w.send("tcp", from, to, nil, 0)
	w.flags = 0x12
	w.seq[from+to] = 1
	w.send("tcp", to, from, nil, 0)
	w.seq[to+from], w.flags = 1, 0x18
}

// send writes a packet of TCP or UDP of which so many bytes are cut off.
func (w *packets) send(proto, from, to string, payload []byte, cut int) {
	a, b := netip.MustParseAddrPort(from), netip.MustParseAddrPort(to)
	head := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, a.Port()), b.Port())
	number := byte(17)
	if proto == "tcp" {
		number = 6
		key := from + to
		head = binary.BigEndian.AppendUint32(head, 1000+w.seq[key])
		head = binary.BigEndian.AppendUint32(head, 1000+w.seq[to+from])
		head = append(head, 5<<4, w.flags, 255, 255, 0, 0, 0, 0)
		w.seq[key] += uint32(len(payload))
	} else {
		head = append(binary.BigEndian.AppendUint16(head, uint16(8+len(payload))), 0, 0)
	}
	ip := append([]byte{0x45, 0}, binary.BigEndian.AppendUint16(nil, uint16(20+len(head)+len(payload)))...)
	ip = append(append(ip, 0, 0, 0, 0, 64, number, 0, 0), append(a.Addr().AsSlice(), b.Addr().AsSlice()...)...)
	all := append(append(ip, head...), payload...)
	w.n++
	binary.Write(w, binary.LittleEndian, []uint32{uint32(w.n / 10), uint32(w.n % 10 * 100_000),
		uint32(len(all) - cut), uint32(len(all))})
	w.Write(all[:len(all)-cut])
}

func (w *packets) against(t *testing.T, p *model.Protocol, o Options) (string, *Report) {
	t.Helper()
	r, err := Read(t.Context(), p, "made", bytes.NewReader(w.Bytes()), o)
	if err != nil {
		return err.Error(), nil
	}
	var text strings.Builder
	r.WriteText(&text, true)
	if err := r.WriteJSON(&bytes.Buffer{}); err != nil {
		t.Error(err)
	}
	return text.String(), r
}

// told replays what was said with port 7000, and looks for the verdict that is wanted, and then words, in the report.
func (w *packets) told(t *testing.T, p *model.Protocol, said string, want []string) {
	t.Helper()
	text, r := w.against(t, p, Options{Ports: []uint16{7000}})
	if r == nil || r.Verdict() != want[0] {
		t.Errorf("%s: not %s\n%s", said, want[0], text)
	}
	for _, x := range want[1:] {
		if !strings.Contains(text, x) {
			t.Errorf("%s: %q is not said\n%s", said, x, text)
		}
	}
}

// ask is a protocol over UDP: a client asks, and again, until it hears the answer.
const ask = `protocol: ask
messages:
  ASK: {id: 1, fields: {n: 0..255}, wire: [n: u8]}
  SAY: {id: 2, fields: {n: 0..255}, wire: [n: u8]}
wire: {header: [type: u8], max: 16}
channel: {order: any, lossy: true, duplicates: true, capacity: 2, full: lose}
tick: 1s
roles:
  client:
    vars: {n: 0..255}
    timers: {again: {ticks: 1}}
    commands: {ask: {fields: {q: 0..255}}}
    reports: {said: }
    initial: idle
    states:
      idle: {ask: {set: {n: q}, send: "ASK{n: q}", start: again, goto: waiting}, SAY: ignore}
      waiting:
        again: {send: "ASK{n}", start: again}
        SAY: [{when: "msg.n == n", stop: again, report: said, goto: idle}, {doc: an old one}]
  server: {initial: up, states: {up: {ASK: {send: "SAY{n: msg.n}"}}}}
`

func protocolOf(t *testing.T, text string) *model.Protocol {
	t.Helper()
	file := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p, list := compile.Load(file, compile.Options{})
	if p == nil {
		t.Fatal(list)
	}
	return p
}

// TestDatagramsTold: what a network did with datagrams is told, and a capture that lacks packets is neither accepted
// nor blamed on anybody. q5 is a question of the client, a5 the answer; with ' those of another client, with ! a
// datagram of which the last byte is not in the file.
func TestDatagramsTold(t *testing.T) {
	t.Parallel()
	p := protocolOf(t, ask)
	for said, want := range map[string][]string{
		"q5 a5 q6 a6":       {"accepted", "client as client: a run", "server as server: a run"},
		"q5 q5 a5":          {"accepted", "client as client: a run, 2 sent", "2. again  sends ASK{n: 5} (packet 2)"},
		"q5 q5 a5 q6 a6":    {"accepted", "lost on the way to it: packet 2, ASK{n: 5}"},
		"q5 a5 a5":          {"accepted", "copied by the network, and not sent again: packet 3, SAY{n: 5}"},
		"q5 q6' a6' a5":     {"accepted", "10.0.0.3:4001", "packets 2 to 3"},
		"q5":                {"accepted", "packets of the client alone: what it sent needs none of the server"},
		"q5 q6":             {"incomplete", "what it sent is a run if the server sent 1 frame that it lacks"},
		"a5 a6":             {"incomplete", "server as server", "if the client sent 2 frames that it lacks"},
		"q5 a7":             {"rejected", "server as server: NOT a run", "from the server: SAY{n: 7}"},
		"a5 q6 a6":          {"rejected", "server as server: NOT a run", "packet 1"},
		"q5 a5! q6 a6":      {"incomplete", "lacks bytes of udp", "from packet 2 on"},
		"q5 a7 q6! a6":      {"rejected", "server as server: NOT a run"},
		"q5 x9 a5":          {"rejected", "packet 2", "no message has type 9"},
		"q5 q6' a6' a9 q7'": {"rejected", "server as server: NOT a run"},
		"a5 q6 a5":          {"rejected", "server as server: NOT a run"},
	} {
		w := newPackets()
		for _, x := range strings.Fields(said) {
			client, server, cut := "10.0.0.1:4000", "10.0.0.2:7000", 0
			if strings.HasSuffix(x, "'") {
				client = "10.0.0.3:4001"
			}
			if strings.HasSuffix(x, "!") {
				cut = 1
			}
			n := x[1] - '0'
			switch x[0] {
			case 'q':
				w.send("udp", client, server, []byte{1, n}, cut)
			case 'a':
				w.send("udp", server, client, []byte{2, n}, cut)
			default:
				w.send("udp", client, server, []byte{n, n}, cut)
			}
		}
		w.told(t, p, said, want)
	}
}

// TestStreamsTold: what a capture of a TCP connection lacks is told, and leaves the verdict open where it matters.
// As in TestDatagramsTold; S is the handshake, - a frame that was not captured, ~ the frame before sent again with
// another byte.
func TestStreamsTold(t *testing.T) {
	t.Parallel()
	p := protocolOf(t, strings.NewReplacer("header: [type: u8]", "header: [length: u8, type: u8]",
		"{order: any, lossy: true, duplicates: true, capacity: 2, full: lose}",
		"{order: fifo, capacity: 2}").Replace(ask))
	for said, want := range map[string][]string{
		"S q5 a5 q6 a6":      {"accepted"},
		"q5 a5 q6 a6":        {"accepted"},
		"S q5 a7":            {"rejected", "server as server: NOT a run"},
		"S q5 q5~ a5":        {"incomplete", "sent again with other bytes"},
		"a5 q6 a6":           {"incomplete", "lacks the beginning of tcp"},
		"S a5 q6 a6":         {"rejected"},
		"S q5 a5 q6- a6":     {"incomplete", "the capture lacks bytes of tcp"},
		"S q5 a5! q6 a6":     {"incomplete", "from packet 4 on"},
		"q5 q6":              {"incomplete", "if the server sent 1 frame that it lacks"},
		"S q5 a5 S' q6' a6'": {"accepted", "10.0.0.3:4001"},
		"S q5 a5 S' q6' a7'": {"rejected"},
	} {
		w := newPackets()
		for _, x := range strings.Fields(said) {
			client, server, cut := "10.0.0.1:4000", "10.0.0.2:7000", 0
			if strings.Contains(x, "'") {
				client = "10.0.0.3:4001"
			}
			if strings.Contains(x, "!") {
				cut = 1
			}
			switch x[0] {
			case 'S':
				w.opens(client, server)
			case 'q', 'a':
				from, to, kind := client, server, byte(1)
				if x[0] == 'a' {
					from, to, kind = server, client, 2
				}
				switch frame := []byte{3, kind, x[1] - '0'}; {
				case strings.Contains(x, "-"):
					w.seq[from+to] += 3
				case strings.Contains(x, "~"):
					w.seq[from+to] -= 3
					w.send("tcp", from, to, append(frame[:2], 9), cut)
				default:
					w.send("tcp", from, to, frame, cut)
				}
			}
		}
		w.told(t, p, said, want)
	}
}

// FuzzReplay holds damaged captures against a protocol: whatever the bytes, there is a report or an error, in the same
// words each time, and nothing is accepted of which packets were left out.
func FuzzReplay(f *testing.F) {
	w := newPackets()
	for n := range byte(4) {
		w.send("udp", "10.0.0.1:4000", "10.0.0.2:7000", []byte{1, n}, 0)
		w.send("udp", "10.0.0.2:7000", "10.0.0.1:4000", []byte{2, n}, int(n%2))
	}
	f.Add(w.Bytes())
	file := filepath.Join(f.TempDir(), "spec.yaml")
	if err := os.WriteFile(file, []byte(ask), 0o644); err != nil {
		f.Fatal(err)
	}
	p, list := compile.Load(file, compile.Options{})
	if p == nil {
		f.Fatal(list)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		o := Options{Search: replay.Options{MaxStates: 2000}}
		var texts [2]string
		for i := range texts {
			r, err := Read(t.Context(), p, "made", bytes.NewReader(b), o)
			if err != nil {
				texts[i] = err.Error()
				continue
			}
			if r.Accepted() && (len(r.lacking()) > 0 || r.Damage != "") {
				t.Error("accepted, and packets were left out")
			}
			var text, data strings.Builder
			r.WriteText(&text, true)
			if err := r.WriteJSON(&data); err != nil {
				t.Error(err)
			}
			texts[i] = r.Verdict() + text.String() + data.String()
		}
		if texts[0] != texts[1] {
			t.Errorf("another time it says\n%s\nand not\n%s", texts[1], texts[0])
		}
	})
}

// TestTwoGames: two games of the same hosts at the same time are told apart by trying whose datagrams are whose, and
// where no way is a run the capture is rejected.
func TestTwoGames(t *testing.T) {
	t.Parallel()
	p := gneModel(t)
	at := Options{Channels: map[string]Port{"events": {"tcp", 7000}, "places": {"udp", 7001}}}
	write := func(second byte) *packets {
		w := newPackets()
		say := func(game int, from string, m gne.Message) {
			frame, err := gne.AppendMessage(nil, &m)
			if err != nil {
				t.Fatal(err)
			}
			proto, client, server := "tcp", fmt.Sprintf("10.0.0.1:400%d", game), "10.0.0.2:7000"
			if m.Kind == gne.MessagePlace {
				proto, client, server = "udp", fmt.Sprintf("10.0.0.1:500%d", 1-game), "10.0.0.2:7001"
			}
			if from == "server" {
				client, server = server, client
			}
			w.send(proto, client, server, frame, 0)
		}
		place := func(n int) gne.Message {
			return gne.Message{Kind: gne.MessagePlace, Place: gne.PlaceMessage{Frame: gne.Frame(n), Place: 7}}
		}
		w.opens("10.0.0.1:4000", "10.0.0.2:7000")
		w.opens("10.0.0.1:4001", "10.0.0.2:7000")
		say(0, "client", gne.Message{Kind: gne.MessageEnter})
		say(0, "server", gne.Message{Kind: gne.MessageEntered})
		say(0, "client", place(1))
		say(1, "client", gne.Message{Kind: gne.MessageEnter})
		say(1, "server", gne.Message{Kind: gne.MessageEntered})
		say(1, "client", place(int(second)))
		say(0, "client", place(2))
		say(1, "client", gne.Message{Kind: gne.MessageExit})
		say(0, "client", gne.Message{Kind: gne.MessageExit})
		return w
	}
	text, r := write(1).against(t, p, at)
	if r == nil || !r.Accepted() || len(r.Conns) != 2 || r.Conns[0].Beside[0].Client.Port() != 5001 ||
		r.Conns[1].Beside[0].Client.Port() != 5000 || !strings.Contains(text, "1 of 2 ways to put them together") {
		t.Error(text)
	}
	text, r = write(3).against(t, p, at) // 1 and 2 are missing, which no client does
	if r == nil || r.Verdict() != "rejected" || !strings.Contains(text, "0 of 2 ways") {
		t.Error(text)
	}
}
