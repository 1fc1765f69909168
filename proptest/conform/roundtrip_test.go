package conform

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/machines/http"
	"github.com/parley-go/parley/machines/mqtt"
	"github.com/parley-go/parley/machines/ntp"
	"github.com/parley-go/parley/machines/resp"
	"github.com/parley-go/parley/machines/stun"
	"github.com/parley-go/parley/machines/tftp"
	"github.com/parley-go/parley/proptest/conform/sample/dns"
	"github.com/parley-go/parley/proptest/conform/shipped"
	"pgregory.net/rapid"
)

// library are the formats of well-known protocols.
var library = []Target{
	{"specs/library/mqtt/spec.yaml", "client", mqtt.NewClientRunner,
		shipped.Adapt[mqtt.Client, mqtt.ClientEvent], mqtt.DecodeMessage, mqtt.AppendMessage,
		mqtt.FrameSize},
	{"specs/library/ntp/spec.yaml", "client", ntp.NewClientRunner,
		shipped.Adapt[ntp.Client, ntp.ClientEvent], ntp.DecodeMessage, ntp.AppendMessage,
		ntp.FrameSize},
	{"specs/library/http/spec.yaml", "client", http.NewClientRunner,
		shipped.Adapt[http.Client, http.ClientEvent], http.DecodeMessage, http.AppendMessage,
		http.FrameSize},
	{"specs/library/resp/spec.yaml", "client", resp.NewClientRunner,
		shipped.Adapt[resp.Client, resp.ClientEvent], resp.DecodeMessage, resp.AppendMessage,
		resp.FrameSize},
	{"specs/library/dns/spec.yaml", "asker", dns.NewAskerRunner,
		shipped.Adapt[dns.Asker, dns.AskerEvent], dns.DecodeMessage, dns.AppendMessage,
		dns.FrameSize},
	{"specs/library/stun/spec.yaml", "client", stun.NewClientRunner,
		shipped.Adapt[stun.Client, stun.ClientEvent], stun.DecodeMessage, stun.AppendMessage,
		stun.FrameSize},
	{"specs/library/tftp/spec.yaml", "peer", tftp.NewPeerRunner,
		shipped.Adapt[tftp.Peer, tftp.Event], tftp.DecodeMessage, tftp.AppendMessage,
		tftp.FrameSize},
}

// vector is a frame and what it says.
type vector struct{ protocol, hex, text string }

