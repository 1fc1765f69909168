package conform

import (
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/machines/masterserver"
)

// The lines of the masterserver's protocol as the document of 1998 has them, section 3.1, written
// here by hand: each byte counts. What stands behind is how both codecs must read it.
var masterLines = []struct{ line, message string }{
	{"version: 1.0 join me: Gamma_Quadrant os: i586-pc-linux-gnu maxplayers: 16 url: http://gammaquadrant.parsec.org/",
		`JOIN{version: {major: 1, minor: 0}, name: "Gamma_Quadrant", os: "i586-pc-linux-gnu", max: 16, url: "http://gammaquadrant.parsec.org/"}`},
	{"version: 0.9 join me: a os: b maxplayers: 0 url: ",
		`JOIN{version: {major: 0, minor: 9}, name: "a", os: "b", max: 0, url: ""}`},
	{"remove me", "REMOVE"},
	{"players: 3 max: 16", "PLAYERS{players: 3, max: 16}"},
	{"players: 0 max: 4", "PLAYERS{players: 0, max: 4}"},
	{"join accepted", "ACCEPTED"},
	{"masterserver full", "FULL"},
	{"illegal request not processed", "ILLEGAL"},
	{"masterserver version incompatible", "INCOMPATIBLE"},
	{"removing you", "REMOVING"},
	{"you're not even joined", "NOT_JOINED"},
	{"players acknowledged.", "ACKNOWLEDGED"},
}

// masterOthers are lines that are nearly one of those and none.
var masterOthers = []string{
	"", "remove me ", " remove me", "Remove me", "remove  me", "REMOVE ME", "join accepted.",
	"players acknowledged", "you are not even joined",
	"players: 3 max: 17", "players: 17 max: 16", "players: -1 max: 16", "players: 3 max: 016",
	"players: 3  max: 16", "players:3 max: 16", "players: 3 max: 16 ",
	"version: 10.0 join me: a os: b maxplayers: 1 url: c", "version: 1 join me: a os: b maxplayers: 1 url: c",
	"version: 1.0 join me: a b os: b maxplayers: 1 url: c",
	"version: 1.0 join me: a os: b maxplayers: 17 url: c", "version: 1.0 join me: a os: b maxplayers: 1",
	"version: 1.0 join me: a os: b maxplayers: 1 url:",
	"version: 1.0 join me: sid os: powerpc-apple-macos", strings.Repeat("x", 511),
	"version: 1.0 join me: " + strings.Repeat("n", 32) + " os: b maxplayers: 1 url: c",
	"version: 1.0 join me: a os: " + strings.Repeat("o", 32) + " maxplayers: 1 url: c",
	"version: 1.0 join me: a os: b maxplayers: 1 url: " + strings.Repeat("u", 128),
}

// TestMasterLines reads and writes each line with the interpreter's codec and the generated one.
func TestMasterLines(t *testing.T) {
	p := load(t, "../../specs/masterserver/spec.yaml", compile.Options{})
	strs := &interp.Strings{}
	read := func(frame string) (byInterp, generated string) {
		m, slots, werr := interp.DecodeFrame(p, strs, []byte(frame))
		if werr.Problem == 0 {
			byInterp = string(interp.AppendMessage(nil, strs, m, slots))
		}
		var msg masterserver.Message
		if masterserver.DecodeMessage([]byte(frame), &msg) == nil {
			generated = msg.String()
		}
		return byInterp, generated
	}
	longest := "version: 9.9 join me: " + strings.Repeat("n", 31) + " os: " + strings.Repeat("o", 31) +
		" maxplayers: 16 url: " + strings.Repeat("u", 127)
	lines := append(masterLines[:len(masterLines):len(masterLines)], struct{ line, message string }{longest,
		`JOIN{version: {major: 9, minor: 9}, name: "` + strings.Repeat("n", 31) + `", os: "` +
			strings.Repeat("o", 31) + `", max: 16, url: "` + strings.Repeat("u", 127) + `"}`})
	for _, c := range lines {
		for _, end := range []string{"\n", "\r\n"} {
			if a, b := read(c.line + end); a != c.message || b != c.message {
				t.Errorf("%q is read as\n%s by the interpreter,\n%s by the generated codec", c.line+end, a, b)
			}
		}
		m, slots, err := interp.ParseMessage(p, strs, c.message)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := interp.AppendFrame(p, strs, nil, m, slots)
		var msg masterserver.Message
		if err := masterserver.DecodeMessage([]byte(c.line+"\n"), &msg); err != nil {
			t.Fatal(err)
		}
		b, _ := masterserver.AppendMessage(nil, &msg)
		if string(a) != c.line+"\n" || string(b) != c.line+"\n" {
			t.Errorf("%s is written as\n%q by the interpreter,\n%q by the generated codec", c.message, a, b)
		}
	}
	for _, line := range masterOthers {
		want := `OTHER{text: "` + line + `"}`
		if a, b := read(line + "\n"); a != want || b != want {
			t.Errorf("%q is read as\n%s by the interpreter,\n%s by the generated codec", line, a, b)
		}
	}
	for _, frame := range []string{"remove me", "remove me\r", "remove me\nremove me\n", "remove\rme\n",
		"tab\there\n", "\xfcml\n", strings.Repeat("x", 512) + "\n"} {
		if a, b := read(frame); a != "" || b != "" {
			t.Errorf("%q is no line, and read as %q by the interpreter, %q by the generated codec", frame, a, b)
		}
	}
}
