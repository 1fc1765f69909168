package main

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestUnifiedDiff(t *testing.T) {
	lines := func(s string) []byte { return []byte(strings.ReplaceAll(s, " ", "\n") + "\n") }
	tests := []struct{ old, new, want string }{
		{"a b c", "a x c", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"},
		{"1 2 3 4 5 6 7 8 9 10 11 12", "1 2 X 3 4 5 6 7 8 9 10 11",
			"@@ -1,5 +1,6 @@\n 1\n 2\n+X\n 3\n 4\n 5\n@@ -9,4 +10,3 @@\n 9\n 10\n 11\n-12\n"},
		{"1 2 3 4 5 6", "1 X 3 4 5 Y", "@@ -1,6 +1,6 @@\n 1\n-2\n+X\n 3\n 4\n 5\n-6\n+Y\n"},
	}
	for _, test := range tests {
		got := unifiedDiff("f", lines(test.old), lines(test.new))
		if want := "--- f\n+++ f\n" + test.want; got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	}
	if got := unifiedDiff("f", nil, lines("a b")); got != "--- f\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n" {
		t.Errorf("a new file: %s", got)
	}
}

// TestLineDiff: leaving out what is new gives the old text, and the other way round; the least is
// changed.
func TestLineDiff(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 12)
		a, b := text.Draw(rt, "a"), text.Draw(rt, "b")
		var olds, news []string
		kept := 0
		for _, e := range lineDiff(a, b) {
			if e.mark != '+' {
				olds = append(olds, e.line)
			}
			if e.mark != '-' {
				news = append(news, e.line)
			}
			if e.mark == ' ' {
				kept++
			}
		}
		if strings.Join(olds, " ") != strings.Join(a, " ") || strings.Join(news, " ") != strings.Join(b, " ") {
			rt.Fatalf("%v and %v came back as %v and %v", a, b, olds, news)
		}
		if best := int(commonLines(a, b)(0, 0)); kept != best {
			rt.Fatalf("%v and %v: %d lines are kept, %d could be", a, b, kept, best)
		}
	})
}
