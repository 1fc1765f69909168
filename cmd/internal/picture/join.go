package picture

import (
	"bytes"
	"regexp"
)

// word is one stretch of text in one colour, as Graphviz writes it on a line of its own.
var word = regexp.MustCompile(`^<text text-anchor="start" x="([^"]*)" y="([^"]*)"([^>]*)>(.*)</text>$`)

// joinWords makes the stretches of one line of text one element. Graphviz gives each a place that
// it computes for its own font; in another font there are gaps between them, of every width. As one
// element they follow each other, and xml:space keeps the spaces at their ends, which some programs
// leave out otherwise.
func joinWords(svg []byte) []byte {
	var out bytes.Buffer
	var line [][][]byte // of words
	flush := func() {
		if len(line) == 1 {
			out.Write(line[0][0])
			out.WriteByte('\n')
		} else if len(line) > 1 {
			out.WriteString(`<text text-anchor="start" x="` + string(line[0][1]) + `" y="` +
				string(line[0][2]) + `" xml:space="preserve">`)
			for _, w := range line {
				out.WriteString("<tspan" + string(w[3]) + ">" + string(w[4]) + "</tspan>")
			}
			out.WriteString("</text>\n")
		}
		line = nil
	}
	for _, l := range bytes.Split(bytes.TrimSuffix(svg, []byte("\n")), []byte("\n")) {
		w := word.FindSubmatch(l)
		if len(line) > 0 && (w == nil || !bytes.Equal(w[2], line[0][2])) {
			flush()
		}
		if w == nil {
			out.Write(l)
			out.WriteByte('\n')
			continue
		}
		line = append(line, w)
	}
	flush()
	return out.Bytes()
}
