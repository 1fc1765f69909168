package parse

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
)

// complaint is an error of the YAML library: the byte where it occurred, what the library was
// reading, and where that begins, or -1 if the library does not say.
type complaint struct {
	text, reading string
	at, from      int
}

// slip is a mistake that people make, in their words.
type slip struct {
	at, end       int
	message, hint string
}

// findSlip looks for the mistake behind a complaint, of which the library sees the consequences,
// often some lines below. alone is set if one line is wrong, and not how lines belong together.
// findSlip returns nil if it is none of the usual mistakes.
func findSlip(src *ast.Source, c complaint) (found *slip, alone bool) {
	line := src.Pos(c.at).Line
	for _, f := range []struct {
		find  func(*ast.Source, complaint, int) *slip
		alone bool
	}{
		{tabSlip, false}, {quoteSlip, true}, {colonSlip, true}, {keySlip, true}, {braceSlip, true},
		{indentSlip, false}, {letterSlip, true}, {flowSlip, true},
	} {
		if s := f.find(src, c, line); s != nil {
			return s, f.alone
		}
	}
	return nil, false
}

// lineStart returns the offset of the first byte of a line. indentOf returns the number of blanks
// with which it begins.
func lineStart(src *ast.Source, line int) int { return src.Offset(line, 1) }

func indentOf(text string) int { return len(text) - len(strings.TrimLeft(text, " ")) }

// says reports whether a line is neither blank nor a comment.
func says(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && text[0] != '#'
}

// before returns the last line before n that is neither blank nor a comment, or 0.
func before(src *ast.Source, n int) int {
	for n--; n > 0 && !says(src.Line(n)); n-- {
	}
	return n
}

func tabSlip(src *ast.Source, c complaint, line int) *slip {
	text := src.Line(line)
	blanks := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
	i := strings.IndexByte(blanks, '\t')
	if i < 0 || !strings.Contains(c.text, "cannot start any token") && !strings.Contains(c.text, "tab character") {
		return nil
	}
	at := lineStart(src, line) + i
	return &slip{at, at + 1, "a tab; indent with spaces",
		"YAML takes no tabs at the beginning of a line; two spaces for each level are usual"}
}

// quoteSlip finds a quote that is not closed where it was meant to be.
func quoteSlip(src *ast.Source, c complaint, line int) *slip {
	at := -1
	if strings.Contains(c.reading, "quoted scalar") {
		at = c.from
		// An earlier text without its closing quote ends at the next opening one, and so on.
		if c.from >= 0 && c.from < len(src.Text) {
			if q := spanningQuote(src.Text[:c.from], src.Pos(c.from).Line); q >= 0 {
				at = q
			}
		}
	} else if q := spanningQuote(src.Text[:min(c.at+1, len(src.Text))], line); q >= 0 {
		at = q
	}
	if at < 0 || at >= len(src.Text) {
		return nil
	}
	if c.text == "found unknown escape character" {
		return &slip{c.at, c.at, "a backslash in double quotes begins an escape, and this is none",
			`write \\ for a backslash, or put the text into single quotes`}
	}
	return &slip{at, at + 1, fmt.Sprintf("the closing quote %c of this text is missing",
		src.Text[at]), ""}
}

// spanningQuote returns the offset of a quote in an earlier line whose text ends in the given line,
// or -1. A quote counts where a text can begin.
func spanningQuote(text []byte, line int) int {
	for i, n := 0, 1; i < len(text); i++ {
		switch ch := text[i]; {
		case ch == '\n':
			n++
		case ch == '#' && (i == 0 || isBlank(text[i-1])):
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case (ch == '"' || ch == '\'') && beginsText(text, i):
			from, first := i, n
			for i++; i < len(text) && text[i] != ch; i++ {
				switch {
				case text[i] == '\n':
					n++
				case text[i] == '\\' && ch == '"':
					i++
				}
			}
			if first < n && n == line {
				return from
			}
		}
	}
	return -1
}

func beginsText(text []byte, i int) bool {
	for i--; i >= 0 && (text[i] == ' ' || text[i] == '\t'); i-- {
	}
	return i < 0 || bytes.IndexByte([]byte("\n:-[{,"), text[i]) >= 0
}

// glued is a key whose colon has no space behind it: doc:Two.
var glued = regexp.MustCompile(`^\s*(?:- )*([A-Za-z_]\w*):[^\s:/]`)

