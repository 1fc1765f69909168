package diag

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Nearest returns the candidate most like name, or "" if none is near enough to
// be a likely slip. Of equally near ones one in the same case is taken, else the first. Names of
// which no character is left, as of two different names of one letter, are not near.
func Nearest(name string, candidates []string) string {
	best, bestDist, bestCase := "", 1+len(name)/3, 0
	if len(name) > 64 {
		return ""
	}
	for _, c := range candidates {
		if c == name || len(c) > len(name)+bestDist || len(name) > len(c)+bestDist {
			continue
		}
		d := distance(strings.ToLower(name), strings.ToLower(c))
		if d > 0 && d >= min(len(name), len(c)) {
			continue
		}
		exact := distance(name, c)
		if d < bestDist || d == bestDist && (best == "" || exact < bestCase) {
			best, bestDist, bestCase = c, d, exact
		}
	}
	return best
}

// DidYouMean renders the nearest candidate as a hint, or "" if there is none.
func DidYouMean(name string, candidates []string) string {
	if n := Nearest(name, candidates); n != "" {
		return fmt.Sprintf("did you mean %s?", Quote(n))
	}
	return ""
}

// Quote puts a name of the specification in the quotes used by all messages.
func Quote(s string) string {
	if len(s) > 60 {
		s = s[:57] + "..."
	}
	return "`" + strings.Map(func(r rune) rune {
		switch {
		case r < ' ' || r == 0x7f:
			return ' '
		case !unicode.IsPrint(r) && r != ' ':
			return utf8.RuneError
		}
		return r
	}, s) + "`"
}

// distance counts insertions, deletions, replacements and swaps of neighbours
// that turn a into b.
func distance(a, b string) int {
	before := make([]int, len(b)+1)
	prev := make([]int, len(b)+1)
	cur := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(b)]
}
