package trace

import (
	"bytes"
	"errors"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var pcapEpoch = time.Date(2024, 5, 6, 7, 8, 9, 123456789, time.UTC)

func at(ms int) time.Time { return pcapEpoch.Add(time.Duration(ms) * time.Millisecond) }

func metaOf(proto, local, remote string) PcapMeta {
	return PcapMeta{Proto: proto, Local: netip.MustParseAddrPort(local), Remote: netip.MustParseAddrPort(remote)}
}

// writePcap writes a small conversation on one link: frames of all sizes both ways, and the end.
func writePcap(t *testing.T, w io.Writer, meta PcapMeta) {
	t.Helper()
	p, err := NewPcapNG(w, meta)
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ok(err)
	ok(p.Open(at(0), "up: connected"))
	ok(p.Frame(PcapSent, at(1), []byte("hello"), "waiting → localOk: confirm"))
	ok(p.Frame(PcapReceived, at(2), []byte{0}, "HS1, the answer"))
	ok(p.Frame(PcapReceived, at(3), []byte("next"), ""))
	size := 20000
	if meta.Proto == "tcp" {
		size = 100_000
	}
	ok(p.Frame(PcapSent, at(4), make([]byte, size), "big"))
	ok(p.Frame(PcapSent, at(5), []byte("x"), "last"))
	ok(p.Close(PcapReceived, at(6), "lost: orderly"))
	ok(p.Close(PcapSent, at(7), ""))
	ok(p.Err())
}

var pcapLinks = map[string]PcapMeta{
	"tcp4": metaOf("tcp", "10.0.0.1:40000", "10.0.0.2:21837"),
	"tcp6": metaOf("tcp", "[fd00::1]:40000", "[fd00::2]:21837"),
	"accepted": {Proto: "tcp", Local: netip.MustParseAddrPort("10.0.0.1:21837"),
		Remote: netip.MustParseAddrPort("10.0.0.2:40000"), Accepted: true},
	"mapped":  metaOf("tcp", "[::ffff:10.0.0.1]:40000", "10.0.0.2:21837"),
	"made up": {Proto: "tcp"},
	"udp4":    metaOf("udp", "10.0.0.1:40000", "10.0.0.2:21837"),
	"udp6":    metaOf("udp", "[fd00::1]:40000", "[fd00::2]:21837"),
}

func TestPcapNGPackets(t *testing.T) {
	for name, meta := range pcapLinks {
		t.Run(name, func(t *testing.T) {
			meta.Comment = "a match"
			var b bytes.Buffer
			writePcap(t, &b, meta)
			head, packets := parsePcapNG(t, b.Bytes())
			if len(head) != 2 || head[0] != "a match" || head[1] != "\x09" {
				t.Errorf("head %q: want the comment and a resolution of nanoseconds", head)
			}
			var payload [3]int
			var comments []string
			for _, p := range packets {
				payload[p.dir] += len(p.payload)
				if p.comment != "" {
					comments = append(comments, p.comment)
				}
				if local := packets[0].src == p.src; local == (p.dir == packets[0].dir) != true {
					t.Errorf("packet from %v has direction %d", p.src, p.dir)
				}
			}
			sent, want := 5+100_000+1, "up: connected|waiting → localOk: confirm|HS1, the answer|big|last|lost: orderly"
			if meta.Proto == "udp" {
				sent, want = 5+20_000+1, "waiting → localOk: confirm|HS1, the answer|big|last"
			}
			if payload[2] != sent || payload[1] != 5 {
				t.Errorf("%d bytes out and %d in, want %d and 5", payload[2], payload[1], sent)
			}
			if got := strings.Join(comments, "|"); got != want {
				t.Errorf("comments %s\nwant %s", got, want)
			}
			if got := packets[len(packets)-1].time; meta.Proto == "tcp" && !got.Equal(at(7)) {
				t.Errorf("last packet at %v, want %v", got, at(7))
			}
		})
	}
}

// TestPcapNGStream follows the TCP numbers as a receiver would.
func TestPcapNGStream(t *testing.T) {
	var b bytes.Buffer
	writePcap(t, &b, pcapLinks["accepted"])
	_, packets := parsePcapNG(t, b.Bytes())
	next, acked, bare := map[netip.AddrPort]uint32{}, map[netip.AddrPort]uint32{}, 0
	for i, p := range packets {
		if p.flags&flagSYN == 0 && p.seq != next[p.src] {
			t.Errorf("packet %d: sequence number %d, want %d", i, p.seq, next[p.src])
		}
		if p.flags&flagACK != 0 && p.ack != next[p.dst] {
			t.Errorf("packet %d: acknowledges %d, want %d", i, p.ack, next[p.dst])
		}
		next[p.src] = p.seq + uint32(len(p.payload)) + uint32(p.flags&flagSYN>>1) + uint32(p.flags&flagFIN)
		acked[p.dst] = p.ack
		if open := next[p.src] - acked[p.src]; i > 2 && open > 65535 {
			t.Errorf("packet %d: %d bytes unacknowledged, beyond the window", i, open)
		}
		if p.flags == flagACK && len(p.payload) == 0 {
			bare++
		}
	}
	if bare != 1+3+2 { // the handshake, three within the big frame, one for each FIN
		t.Errorf("%d packets that only acknowledge, want 6", bare)
	}
	if first := packets[0]; first.flags != flagSYN || first.src.Port() != 40000 {
		t.Errorf("first packet has flags %#x from %v: the remote end opened", first.flags, first.src)
	}
}

func TestPcapNGLife(t *testing.T) {
	var b bytes.Buffer
	p, err := NewPcapNG(&b, PcapMeta{Proto: "tcp"})
	if err != nil {
		t.Fatal(err)
	}
	other, err := p.Link(metaOf("udp", "10.0.0.1:5", "10.0.0.3:6"))
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		err  error
		want error
	}{
		{p.Close(PcapSent, at(0), "not open"), nil},
		{p.Reset(PcapSent, at(0), "not open"), nil},
		{p.Frame(PcapSent, at(1), []byte("opens by itself"), ""), nil},
		{p.Frame(PcapSent, at(1), nil, "nothing"), nil},
		{other.Frame(PcapReceived, at(2), nil, "an empty datagram"), nil},
		{p.Close(PcapReceived, at(3), "half closed"), nil},
		{p.Frame(PcapSent, at(4), []byte("still"), ""), nil},
		{p.Frame(PcapReceived, at(4), []byte("no more"), ""), ErrPcapClosed},
		{p.Reset(PcapSent, at(5), "broken off"), nil},
		{p.Frame(PcapSent, at(6), []byte("too late"), ""), ErrPcapClosed},
		{p.Open(at(7), "again"), nil},
		{p.Open(at(7), "twice"), nil},
		{p.Frame(PcapSent, at(8), []byte("new"), ""), nil},
		{p.Frame(PcapDir(7), at(8), []byte("some direction"), ""), nil},
	} {
		if !errors.Is(step.err, step.want) || step.want == nil && step.err != nil {
			t.Errorf("step %d: %v, want %v", i, step.err, step.want)
		}
	}
	_, packets := parsePcapNG(t, b.Bytes())
	var got []string
	for _, p := range packets {
		if p.comment != "" {
			got = append(got, p.comment)
		}
	}
	if want := "an empty datagram|half closed|broken off|again"; strings.Join(got, "|") != want {
		t.Errorf("comments %q, want %s", got, want)
	}
	if a, b := packets[0], packets[len(packets)-5]; a.flags != flagSYN || b.flags != flagSYN || a.seq == b.seq {
		t.Errorf("the second connection begins with flags %#x at the number of the first, %d", b.flags, b.seq)
	}
}