// vectors are frames of the samples with what they say.
var vectors = []vector{
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
	{"parts", "05 001c 00ff807f 03 61c3a9 62637f 00 7e7a207a7a 02 0001 ffff 0002 0d0a 00 04",
		`BYTES{key: "\x00\xff\x80\x7f", data: "\r\n", name: "aé", plain: "bc\x7f", word: "~z zz", ` +
			`keys: ["\x00\x01", "\xff\xff"], tail: "\x04"}`},
	{"parts", "06 0003 616263", `CUT{line: "abc"}`},
	{"parts", "07 0000", "NONE"},
	{"parts", "0e 001d 02 6162 01 63 00 01 78 c003 01 02 c006 00 02 02 0102 01 79 c009 01 04 01 7a c00f",
		`NAMES{plain: "ab.c", hosts: [{name: "x.ab.c", kind: 1, mail: "c", other: none}, {name: "", kind: 2, mail: none, ` +
			`other: "\x01\x02"}, {name: "y.x.ab.c", kind: 1, mail: "z.c", other: none}]}`},
	// The head of a datagram with its checksum, and an echo request of ICMP: examples known elsewhere.
	{"parts", "0f 0016 45000073000040004011 b861 c0a80001c0a800c7 6869",
		`DATAGRAM{head: "E\x00\x00s\x00\x00@\x00@\x11", tail: "\xc0\xa8\x00\x01\xc0\xa8\x00\xc7", payload: "hi"}`},
	{"parts", "11 0008 0800 f7fd 00010001", `PROBE{kind: 2048, data: "\x00\x01\x00\x01"}`},
	{"parts", "0a 0010 02 03 6869 05 0001 fffe 7a7a 6d6172 0009",
		`PACKET{padding: "zz", payload: "hi", ids: [1, 65534], mark: "mar", last: 9}`},
	{"parts", "0b 0016 01 00000000 02 02 6869 07 1234 80011170 78 79 7a 00 ff ff",
		`FRAMES{frames: [{kind: 1, more: none, data: none, number: none}, {kind: 0, more: 3, data: none, number: none}, ` +
			`{kind: 2, more: none, data: "hi", number: none}, {kind: 7, more: none, data: none, number: 4660}, ` +
			`{kind: 70000, more: none, data: "xyz\x00\xff", number: none}], behind: 255}`},
	{"parts", "1e 0003 05 faff", `PADDED{a: 5, b: ""}`}, // ends within its padding
	{"parts", "1e 0007 05 faff 0000 6869", `PADDED{a: 5, b: "hi"}`},
	{"parts", "07 0003 01 0102", "PING{n: 258}"},
	{"parts", "07 0005 02 0102 6869", `PONG{n: 258, why: "hi"}`},
	{"numbers", "ee 00", "BYE"},
	{"numbers", "13 1b ec 40420f00 fc18 09 fffc18 0001 0001 fffe ac02 4d515454 89504e47",
		"READ{last: true, temp: -20, far: 1000000, high: none, wide: -5, deep: -1000, sure: true, plain: true}"},
	{"numbers", "13 1b ec 40420f00 fc18 09 fffc18 0700 0000 fffe ac02 4d515454 89504e47",
		"READ{last: true, temp: -20, far: 1000000, high: none, wide: -5, deep: -1000, sure: true, plain: false}"},
	{"numbers", "2a 0b 01 80004000 4f 05 02 6162 15",
		`LIST{level: 1, dup: true, readings: [{at: 16384, temp: -40, mode: on}], name: "ab", days: [0, 2, 4]}`},
	{"mqtt", "10 0e 0004 4d515454 04 02 003c 0002 6331",
		`CONNECT{clean: true, willQos: atMostOnce, willRetain: false, keepAlive: 60, client: "c1", will: none, ` +
			`user: none, password: none}`},
	{"mqtt", "10 1d 0004 4d515454 04 ce 000a 0002 6331 0001 74 0002 6d6d 0001 75 0003 707770",
		`CONNECT{clean: true, willQos: atLeastOnce, willRetain: false, keepAlive: 10, client: "c1", ` +
			`will: {topic: "t", message: "mm"}, user: "u", password: "pwp"}`},
	{"mqtt", "20 02 01 00", `CONNACK{session: true, code: accepted}`},
	{"mqtt", "30 07 0003 612f62 6869",
		`PUBLISH{dup: false, qos: atMostOnce, retain: false, topic: "a/b", packet: none, message: "hi"}`},
	{"mqtt", "3b 07 0003 612f62 000a",
		`PUBLISH{dup: true, qos: atLeastOnce, retain: true, topic: "a/b", packet: 10, message: ""}`},
	{"mqtt", "62 02 000a", `PUBREL{packet: 10}`},
	{"mqtt", "82 0e 000a 0003 612f62 01 0003 632f64 02",
		`SUBSCRIBE{packet: 10, filters: [{topic: "a/b", qos: atLeastOnce}, {topic: "c/d", qos: exactlyOnce}]}`},
	{"mqtt", "90 05 000a 00 02 80", `SUBACK{packet: 10, codes: [once, exactly, failure]}`},
	{"mqtt", "a2 0c 000a 0003 612f62 0003 632f64", `UNSUBSCRIBE{packet: 10, topics: ["a/b", "c/d"]}`},
	{"mqtt", "e0 00", "DISCONNECT"},
	{"ntp", "23 00 06 ec 00000000 00000000 00000000 0000000000000000 0000000000000000 " +
		"0000000000000000 e8d3c4b5a6978810",
		`PACKET{leap: fine, version: 4, mode: client, stratum: 0, poll: 6, precision: -20, rootDelay: 0, ` +
			`rootDispersion: 0, source: 0, reference: 0, origin: 0, received: 0, sent: 16776969321348302864}`},
	{"ntp", "16 82 0001 0618 0000 0000 0002 6869 0000",
		`CONTROL{leap: fine, version: 2, response: true, error: false, more: false, operation: 2, sequence: 1, ` +
			`status: 1560, association: 0, offset: 0, data: "hi"}`},
	{"dns", "1234 0100 0001 0000 0000 0000 03777777 076578616d706c65 03636f6d 00 0001 0001",
		`QUERY{ident: 4660, wanted: true, questions: [{name: ["www", "example", "com"], kind: 1, class: 1}]}`},
	{"dns", "1234 8183 0001 0000 0000 0000 00 0002 0001",
		`RESPONSE{ident: 4660, authoritative: false, truncated: false, wanted: true, available: true, code: noName, ` +
			`questions: [{name: [], kind: 2, class: 1}]}`},
	{"stun", "0001 0058 2112a442 b7e7a701bc34d686fa87dfae 8022 0010 5354554e207465737420636c69656e74 " +
		"0024 0004 6e0001ff 8029 0008 932ff9b151263b36 0006 0009 6576746a3a68367659 202020 " +
		"0008 0014 9aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a2 8028 0004 e57a3bcf",
		`REQUEST{key: 13251744054455359110, more: 4203208622, attributes: [{kind: 32802, … text: "STUN test client", … ` +
			`{kind: 36, … priority: 1845494271, … {kind: 32809, … tie: 10605970187446795062, … ` +
			`{kind: 6, … text: "evtj:h6vY", … {kind: 8, … integrity: "\x9a\xea\xa7\f\xbf… {kind: 32808, … value: none}]}`},
	{"stun", "0101 003c 2112a442 b7e7a701bc34d686fa87dfae 8022 000b 7465737420766563746f72 20 " +
		"0020 0008 0001a147e112a643 0008 0014 2b91f599fd9e90c38c7489f92af9ba53f06be7d7 8028 0004 c07d4c96",
		`SUCCESS{… mapped: {family: ipv4, port: 32853, ip: "\xc0\x00\x02\x01"}, … {kind: 32808, … value: none}]}`},
	{"stun", "0101 0048 2112a442 b7e7a701bc34d686fa87dfae 8022 000b 7465737420766563746f72 20 " +
		"0020 0014 0002a1470113a9faa5d3f179bc25f4b5bed2b9d9 " +
		"0008 0014 a382954e4be67bf11784c97c8292c275bfe3ed41 8028 0004 c8fb0b4c",
		`SUCCESS{… mapped: {family: ipv6, port: 32853, ip: " \x01\r\xb8\x124Vx\x00\x11\"3DUfw"}, … ` +
			`{kind: 32808, … value: none}]}`},
	{"stun", "0111 0014 2112a442 b7e7a701bc34d686fa87dfae 0009 0010 00000401 556e617574686f72697a6564",
		`FAILURE{… error: {class: 4, number: 1, reason: "Unauthorized"}, …}]}`},
	{"tftp", "0001 66 00 6f63746574 00 626c6b73697a65 00 31343238 00",
		`RRQ{name: "f", mode: "octet", options: [{name: "blksize", value: "1428"}]}`},
	{"tftp", "0003 0001 616263", `DATA{block: 1, data: "abc"}`},
	{"tftp", "0004 ffff", `ACK{block: 65535}`},
	{"tftp", "0005 0001 6e6f00", `ERROR{code: 1, text: "no"}`},
}