// pair is a key with its value on the same line.
var pair = regexp.MustCompile(`^\s*(?:- )*"?([\w.-]+)"?:\s+(\S.*)$`)

// colonSlip finds a second `: ` in a line, a missing space behind a colon, and a value that goes on
// deeper.
func colonSlip(src *ast.Source, c complaint, line int) *slip {
	here := src.Line(line)
	col := src.Pos(c.at).Col - 1
	inMap := strings.Contains(c.text, "mapping values are not allowed")
	inBraces := strings.Contains(c.reading, "flow") && c.at < len(src.Text) && src.Text[c.at] == ':'
	if !inMap && !inBraces {
		return nil
	}
	if s := unled(src, line, lineStart(src, line)+indentOf(here)); s != nil {
		return s
	}
	if i := strings.LastIndex(here[:min(col, len(here))], ": "); i >= 0 {
		if m := semicolon.FindStringSubmatchIndex(here[i+2 : min(col, len(here))]); inBraces && m != nil {
			return commaFor(lineStart(src, line)+i+2+m[2], here[i+2+m[4]:i+2+m[5]])
		}
		if m := twoWords.FindStringSubmatchIndex(here[i+2 : min(col, len(here))]); inBraces && m != nil {
			at, word := lineStart(src, line)+i+2+m[2], here[i+2+m[2]:i+2+m[3]]
			return &slip{at, at + len(word), "a comma is missing before " + diag.Quote(word) +
				", or the text needs quotes", quoteOr(here, i, word)}
		}
		if s := unbraced(src, line); s != nil && inMap {
			return s
		}
		hint := quoteHint(here, i, inBraces)
		return &slip{c.at, c.at + 1, "quote the text: a colon followed by a space starts a value", hint}
	}
	n := before(src, line)
	above := src.Line(n)
	if s := gluedSlip(src, n); s != nil {
		return s
	}
	if m := pair.FindStringSubmatch(above); m != nil && indentOf(here) > indentOf(above) {
		at := lineStart(src, line) + indentOf(here)
		return &slip{at, at, fmt.Sprintf("this line is indented deeper than line %d, whose key %s has a "+
			"value already", n, diag.Quote(m[1])),
			fmt.Sprintf("indent it by %d spaces, like line %d", indentOf(above), n)}
	}
	if n > 0 && !strings.ContainsAny(above, ":\"'{[|>") {
		return missingColon(src, n)
	}
	return nil
}

// twoWords is a value of one word with the next key behind it.
var twoWords = regexp.MustCompile(`^[\w.]+ +([A-Za-z_]\w*)$`)

// semicolon is a value of one word with a semicolon and the next key behind it.
var semicolon = regexp.MustCompile(`^[\w.]+ *(;) *([A-Za-z_]\w*)$`)

// commaFor is a semicolon where a comma belongs, before a key.
func commaFor(at int, key string) *slip {
	hint := "put a comma there"
	if key != "" {
		hint = "write `, " + key + ":`"
	}
	return &slip{at, at + 1, "a comma parts the entries here, not `;`", hint}
}

// unledForm is a key with a brace behind it and no colon, or no space behind the colon.
var unledForm = regexp.MustCompile(`^([A-Za-z_][\w.]*)(:?)( *)([{\[].*)$`)

// unled finds such a key where a line begins, or behind the dash of a list.
func unled(src *ast.Source, line, at int) *slip {
	here := src.Line(line)[at-lineStart(src, line):]
	for strings.HasPrefix(here, "- ") {
		rest := strings.TrimLeft(here[2:], " ")
		at, here = at+len(here)-len(rest), rest
	}
	m := unledForm.FindStringSubmatch(here)
	if m == nil || m[2] == ":" && m[3] != "" {
		return nil
	}
	hint := "write `" + m[1] + ": " + m[4] + "`"
	if len(m[4]) > 80 {
		hint = "write `" + m[1] + ": " + m[4][:1] + "…`"
	}
	if m[2] == ":" {
		return &slip{at, at + len(m[1]) + 1, "a space is missing after `" + m[1] + ":`", hint}
	}
	return &slip{at, at + len(m[1]), "a colon is missing behind " + diag.Quote(m[1]), hint}
}

// unbracedForm is an event whose branch begins behind its colon without a brace.
var unbracedForm = regexp.MustCompile(`^ *([A-Za-z_][\w.]*): +(\(?)((\w+): .*)$`)

