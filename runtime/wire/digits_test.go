package wire

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestDigits compares with the standard library: what is read is what is written, nothing else is taken, and the
// beginning of a number is told from what is none.
func TestDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SampledFrom([]uint64{10, 16}).Draw(t, "base")
		end := rapid.SampledFrom([]string{"\r\n", ";", "--"}).Draw(t, "end")
		text := rapid.OneOf(rapid.StringMatching(`[0-9a-f]{0,21}`), rapid.StringMatching(`[0-9A-F+ -]{1,3}`),
			rapid.Map(rapid.Uint64(), func(v uint64) string { return strconv.FormatUint(v, int(base)) }),
		).Draw(t, "text")
		text, _, _ = strings.Cut(text+end, end) // the end may begin within
		want, err := strconv.ParseUint(text, int(base), 64)
		ok := err == nil && strconv.FormatUint(want, int(base)) == text
		whole := text + end
		v, n := Digits([]byte(whole+"7"), base, false, end)
		if (n == len(whole)) != ok || ok && v != want || n > 0 != ok {
			t.Fatalf("Digits(%q, %d, %q) = %d, %d; want %d, %v", whole, base, end, v, n, want, ok)
		}
		for cut := range len(whole) {
			if _, n := Digits([]byte(whole[:cut]), base, false, end); ok && n != 0 || n > 0 {
				t.Fatalf("Digits(%q) = %d bytes", whole[:cut], n)
			}
		}
		if again := AppendDigits(nil, want, int(base), end); ok && string(again) != whole {
			t.Fatalf("%q is written as %q", whole, again)
		}
	})
}

// TestInteger is the same for numbers with a sign.
func TestInteger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringMatching(`-?[0-9]{0,20}`), rapid.StringMatching(`[0-9+ -]{1,3}`),
			rapid.SampledFrom([]string{"-0", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
				"-9223372036854775809", "-00"})).Draw(t, "text")
		want, err := strconv.ParseInt(text, 10, 64)
		ok := err == nil && strconv.FormatInt(want, 10) == text
		v, n := Integer([]byte(text+"\n"), false, "\n")
		if n > 0 != ok || ok && (Unzigzag(v) != want || n != len(text)+1) {
			t.Fatalf("Integer(%q) = %d, %d; want %d, %v", text, Unzigzag(v), n, want, ok)
		}
		if again := AppendInteger(nil, Zigzag(want), "\n"); ok && string(again) != text+"\n" {
			t.Fatalf("%q is written as %q", text, again)
		}
	})
}

// TestLoose: leading zeros and upper case are taken where that was said, up to 20 digits.
func TestLoose(t *testing.T) {
	for text, want := range map[string]uint64{"007;": 7, "00FF;": 255, "00000000000000000001;": 1} {
		if v, n := Digits([]byte(text), 16, true, ";"); v != want || n != len(text) {
			t.Errorf("%s: %d, %d", text, v, n)
		}
	}
	if _, n := Digits([]byte("000000000000000000001;"), 10, true, ";"); n != -1 {
		t.Error("21 digits are taken")
	}
}

// TestEnded: a text ends with the first end, and [Holds] says of which texts that is so.
func TestEnded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		end := rapid.SampledFrom([]string{"\r\n", ";", "--", "aab", "aa"}).Draw(t, "end")
		lone := end == "\r\n" && rapid.Bool().Draw(t, "lone")
		text := rapid.StringMatching("[ab;\r\n-]{0,8}").Draw(t, "text")
		whole := []byte(text + end)
		got, n := Ended(append(bytes.Clone(whole), "ab"...), end, lone, 8)
		if holds := Holds([]byte(text), end, lone); holds != (got == len(text) && n == len(whole)) {
			t.Fatalf("Holds(%q, %q, %v) = %v, and Ended %d, %d", text, end, lone, holds, got, n)
		}
		at := strings.Index(string(whole), end)
		if lone {
			at = strings.IndexByte(string(whole), '\n')
			if at > 0 && whole[at-1] == '\r' {
				at--
			}
		}
		if got != at {
			t.Fatalf("Ended(%q, %q, %v) = %d, not %d", whole, end, lone, got, at)
		}
		if _, n := Ended([]byte("bbbbbbbbbbb"), end, lone, 8); n != -1 {
			t.Fatalf("a text of 11 bytes ends with %q: %d", end, n)
		}
		if _, n := Ended([]byte("bbbbbbbb"), end, lone, 8); n != 0 {
			t.Fatalf("8 bytes may still end with %q: %d", end, n)
		}
	})
}

// TestWhich: the longest word wins, and is waited for.
func TestWhich(t *testing.T) {
	words := []string{"$", "$-1", "*"}
	for _, c := range []struct {
		in, end string
		i, n    int
	}{
		{"$5", "", 0, 1}, {"$", "", 0, 0}, {"$-", "", 0, 0}, {"$-1", "", 1, 3}, {"$-2", "", 0, 1}, {"*", "", 2, 1},
		{"", "", 0, 0}, {"+", "", 0, -1}, {"$ ", " ", 0, 2}, {"$-1 ", " ", 1, 4}, {"$-1x", " ", 0, -1},
		{"$-1", " ", 0, 0},
	} {
		if i, n := Which([]byte(c.in), c.end, words); n != c.n || n > 0 && i != c.i {
			t.Errorf("Which(%q, %q) = %d, %d; want %d, %d", c.in, c.end, i, n, c.i, c.n)
		}
	}
}