// textVectors are frames of text protocols.
var textVectors = []vector{
	{"resp", "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", `COMMAND{args: ["GET", "k"]}`},
	{"resp", "*0\r\n", `COMMAND{args: []}`},
	{"resp", "+PONG\r\n", `REPLY{kind: simple, line: "PONG", number: none, bulk: none, array: none}`},
	{"resp", "-ERR no such key\r\n",
		`REPLY{kind: error, line: "ERR no such key", number: none, bulk: none, array: none}`},
	{"resp", ":-1000\r\n", `REPLY{kind: integer, line: none, number: 18446744073709550616, bulk: none, array: none}`},
	{"resp", ":9223372036854775807\r\n",
		`REPLY{kind: integer, line: none, number: 9223372036854775807, bulk: none, array: none}`},
	{"resp", "$5\r\nhello\r\n", `REPLY{kind: bulk, line: none, number: none, bulk: "hello", array: none}`},
	{"resp", "$0\r\n\r\n", `REPLY{kind: bulk, line: none, number: none, bulk: "", array: none}`},
	{"resp", "$-1\r\n", `REPLY{kind: absent, line: none, number: none, bulk: none, array: none}`},
	{"resp", "*-1\r\n", `REPLY{kind: noArray, line: none, number: none, bulk: none, array: none}`},
	{"resp", "*2\r\n:1\r\n*2\r\n+a\r\n$-1\r\n", `REPLY{kind: array, line: none, number: none, bulk: none, ` +
		`array: [{kind: integer, line: none, number: 1, bulk: none, array: none}, ` +
		`{kind: array, line: none, number: none, bulk: none, array: [{kind: simple, line: "a", number: none, bulk: none}, ` +
		`{kind: absent, line: none, number: none, bulk: none}]}]}`},
	{"http", "GET /x?y HTTP/1.1\r\nHost:a.b\r\naccept: \t*/*\r\n\r\n",
		`REQUEST{method: get, target: "/x?y", minor: 1, ` +
			`headers: [{name: "Host", value: "a.b"}, {name: "accept", value: "*/*"}], body: none, chunked: none}`},
	{"http", "POST / HTTP/1.0\r\nA: b\r\ncontent-LENGTH:   5\r\nC: \r\n\r\na\r\nb\n",
		`REQUEST{method: post, target: "/", ` +
			`minor: 0, headers: [{name: "A", value: "b"}, {name: "C", value: ""}], body: "a\r\nb\n", chunked: none}`},
	{"http", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
		"3\r\n0\r\n\r\n00A\r\n0123456789\r\n0\r\nX: y\r\n\r\n",
		`RESPONSE{minor: 1, code: 200, reason: "OK", headers: [], body: none, chunked: {pieces: ["0\r\n", "0123456789"], ` +
			`trailers: [{name: "X", value: "y"}]}}`},
	{"http", "HTTP/1.1 204 \r\n\r\n",
		`RESPONSE{minor: 1, code: 204, reason: "", headers: [], body: none, chunked: none}`},
	{"texts", "GET a/b X/1.10\r\nHost: c d\r\n: \r\n\r\n", `REQUEST{method: get, path: "a/b", major: 1, minor: 10, ` +
		`headers: [{name: "Host", value: "c d"}, {name: "", value: ""}]}`},
	{"texts", "LIST  X/0.0\r\n\r\n", `REQUEST{method: list, path: "", major: 0, minor: 0, headers: []}`},
	{"texts", "%$7\r\n2\r\n$3\r\na\r\n\r\n*3; -5,0,300,", `ITEMS{kind: plain, items: [{mark: plain, data: "a\r\n", ` +
		`more: none}, {mark: many, data: none, more: [-5, 0, 300]}]}`},
	{"texts", "%$-1\r\n1\r\n$-1\r\n", `ITEMS{kind: gone, items: [{mark: gone, data: none, more: none}]}`},
	{"texts", "%*\n0\r\n", `ITEMS{kind: many, items: []}`},
	{"texts", "!a;0123456789" + "20;" + "01234567890123456789012345678901" +
		"0;-9223372036854775808/ffffffffffffffff\n",
		`CHUNKS{chunks: ["0123456789", "01234567890123456789012345678901"], big: 9223372036854775808, ` +
			`sum: 18446744073709551615}`},
	{"texts", "#a\u00e9\r\n\r\n--", "LOOSE{a: \"a\u00e9\", b: \"\\r\\n\"}"},
	{"texts", "& \t\nSIZE:\t 7\r\na: b \r\ndata-length:3\r\nMORE\r\n:\r\n\r\nxyzA\n0123456789\n0c: \r\n\r\n",
		`LINES{size: 7, data: "xyz", more: {parts: ["0123456789"], lines: [{name: "c", value: ""}]}, ` +
			`lines: [{name: "a", value: "b "}, {name: "", value: ""}]}`},
	{"texts", "&\nx:y\r\n\r\n", `LINES{size: none, data: none, more: none, lines: [{name: "x", value: "y"}]}`},
	{"texts", "\x00\x01\x07\x00\x07\x02ab\x00\x01\xff\xff", `BINARY{kind: 7, parts: [1, 65535], tail: "ab"}`},
}

