package conform

import (
	"bytes"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/interp"
)

// hardLines are lines at the edges of templates, without their end.
var hardLines = []string{
	"", " ", "0", "7", "07", "+7", "-0", "4294967295", "4294967296", "99999999999999999999", "name x:",
	"name :", "name x,:", "name x", "name  :", "name 123456789:",
	"hello {you}, `there` \\ \"x\"", "hello {you}, `there` \\ \"x\" ", "all win 1 3: " +
		"65535/255/w,65535,18446744073709551615,: - no ", "all mac 0 17: 0/0/,0,0,12345678: 3 other_one some thing",
	"all mac 2 17: 0/0/,0,0,: 3 no x", "all mac 1 18: 0/0/,0,0,: 3 no x", "all mac 1 3: 0/256/,0,0,: 3 no x",
	"all mac 1 3: 0/0/,65536,0,: 3 no x", "all linux 1 3: 0/0/,0,0,: 3 no x",
	"all mac 1 3: 0/0/,0,18446744073709551616,: 3 no x", "all mac 1 3: 0/0/,0,0,: 2 no x",
	"all mac 1 3: 0/0/,0,0,: 03 no x", "all mac 1 3: 0/0/,0,0,: - - x", "all mac 1 3: 0/0/,0,0,: 4 win " +
		strings.Repeat("r", 21),
	"shade red; -", "shade dark; red", "shade dark, blue \"x\"; dark", "shade win; -", "shade dark_blue; -",
	"shade red; win", "shade ; -", "shade dark, blue; -", "shade red; dark, blue \"x\"",
	"version: 1.0 join me: sid os: powerpc-apple-macos maxplayers: 16 url: http://a.b/c d",
	"version: 1.0 join me:  os:  maxplayers: 0 url: ", "version: 1.00 join me: a os: b maxplayers: 1 url: u",
	"version: 1.0 join me: a b os: b maxplayers: 1 url: u", "version: 1.0 join me: a os: b maxplayers: 17 " +
		"url: u", "version: 1.0 join me: a os: b maxplayers: 1 url: " + strings.Repeat("u", 128),
	"version: 1.0 join me: " + strings.Repeat("n", 32) + " os: b maxplayers: 1 url: u", "remove me",
	"remove me ", "Remove me", "players: 3 max: 16", "players: 03 max: 16", "players: 3  max: 16",
	"you're not even joined", "players acknowledged.", "players acknowledged", strings.Repeat("x", 139),
	strings.Repeat("x", 400), strings.Repeat("x", 511), strings.Repeat("x", 600), "tab\there", "umlaut ä", "bell \a",
}

// TestLines compares the codecs of lines on hard lines with all kinds of ends, and sees that what
// is read and sent again is the same line.
func TestLines(t *testing.T) {
	for _, target := range allTargets() {
		c := newCodec(t, target)
		if !c.Protocol.Wire.Lines || c.Protocol.Several() {
			continue
		}
		known, end := 0, c.Protocol.Wire.EndOfLine()
		for _, text := range hardLines {
			for _, end := range []string{"\n", "\r\n", "", "\r", "\nmore\n", "\r\r\n"} {
				c.decoded(t, []byte(text+end))
			}
			m, slots, err := interp.DecodeFrame(c.Protocol, c.Strings, []byte(text+end))
			if _, _, bare := interp.DecodeFrame(c.Protocol, c.Strings, []byte(text+"\n")); c.Protocol.Wire.Strict &&
				bare.Problem == 0 {
				t.Errorf("%s: %q ends with an LF alone", target.Spec, text)
			}
			if err.Problem != 0 {
				continue
			}
			known++
			if again := c.encoded(t, m, slots); !bytes.Equal(again, []byte(text+end)) {
				t.Errorf("%s: %q is read as %s and sent as %q", target.Spec, text, m.Name, again)
			}
		}
		if known < 10 {
			t.Errorf("%s: only %d of the lines are messages", target.Spec, known)
		}
		// a text that another template takes
		last := c.Protocol.Messages[len(c.Protocol.Messages)-1]
		for _, text := range []string{"7", "remove me", "name x:", "two\nlines", "cr\r"} {
			c.encoded(t, last, []int64{c.Strings.Intern([]byte(text))})
		}
	}
}