// unbraced finds a branch of one line that lacks its braces.
func unbraced(src *ast.Source, line int) *slip {
	here := src.Line(line)
	m := unbracedForm.FindStringSubmatchIndex(here)
	if m == nil || len(here) > 100 {
		return nil
	}
	name, key, value := here[m[2]:m[3]], here[m[8]:m[9]], here[m[6]:m[7]]
	if _, is := handlerShape.lookup(key); !is || proseKeys[name] {
		return nil
	}
	if m[4] < m[5] {
		value = strings.TrimSuffix(value, ")")
	}
	at := lineStart(src, line) + m[4]
	return &slip{at, at + len(here) - m[4], "what is done with " + diag.Quote(name) + " stands in braces",
		"write `" + name + ": {" + value + "}`"}
}

// proseKeys have texts for readers behind them.
var proseKeys = map[string]bool{"doc": true, "why": true, "source": true, "refuse": true}

// gluedInBraces is what a key is taken for whose colon has no space behind it.
var gluedInBraces = regexp.MustCompile(`^[A-Za-z_]\w*:[\w"'].*$`)

// quoteOr returns both remedies for a key that stands behind a value.
func quoteOr(here string, i int, word string) string {
	hint := "write `, " + word + ":`"
	if quoted := quoteHint(here, i, true); quoted != "" {
		hint += ", or " + strings.TrimPrefix(quoted, "write ")
	}
	return hint
}

// closedEarly is a quoted text with a word right behind it.
var closedEarly = regexp.MustCompile(`"(?:[^"\\]|\\.)*"(\w+)`)

// flowSlip finds what is not quoted, or is missing, between braces or brackets.
func flowSlip(src *ast.Source, c complaint, line int) *slip {
	here := src.Line(line)
	col := src.Pos(c.at).Col - 1
	tag := strings.Contains(c.reading, "a tag") && c.from >= 0 && src.Pos(c.from).Line == line
	if c.at >= len(src.Text) || col >= len(here) || !tag && !strings.Contains(c.reading, "flow") &&
		(here[col] != '}' && here[col] != ']' || !strings.Contains(c.text, "expected key")) {
		return nil
	}
	mark := func(message, hint string) *slip { return &slip{c.at, c.at + 1, message, hint} }
	front := strings.TrimRight(here[:col], " ")
	begin := strings.LastIndexAny(front, ":,{[") + 1 // of what stands before
	word := strings.TrimSpace(front[begin:])
	key := strings.LastIndex(front, ": ")
	next := firstWord.FindString(here[col:])
	early := closedEarly.FindStringSubmatchIndex(here)
	switch {
	case tag:
		at := src.Pos(c.from).Col - 1
		hint := ""
		if i := strings.LastIndex(here[:at], ": "); i >= 0 {
			hint = quoteHint(here, i, true)
		}
		return &slip{c.from, c.from + 1, "a text that begins with " + diag.Quote(here[at:at+1]) + " must be quoted",
			hint}
	case !strings.Contains(c.reading, "flow"):
		return mark(diag.Quote(here[col:col+1])+" closes nothing: there is one too many", "")
	case early != nil && early[2] <= col+1:
		at := lineStart(src, line) + early[2]
		return &slip{at, at + early[3] - early[2], fmt.Sprintf("the text that begins in column %d ends right "+
			"before %s", early[0]+1, diag.Quote(here[early[2]:early[3]])), "a quote is missing in it, or before it"}
	case here[col] == ';':
		return commaFor(c.at, firstWord.FindString(strings.TrimLeft(here[col+1:], " ")))
	case begin > 0 && front[begin-1] != ':' && word != "" && here[col] == '[' && indexed(here[col:]) != "":
		name, value := word+indexed(here[col:]), here[col+len(indexed(here[col:])):]
		value = strings.TrimSpace(strings.TrimPrefix(strings.TrimLeft(value, " "), ":"))
		at := lineStart(src, line) + begin + len(front[begin:]) - len(strings.TrimLeft(front[begin:], " "))
		return &slip{at, at + len(name), "quote the key: in braces, `[` begins a list",
			"write `\"" + name + "\": " + strings.TrimSpace(value[:valueEnd(value)]) + "`"}
	case here[col] == ',':
		return mark("nothing stands before this comma", "remove one comma")
	case next != "" && closed(front, key):
		return &slip{c.at, c.at + len(next), "a comma is missing before " + diag.Quote(next),
			"write `, " + here[col:] + "`"}
	case begin > 0 && strings.HasSuffix(word, " in") && here[col] == '[':
		end := strings.IndexByte(here[col:], ']')
		if end < 0 {
			return nil
		}
		expr := word + " " + here[col:col+end+1]
		return mark("quote the expression: `[` begins a list", "write `\""+expr+"\"`")
	case begin > 0 && front[begin-1] != ':' && word != "" && (here[col] == '{' || here[col] == '['):
		return mark("a colon is missing behind "+diag.Quote(word), "write `"+word+": "+here[col:]+"`")
	}
	if key < 0 {
		return nil
	}
	hint := quoteHint(here, key, true)
	value := here[key+2 : key+2+valueEnd(here[key+2:])]
	if name, rest, ok := strings.Cut(value, ": "); ok && here[col] == '[' && strings.HasSuffix(name, "]") {
		hint = fmt.Sprintf("write `{\"%s\": %s}`", name, rest) // an element is set, without braces around it
	}
	if strings.HasPrefix(value, `"`) || strings.HasPrefix(value, "'") {
		return mark("nothing may stand behind the closing quote: quote the whole text", hint)
	}
	return mark("quote the text: in braces, "+diag.Quote(here[col:col+1])+" ends what is not quoted", hint)
}

