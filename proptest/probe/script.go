package probe

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// actKind says what an [act] is.
type actKind uint8

const (
	event     actKind = iota // a command or an expiry of our machine
	forge                    // a message, whatever our machine says
	malformed                // bytes that are no message, or part of one
	again                    // the last frame once more
	wait                     // for what the program does by itself
	hangUp                   // the connection is closed
	reset                    // or broken off
	resume                   // and made again
)

// act is one thing that we do.
type act struct {
	kind  actKind
	text  string // of an event or a message
	bytes []byte
	// cross: it goes out at once, before what the program answers is read.
	cross bool
}

// hostile reports whether an act is none of our role.
func (a act) hostile() bool {
	switch a.kind {
	case forge, malformed, again, hangUp, reset:
		return true
	}
	return false
}

// line is an act as a line of a script. The words are those of scenarios where they mean the same.
func (g *game) line(a act) string {
	text, to := "", g.name(g.us)+" -> "+g.name(g.they)
	switch a.kind {
	case event:
		text = g.name(g.us) + " " + a.text
	case forge:
		text = "forge " + to + " " + a.text
	case malformed:
		text = "malformed " + to + " " + hex.EncodeToString(a.bytes)
	case again:
		text = "again " + to
	case wait:
		text = "wait " + g.name(g.they)
	case hangUp:
		text = "close " + to
	case reset:
		text = "break " + to
	case resume:
		text = "return " + to
	}
	if a.cross {
		text = "at once " + text
	}
	return text
}

// parseLine reads a line of a script.
func (g *game) parseLine(line string) (a act, err error) {
	rest, cross := strings.CutPrefix(line, "at once ")
	a.cross = cross
	first, rest, _ := strings.Cut(rest, " ")
	if first == g.name(g.us) {
		a.kind, a.text = event, rest
		return a, nil
	}
	if first == "wait" && rest == g.name(g.they) {
		a.kind = wait
		return a, nil
	}
	rest, ok := strings.CutPrefix(rest, g.name(g.us)+" -> "+g.name(g.they))
	if !ok {
		return a, fmt.Errorf("`%s` is nothing that can be done; lines are `%s EVENT`, `wait %s`, and forge, "+
			"malformed, again, close, break or return with `%[2]s -> %[3]s`", line, g.name(g.us), g.name(g.they))
	}
	rest = strings.TrimSpace(rest)
	kinds := map[string]actKind{"forge": forge, "malformed": malformed, "again": again, "close": hangUp, "break": reset,
		"return": resume}
	kind, ok := kinds[first]
	if !ok {
		return a, fmt.Errorf("%s is no word of scripts: forge, malformed, again, close, break and return are", first)
	}
	a.kind = kind
	switch kind {
	case forge:
		a.text = rest
	case malformed:
		if a.bytes, err = hex.DecodeString(rest); err != nil {
			return a, fmt.Errorf("`%s`: %w", rest, err)
		}
	default:
		if rest != "" {
			return a, fmt.Errorf("`%s` has too many words", line)
		}
	}
	return a, nil
}
