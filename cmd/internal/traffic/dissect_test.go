package traffic

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/dissect"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/race"
	"github.com/parley-go/parley/runtime/trace"
)

// malformedFrame stands for a frame that is none, in what a dissector or our decoder says.
const malformedFrame = "malformed"

// tshark lets the dissector of a protocol loose on a capture and returns what it found in each
// direction, from the port that is that of the protocol and to it. server is the role that the port belongs to.
func tshark(t *testing.T, p *model.Protocol, transport, file string, server ...string) (from, to []string) {
	t.Helper()
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed: dissectors are written and not run")
	}
	script, err := dissect.Wireshark(p, dissect.Options{Transport: transport, Port: 21837,
		Server: strings.Join(server, "")})
	if err != nil {
		t.Fatal(err)
	}
	lua := filepath.Join(t.TempDir(), "dissector.lua")
	if err := os.WriteFile(lua, script, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("tshark", "-X", "lua_script:"+lua, "-r", file, "-Y", p.Name, "-T", "fields", "-E",
		"occurrence=a", "-E", "aggregator=\x02", "-E", "separator=\x01",
		"-e", transport+".srcport", "-e", p.Name+".text", "-e", p.Name+".malformed")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || bytes.Contains(out, []byte("Lua Error")) || strings.Contains(stderr.String(), "Lua:") {
		t.Fatalf("tshark: %v\n%s\n%s", err, stderr.String(), out)
	}
	for _, line := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		f := strings.Split(line, "\x01")
		if len(f) != 3 {
			continue
		}
		var found []string
		if f[1] != "" {
			found = strings.Split(f[1], "\x02")
		}
		if f[2] != "" {
			found = append(found, malformedFrame)
		}
		if f[0] == "21837" {
			from = append(from, found...)
		} else {
			to = append(to, found...)
		}
	}
	return from, to
}

// said returns what our own decoder says about a frame.
func said(p *model.Protocol, frame []byte) string {
	strs := &interp.Strings{}
	m, slots, err := interp.DecodeFrame(p, strs, frame)
	if err.Problem != 0 {
		return malformedFrame
	}
	return string(interp.AppendMessage(nil, strs, m, slots))
}

// TestDissectorOfTheRealMatch compares the dissector with our decoder on the capture of a real
// match, frame by frame.
func TestDissectorOfTheRealMatch(t *testing.T) {
	p := netplay(t)
	from, to := tshark(t, p, "tcp", realMatch)
	var got, want [2][]string
	got[0], got[1] = to, from
	for _, f := range realFrames(t, p) {
		want[f.from] = append(want[f.from], said(p, f.data))
	}
	for i := range want {
		compareTexts(t, got[i], want[i])
	}
	if len(want[0]) < 1000 {
		t.Errorf("only %d frames in one direction", len(want[0]))
	}
}

func compareTexts(t *testing.T, got, want []string) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("frame %d: the dissector says %s, our decoder %s", i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("the dissector finds %d frames, our decoder %d", len(got), len(want))
	}
}

// TestDissectorOfRandomFrames makes frames at random: over TCP they are cut into segments anywhere,
// over UDP some are damaged. It takes one protocol in nine of these, with PARLEY_LONG=1 one in three.
func TestDissectorOfRandomFrames(t *testing.T) {
	for i, x := range []struct{ file, transport string }{
		{"specs/netplay/spec.yaml", "tcp"}, {"specs/lobby/spec.yaml", "tcp"}, {"specs/clock/spec.yaml", "tcp"},
		{"specs/connection/spec.yaml", "tcp"}, {"specs/registration/spec.yaml", "tcp"},
		{"specs/masterserver/spec.yaml", "tcp"}, {"specs/setup/spec.yaml", "tcp"},
		{"proptest/conform/testdata/kitchen/spec.yaml", "udp"}, {"specs/battle-end/frames.yaml", "udp"},
		{"proptest/conform/testdata/parts/spec.yaml", "udp"}, {"specs/library/mqtt/spec.yaml", "tcp"},
		{"specs/library/dns/spec.yaml", "udp"}, {"specs/library/stun/spec.yaml", "udp"},
		{"specs/library/resp/spec.yaml", "tcp"}, {"specs/library/http/spec.yaml", "tcp"},
		{"proptest/conform/testdata/crlf/spec.yaml", "tcp"},
		{"proptest/conform/testdata/texts/spec.yaml", "tcp"}, {"proptest/conform/testdata/texts/spec.yaml", "udp"},
		{"proptest/conform/testdata/numbers/spec.yaml", "udp"}, {"proptest/conform/testdata/numbers/spec.yaml", "tcp"},
	} {
		if !race.Some(i, 9) {
			continue // a start of tshark takes half a second
		}
		t.Run(x.file, func(t *testing.T) {
			p, list := compile.Load("../../../"+x.file, compile.Options{})
			if p == nil {
				t.Fatal(list)
			}
			p = model.WithDefaultWire(p)
			if strings.Contains(x.file, "library") {
				p.Name += "formats" // Wireshark has a protocol of that name
			}
			r := rand.New(rand.NewPCG(1, 2))
			var stream []byte
			var want []string
			var pieces [][]byte
			for len(want) < 300 && len(stream) < 1<<18 {
				frame := randomFrame(p, r)
				if frame == nil {
					continue
				}
				if x.transport == "udp" && r.IntN(3) == 0 {
					frame = damaged(frame, r)
				}
				want = append(want, said(p, frame))
				stream = append(stream, frame...)
				pieces = append(pieces, frame)
			}
			if x.transport == "tcp" {
				pieces = nil
				for len(stream) > 0 {
					n := min(1+r.IntN(60), len(stream))
					pieces, stream = append(pieces, stream[:n]), stream[n:]
				}
			}
			_, got := tshark(t, p, x.transport, writeCapture(t, x.transport, pieces))
			compareTexts(t, got, want)
			if bad := slices.Index(want, malformedFrame); x.transport == "udp" && bad < 0 {
				t.Error("nothing was malformed")
			}
		})
	}
}

