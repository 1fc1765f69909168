package lsp

import (
	"fmt"
	"regexp"
	"strings"
)

// quickFix is the protocol's kind of what mends a diagnostic.
const quickFix = "quickfix"

// maxFixes bounds how many diagnostics of one request are looked at.
const maxFixes = 100

// meant finds the name that a diagnostic proposes, see diag.DidYouMean.
var meant = regexp.MustCompile("did you mean `([A-Za-z0-9_-]+)`\\?")

// fixes puts the name that a diagnostic proposes in place of the wrong one. It proposes nothing if
// the text there is no longer exactly the name that the diagnostic is about.
func (s *server) fixes(d *document, p place) (any, error) {
	out := []codeAction{}
	for i, x := range p.Context.Diagnostics {
		m := meant.FindStringSubmatch(x.Message)
		if m == nil || i >= maxFixes {
			continue
		}
		from, to := d.offset(x.Range.Start), d.offset(x.Range.End)
		if from >= to || !strings.Contains(x.Message, "`"+string(d.src.Text[from:to])+"`") {
			continue
		}
		edit := workspaceEdit{Changes: map[string][]textEdit{d.uri: {{x.Range, m[1]}}}}
		out = append(out, codeAction{Title: fmt.Sprintf("Write %s", m[1]), Kind: quickFix,
			Preferred: true, Edit: edit})
	}
	return out, nil
}