func TestPcapNGMetaErrors(t *testing.T) {
	for _, tc := range []struct {
		meta PcapMeta
		want string
	}{
		{PcapMeta{}, `protocol ""; tcp and udp can be written`},
		{PcapMeta{Proto: "ipx"}, `protocol "ipx"`},
		{metaOf("tcp", "10.0.0.1:1", "[fd00::1]:2"), "different IP versions"},
		{metaOf("udp", "10.0.0.1:1", "[::ffff:10.0.0.1]:1"), "at both ends"},
	} {
		if _, err := NewPcapNG(io.Discard, tc.meta); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: %v, want %s", tc.meta, err, tc.want)
		}
	}
	p, err := NewPcapNG(io.Discard, PcapMeta{Proto: "udp"})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Frame(PcapSent, at(0), make([]byte, 65508), ""); err == nil ||
		!strings.Contains(err.Error(), "65508 bytes; UDP carries 65507") {
		t.Errorf("a datagram too long: %v", err)
	}
	if err := p.Frame(PcapSent, at(0), make([]byte, 65507), ""); err != nil || p.Err() != nil {
		t.Errorf("the longest datagram after one too long: %v, %v", err, p.Err())
	}
}

// TestPcapNGComments: whatever a comment holds, the file stays a file.
func TestPcapNGComments(t *testing.T) {
	var b bytes.Buffer
	p, err := NewPcapNG(&b, PcapMeta{Proto: "udp", Comment: strings.Repeat("long ", 20000)})
	if err != nil {
		t.Fatal(err)
	}
	in := []string{"", "a", "two\nlines", "bad \xff byte", "nul \x00", "pünktlich", strings.Repeat("…", 30000)}
	want := []string{"", "a", "two\nlines", "bad \ufffd byte", "nul \ufffd", "pünktlich", ""}
	for _, c := range in {
		if err := p.Frame(PcapSent, time.Time{}, []byte("x"), c); err != nil {
			t.Fatal(err)
		}
	}
	_, packets := parsePcapNG(t, b.Bytes())
	for i, pkt := range packets {
		if want[i] != "" && pkt.comment != want[i] {
			t.Errorf("comment %q, want %q", pkt.comment, want[i])
		}
	}
	if n := len(packets[6].comment); n < maxPcapComment || n > maxPcapComment+6 ||
		!strings.HasSuffix(packets[6].comment, "……") {
		t.Errorf("the long comment has %d bytes", n)
	}
	if !packets[0].time.Equal(time.Unix(0, 0)) {
		t.Errorf("a time before 1970 is written as %v", packets[0].time)
	}
}