// fieldForm is a field behind an index.
var fieldForm = regexp.MustCompile(`^\.\w+`)

// indexed returns the indexes and fields with which a text begins, if a colon comes next.
func indexed(text string) string {
	at := 0
	for at < len(text) {
		rest := text[at:]
		switch field := fieldForm.FindString(rest); {
		case rest[0] == '[':
			end := 1
			for {
				end += valueEnd(rest[end:]) + 1
				if end >= len(rest) {
					return ""
				}
				if rest[end-1] != ',' { // which parts what is in the brackets
					break
				}
			}
			if rest[end-1] != ']' {
				return ""
			}
			at += end
		case at > 0 && field != "":
			at += len(field)
		default:
			next := strings.TrimLeft(rest, " ")
			if next == ":" || strings.HasPrefix(next, ": ") {
				return text[:at]
			}
			return ""
		}
	}
	return ""
}

// closed reports whether a bracket ends here that is no part of the text behind the last key.
func closed(front string, key int) bool {
	if !strings.HasSuffix(front, "}") && !strings.HasSuffix(front, "]") {
		return false
	}
	text := strings.TrimLeft(front[key+1:], " ")
	return key < 0 || strings.IndexAny(text, "{[") <= 0
}

// firstWord is the key with which a text begins.
var firstWord = regexp.MustCompile(`^[A-Za-z_]\w*`)

