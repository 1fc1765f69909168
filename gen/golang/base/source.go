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

// Reworded is a comment about an object with other names for objects. A name that is a plain word is one only at the
// beginning.
func Reworded(doc string, names map[string]string) string {
	first := true
	return eachWord(doc, func(w string) string {
		if other := names[w]; other != "" && (first || strings.ToLower(w[1:]) != w[1:]) {
			w = other
		}
		first = false
		return w
	})
}

// eachWord is a text with another word for each of its words.
func eachWord(text string, other func(string) string) string {
	var out, word []byte
	for _, c := range append([]byte(text), 0) {
		if 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' {
			word = append(word, c)
			continue
		}
		if len(word) > 0 {
			out, word = append(out, other(string(word))...), word[:0]
		}
		out = append(out, c)
	}
	return string(out[:len(out)-1])
}
