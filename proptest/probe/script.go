package probe

import (
	"encoding/hex"
	"fmt"
	"slices"
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
	resume                   // all connections are closed and made again
	join                     // an instance connects
)

// act is one thing that we do.
type act struct {
	kind  actKind
	who   int    // whose act it is
	text  string // of an event or a message
	bytes []byte
	// channel is that of bytes.
	channel int
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
	if !slices.Contains(g.us, a.who) {
		a.who = g.us[0] // of an act that is nobody's own
	}
	text, to := "", g.name(a.who)+" -> "+g.name(g.they)
	switch a.kind {
	case event:
		text = g.name(a.who) + " " + a.text
	case forge:
		text = "forge " + to + " " + a.text
	case malformed:
		text = "malformed " + to + g.on(a.channel) + " " + hex.EncodeToString(a.bytes)
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
	case join:
		text = "connect " + to
	}
	if a.cross {
		text = "at once " + text
	}
	return text
}

// parseLine reads a line of a script.
func (g *game) parseLine(line string) (a act, err error) {
	rest, cross := strings.CutPrefix(line, "at once ")
	a.cross, a.who = cross, g.us[0]
	first, rest, _ := strings.Cut(rest, " ")
	for _, i := range g.us {
		if first == g.name(i) {
			a.kind, a.who, a.text = event, i, rest
			return a, nil
		}
	}
	if first == "wait" && rest == g.name(g.they) {
		a.kind = wait
		return a, nil
	}
	ok := false
	for _, i := range g.us {
		if rest, ok = strings.CutPrefix(rest, g.name(i)+" -> "+g.name(g.they)); ok {
			a.who = i
			break
		}
	}
	if !ok {
		us := g.name(g.us[0])
		return a, fmt.Errorf("`%s` is nothing that can be done; lines are `%s EVENT`, `wait %s`, and forge, "+
			"malformed, again, close, break, return or connect with `%[2]s -> %[3]s`", line, us, g.name(g.they))
	}
	rest = strings.TrimSpace(rest)
	kinds := map[string]actKind{"forge": forge, "malformed": malformed, "again": again, "close": hangUp, "break": reset,
		"return": resume, "connect": join}
	kind, ok := kinds[first]
	if !ok {
		return a, fmt.Errorf("%s is no word of scripts: forge, malformed, again, close, break, return and connect are",
			first)
	}
	a.kind = kind
	switch kind {
	case forge:
		a.text = rest
	case malformed:
		for k := range g.protocol.Channels() {
			if more, ok := strings.CutPrefix(" "+rest, g.on(k)+" "); ok && g.protocol.Several() {
				a.channel, rest = k, more
			}
		}
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

// on is a channel in words, if there are several.
func (g *game) on(channel int) string {
	if !g.protocol.Several() {
		return ""
	}
	return " on " + g.protocol.Channels()[channel].Name
}
