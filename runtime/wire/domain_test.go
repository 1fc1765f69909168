package wire

import (
	"strings"
	"testing"
)

// TestDomain has names of RFC 1035, section 4.1.4, and such as lie.
func TestDomain(t *testing.T) {
	frame := strings.Repeat("\x00", 20) + "\x01F\x03ISI\x04ARPA\x00" + "\x03FOO\xc0\x14" + "\xc0\x1a" + "\x00" +
		"\xc0\x2b" + "\xc0\x2d" + "\xc0\x14" + "\x40a" + "\x03a.b\x00" + "\x05ab"
	long := strings.Repeat("\x3f"+strings.Repeat("a", 63), 4) + "\x00"
	for _, x := range []struct {
		frame   string
		at      int
		back    bool
		want    string
		end     int
		problem Problem
	}{
		{frame, 20, false, "F.ISI.ARPA", 32, 0},
		{frame, 32, true, "FOO.F.ISI.ARPA", 38, 0},
		{frame, 38, true, "ARPA", 40, 0},
		{frame, 40, false, "", 41, 0},
		{frame, 32, false, "", 0, Range}, // it points back
		{frame, 41, true, "", 0, Range},  // to behind itself
		{frame, 43, true, "", 0, Range},  // to itself
		{frame, 47, true, "", 0, Range},
		{frame, 49, true, "", 0, Charset},
		{frame, 54, true, "", 0, Short},
		{frame[:33], 32, true, "", 0, Short},
		{frame[:37], 32, true, "", 0, Short},
		{frame, len(frame), true, "", 0, Short},
		{long, 0, true, "", 0, Count},
		{"\x00" + strings.Repeat("\xc0\x00", 3), 5, true, "", 7, 0},
	} {
		dst := make([]byte, 253)
		n, end, e := Domain(dst, []byte(x.frame), x.at, 0, x.back)
		if string(dst[:n]) != x.want && e.Problem == 0 || end != x.end || e.Problem != x.problem {
			t.Errorf("at %d: %q up to %d, %v; not %q up to %d, %d", x.at, dst[:n], end, e, x.want, x.end, x.problem)
		}
	}
	// Names that point to each other from the last to the first.
	chain := []byte{0}
	for i := range 40 {
		to := max(2*i-1, 0)
		chain = append(chain, 192, byte(to))
	}
	if _, _, e := Domain(make([]byte, 9), chain, 2*jumps-1, 0, true); e.Problem != 0 {
		t.Errorf("%d jumps: %v", jumps, e)
	}
	if _, _, e := Domain(make([]byte, 9), chain, 2*jumps+1, 0, true); e.Problem != Count {
		t.Errorf("%d jumps: %v", jumps+1, e)
	}
	for name, want := range map[string]string{"": "\x00", "a.bc": "\x01a\x02bc\x00", ".": "", "a.": "", "a..b": "",
		strings.Repeat("x", 64): ""} {
		if got, bad := AppendDomain(nil, []byte(name)); bad < 0 != (want != "") || want != "" && string(got) != want {
			t.Errorf("%q is %q, %d", name, got, bad)
		}
	}
}
