package conform

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/machines/connection"
	"github.com/parley-go/parley/machines/gne"
)

// gneFrames are the bytes of GNE's connection, written here by hand: behind 'N', 'L' and the length, which
// counts what follows, stand the 48, 12, 44 and 4 bytes of the handshake and the packets with their end.
var gneFrames = []struct {
	length       int // of the body
	client       bool
	hex, message string
}{
	{48, true, "4e4c 3000 474e45 00000700 " + game + "d2040000 10270000 01",
		`REQUEST{version: 458752, game: "Arena", edition: 1234, takes: 10000, unreliable: true}`},
	{12, false, "4e4c 0c00 474e45 01 00000000 ffffffff", `ACCEPTED{takes: 0, port: none}`},
	{12, false, "4e4c 0c00 474e45 01 e8030000 510e0000", `ACCEPTED{takes: 1000, port: 3665}`},
	{44, false, "4e4c 2c00 474e45 00 00000700 " + game + "d2040000",
		`REFUSED{version: 458752, game: "Arena", edition: 1234}`},
	{4, true, "4e4c 0400 510e0000", `PORT{port: 3665}`},
	{4, true, "4e4c 0400 10000000", `PORT{port: 16}`},
	{3, false, "4e4c 0300 01 01 ff", `ADMITTED{yes: true}`},
	{2, false, "4e4c 0200 02 ff", `EXIT`},
	{2, true, "4e4c 0200 02 ff", `EXIT`},
	{6, true, "4e4c 0600 03 e8030000 ff", `RATE_ADJUST{takes: 1000}`},
	{6, true, "4e4c 0600 10 0200 6869 ff", `PACKET{data: "hi"}`},
	{4, true, "4e4c 0400 10 0000 ff", `PACKET{data: ""}`},
}

// game is the name of a game in the 32 bytes that it has.
const game = "4172656e61 0000000000000000000000000000000000000000000000000000 00"

// TestConnectionFrames reads and writes each frame with the interpreter's codec and the generated ones, also that
// of specs/gne. One byte more or less is no message.
func TestConnectionFrames(t *testing.T) {
	p := load(t, "../../specs/connection/spec.yaml", compile.Options{})
	strs := &interp.Strings{}
	for _, c := range gneFrames {
		frame, err := hex.DecodeString(strings.ReplaceAll(c.hex, " ", ""))
		if err != nil || len(frame) != 4+c.length {
			t.Fatalf("%s: %d bytes behind the header, not %d: %v", c.message, len(frame)-4, c.length, err)
		}
		to := "client"
		if c.client {
			to = "server"
		}
		m, slots, werr := interp.DecodeFrameTo(p, strs, frame, to)
		if werr.Problem != 0 {
			t.Errorf("the interpreter cannot read %x: %v", frame, werr)
			continue
		}
		if got := interp.AppendMessage(nil, strs, m, slots); string(got) != c.message {
			t.Errorf("the interpreter reads %x as %s, not %s", frame, got, c.message)
		}
		var msg connection.Message
		if err := connection.DecodeMessageTo(to, frame, &msg); err != nil || msg.String() != c.message {
			t.Errorf("the generated codec reads %x as %s, not %s: %v", frame, msg.String(), c.message, err)
		}
		a, _ := interp.AppendFrame(p, strs, nil, m, slots)
		b, _ := connection.AppendMessage(nil, &msg)
		if string(a) != string(frame) || string(b) != string(frame) {
			t.Errorf("%s is written as\n%x by the interpreter,\n%x by the generated codec, not\n%x", c.message,
				a, b, frame)
		}
		if msg.Kind == connection.MessagePacket {
			continue
		}
		var composed gne.Message
		if err := gne.DecodeMessageToOnTcp(to, frame, &composed); err != nil || composed.String() != c.message {
			t.Errorf("specs/gne reads %x as %s, not %s: %v", frame, composed.String(), c.message, err)
		}
		if b, _ := gne.AppendMessage(nil, &composed); string(b) != string(frame) {
			t.Errorf("specs/gne writes %s as\n%x, not\n%x", c.message, b, frame)
		}
		for _, n := range []int{c.length - 1, c.length + 1} {
			other := append(slices.Clone(frame), 0)[:4+n]
			other[2] = byte(n)
			if err := connection.DecodeMessageTo(to, other, &msg); err == nil {
				t.Errorf("%s is taken as %s with %d bytes", c.message, msg.String(), n)
			}
			if err := gne.DecodeMessageToOnTcp(to, other, &composed); err == nil {
				t.Errorf("%s is taken as %s with %d bytes by specs/gne", c.message, composed.String(), n)
			}
		}
	}
	for _, bad := range []string{
		"4e4d 0200 02 ff", "4e4c 0200 02 fe", "4e4c 0300 02 ff ff", "4e4c 0400 51 0e 01 00",
		"4e4c 0c00 474e46 01 00000000 ffffffff", "4e4c 0c00 474e45 02 00000000 ffffffff",
	} {
		frame, _ := hex.DecodeString(strings.ReplaceAll(bad, " ", ""))
		for _, to := range []string{"client", "server"} {
			_, _, werr := interp.DecodeFrameTo(p, strs, frame, to)
			var msg connection.Message
			if err := connection.DecodeMessageTo(to, frame, &msg); err == nil || werr.Problem == 0 {
				t.Errorf("%x is taken by the %s: %v, %v", frame, to, werr, err)
			}
		}
	}
}
