package diag

import (
	"fmt"
	"strings"
)

//go:generate go test -run TestPage -update .

// Explain renders what a code means, for a terminal.
func (i Info) Explain() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s (%s)\n\n%s\n\nExample:\n\n", i.Code, i.Title, i.kind(), wrap(i.Text, 78))
	for _, line := range strings.Split(strings.TrimSuffix(i.shown(), "\n"), "\n") {
		fmt.Fprintf(&b, "    %s\n", line)
	}
	if n := i.note(); n != "" {
		fmt.Fprintf(&b, "\n%s\n", wrap(n, 78))
	}
	return b.String()
}

func (i Info) kind() string {
	if i.Warning {
		return Warning.String()
	}
	return Error.String()
}

// shown is the example with control characters made visible.
func (i Info) shown() string { return strings.ReplaceAll(i.Example, "\x01", "\\x01") }

// note returns what the example does not show.
func (i Info) note() string {
	switch {
	case i.Check != "":
		return fmt.Sprintf("compiled for the check %s, which does not exist", Quote(i.Check))
	case i.Const != "":
		return fmt.Sprintf("compiled with another value for the constant %s", Quote(i.Const))
	case i.alone():
		return ""
	}
	return "The example is laid over the specification at the top of docs/DIAGNOSTICS.md."
}

func (i Info) alone() bool {
	return strings.HasPrefix(i.Example, "protocol:") || strings.HasPrefix(i.Example, "-- ")
}

// Page renders docs/DIAGNOSTICS.md.
func Page() string {
	var b strings.Builder
	b.WriteString("<!-- Generated from gen/diag by `go generate ./gen/diag`; do not edit. -->\n\n# Diagnostics\n\n" +
		"What the compiler says about a specification, by code. `fsmgen explain FSM021` prints one of these " +
		"on the terminal. " +
		"Errors stop the compiler; warnings do not. Errors come in stages: " +
		"the last line of a report says what is looked at once its errors are mended.\n\n" +
		"Examples that are not whole files are laid over this specification (as if they began with " +
		"`extends: base.yaml`):\n\n")
	fmt.Fprintf(&b, "```yaml\n%s```\n\n| code | | |\n|---|---|---|\n", Base)
	for _, i := range Codes() {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s |\n", i.Code, strings.ToLower(i.Code), i.kind(), i.Title)
	}
	for _, i := range Codes() {
		fmt.Fprintf(&b, "\n## %s\n\n**%s** (%s). %s\n\n```yaml\n%s```\n", i.Code, i.Title, i.kind(),
			i.Text, i.shown())
		if n := i.note(); n != "" && (i.Check != "" || i.Const != "") {
			fmt.Fprintf(&b, "\n(%s)\n", n)
		}
	}
	return b.String()
}

// Wrap breaks a text into lines for a terminal.
func Wrap(text string) string { return wrap(text, 78) }

// wrap breaks a text into lines of at most width characters.
func wrap(text string, width int) string {
	var b strings.Builder
	col := 0
	for _, w := range strings.Fields(text) {
		switch {
		case col == 0:
		case col+1+len(w) > width:
			b.WriteByte('\n')
			col = 0
		default:
			b.WriteByte(' ')
			col++
		}
		b.WriteString(w)
		col += len(w)
	}
	return b.String()
}
