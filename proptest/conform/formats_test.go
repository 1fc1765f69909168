package conform

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/dissect"
	"github.com/parley-go/parley/gen/golang"
	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// formats are frames of formats for which no package is generated here, with the role that receives them. What
// their items mean in generated code is tested with the samples, which have the same.
var formats = []struct{ protocol, to, hex, text string }{
	{"a2s", "", "ffffffff 54 536f7572636520456e67696e6520517565727900", "INFO_QUERY{challenge: none}"},
	{"a2s", "", "ffffffff 54 536f7572636520456e67696e6520517565727900 0a085eea",
		"INFO_QUERY{challenge: 3932030986}"},
	{"a2s", "", "ffffffff 41 0a085eea", "CHALLENGE{challenge: 3932030986}"},
	{"a2s", "", "ffffffff 55 ffffffff", "PLAYER_QUERY{challenge: none}"},
	{"a2s", "", "ffffffff 44 02 01 5b445d2d2d2d2d3e542e4e2e573c2d2d2d2d00 0e000000 b4970044 " +
		"02 4b696c6c6572202121210005000000 6924d943",
		`PLAYERS{players: [{index: 1, name: "[D]---->T.N.W<----", score: 14, seconds: 1140889524}, ` +
			`{index: 2, name: "Killer !!!", score: 5, seconds: 1138304105}]}`},
	{"a2s", "", "ffffffff 49 02 67616d653278732e636f6d00 64655f6475737400 637374726b6500 43535300 " +
		"f000 05 10 04 64 6c 00 00 " +
		"312e302e302e323200 a0 8769 6100",
		`INFO{info: {protocol: 2, name: "game2xs.com", map: "de_dust", ` +
			`folder: "cstrke", game: "CSS", app: 240, players: 5, ` +
			`most: 16, bots: 4, kind: 100, system: 108, locked: false, ` +
			`secured: false, version: "1.0.0.22", ` +
			`port: 27015, steam: none, keywords: "a", long: none}, television: none}`},
	{"a2s", "", "feffffff 01000000 02 00 e004 ffffffff 45 0100 61", `FIRST{ident: 1, total: 2, … answer: rules, piece: "\x01\x00a"}`},
	{"a2s", "", "feffffff 01000000 02 01 e004 00 62 00", `NEXT{ident: 1, total: 2, number: 1, size: 1248, piece: "\x00b\x00"}`},
	{"wireguard", "", "04000000 01020304 0500000000000000 " + strings.Repeat("aa", 16),
		`DATA{receiver: 67305985, counter: 5, packet: "` + strings.Repeat(`\xaa`, 16) + `"}`},
	{"wireguard", "", "01000000 05000000 " + strings.Repeat("61", 148-8),
		`INITIATION{sender: 5, ephemeral: "` + strings.Repeat("a", 32) + `", static: "` + strings.Repeat("a", 48) +
			`", timestamp: "` + strings.Repeat("a", 28) + `", mac1: "` + strings.Repeat("a", 16) +
			`", mac2: "` + strings.Repeat("a", 16) + `"}`},
	{"wireguard", "", "02000000 05000000 06000000 " + strings.Repeat("62", 92-12),
		`RESPONSE{sender: 5, receiver: 6, ephemeral: "` + strings.Repeat("b", 32) + `", empty: "` +
			strings.Repeat("b", 16) + `", mac1: "` + strings.Repeat("b", 16) + `", mac2: "` +
			strings.Repeat("b", 16) + `"}`},
	{"wireguard", "", "03000000 01000000 " + strings.Repeat("62", 24) + strings.Repeat("63", 32),
		`COOKIE{receiver: 1, nonce: "` + strings.Repeat("b", 24) + `", cookie: "` + strings.Repeat("c", 32) + `"}`},
	{"enet", "", "8000 1234 81 ff 0001 05 00 0000 06 01 0002 0003 616263",
		`PACKET{session: 0, peer: 0, time: 4660, commands: [{acknowledge: true, unsequenced: false, ` +
			`kind: acknowledge, channel: 255, sequence: 1, ` +
			`received: {sequence: 1280, time: 0}, … kind: reliable, channel: 1, ` +
			`sequence: 2, received: none, connect: none, data: "abc", word: none, ` +
			`number: none, fragment: none, bandwidth: none, ` +
			`throttle: none}]}`},
	{"tls", "",
		"160301 00c4 010000c00303cb34ecb1e78163ba1c38c6dacb196a6dffa21a8d9912ec18a2ef6283024dece70000061301130313" +
			"02010000910000000b0009000006736572766572ff01000100000a001400" +
			"12001d001700180019010001010102010301040023000000" +
			"3300260024001d002099381de560e4bd43d23d8e435a7dbafeb3c06e51c1" +
			"3cae4d5413691e529aaf2c002b0003020304000d0020001e" +
			"040305030603020308040805080604010501060102010402050206020202002d00020101001c00024001",
		`CLIENT_HELLO{version: 769, legacy: 771, … session: "", suites: [4865, 4867, 4866], compression: [0], ` +
			`extensions: [{kind: 0, data: "\x00\t\x00\x00\x06server"}, {kind: 65281, data: "\x00"}, … ` +
			`{kind: 45, data: "\x01\x01"}, {kind: 28, data: "@\x01"}]}`},
	{"quic", "", "0200000000 0600405a" +
		"020000560303eefce7f7b37ba1d1632e96677825ddf73988cfc79825df566dc5430b9a045a1200130100002e00330024001d0020" +
		"9d3c940d89690b84d08a60993c144eca684d1081287c834d5311bcf32bb9da1a002b00020304",
		`PACKET{frames: [{kind: ack, more: none, ack: {largest: 0, delay: 0, first: 0, ranges: []}, … kind: crypto, ` +
			`… offset: 0, data: "\x02\x00\x00V\x03\x03\xee\xfc … \x00+\x00\x02\x03\x04", number: none, code: none, ` +
			`connection: none, path: none, close: none}]}`},
	{"quic", "", "01 000000 0e 04 c000000400000000 02 6869 0a 08 00 1c 02 08 03 627965 08 0c 616263",
		`PACKET{frames: [{kind: ping, … kind: padding, more: 2, … kind: streamOffLen, … stream: 4, ` +
			`offset: 17179869184, data: "hi", … kind: streamLen, … stream: 8, offset: none, data: "", ` +
			`… kind: close, … number: 8, … close: {code: 2, reason: "bye"}}, … kind: stream, … stream: 12, ` +
			`offset: none, data: "abc", number: none, code: none, connection: none, path: none, close: none}]}`},
	{"ssh", "", "5353482d322e302d" + "4f70656e5353485f392e32" + "0d0a", `IDENTIFICATION{software: "OpenSSH_9.2"}`},
	{"ssh", "", "0000000c 0a 15 " + strings.Repeat("5a", 10), `NEWKEYS{padding: "ZZZZZZZZZZ"}`},
	{"ssh", "", "0000001c 0a 05 0000000c 7373682d7573657261757468" + strings.Repeat("00", 10),
		`SERVICE_REQUEST{service: "ssh-userauth", padding: "` + strings.Repeat(`\x00`, 10) + `"}`},
	{"ssh", "", "0000000c 04 32 616263646566 00000000",
		`SERVICE{kind: 50, payload: "abcdef", padding: "\x00\x00\x00\x00"}`},
	{"socks5/spec", "proxy", "05 02 00 02", "METHODS{methods: [0, 2]}"},
	{"socks5/spec", "client", "05 ff", "METHOD{method: 255}"},
	{"socks5/spec", "proxy", "01 04 75736572 02 7077", `LOGIN{name: "user", password: "pw"}`},
	{"socks5/spec", "client", "01 00", "STATUS{status: 0}"},
	{"socks5/spec", "proxy", "05 01 00 03 0b 6578616d706c652e636f6d 0050",
		`REQUEST{command: connect, kind: domain, four: none, name: "example.com", six: none, port: 80}`},
	{"socks5/spec", "proxy", "05 03 00 04 20010db8000000000000000000000001 01bb",
		`REQUEST{command: associate, kind: ipv6, four: none, name: none, six: " \x01\r\xb8…", port: 443}`},
	{"socks5/spec", "client", "05 05 00 01 00000000 0000",
		`REPLY{code: refused, kind: ipv4, four: "\x00\x00\x00\x00", name: none, six: none, port: 0}`},
	{"socks5/datagram", "", "0000 00 01 c0000201 0035 616263",
		`DATAGRAM{fragment: 0, kind: ipv4, four: "\xc0\x00\x02\x01", name: none, six: none, port: 53, data: "abc"}`},
	{"enet", "", "c005 0102 0a0b", `COMPRESSED{session: 0, peer: 5, time: 258, commands: "\n\v"}`},
	{"enet/checked", "", "0001 01020304 05 ff 0001",
		`PACKET{session: 0, peer: 1, time: none, checksum: 16909060, commands: [{acknowledge: false, … kind: ping, … throttle: none}]}`},
	{"tls/records", "", "170303 0003 616263", `DATA{version: 771, fragment: "abc"}`},
	{"tls/records", "", "160303 0001 14", `HANDSHAKE{version: 771, fragment: "\x14"}`},
	{"tls/handshake", "", "02000056 0303 a6af06a4121860dc5e6e60249cd34c95930c8ac5cb1434dac155772ed3e26928 00 1301 00 " +
		"002e 0033 0024 001d0020c9828876112095fe66762bdbf7c672e156d6cc253b833df1dd69b1b04e751f0f 002b 0002 0304",
		`SERVER_HELLO{version: 771, … session: "", suite: 4865, compression: 0, extensions: [{kind: 51, … ` +
			`{kind: 43, data: "\x03\x04"}]}`},
	{"tls/handshake", "", "01000029 0301 " + strings.Repeat("61", 32) + " 00 0002 002f 01 00",
		`CLIENT_HELLO{version: 769, … session: "", suites: [47], compression: [0], extensions: none}`},
	{"tls/handshake", "", "0f000008 0804 0004 01020304",
		`CERTIFICATE_VERIFY{scheme: 2052, signature: "\x01\x02\x03\x04"}`},
	{"tls/handshake", "", "18000001 00", "KEY_UPDATE{update: asked}"},
	{"tls/handshake", "", "0e000000", "SERVER_HELLO_DONE"},
	{"dns/records", "", "1234 8180 0001 0003 0001 0001 03777777 076578616d706c65 03636f6d 00 0001 0001 " +
		"c00c 0005 0001 00000e10 0006 03776562c010 c02d 0001 0001 0000012c 0004 c0000201 " +
		"c010 000f 0001 00000e10 0009 000a 046d61696cc010 " +
		"c010 0006 0001 00000e10 0022 036e7331c010 0561646d696ec010 78495f01 00001c20 00000e10 00127500 00015180 " +
		"00 0029 1000 00000000 0000",
		`MESSAGE{ident: 4660, response: true, … questions: [{name: "www.example.com", kind: 1, class: 1}], ` +
			`answers: [{name: "www.example.com", kind: 5, … target: "web.example.com", … {name: "web.example.com", kind: 1, … ` +
			`address: "\xc0\x00\x02\x01", … {name: "example.com", kind: 15, … target: "mail.example.com", preference: 10, … ` +
			`authority: [{name: "example.com", kind: 6, … target: "ns1.example.com", … ` +
			`start: {mailbox: "admin.example.com", serial: 2018074369, refresh: 7200, … minimum: 86400}, … ` +
			`additional: [{name: "", kind: 41, class: 4096, life: 0, … data: ""}]}`},
	{"tls", "", "150303 0002 0228", "ALERT{version: 771, level: fatal, reason: 40}"},
	{"modbus", "server", "0001 0000 0006 11 03 006b 0003",
		"READ_HOLDING{transaction: 1, unit: 17, address: 107, quantity: 3}"},
	{"modbus", "client", "0001 0000 0009 11 03 06 022b 0000 0064",
		"HOLDING{transaction: 1, unit: 17, registers: [555, 0, 100]}"},
	{"modbus", "server", "0001 0000 0006 11 01 0013 0013",
		"READ_COILS{transaction: 1, unit: 17, address: 19, quantity: 19}"},
	{"modbus", "client", "0001 0000 0006 11 01 03 cd6b05", `COILS{transaction: 1, unit: 17, coils: "\xcdk\x05"}`},
	{"modbus", "client", "0001 0000 0006 11 05 00ac ff00",
		"WRITE_COIL{transaction: 1, unit: 17, address: 172, coil: on}"},
	{"modbus", "server", "0001 0000 000b 11 10 0001 0002 04 000a 0102",
		"WRITE_REGISTERS{transaction: 1, unit: 17, address: 1, values: [10, 258]}"},
	{"modbus", "client", "0001 0000 0006 11 10 0001 0002",
		"REGISTERS_WRITTEN{transaction: 1, unit: 17, address: 1, quantity: 2}"},
	{"modbus", "client", "0001 0000 0003 0a 81 02", "NO_COILS{transaction: 1, unit: 10, problem: address}"},
	{"minecraft", "server", "0f 00 2f 09 6c6f63616c686f7374 63dd 01",
		`HANDSHAKE{version: 47, address: "localhost", port: 25565, next: status}`},
	{"minecraft", "server", "01 00", "STATUS"},
	{"minecraft", "client", "04 00 02 7b7d", `ANSWER{json: "{}"}`},
	{"minecraft", "client", "09 01 0000000000000007", "PONG{time: 7}"},
	{"minecraft", "server", "09 01 0000000000000007", "PING{time: 7}"},
	{"dhcp", "", "01 01 06 00 3903f326 0000 8000 00000000 00000000 00000000 00000000 000b8201fc42" +
		strings.Repeat("00", 10) +
		strings.Repeat("00", 192) + "63825363 350101 00 370401032a06 ff",
		`MESSAGE{operation: request, hardware: 1, size: 6, hops: 0, key: 956560166, seconds: 0, broadcast: true, ` +
			`… options: [{code: 53, value: "\x01"}, {code: 0, value: none}, {code: 55, value: "\x01\x03*\x06"}]}`},
}

