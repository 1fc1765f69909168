package diag

import "testing"

func TestCounted(t *testing.T) {
	for n, want := range map[int]string{0: "0 steps", 1: "1 step", 2: "2 steps"} {
		if got := Counted(n, "step"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

func TestHidden(t *testing.T) {
	for text, want := range map[string]string{
		"plain ä 日本\ttext\n": "plain ä 日本\ttext\n",
		"\x1b[31m":           `\u001b[31m`,
		"a\u009bb\u202ec\r":  `a\u009bb\u202ec\u000d`,
		"\x00\x7f\u2028":     `\u0000\u007f\u2028`,
		"a\x9bb":             "a\uFFFDb",
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
