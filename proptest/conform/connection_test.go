package conform

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/machines/connection"
)

// gneFrames are the bytes of GNE's connection, written here by hand: behind 'N', 'L', the length
// and the type, which counts, stand the 48, 12, 44 and 4 bytes of the handshake and the packets
// with their end.
var gneFrames = []struct {
	length       int // of the body
	hex, message string
}{
	{48, "4e4c 3100 f0 474e45 00000700 " + game + "d2040000 10270000 01",
		`REQUEST{version: 458752, game: "Arena", edition: 1234, takes: 10000, unreliable: true}`},
	{12, "4e4c 0d00 f1 474e45 01 00000000 ffffffff", `ACCEPTED{takes: 0, port: none}`},
	{12, "4e4c 0d00 f1 474e45 01 e8030000 510e0000", `ACCEPTED{takes: 1000, port: 3665}`},
	{44, "4e4c 2d00 f2 474e45 00 00000700 " + game + "d2040000",
		`REFUSED{version: 458752, game: "Arena", edition: 1234}`},
	{4, "4e4c 0500 f3 510e0000", `PORT{port: 3665}`},
	{2, "4e4c 0300 01 01 ff", `ADMITTED{yes: true}`},
	{1, "4e4c 0200 02 ff", `EXIT`},
	{5, "4e4c 0600 03 e8030000 ff", `RATE_ADJUST{takes: 1000}`},
	{5, "4e4c 0600 10 0200 6869 ff", `PACKET{data: "hi"}`},
}

// game is the name of a game in the 32 bytes that it has.
const game = "4172656e61 0000000000000000000000000000000000000000000000000000 00"

// TestConnectionFrames reads and writes each frame with the interpreter's codec and the generated one.
func TestConnectionFrames(t *testing.T) {
	p := load(t, "../../specs/connection/spec.yaml", compile.Options{})
	strs := &interp.Strings{}
	for _, c := range gneFrames {
		frame, err := hex.DecodeString(strings.ReplaceAll(c.hex, " ", ""))
		if err != nil || len(frame) != 5+c.length {
			t.Fatalf("%s: %d bytes behind the header, not %d: %v", c.message, len(frame)-5, c.length, err)
		}
		m, slots, werr := interp.DecodeFrame(p, strs, frame)
		if werr.Problem != 0 {
			t.Errorf("the interpreter cannot read %x: %v", frame, werr)
			continue
		}
		if got := interp.AppendMessage(nil, strs, m, slots); string(got) != c.message {
			t.Errorf("the interpreter reads %x as %s, not %s", frame, got, c.message)
		}
		var msg connection.Message
		if err := connection.DecodeMessage(frame, &msg); err != nil || msg.String() != c.message {
			t.Errorf("the generated codec reads %x as %s, not %s: %v", frame, msg.String(), c.message, err)
		}
		a, _ := interp.AppendFrame(p, strs, nil, m, slots)
		b, _ := connection.AppendMessage(nil, &msg)
		if string(a) != string(frame) || string(b) != string(frame) {
			t.Errorf("%s is written as\n%x by the interpreter,\n%x by the generated codec, not\n%x", c.message,
				a, b, frame)
		}
	}
	for _, bad := range []string{
		"4e4d 0200 02 ff", "4e4c 0200 02 fe", "4e4c 0300 02 ff ff", "4e4c 0500 f3 51 0e 01 00",
		"4e4c 0d00 f1 474e46 01 00000000 ffffffff", "4e4c 0d00 f1 474e45 00 00000000 ffffffff",
	} {
		frame, _ := hex.DecodeString(strings.ReplaceAll(bad, " ", ""))
		_, _, werr := interp.DecodeFrame(p, strs, frame)
		var msg connection.Message
		if err := connection.DecodeMessage(frame, &msg); err == nil || werr.Problem == 0 {
			t.Errorf("%x is taken: %v, %v", frame, werr, err)
		}
	}
}