// TestDissectorKnowsTheServer: a frame that either role could have sent is what the other one sends to the server.
func TestDissectorKnowsTheServer(t *testing.T) {
	p, list := compile.Load("../../../proptest/conform/testdata/parts/spec.yaml", compile.Options{})
	if p == nil {
		t.Fatal(list)
	}
	file := writeCapture(t, "udp", [][]byte{{8, 0, 3, 1, 'a', 'b'}, {7, 0, 3, 1, 1, 2}})
	for server, want := range map[string]string{
		"other": `ASK{what: "\x01ab"}`, "peer": `ANSWER{is: "ab", more: 1}`,
	} {
		_, got := tshark(t, p, "udp", file, server)
		compareTexts(t, got, []string{want, "PING{n: 258}"})
	}
}

// TestDissectorKnowsCharsets: texts with a byte that their charsets do not allow are malformed, and no others.
func TestDissectorKnowsCharsets(t *testing.T) {
	p, list := compile.Load("../../../proptest/conform/testdata/parts/spec.yaml", compile.Options{})
	if p == nil {
		t.Fatal(list)
	}
	var pieces [][]byte
	var want []string
	bad := 0
	for _, x := range []struct{ name, plain, word string }{
		{"aé\u20ac\U0001f600", "\x7f\x01", " ~abc"}, {"\xff", "", "abcde"}, {"\xc0\x80", "", "abcde"},
		{"é\xc3", "", "abcde"},
		{"\xed\xa0\x80", "", "abcde"}, {"\xf4\x90\x80\x80", "", "abcde"}, {"", "\x80", "abcde"}, {"", "", "abc\n\x7f"},
	} {
		body := "key!" + string(rune(len(x.name))) + x.name + x.plain + "\x00" + x.word + "\x00\x00\x00"
		frame := append([]byte{5, 0, byte(len(body))}, body...)
		pieces, want = append(pieces, frame), append(want, said(p, frame))
		if want[len(want)-1] == malformedFrame {
			bad++
		}
	}
	if bad != len(pieces)-1 {
		t.Errorf("%d of %d frames are malformed, not all but the first: %q", bad, len(pieces), want)
	}
	_, got := tshark(t, p, "udp", writeCapture(t, "udp", pieces))
	compareTexts(t, got, want)
}

