package wire

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// TestDecimal compares with the standard library at the bounds and anywhere.
func TestDecimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 30)).Draw(t, "most")
		text := rapid.OneOf(rapid.StringMatching(`[0-9]{0,21}`), rapid.StringMatching(`[0-9+ -]{1,3}`),
			rapid.Just(strconv.FormatUint(most, 10)), rapid.Just(strconv.FormatUint(most+1, 10))).Draw(t, "text")
		want, err := strconv.ParseUint(text, 10, 64)
		ok := err == nil && want <= most && strconv.FormatUint(want, 10) == text
		if got, is := Decimal([]byte(text), most); is != ok || ok && got != want {
			t.Fatalf("Decimal(%q, %d) = %d, %v; want %d, %v", text, most, got, is, want, ok)
		}
	})
}

func TestCutLine(t *testing.T) {
	for _, c := range []struct {
		in, out string
		problem Problem
	}{
		{"a b\n", "a b", 0}, {"a\r\n", "a", 0}, {"\n", "", 0}, {"", "", Short}, {"abc", "", Short},
		{"12345678\n", "", Long}, {"12345678", "", Long},
		{"1234567\n", "1234567", 0}, {"a\nb", "", Trailing}, {"a\rb\n", "", Text}, {"a\x00\n", "", Text},
		{"\xff\n", "", Text},
	} {
		if line, e := CutLine([]byte(c.in), 8, true); string(line) != c.out || e.Problem != c.problem {
			t.Errorf("CutLine(%q) = %q, %v; want %q, problem %d", c.in, line, e, c.out, c.problem)
		}
	}
}
