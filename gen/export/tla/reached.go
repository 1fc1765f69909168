package tla

import (
	"regexp"
	"strings"
)

var (
	word = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
)

// block is the lines of one definition, with the comment before it.
type block struct {
	name  string
	lines []string
}

// reached leaves out the definitions that nobody asks for. A definition begins at the margin; what is indented
// belongs to it.
func reached(lines []string, roots []string) (out []string) {
	var blocks []block
	by := map[string][]int{}
	var comment []string
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, "\\*"):
			comment = append(comment, line)
		case strings.HasPrefix(line, " "):
			b := &blocks[len(blocks)-1]
			b.lines = append(b.lines, line)
		default:
			name := word.FindString(strings.TrimPrefix(line, "RECURSIVE "))
			by[name] = append(by[name], len(blocks))
			blocks = append(blocks, block{name, append(comment, line)})
			comment = nil
		}
	}
	wanted := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if wanted[name] {
			return
		}
		wanted[name] = true
		for _, k := range by[name] {
			for _, line := range blocks[k].lines {
				if !strings.HasPrefix(line, "\\*") {
					for _, w := range word.FindAllString(line, -1) {
						if by[w] != nil {
							visit(w)
						}
					}
				}
			}
		}
	}
	for _, r := range roots {
		visit(r)
	}
	for _, b := range blocks {
		if wanted[b.name] {
			out = append(out, b.lines...)
		}
	}
	return out
}
