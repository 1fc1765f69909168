package golang

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/dave/jennifer/jen"
)

// packages are the imports that generated code may have, by the name they are used under.
var packages = map[string]string{
	"fsm":     "github.com/parley-go/parley/runtime/fsm",
	"wire":    "github.com/parley-go/parley/runtime/wire",
	"strconv": "strconv",
	"errors":  "errors",
	"bytes":   "bytes",
	"binary":  "encoding/binary",
}

// qualified finds the references to packages. Comments and literals are found as well, for what
// they say to be passed over.
var qualified = regexp.MustCompile("//[^\n]*|`[^`]*`|" + `"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\b(fsm|wire|strconv|errors|bytes|binary)\.([A-Z]\w*)`)

// raw turns Go text into jennifer code. Expressions and the insides of
// functions are composed as text, because text can be compared and needs no
// third notation; jennifer holds the files, declarations and imports. References
// to packages become jennifer's, so that it imports them.
func raw(text string) *jen.Statement {
	s := jen.Null()
	done := 0
	for _, at := range qualified.FindAllStringSubmatchIndex(text, -1) {
		if at[2] < 0 {
			continue
		}
		if done < at[0] {
			s.Op(text[done:at[0]])
		}
		s.Qual(packages[text[at[2]:at[3]]], text[at[4]:at[5]])
		done = at[1]
	}
	if done < len(text) {
		s.Op(text[done:])
	}
	return s
}

// rawf is raw with a format.
func rawf(format string, args ...any) *jen.Statement { return raw(fmt.Sprintf(format, args...)) }

// text collects the statements of a function.
type text struct{ strings.Builder }

// p appends a line.
func (t *text) p(format string, args ...any) {
	fmt.Fprintf(&t.Builder, format, args...)
	t.WriteByte('\n')
}

// code returns the statements for a jennifer block.
func (t *text) code() jen.Code { return raw(strings.TrimSuffix(t.String(), "\n")) }

// comment renders an author's text as lines of a comment of about 110 columns;
// the first line begins with name.
func comment(name, doc string) string {
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

// sentence puts a full stop behind an author's text.
func sentence(doc string) string {
	doc = strings.TrimSpace(doc)
	if doc == "" || strings.ContainsRune(".!?:", rune(doc[len(doc)-1])) {
		return doc
	}
	return doc + "."
}
