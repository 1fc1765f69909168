package traffic

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/cmd/internal/capture"
	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/replay"
	"github.com/parley-go/parley/proptest/race"
)

// records are the packets of a capture with their headers: 16 bytes of the file, 14 of Ethernet, 20 of
// IP, and from 20 of TCP.
type records struct {
	head []byte
	list [][]byte
}

const (
	games = "../../../specs/netplay/testdata/"
	atIP  = 16 + 14
	atTCP = atIP + 20
)

func recorded(t *testing.T, name string) *records {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	r := &records{head: b[:24]}
	for b = b[24:]; len(b) > 0; {
		n := 16 + binary.LittleEndian.Uint32(b[8:])
		r.list, b = append(r.list, b[:n:n]), b[n:]
	}
	return r
}

// payload is where a packet's bytes begin.
func payload(p []byte) int { return atTCP + int(p[atTCP+12]>>4)*4 }

// next is the first packet from i that carries bytes and ends nothing.
func (r *records) next(i int) int {
	for ; ; i++ {
		if p := r.list[i]; p[atTCP+13]&7 == 0 && int(binary.BigEndian.Uint16(p[atIP+2:]))+atIP > payload(p) {
			return i
		}
	}
}

// stray is a packet like another, with other flags and bytes, and a number so much further on.
func stray(p []byte, flags byte, on int, data string) []byte {
	p = append(bytes.Clone(p[:payload(p)]), data...)
	seq := binary.BigEndian.Uint32(p[atTCP+4:])
	binary.BigEndian.PutUint32(p[atTCP+4:], seq+uint32(on))
	p[atTCP+13] = flags
	binary.BigEndian.PutUint16(p[atIP+2:], uint16(len(p)-atIP))
	binary.LittleEndian.PutUint32(p[8:], uint32(len(p)-16))
	binary.LittleEndian.PutUint32(p[12:], uint32(len(p)-16))
	return p
}

