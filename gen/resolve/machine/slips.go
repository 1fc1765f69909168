package machine

import (
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/model"
)

// stateKeys are the keys of a state that do not name an event.
var stateKeys = append([]string{"doc", "entry", "final", "ignore", "defer", "forward"}, nestedKeys...)

// nestedKeys are the keys of a state that mean something only if it has states, or is in one.
var nestedKeys = []string{"initial", "states", "exit"}

func eventWord(k model.EventKind) string {
	return [...]string{"basic event", "basic event", "basic event", "message", "command", "timer",
		"part's event", "part's event"}[k]
}

// alternatives is the remedy where branches are never reached because one before has no condition.
func alternatives(key *ast.Node, branches []*ast.Node) string {
	if line := atOnce(key, branches); line != "" {
		return "a list holds alternatives; to do all of it write `" + line + "`"
	}
	return "a list holds alternatives, of which the first whose `when` holds is taken: " +
		"give the one before a `when`, or do both: `do: [{send: A}, {send: B}]`, with `goto` beside it"
}

// atOnce returns a list of branches as the one that it was probably meant to be, `go: {send: A, goto: t}`: each has
// only one thing to do. It returns "" for other lists.
func atOnce(key *ast.Node, branches []*ast.Node) string {
	if key == nil {
		return ""
	}
	var all, last []string
	keys := map[string]bool{}
	for _, b := range branches {
		if b == nil || b.Kind != ast.Map || len(b.Entries) != 1 {
			return ""
		}
		e := b.Entries[0]
		switch text := string(e.Key.Src.Text[e.Key.Start:e.Value.End]); e.Key.Text {
		case "when", "doc", "defensive", "do":
			return ""
		case "goto":
			last = append(last, text)
		default:
			keys[e.Key.Text] = true
			all = append(all, text)
		}
	}
	if len(last) > 1 || strings.Contains(strings.Join(all, ""), "\n") {
		return ""
	}
	if len(keys) < len(all) {
		all = []string{"do: [{" + strings.Join(all, "}, {") + "}]"}
	}
	return key.Text + ": {" + strings.Join(append(all, last...), ", ") + "}"
}