// writeCapture makes a capture of what a client sends.
func writeCapture(t *testing.T, transport string, pieces [][]byte) string {
	t.Helper()
	var b bytes.Buffer
	w, err := trace.NewPcapNG(&b, trace.PcapMeta{Proto: transport,
		Local: netip.MustParseAddrPort("127.0.0.1:40000"), Remote: netip.MustParseAddrPort("127.0.0.1:21837")})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1, 0)
	if err := w.Open(now, ""); err != nil {
		t.Fatal(err)
	}
	for _, p := range pieces {
		now = now.Add(time.Millisecond)
		if err := w.Frame(trace.PcapSent, now, p, ""); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(t.TempDir(), "frames.pcapng")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// damaged cuts a frame or changes a byte.
func damaged(frame []byte, r *rand.Rand) []byte {
	frame = slices.Clone(frame)
	switch r.IntN(3) {
	case 0:
		return frame[:1+r.IntN(len(frame))]
	case 1:
		return append(frame, byte(r.IntN(256)))
	}
	frame[r.IntN(len(frame))] = byte(r.IntN(256))
	return frame
}

// randomFrame encodes a message with values at random; nil if these have no encoding.
func randomFrame(p *model.Protocol, r *rand.Rand) []byte {
	strs := &interp.Strings{}
	m := p.Messages[r.IntN(len(p.Messages))]
	slots := make([]int64, interp.FieldSlots(m.Fields))
	for _, f := range m.Fields {
		randomValue(strs, r, f.Type, slots[f.Offset:])
	}
	frame, err := interp.AppendFrame(p, strs, nil, m, slots)
	if err.Problem != 0 {
		return nil
	}
	return frame
}

// randomValue fills in a value of a type.
func randomValue(strs *interp.Strings, r *rand.Rand, t *model.Type, dst []int64) {
	switch t.Kind {
	case model.KindBool:
		dst[0] = r.Int64N(2)
	case model.KindInt, model.KindNode:
		dst[0] = t.Lo + r.Int64N(t.Hi-t.Lo+1)
	case model.KindEnum:
		dst[0] = r.Int64N(int64(len(t.Names)))
	case model.KindOpaque:
		dst[0] = int64(r.Uint64() >> (64 - t.Bits))
	case model.KindBytes:
		text := make([]byte, r.IntN(t.Cap+1))
		for i := range text {
			const letters = `abcdefghij xyz.:"\_!`
			text[i] = letters[r.IntN(len(letters))]
		}
		dst[0] = strs.Intern(text)
	case model.KindOptional:
		if r.IntN(3) > 0 {
			dst[0] = 1
			randomValue(strs, r, t.Elem, dst[1:])
		}
	case model.KindRecord:
		for _, f := range t.Fields {
			randomValue(strs, r, f.Type, dst[f.Offset:])
		}
	case model.KindArray, model.KindList:
		n, at := int64(r.IntN(t.Cap+1)), 1
		if t.Kind == model.KindArray {
			n, at = t.Index.Count(), 0
		} else {
			dst[0] = n
		}
		for i := range int(n) {
			randomValue(strs, r, t.Elem, dst[at+i*t.Elem.Slots():])
		}
	case model.KindSet:
		dst[0] = r.Int64N(1 << t.Elem.Count())
	default:
		panic(fmt.Sprint("a kind of type that this test does not know: ", t.Kind))
	}
}

// TestDissectorKnowsNames: names that point back are read as our decoder reads them, and those that point to
// themselves or forward are malformed.
func TestDissectorKnowsNames(t *testing.T) {
	p, list := compile.Load("../../../proptest/conform/testdata/parts/spec.yaml", compile.Options{})
	if p == nil {
		t.Fatal(list)
	}
	var pieces [][]byte
	var want []string
	for _, body := range []string{
		"\x02ab\x01c\x00\x01x\xc0\x03\x01\x02\xc0\x06\x00\x02\x02\x01\x02\x01y\xc0\x09\x01\x04\x01z\xc0\x0f",
		"\x00\xc0\x03\x02\x00", "\x00\xc0\x04\x02\x00", "\x00\xc0\x05\x02\x00", "\xc0\x00", "\x00\x41a\x00\x02\x00",
		"\x01a\x00\x03a.b\x00\x02\x00", "\x15" + strings.Repeat("a", 21) + "\x00", "\x00\xc0",
	} {
		frame := append([]byte{14, 0, byte(len(body))}, body...)
		pieces, want = append(pieces, frame), append(want, said(p, frame))
	}
	for i, text := range want {
		if good := i < 2; good == (text == malformedFrame) {
			t.Errorf("% x is %s", pieces[i], text)
		}
	}
	_, got := tshark(t, p, "udp", writeCapture(t, "udp", pieces))
	compareTexts(t, got, want)
}

// TestDissectorFollowsPhases: the dissector reads each frame in the phase of its stream, however the bytes come, and
// leaves alone what comes behind the last message.
func TestDissectorFollowsPhases(t *testing.T) {
	p, list := compile.Load("../../../specs/library/socks5/spec.yaml", compile.Options{})
	if p == nil {
		t.Fatal(list)
	}
	p.Name += "phases" // Wireshark has a protocol of that name
	stream := []byte("\x05\x02\x00\x02" + "\x01\x01u\x01p" + "\x05\x01\x00\x03\x01h\x00\x50" + "\x05\x01\x00")
	want := []string{"METHODS{methods: [0, 2]}", `LOGIN{name: "u", password: "p"}`,
		`REQUEST{command: connect, kind: domain, four: none, name: "h", six: none, port: 80}`}
	for _, n := range []int{1, 6, len(stream)} {
		var pieces [][]byte
		for b := range slices.Chunk(stream, n) {
			pieces = append(pieces, b)
		}
		_, got := tshark(t, p, "tcp", writeCapture(t, "tcp", pieces), "proxy")
		compareTexts(t, got, want)
	}
}