// quoteHint returns the remedy for a value with a colon: the key whose colon stands at i, with the
// value in quotes.
func quoteHint(here string, i int, inBraces bool) string {
	key := strings.TrimLeft(here[:i], " -")
	key = key[strings.LastIndexAny(key, "{[, ")+1:]
	value := here[i+2:]
	if inBraces {
		value = value[:valueEnd(value)]
	}
	value = strings.TrimSpace(value)
	quote := `"`
	if strings.ContainsAny(value, `"\`) {
		quote, value = "'", strings.ReplaceAll(value, "'", "''")
	}
	if len(value) > 100 || value == "" {
		return ""
	}
	return "write `" + key + ": " + quote + value + quote + "`"
}

// valueEnd returns where a value inside braces ends that should have been quoted: at the comma or
// closing brace of the braces around it, not of brackets inside it.
func valueEnd(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return i
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

func missingColon(src *ast.Source, line int) *slip {
	at := lineStart(src, line) + indentOf(src.Line(line))
	return &slip{at, at + len(strings.TrimSpace(src.Line(line))),
		"a colon is missing: a line here is `key: value`", ""}
}

// gluedHint returns the remedy where doc:Two is taken for a text or a key.
func gluedHint(text string) string {
	m := glued.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return "a space is missing after `" + m[1] + ":`"
}

func gluedSlip(src *ast.Source, line int) *slip {
	m := glued.FindStringSubmatchIndex(src.Line(line))
	if m == nil {
		return nil
	}
	at := lineStart(src, line)
	return &slip{at + m[2], at + m[3] + 1, "a space is missing after `" + src.Line(line)[m[2]:m[3]] + ":`", ""}
}

// keySlip finds a line that should have a key and has no colon.
func keySlip(src *ast.Source, c complaint, _ int) *slip {
	if !strings.Contains(c.text, "could not find expected ':'") || c.from < 0 {
		return nil
	}
	line := src.Pos(c.from).Line
	if s := gluedSlip(src, line); s != nil {
		return s
	}
	return missingColon(src, line)
}

// braceSlip finds brackets that are not closed, or by the wrong one.
func braceSlip(src *ast.Source, c complaint, line int) *slip {
	if !strings.Contains(c.reading, "flow") || c.from < 0 || c.from >= len(src.Text) {
		return nil
	}
	if c.from == c.at {
		c.from = bytes.LastIndexAny(src.Text[:c.at], "[{")
	}
	if c.from < 0 || src.Text[c.from] != '[' && src.Text[c.from] != '{' {
		return nil
	}
	closing := "}"
	if src.Text[c.from] == '[' {
		closing = "]"
	}
	open := src.Text[c.from]
	here := src.Line(line)
	first := c.at >= len(src.Text) || src.Pos(c.at).Col-1 == indentOf(here)
	// The next key was taken for more of the value before it.
	if !first && src.Text[c.at] == ':' && indentOf(here) <= indentOf(src.Line(src.Pos(c.from).Line)) {
		first = !strings.ContainsAny(strings.TrimSpace(here[:src.Pos(c.at).Col-1]), " ,{[")
	}
	switch {
	case first && src.Pos(c.from).Line < line:
		return &slip{c.from, c.from + 1, fmt.Sprintf("the closing %s of this %c is missing",
			diag.Quote(closing), open), ""}
	case c.at < len(src.Text) && (src.Text[c.at] == ']' || src.Text[c.at] == '}'):
		return &slip{c.at, c.at + 1, fmt.Sprintf("%s is needed here, which closes the %c of column %d",
			diag.Quote(closing), open, src.Pos(c.from).Col), ""}
	}
	return nil
}

// indentSlip finds lines that are not in line with the keys they belong to.
func indentSlip(src *ast.Source, c complaint, line int) *slip {
	here := src.Line(line)
	col := src.Pos(c.at).Col - 1
	if col != indentOf(here) {
		front := strings.TrimRight(here[:min(col, len(here))], " ")
		if strings.Contains(c.text, "expected key") &&
			(strings.HasSuffix(front, `"`) || strings.HasSuffix(front, "'")) {
			return &slip{c.at, c.at + len(here) - col, "nothing may stand behind the closing quote",
				"put the whole text into quotes; inside double quotes a quote is written \\\""}
		}
		return nil
	}
	switch {
	case strings.Contains(c.text, "expected '-' indicator"):
		return &slip{c.at, c.at + len(here) - indentOf(here),
			"this stands in line with the dashes of a list, but has none",
			"begin it with `- `, or indent it as what it belongs to"}
	case !strings.Contains(c.text, "expected key"):
		return nil
	case strings.HasPrefix(here[indentOf(here):], "- "):
		return &slip{c.at, c.at + 1, "an item of a list among the keys of a map",
			"a list stands below its key, indented deeper"}
	}
	var fits []int
	for n, least := before(src, line), 1<<30; n > 0 && least > 0; n = before(src, n) {
		if i := indentOf(src.Line(n)); i < least {
			least = i
			fits = append(fits, i)
		}
	}
	slices.Sort(fits)
	var words []string
	for _, n := range fits {
		words = append(words, fmt.Sprint(n))
	}
	return &slip{c.at, c.at,
		fmt.Sprintf("a line indented by %d spaces fits none of the lines above, which are indented by %s",
			indentOf(here), strings.Join(words, ", ")), "keys of one map stand exactly below each other"}
}

// letterSlip finds texts that begin with a character that YAML keeps for itself.
func letterSlip(src *ast.Source, c complaint, _ int) *slip {
	if strings.Contains(c.text, "sequence entries are not allowed") {
		return &slip{c.at, c.at + 1, "an item of a list cannot begin here",
			"put it on a line of its own below its key, or quote the text"}
	}
	if !strings.Contains(c.text, "cannot start any token") || c.at >= len(src.Text) {
		return nil
	}
	letter := string(src.Text[c.at : c.at+1])
	return &slip{c.at, c.at + 1, "a text that begins with " + quoteLetter(letter) + " must be quoted", ""}
}

func quoteLetter(s string) string {
	if s == "`" {
		return `"` + s + `"`
	}
	return diag.Quote(s)
}
