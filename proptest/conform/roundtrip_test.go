package conform

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/interp"
	"pgregory.net/rapid"
)

// vectors are frames of the samples with what they say.
var vectors = []struct{ protocol, hex, text string }{
	{"parts", "01 0000", "ATTRIBUTES{list: []}"},
	{"parts", "01 0006 0001 0002 6162", `ATTRIBUTES{list: [{kind: name, name: "ab", point: none}]}`},
	{"parts", "01 0017 0001 0000 0002 0003 ff ffce 0003 0004 05 fb 01 7a 0009 0000",
		`ATTRIBUTES{list: [{kind: name, name: "", point: none}, {kind: point, name: none, point: {x: -1, y: -50}}, ` +
			`{kind: both, name: "z", point: {x: -5, y: 5}}, {kind: nothing, name: none, point: none}]}`},
	{"parts", "02 0003 00 01 00", `FLAGS{a: none, b: none, c: none, loud: false, e: none, f: none}`},
	{"parts", "02 000c e0 ff 05 01 08 01 7a7a 0003 fe 02",
		`FLAGS{a: 255, b: {x: 1, y: 4}, c: "zz", loud: true, e: 3, f: {x: 2, y: -2}}`},
	{"parts", "03 001f 03777777 026465 00 0001 00 ffff ffff 1234 0000 6162636465666768 03 010203",
		`QUERY{questions: [{name: ["www", "de"], kind: 1}, {name: [], kind: 65535}], ids: [4660], key: "abcdefgh", ` +
			`more: [1, 2, 3]}`},
	{"parts", "03 000d ffff 0000 0000000000000000 00",
		`QUERY{questions: [], ids: [], key: "\x00\x00\x00\x00\x00\x00\x00\x00", more: []}`},
	{"parts", "04 0005 c0 1234 fe ff", `CHOICE{loud: true, kind: 2, a: 4660, b: none, c: {x: -2, y: -1}}`},
	{"parts", "04 0003 20 61 00", `CHOICE{loud: false, kind: 1, a: none, b: "a", c: none}`},
	{"numbers", "ee 00", "BYE"},
	{"numbers", "13 17 ec 40420f00 fc18 09 fffc18 fffe ac02 4d515454 89504e47",
		"READ{last: true, temp: -20, far: 1000000, high: none, wide: -5, deep: -1000}"},
	{"numbers", "2a 0b 01 80004000 4f 05 02 6162 15",
		`LIST{level: 1, dup: true, readings: [{at: 16384, temp: -40, mode: on}], name: "ab", days: [0, 2, 4]}`},
}

// TestVectors: frames written down by hand are read and written by both codecs.
func TestVectors(t *testing.T) {
	codecs := map[string]*codec{}
	for _, target := range samples {
		c := newCodec(t, target)
		codecs[c.Protocol.Name] = c
	}
	for _, v := range vectors {
		c := codecs[v.protocol]
		frame, err := hex.DecodeString(strings.ReplaceAll(v.hex, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		m, slots, werr := interp.DecodeFrame(c.Protocol, c.Strings, frame)
		if werr.Problem != 0 {
			t.Errorf("%s: %v", v.text, werr)
			continue
		}
		if got := string(interp.AppendMessage(nil, c.Strings, m, slots)); got != v.text {
			t.Errorf("% x is\n%s, not\n%s", frame, got, v.text)
		}
		c.decoded(t, frame)
		if again := c.encoded(t, m, slots); !bytes.Equal(again, frame) {
			t.Errorf("%s is % x, not % x", v.text, again, frame)
		}
		r := rand.New(rand.NewPCG(7, uint64(len(frame))))
		for range 2000 {
			c.comesBack(t, changed(r, frame))
		}
	}
}

// comesBack sees that both codecs say the same of some bytes, and write again what they accept.
func (c *codec) comesBack(t rapid.TB, frame []byte) {
	c.decoded(t, frame)
	m, slots, err := interp.DecodeFrame(c.Protocol, c.Strings, frame)
	if err.Problem != 0 {
		return
	}
	if again := c.encoded(t, m, slots); !bytes.Equal(again, frame) && !c.Protocol.Wire.Loose(m) {
		t.Fatalf("% x is %s, which is written as % x", frame, interp.AppendMessage(nil, c.Strings, m, slots), again)
	}
}

// changed changes a few bytes of a frame, leaves some out, or puts some in.
func changed(r *rand.Rand, frame []byte) []byte {
	b := bytes.Clone(frame)
	for range 1 + r.IntN(3) {
		at := r.IntN(len(b) + 1)
		switch kind := r.IntN(4); {
		case kind == 0 && at < len(b):
			b = append(b[:at], b[at+1:]...)
		case kind == 1:
			b = append(b[:at:at], append([]byte{byte(r.IntN(256))}, b[at:]...)...)
		case kind == 2 && at < len(b):
			b[at] += byte(r.IntN(5)) - 2
		case at < len(b):
			b[at] = byte(r.IntN(256))
		}
	}
	return b
}