// fullDisk takes a number of bytes, then fails; it counts the calls after that.
type fullDisk struct{ room, after int }

var errFull = errors.New("no space left on device")

func (d *fullDisk) Write(b []byte) (int, error) {
	if d.room < 0 {
		d.after++
	}
	if d.room < len(b) {
		n := max(d.room, 0)
		d.room = -1
		return n, errFull
	}
	d.room -= len(b)
	return len(b), nil
}

// TestPcapNGFullDisk fails at every possible byte: the error is kept, every link returns it,
// nothing is written on top.
func TestPcapNGFullDisk(t *testing.T) {
	for room := range 700 {
		d := &fullDisk{room: room}
		p, err := NewPcapNG(d, PcapMeta{Proto: "tcp"})
		if err != nil {
			if !errors.Is(err, errFull) || p != nil {
				t.Fatalf("room %d: %v, %v", room, p, err)
			}
			continue
		}
		link, err := p.Link(PcapMeta{Proto: "udp"})
		if err != nil {
			t.Fatal(err)
		}
		var last error
		for i := range 5 {
			last = errors.Join(p.Open(at(i), "open"), p.Frame(PcapSent, at(i), []byte("abc"), "c"),
				link.Frame(PcapSent, at(i), nil, ""),
				p.Close(PcapSent, at(i), ""), p.Reset(PcapReceived, at(i), ""))
		}
		if !errors.Is(last, errFull) || p.Err() != link.Err() || d.after != 0 {
			t.Fatalf("room %d: last error %v, kept %v and %v, %d writes after it", room, last, p.Err(),
				link.Err(), d.after)
		}
	}
	p, err := NewPcapNG(shortWriter{}, PcapMeta{Proto: "tcp"})
	if !errors.Is(err, io.ErrShortWrite) || p != nil {
		t.Errorf("short write: %v", err)
	}
}