// TestFormats: frames from the standards are read, written again, and changed ones never do harm; Go and a
// dissector are written for each format.
func TestFormats(t *testing.T) {
	protocols := map[string]*model.Protocol{}
	for _, v := range formats {
		p := protocols[v.protocol]
		if p == nil {
			file := v.protocol + ".yaml"
			if !strings.Contains(file, "/") {
				file = v.protocol + "/spec.yaml"
			}
			p = load(t, "../../specs/library/"+file, compile.Options{})
			protocols[v.protocol] = p
			if _, err := golang.Generate(p, base.Options{Package: "x"}); err != nil {
				t.Errorf("%s: %v", v.protocol, err)
			}
			if _, err := dissect.Wireshark(p, dissect.Options{Port: 1}); err != nil {
				t.Errorf("%s: %v", v.protocol, err)
			}
		}
		for _, m := range p.Messages {
			if strings.HasPrefix(v.text, m.Name+"{") {
				p = p.In(m.FirstPhase())
			}
		}
		strs := &interp.Strings{}
		frame, err := hex.DecodeString(strings.ReplaceAll(v.hex, " ", ""))
		if err != nil {
			t.Fatal(v.protocol, err)
		}
		m, slots, werr := interp.DecodeFrameTo(p, strs, frame, v.to)
		if werr.Problem != 0 {
			t.Errorf("%s %s: %v", v.protocol, v.hex, werr)
			continue
		}
		if got := string(interp.AppendMessage(nil, strs, m, slots)); !saysSo(got, v.text) {
			t.Errorf("%s %s is\n%s, not\n%s", v.protocol, v.hex, got, v.text)
		}
		text := string(interp.AppendMessage(nil, strs, m, slots))
		again, werr := interp.AppendFrame(p, strs, nil, m, slots)
		if !bytes.Equal(again, frame) && !p.Wire.Loose(m) {
			t.Errorf("%s %s is written as % x, %v", v.protocol, v.hex, again, werr)
		}
		m2, slots2, werr := interp.DecodeFrameTo(p, strs, again, v.to)
		if werr.Problem != 0 || string(interp.AppendMessage(nil, strs, m2, slots2)) != text {
			t.Errorf("%s %s is written as % x, %v", v.protocol, text, again, werr)
		}
		r := rand.New(rand.NewPCG(7, uint64(len(frame))))
		for range 500 {
			b := changed(r, frame)
			m, slots, werr := interp.DecodeFrameTo(p, strs, b, v.to)
			if werr.Problem != 0 || p.Wire.Loose(m) {
				continue
			}
			if again, werr := interp.AppendFrame(p, strs, nil, m, slots); !bytes.Equal(again, b) {
				t.Fatalf("%s: % x is %s, which is written as % x, %v", v.protocol, b,
					interp.AppendMessage(nil, strs, m, slots), again, werr)
			}
		}
	}
}

