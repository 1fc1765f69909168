package wire

import "testing"

// TestCharsets: the first byte that a charset does not allow is found, where it is.
func TestCharsets(t *testing.T) {
	for _, c := range []struct {
		charset, text string
		bad           int
	}{
		{"", "\xff\x00", -1}, {"utf8", "", -1}, {"utf8", "aé\u20ac\U0001f600\x00", -1}, {"utf8", "a\xffb", 1},
		{"utf8", "é\xc3", 2}, {"utf8", "\xc0\x80", 0}, {"utf8", "ab\xed\xa0\x80", 2}, {"utf8", "\ufffd", -1},
		{"utf8", "\xf4\x90\x80\x80", 0}, {"ascii", "a\x00\x7f", -1}, {"ascii", "aé", 1}, {"printable", " ~", -1},
		{"printable", "a\n", 1}, {"printable", "a\x7f", 1}, {"printable", "\x80", 0},
	} {
		if got := BadIn(c.charset, []byte(c.text)); got != c.bad {
			t.Errorf("%q in %q: %d, not %d", c.text, c.charset, got, c.bad)
		}
	}
}