type shortWriter struct{}

func (shortWriter) Write(b []byte) (int, error) { return len(b) - 1, nil }

func TestPcapNGAllocations(t *testing.T) {
	for name, meta := range pcapLinks {
		p, err := NewPcapNG(io.Discard, meta)
		if err != nil {
			t.Fatal(err)
		}
		payload, comment, now := make([]byte, 1000), "inBattle → inBattle: BATTLEINPUT", at(0)
		frame := func() {
			if p.Frame(PcapSent, now, payload, comment) != nil || p.Frame(PcapReceived, now, payload, comment) != nil {
				t.Fatal(p.Err())
			}
		}
		frame()
		if n := testing.AllocsPerRun(100, frame); n != 0 {
			t.Errorf("%s: %v allocations for two frames, want none", name, n)
		}
	}
}

func BenchmarkPcapNGFrame(b *testing.B) {
	p, err := NewPcapNG(io.Discard, PcapMeta{Proto: "tcp"})
	if err != nil {
		b.Fatal(err)
	}
	payload := make([]byte, 12)
	b.ReportAllocs()
	for b.Loop() {
		if err := p.Frame(PcapSent, pcapEpoch, payload, "inBattle → inBattle: BATTLEINPUT"); err != nil {
			b.Fatal(err)
		}
	}
}

// TestPcapNGTshark lets another program judge the files: every checksum good, nothing that its TCP
// analysis marks (sent again, out of order, lost, window full), no warning of its experts, comments
// shown.
func TestPcapNGTshark(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("tshark is not installed: the files are judged by this package's own reader alone")
	}
	for _, name := range []string{"accepted", "tcp6", "udp4", "udp6"} {
		t.Run(name, func(t *testing.T) {
			meta := pcapLinks[name]
			file := filepath.Join(t.TempDir(), "out.pcapng")
			var b bytes.Buffer
			writePcap(t, &b, meta)
			if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(tshark, "-n", "-r", file, "-o", "ip.check_checksum:TRUE", "-o",
				"tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE",
				"-T", "fields", "-E", "separator=|", "-E", "occurrence=a", "-e", "_ws.expert.severity", "-e",
				"tcp.analysis.flags", "-e", "_ws.malformed",
				"-e", "ip.checksum.status", "-e", "tcp.checksum.status", "-e", "udp.checksum.status", "-e",
				"frame.comment", "-e", "frame.protocols").Output()
			if err != nil {
				t.Fatal(err)
			}
			_, packets := parsePcapNG(t, b.Bytes())
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			if len(lines) != len(packets) {
				t.Fatalf("tshark shows %d packets of %d", len(lines), len(packets))
			}
			for i, line := range lines {
				f := strings.Split(line, "|")
				if len(f) != 8 {
					t.Fatalf("packet %d: fields %q", i+1, f)
				}
				// Severities below a warning: that there is a comment, that a connection opens,
				// that it closes.
				const comment, chat, note, good = "1048576", "2097152", "4194304", "1"
				for _, s := range strings.Split(f[0], ",") {
					if s != "" && s != comment && s != chat && s != note {
						t.Errorf("packet %d: an expert's remark of severity %s: %s", i+1, s, line)
					}
				}
				if f[1] != "" || f[2] != "" {
					t.Errorf("packet %d: analysis %q, malformed %q", i+1, f[1], f[2])
				}
				if sums := f[3] + f[4] + f[5]; strings.Trim(sums, good) != "" || sums == "" {
					t.Errorf("packet %d: checksum states %q, want %s (good)", i+1, f[3:6], good)
				}
				if f[6] != packets[i].comment {
					t.Errorf("packet %d: comment %q, want %q", i+1, f[6], packets[i].comment)
				}
			}
		})
	}
}