// saysSo reports whether a text is another one, in which … stands for anything.
func saysSo(text, want string) bool {
	for i, part := range strings.Split(want, "…") {
		k := strings.Index(text, strings.TrimSpace(part))
		if k < 0 || i == 0 && k > 0 {
			return false
		}
		text = text[k+len(strings.TrimSpace(part)):]
	}
	return text == ""
}

// TestLineThenPackets: SSH begins with a line and goes on in packets; what is which the bytes say.
func TestLineThenPackets(t *testing.T) {
	p := load(t, "../../specs/library/ssh/spec.yaml", compile.Options{})
	if n, err := interp.FrameSize(p, []byte("SSX-")); n != 0 || err.Problem == 0 {
		t.Error("what is neither a line nor a packet is waited for")
	}
	stream := "SSH-2.0-OpenSSH_9.2\r\n\x00\x00\x00\x0c\x0a\x15ZZZZZZZZZZSSH-2.0-x\r\n"
	for cut := range len(stream) {
		var sizes []int
		for b := []byte(stream[:cut]); ; b = b[sizes[len(sizes)-1]:] {
			n, err := interp.FrameSize(p, b)
			if err.Problem != 0 {
				t.Fatalf("%q: %v", b, err)
			}
			if n == 0 {
				break
			}
			sizes = append(sizes, n)
		}
		want := []int{21, 16, 11}[:0]
		for _, end := range []int{21, 37, 48} {
			if cut >= end {
				want = append(want, []int{21, 16, 11}[len(want)])
			}
		}
		if !slices.Equal(sizes, want) {
			t.Errorf("%q: frames of %v bytes, not %v", stream[:cut], sizes, want)
		}
	}
}
