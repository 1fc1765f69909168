package diag

import (
	"fmt"
	"strings"
)

// Counted writes how many there are of something: 1 step, 2 steps. what is the word for one, whose
// plural ends in s.
func Counted[N int | int64 | uint64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// OneOr returns the form of a word for a number of things, such as that of a verb.
func OneOr[N int | int64 | uint64](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Thousands writes a number with a comma before each three digits: 12,345.
func Thousands[N int | int64 | uint64](n N) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural returns the ending that a word has for n things.
func Plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// Article puts a or an before a word.
func Article(what string) string {
	if strings.ContainsAny(what[:1], "aeiou") {
		return "an " + what
	}
	return "a " + what
}

// QuoteAll writes names in quotes, with commas between them.
func QuoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = Quote(name)
	}
	return strings.Join(quoted, ", ")
}

// And lists names as one does in a sentence: `a`, `a and b`, `a, b and c`.
func And(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