// TestVectors: frames written down by hand are read and written by both codecs.
func TestVectors(t *testing.T) {
	codecs := map[string]*codec{}
	for _, target := range append(library, samples...) {
		if !slices.ContainsFunc(append(vectors, textVectors...), func(v vector) bool {
			return strings.Contains(target.Spec, "/"+v.protocol+"/")
		}) {
			continue
		}
		c := newCodec(t, target)
		codecs[c.Protocol.Name] = c
	}
	for _, v := range append(vectors, textVectors...) {
		c := codecs[v.protocol]
		frame, err := hex.DecodeString(strings.ReplaceAll(v.hex, " ", ""))
		if err != nil {
			frame = []byte(v.hex)
		}
		m, slots, werr := interp.DecodeFrame(c.Protocol, c.Strings, frame)
		if werr.Problem != 0 {
			t.Errorf("%s: %v", v.text, werr)
			continue
		}
		text := string(interp.AppendMessage(nil, c.Strings, m, slots))
		if got := text; !saysSo(got, v.text) {
			t.Errorf("% x is\n%s, not\n%s", frame, got, v.text)
		}
		c.decoded(t, frame)
		again := c.encoded(t, m, slots)
		if !bytes.Equal(again, frame) && !c.Protocol.Wire.Loose(m) {
			t.Errorf("%s is % x, not % x", v.text, again, frame)
		}
		// What is not looked at may be other than it was; all else is as before.
		m2, slots2, werr := interp.DecodeFrame(c.Protocol, c.Strings, again)
		if werr.Problem != 0 || string(interp.AppendMessage(nil, c.Strings, m2, slots2)) != text {
			t.Errorf("%s is written as % x, %v", text, again, werr)
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

// TestCut: a frame that ends where its last item does is found in a stream as soon as all of it is there, and not
// before, whatever follows.
func TestCut(t *testing.T) {
	for _, target := range append(library, samples...) {
		c := newCodec(t, target)
		if !c.Protocol.Wire.Self {
			continue
		}
		for _, v := range textVectors {
			if v.protocol != c.Protocol.Name {
				continue
			}
			role := ""
			for _, m := range c.Protocol.Messages {
				for _, r := range c.Protocol.Roles {
					if strings.HasPrefix(v.text, m.Name+"{") && m.From != "" && m.From != r.Name {
						role = r.Name
					}
				}
			}
			for cut := range len(v.hex) {
				if n, err := interp.FrameSizeTo(c.Protocol, []byte(v.hex[:cut]), role); n != 0 || err.Problem != 0 {
					t.Errorf("%q: after %d bytes its size is %d, %v", v.hex, cut, n, err)
				}
				c.sameSize(t, []byte(v.hex[:cut]))
			}
			for _, more := range []string{"", v.hex, "\x00"} {
				n, err := interp.FrameSizeTo(c.Protocol, []byte(v.hex+more), role)
				if n != len(v.hex) || err.Problem != 0 {
					t.Errorf("%q and %q: its size is %d, %v", v.hex, more, n, err)
				}
				c.sameSize(t, []byte(v.hex+more))
			}
		}
	}
}

// sameSize sees that both codecs say the same of the size of a frame.
func (c *codec) sameSize(t *testing.T, b []byte) {
	n, err := c.target.FrameSize(b)
	want, werr := interp.FrameSize(c.Protocol, b)
	if n != want || err == nil != (werr.Problem == 0) || err != nil && err.Error() != werr.Error() {
		t.Errorf("%q: %d, %v; want %d, %v", b, n, err, want, werr)
	}
}
