package base

import "strings"

// Comment returns an author's text as a comment with lines of about 110 columns. The first line begins
// with name.
func Comment(name, doc string) string {
	words := strings.Fields(doc)
	if name != "" {
		words = append([]string{name}, words...)
	}
	var b strings.Builder
	column := 0
	for _, w := range words {
		if column > 0 && column+len(w) > 106 {
			b.WriteByte('\n')
			column = 0
		}
		if column == 0 {
			b.WriteString("//")
		}
		b.WriteString(" " + w)
		column += len(w) + 1
	}
	return b.String()
}

// Sentence returns an author's text with a full stop at its end.
func Sentence(doc string) string {
	doc = strings.TrimSpace(doc)
	if doc == "" || strings.ContainsRune(".!?:", rune(doc[len(doc)-1])) {
		return doc
	}
	return doc + "."
}
