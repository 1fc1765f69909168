package parse

import (
	"slices"
	"strings"
	"time"

	"github.com/parley-go/parley/gen/ast"
)

// scalar describes which single values may stand at a place: as a check, and as data for the JSON
// Schema and for completion.
type scalar struct {
	complain func(*ast.Node) string
	words    []string        // the only values, if any
	pattern  string          // what texts look like, if words is empty
	boolean  bool            // true and false
	but      map[string]bool // what the pattern would let through
}

var (
	anyScalar = &scalar{complain: func(*ast.Node) string { return "" }}

	nameScalar = &scalar{complain: func(n *ast.Node) string {
		return NameComplaint(n.Text)
	}, pattern: namePattern}

	protocolName = &scalar{complain: func(n *ast.Node) string {
		return ProtocolName(n.Text)
	}, pattern: "^[a-z][a-z0-9]{0,63}$", but: union(goWords, goFolders)}

	boolScalar = &scalar{complain: isBool, words: []string{"true", "false"}, boolean: true}

	duration = &scalar{complain: isDuration, pattern: "^[0-9.]+(us|µs|ms|s|m|h)([0-9.]+(us|µs|ms|s|m|h))*$"}
)

func oneOf(words ...string) *scalar { return fixed("must be "+strings.Join(words, " or "), words...) }

// fixed accepts the words of a list, and gives the complaint for all others.
func fixed(complaint string, words ...string) *scalar {
	return &scalar{words: words, complain: func(n *ast.Node) string {
		if slices.Contains(words, n.Text) {
			return ""
		}
		return complaint
	}}
}

func isBool(n *ast.Node) string {
	if n.Style != ast.Plain || n.Text != "true" && n.Text != "false" {
		return "must be true or false"
	}
	return ""
}

func isDuration(n *ast.Node) string {
	d, err := time.ParseDuration(n.Text)
	if err != nil || d < time.Microsecond || d > 24*time.Hour {
		return "must be a duration such as 50ms, from 1us to 24h"
	}
	return ""
}