// judged is the report on the packets.
func (r *records) judged(t *testing.T, p *model.Protocol) *Report {
	t.Helper()
	file := slices.Concat(r.head, slices.Concat(r.list...))
	report, err := Read(t.Context(), p, "x.pcap", bytes.NewReader(file), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// talk is what the packets say.
func (r *records) talk(t *testing.T, p *model.Protocol) *talk {
	t.Helper()
	c, err := capture.Read(bytes.NewReader(slices.Concat(r.head, slices.Concat(r.list...))), capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := places(nil).talks(p, c)
	if err != nil || len(list) != 1 {
		t.Fatal(len(list), err)
	}
	listen(list, c)
	return list[0]
}

// events are what happened, without the numbers of packets.
func events(g *talk) (list []string) {
	for _, c := range g.chunks {
		list = append(list, fmt.Sprint(c.Kind, c.From, c.Data))
	}
	return list
}

// TestStray puts one packet into real captures that no receiver takes, or that its sender goes on after:
// the verdict stays the same, and the packet is told.
func TestStray(t *testing.T) {
	race.Skip(t)
	p := netplay(t)
	const syn, fin, rst, ack = 2, 17, 4, 24
	type packet struct {
		flags byte
		on    int
		data  string
		told  string
	}
	const (
		wrong   = "RST with another number than its receiver waits for"
		alive   = "RST after which both sides went on"
		outside = "TCP segment outside the window that its receiver has announced"
		again   = "SYN inside a connection that went on"
	)
	for _, c := range []struct {
		name, verdict string
		part          int
		packets       []packet
	}{
		{"uqm-t8c.pcap", "rejected", 3, []packet{{rst, 0, "", alive}, {rst, 200_000_000, "", wrong},
			{rst, -200_000_000, "", wrong}, {rst, 70_000, "", wrong}, {rst, 1, "", wrong}}},
		{"uqm-dd.pcap", "refused", 3, []packet{{rst, 0, "", alive}, {rst, 70_000, "", wrong}}},
		{"uqm080-edits-confirm-cancel.pcap", "accepted", 2, []packet{{syn, 200_000_000, "", again},
			{rst, 0, "", alive}, {fin, 1_000_000, "", outside}, {ack, 500_000_000, "junk", outside}}},
	} {
		want := events(recorded(t, games+c.name).talk(t, p))
		for k, x := range c.packets {
			r := recorded(t, games+c.name)
			i := r.next(len(r.list) / c.part)
			r.list = slices.Insert(r.list, i, stray(r.list[i], x.flags, x.on, x.data))
			if got := events(r.talk(t, p)); !slices.Equal(got, want) {
				t.Errorf("%s with flags %d, number %+d: %d events, want %d", c.name, x.flags, x.on, len(got), len(want))
			}
			if k > 0 {
				continue // the verdict is that on the events
			}
			report := r.judged(t, p)
			var b strings.Builder
			report.WriteText(&b, false)
			told := "left out: 1 packet (" + x.told + ", first is packet "
			if report.Verdict() != c.verdict || !strings.Contains(b.String(), told) {
				t.Errorf("%s with flags %d, number %+d: %s, want %s and %q\n%s", c.name, x.flags, x.on,
					report.Verdict(), c.verdict, told, &b)
			}
		}
	}
}

// TestResetCounts: an RST with the right number after which its sender is silent is its end, also where bytes
// of the other side are still on their way.
func TestResetCounts(t *testing.T) {
	p, r := netplay(t), recorded(t, games+"uqm080-edits-confirm-cancel.pcap")
	i := r.next(len(r.list) / 2)
	r.list = slices.Insert(r.list, i, stray(r.list[i], 4, 0, ""))
	from := r.list[i][atTCP : atTCP+2]
	r.list = append(r.list[:i+1:i+1], slices.DeleteFunc(slices.Clone(r.list[i+1:]), func(p []byte) bool {
		return bytes.Equal(p[atTCP:atTCP+2], from)
	})...)
	rec := replay.Split(p, r.talk(t, p).chunks, false)
	ends := 0
	for _, e := range rec.Ends {
		if e.Kind == replay.Reset && e.Packet == i+1 && e.At < len(rec.Frames) {
			ends++
		}
	}
	if ends != 1 {
		t.Errorf("the ends are %+v, want one reset at packet %d before the last of %d frames", rec.Ends, i+1,
			len(rec.Frames))
	}
}

// TestLacking: a run with packets left out that may be of it is not accepted.
func TestLacking(t *testing.T) {
	race.Skip(t)
	p := netplay(t)
	const violation = 1314
	for name, edit := range map[string]func(r *records){
		"TCP bytes after the FIN": func(r *records) {
			r.list = slices.Insert(r.list, violation, stray(r.list[violation], 17, 0, ""))
		},
		"fragment of an IP packet (fragments are not put together)": func(r *records) {
			r.list = slices.Clone(r.list[:violation+1])
			x := bytes.Clone(r.list[violation])
			x[atIP+6] = 0x20
			r.list[violation] = x
		},
		"header cut off or damaged": func(r *records) {
			r.list = slices.Clone(r.list[:violation+1])
			x := bytes.Clone(r.list[violation][:atTCP+10])
			binary.LittleEndian.PutUint32(x[8:], uint32(len(x)-16))
			r.list[violation] = x
		},
	} {
		r := recorded(t, games+"uqm-t8c.pcap")
		edit(r)
		report := r.judged(t, p)
		if report.Accepted() || !report.Exhausted() {
			t.Errorf("%s: accepted %v, incomplete %v", name, report.Accepted(), report.Exhausted())
		}
		var text, out bytes.Buffer
		report.WriteText(&text, false)
		for _, want := range []string{"\n  left out: 1 packet (" + name,
			"\nverdict: INCOMPLETE, what could be read is a run"} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s: no %q in\n%s", name, want, &text)
			}
		}
		if err := report.WriteJSON(&out); err != nil {
			t.Fatal(err)
		}
		var j jsonReport
		if err := json.Unmarshal(out.Bytes(), &j); err != nil {
			t.Fatal(err)
		}
		if j.Verdict != "incomplete" || len(j.LeftOut) != 1 || j.LeftOut[0].Reason != name ||
			len(j.Connections) != 1 || len(j.Connections[0].Lacks) != 1 {
			t.Errorf("%s: %s", name, &out)
		}
	}
}

// TestNetworkLacking: fragments between the hosts of a network keep its run from being accepted, those between
// others do not.
func TestNetworkLacking(t *testing.T) {
	const dir = "testdata/parsec/"
	p, diags := compile.Load(dir+"spec.yaml", compile.Options{})
	if p == nil {
		t.Fatal(diags)
	}
	for host, want := range map[byte]string{2: "incomplete", 99: "accepted"} {
		r := recorded(t, dir+"orig-first.pcap")
		i := slices.IndexFunc(r.list, func(p []byte) bool { return p[atIP+9] == 17 && p[atIP+15] == 2 })
		for _, part := range []byte{0, 0x20} { // a datagram, and the first fragment of another one
			x := bytes.Clone(r.list[i])
			x[atIP+6], x[atIP+15] = part, host
			if host == 99 {
				x[atIP+12], x[atIP+16] = 192, 192
				copy(x[atTCP+8:], "this is no frame")
			}
			if part != 0 || host == 99 {
				r.list = append(r.list, x)
			}
		}
		if report := r.judged(t, p); report.Verdict() != want || len(report.Capture.Skipped) != 1 {
			t.Errorf("from host %d: %s, want %s; left out are %v", host, report.Verdict(), want, report.Capture.Skipped)
		}
	}
}

// TestOneSideAlone: of a real match of which the client's side alone was captured, a run is found among few places:
// what the other side may have sent is tried as little as can be. Nothing else of it is known.
func TestOneSideAlone(t *testing.T) {
	race.Skip(t)
	p := variant(t, "coded.yaml")
	data, err := os.ReadFile(realMatch)
	if err != nil {
		t.Fatal(err)
	}
	rec := recording(t, p, data)
	rec.Frames = slices.DeleteFunc(rec.Frames, func(f replay.Frame) bool { return f.From != 0 })
	s, err := replay.Explain(t.Context(), rec, 0, replay.Ours(p), replay.Options{Unseen: true, MaxStates: 20_000})
	if err != nil || !s.Accepted || s.Sent != 1815 || s.Unseen < 1000 {
		t.Errorf("%v: accepted %t, %d of %d sent, %d unseen", err, s.Accepted, s.Sent, s.SentAll, s.Unseen)
	}
}
