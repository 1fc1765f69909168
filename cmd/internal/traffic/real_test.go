package traffic

import (
	"bytes"
	"compress/gzip"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/cmd/internal/capture"
	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/replay"
	"github.com/parley-go/parley/proptest/race"
	"github.com/parley-go/parley/runtime/trace"
)

const realMatch = "../../../specs/netplay/testdata/uqm-match.pcap"

func netplay(t testing.TB) *model.Protocol { return variant(t, "spec.yaml") }

func variant(t testing.TB, name string) *model.Protocol {
	t.Helper()
	p, diags := compile.Load("../../../specs/netplay/"+name, compile.Options{})
	if p == nil {
		t.Fatal(diags)
	}
	return p
}

// piece is one frame of a capture that a test writes.
type piece struct {
	from int
	data []byte
}

// realFrames returns the frames of the real match.
func realFrames(t testing.TB, p *model.Protocol) []piece {
	t.Helper()
	data, err := os.ReadFile(realMatch)
	if err != nil {
		t.Fatal(err)
	}
	rec := recording(t, p, data)
	if rec.Fault != nil {
		t.Fatal(rec.Fault)
	}
	var list []piece
	for _, f := range rec.Frames {
		list = append(list, piece{f.From, f.Bytes})
	}
	return list
}

// write makes a capture of the pieces, as the client's side saw them.
func write(t testing.TB, list []piece) string {
	t.Helper()
	var b bytes.Buffer
	w, err := trace.NewPcapNG(&b, trace.PcapMeta{Proto: "tcp",
		Local: netip.MustParseAddrPort("127.0.0.1:40000"), Remote: netip.MustParseAddrPort("127.0.0.1:21837")})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1, 0)
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	check(w.Open(now, ""))
	for _, p := range list {
		now = now.Add(time.Millisecond)
		dir := trace.PcapSent
		if p.from == 1 {
			dir = trace.PcapReceived
		}
		check(w.Frame(dir, now, p.data, ""))
	}
	name := filepath.Join(t.TempDir(), "match.pcapng")
	check(os.WriteFile(name, b.Bytes(), 0o600))
	return name
}

