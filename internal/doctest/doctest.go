// Package doctest reads the blocks of code in Markdown pages, so that a test
// can do what the pages tell a reader to do. It knows Markdown fences and
// nothing of protocols. Start from [Blocks], or from [Page] where a test runs programs of its own.
//
// What the blocks of our pages mean:
//
//	```console                a terminal: lines after "$ " are run, the rest
//	$ fsmgen vet hello.yaml   must be what they print; `…` stands for any text
//	…                         in a line, a line of `…` for any lines
//	```
//	```mermaid COMMAND        a picture: what the command prints
//	```yaml hello.yaml        a file, made before the next command is run
//	```sh                     commands that are run elsewhere; the test has the list
package doctest

import (
	"fmt"
	"regexp"
	"strings"
)

// Block is a fenced block of a page.
type Block struct {
	Line int    // of the fence, from 1
	Lang string // first word of the fence's information
	File string // second word, "" if there is none
	Text string // with a newline at the end of each line
}

// Runs reports whether a test has to run something for b.
func (b Block) Runs() bool { return b.Lang == "console" || b.Lang == "mermaid" }

// Blocks returns the fenced blocks of a page, in order. A fence that is not
// closed is an error.
func Blocks(page string) ([]Block, error) {
	var list []Block
	var open *Block
	fence := ""
	for i, line := range strings.Split(page, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case open == nil && strings.HasPrefix(trimmed, "```"):
			info := strings.TrimLeft(trimmed, "`")
			fence = trimmed[:len(trimmed)-len(info)]
			open = &Block{Line: i + 1}
			if words := strings.Fields(info); len(words) > 0 {
				open.Lang = words[0]
				open.File = strings.Join(words[1:], " ")
			}
		case open != nil && trimmed == fence:
			list = append(list, *open)
			open = nil
		case open != nil:
			open.Text += line + "\n"
		}
	}
	if open != nil {
		return list, fmt.Errorf("the block that starts in line %d has no end", open.Line)
	}
	return list, nil
}

// Command is one command of a console block and what it must print.
type Command struct {
	Line int // from 1, in the page
	Text string
	Want string
}

// Commands divides a console block. A command ending in a backslash goes on in the next line.
func (b Block) Commands() ([]Command, error) {
	var list []Command
	more := false
	for i, line := range strings.SplitAfter(b.Text, "\n") {
		switch text, isCommand := strings.CutPrefix(line, "$ "); {
		case more:
			last := &list[len(list)-1]
			last.Text = strings.TrimSuffix(last.Text, "\\") + strings.TrimSpace(line)
			more = strings.HasSuffix(last.Text, "\\")
		case isCommand:
			list = append(list, Command{Line: b.Line + 1 + i, Text: strings.TrimSpace(text)})
			more = strings.HasSuffix(strings.TrimSpace(text), "\\")
		case line == "":
		case len(list) == 0:
			return nil, fmt.Errorf("line %d: a console block starts with a command after `$ `", b.Line+1+i)
		default:
			list[len(list)-1].Want += line
		}
	}
	return list, nil
}

// Matches reports whether a command printed what the page says. Spaces at the
// ends of lines and empty lines at the end do not count.
func (c Command) Matches(got string) bool {
	var re strings.Builder
	re.WriteString(`\A`)
	for _, line := range strings.Split(tidy(c.Want), "\n") {
		if strings.TrimSpace(line) == "…" {
			re.WriteString(`(?:.*\n)*`)
			continue
		}
		for i, part := range strings.Split(line, "…") {
			if i > 0 {
				re.WriteString(`.*`)
			}
			re.WriteString(regexp.QuoteMeta(part))
		}
		re.WriteString(`\n`)
	}
	re.WriteString(`\z`)
	return regexp.MustCompile(re.String()).MatchString(tidy(got) + "\n")
}

func tidy(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \t\r")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}