func judge(t testing.TB, p *model.Protocol, list []piece) *Report {
	t.Helper()
	r, err := Replay(t.Context(), p, write(t, list), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTheRealMatchIsARun(t *testing.T) {
	p := netplay(t)
	r, err := Replay(t.Context(), p, realMatch, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	r.WriteText(&text, false)
	if !r.Accepted() {
		t.Fatal(text.String())
	}
	rec := r.Conns[0].Recording
	if len(rec.Frames) != 3630 {
		t.Errorf("%d frames, the match has 3630", len(rec.Frames))
	}
	for i := range rec.Frames {
		if rec.Frames[i].Differs {
			t.Errorf("%s is encoded as % x, was % x", rec.Text(i), rec.Frames[i].Again, rec.Frames[i].Bytes)
		}
	}
}

// Three matches of two games, or one and our own endpoint, ended because one side refused a frame. Two of them are told
// from the match that did not, and in the third the game did what spec.yaml forbids: there coded.yaml says the same.
func TestRefusedFrames(t *testing.T) {
	race.Skip(t)
	spec, coded := netplay(t), variant(t, "coded.yaml")
	for _, test := range []struct {
		name, verdict, coded string
		side, frame          int // who refused which frame, from 1
		message, state       string
	}{
		{"uqm-dd", "refused", "accepted", 1, 835, "CONFIRM1", "selectShip"},
		{"uqm-wg", "refused", "accepted", 0, 859, "CONFIRM1", "selectShip"},
		{"uqm-t8c", "rejected", "accepted", 0, 1060, "READY", "inSetup"},
	} {
		file := "../../../specs/netplay/testdata/" + test.name + ".pcap"
		for p, verdict := range map[*model.Protocol]string{spec: test.verdict, coded: test.coded} {
			r, err := Replay(t.Context(), p, file, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			r.WriteText(&text, false)
			x := r.Conns[0].Sides[test.side].Refusal
			if r.Verdict() != verdict || x == nil || x.Frame+1 != test.frame || x.Expected != (p == coded) ||
				r.Conns[0].Recording.Frames[x.Frame].Message.Name != test.message ||
				!strings.HasPrefix(x.At.State, test.state) {
				t.Errorf("%s by %s: %s", test.name, p.Files[0], text.String())
			}
			if other := r.Conns[0].Sides[1-test.side]; other.Refusal != nil ||
				other.Accepted != (test.name != "uqm-t8c" || p == coded) {
				t.Errorf("%s by %s, the other side: %s", test.name, p.Files[0], text.String())
			}
		}
	}
}

// A capture that gzip has packed is read as it was; one that is cut is damaged, and what came before counts.
func TestPacked(t *testing.T) {
	race.Skip(t)
	plain, err := os.ReadFile(realMatch)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(plain)
	z.Close()
	p := netplay(t)
	for cut, want := range map[int]string{0: "accepted", 2000: "incomplete"} {
		r, err := Read(t.Context(), p, "match.pcap.gz", bytes.NewReader(b.Bytes()[:b.Len()-cut]), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict() != want || (cut > 0) != (r.Damage != "") {
			t.Errorf("without the last %d bytes: %s, %q", cut, r.Verdict(), r.Damage)
		}
	}
	if _, err := Read(t.Context(), p, "x.gz", strings.NewReader("\x1f\x8bno"), Options{}); err == nil {
		t.Error("what is no gzip file is read")
	}
}

// longMatches take most of the time; they are for PARLEY_LONG=1.
var longMatches = []string{
	"deaths-gameover-rematch", "edits-death-quit-in-selectship", "parley-client-match",
	"resets-selectship-battle-delays",
}

// Conversations of two real games of version 0.8.0, or one and our own endpoint, are runs of the
// specification; two hold the game's known fault, a BATTLEINPUT after its own
// RESET, and are runs of the machine that the game's code is.
func TestRealMatchesOfTheNextVersion(t *testing.T) {
	spec, coded := netplay(t), variant(t, "coded.yaml")
	for name, faulty := range map[string]bool{
		"deaths-gameover-rematch":         false,
		"double-death-quit-in-battle":     false,
		"edits-confirm-cancel":            false,
		"edits-death-quit-in-selectship":  false,
		"names-edits-confirm":             false,
		"reset-late-input-closes":         true,
		"resets-selectship-battle-delays": true,
		// A real game and examples/netplay.
		"parley-client-match":  false,
		"parley-server-match":  false,
		"parley-server-resets": false,
		"parley-syncloss":      false,
	} {
		if !race.Long() && slices.Contains(longMatches, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := "../../../specs/netplay/testdata/uqm080-" + name + ".pcap"
			r, err := Replay(t.Context(), spec, file, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Accepted() == faulty {
				t.Errorf("%s by spec.yaml", r.Verdict())
			}
			if !faulty {
				return
			}
			if s := faultySide(r); s.Frontier >= len(r.Conns[0].Recording.Frames) ||
				r.Conns[0].Recording.Frames[s.Frontier].Message.Name != "BATTLEINPUT" {
				t.Errorf("the deviation is not the late BATTLEINPUT but frame %d", s.Frontier)
			}
			if r, err = Replay(t.Context(), coded, file, Options{}); err != nil || !r.Accepted() {
				t.Errorf("%v, %s by coded.yaml", err, r.Verdict())
			}
		})
	}
}

// faultySide is the side whose run ends first.
func faultySide(r *Report) *replay.Side {
	a, b := r.Conns[0].Sides[0], r.Conns[0].Sides[1]
	if a.Accepted || !b.Accepted && b.Frontier < a.Frontier {
		return b
	}
	return a
}

// A match that was tampered with is no run, and the report points at the place.
func TestTamperedMatches(t *testing.T) {
	race.Skip(t)
	p := netplay(t)
	real := realFrames(t, p)
	without := func(i int) []piece { return append(append([]piece(nil), real[:i]...), real[i+1:]...) }
	with := func(i int, x piece) []piece {
		return append(append(append([]piece(nil), real[:i]...), x), real[i:]...)
	}
	find := func(from int, kind byte, nth int) int {
		for i, f := range real {
			if f.from == from && f.data[3] == kind {
				if nth--; nth < 0 {
					return i
				}
			}
		}
		t.Fatalf("no frame of type %d", kind)
		return 0
	}
	ready := []byte{0, 4, 0, 3}
	tests := []struct {
		name  string
		list  []piece
		wants string
	}{
		{"a second READY at once", with(find(0, 3, 0), piece{0, ready}), "READY"},
		{"READY before the confirmation", with(find(1, 6, 0), piece{1, ready}), "READY"},
		{"no READY after the ship choice", without(find(0, 3, 2)), "READY"},
		{"no CONFIRM2 from the server", without(find(1, 7, 0)), "INPUTDELAY"},
		{"an echo is missing", without(find(0, 4, 3)), "FLEET"},
		{"the seed comes from the client", with(find(0, 11, 0), piece{0, []byte{0, 8, 0, 10, 0, 0, 0, 1}}),
			"SEEDRANDOM"},
		{"one input too many", with(find(0, 13, 5), piece{0, []byte{0, 8, 0, 13, 0, 0, 0, 0}}), "BATTLEINPUT"},
		{"an input is missing", without(find(1, 13, 100)), "BATTLEINPUT"},
		{"a ship that does not exist", with(find(1, 12, 0), piece{1, []byte{0, 8, 0, 12, 0, 13, 0, 0}}), "SELECTSHIP"},
		{"FRAMECOUNT in the middle of a battle",
			with(find(0, 13, 50), piece{0, []byte{0, 8, 0, 14, 0, 0, 0, 9}}), "FRAMECOUNT"},
		{"an unknown type", with(find(0, 13, 50), piece{0, []byte{0, 4, 0, 18}}), "type 18"},
		{"a length below the header", with(find(0, 13, 50), piece{0, []byte{0, 3, 0, 3}}), "at least 4"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := judge(t, p, test.list)
			var text strings.Builder
			r.WriteText(&text, false)
			if r.Verdict() != "rejected" {
				t.Fatalf("verdict %s\n%s", r.Verdict(), text.String())
			}
			if !strings.Contains(text.String(), test.wants) {
				t.Errorf("the report does not speak of %s:\n%s", test.wants, text.String())
			}
		})
	}
}

// BenchmarkRealMatch is the time for a match of 3,630 frames in a file of 409 KB: to read it and cut the streams into
// frames, to explain one side beside that, and to explain both and the ends of the connection. The ratio is to reading
// alone, in the same run.
func BenchmarkRealMatch(b *testing.B) {
	p := netplay(b)
	data, err := os.ReadFile(realMatch)
	if err != nil {
		b.Fatal(err)
	}
	rec := recording(b, p, data)
	for _, part := range []struct {
		name string
		do   func() bool
	}{
		{"read", func() bool { return recording(b, p, data).Fault == nil }},
		{"one side", func() bool {
			s, err := replay.Explain(b.Context(), recording(b, p, data), 0, p.Roles, replay.Options{})
			return err == nil && s.Accepted
		}},
		{"jointly", func() bool {
			r, err := Read(b.Context(), p, realMatch, bytes.NewReader(data), Options{})
			return err == nil && r.Accepted()
		}},
	} {
		b.Run(part.name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			began := time.Now()
			for range b.N {
				recording(b, p, data)
			}
			alone := time.Since(began)
			b.ResetTimer()
			for range b.N {
				if !part.do() {
					b.Fatal("the match is not accepted")
				}
			}
			b.ReportMetric(float64(b.N*len(rec.Frames))/b.Elapsed().Seconds(), "frames/s")
			b.ReportMetric(float64(b.Elapsed())/float64(alone), "x-reading")
		})
	}
}

// recording is the connection in a capture, as frames.
func recording(t testing.TB, p *model.Protocol, data []byte) *replay.Recording {
	t.Helper()
	c, err := capture.Read(bytes.NewReader(data), capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var chunks []replay.Chunk
	for _, e := range c.Events {
		if e.Kind == capture.Data {
			from := 1
			if e.FromClient {
				from = 0
			}
			chunks = append(chunks, replay.Chunk{From: from, Packet: e.Packet, Time: e.Time, Data: e.Data})
		}
	}
	return replay.Split(p, chunks, false)
}
