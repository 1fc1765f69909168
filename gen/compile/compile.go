// Package compile is the compiler's front door: it runs the stages parse and
// resolve over a specification and everything it imports or extends. Start
// from [Load].
package compile

import (
	"io/fs"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/symbols"
)

// Options choose how a specification is compiled.
type Options struct {
	// FS is where files are read from; nil means the operating system's.
	FS fs.FS
	// Check names the check to specialise the model for: its consts and
	// domains replace those of the specification. Empty: none.
	Check string
	// Consts replace constants by name, after those of the check.
	Consts map[string]int64
	// Parties is how many parties there are instead of the protocol's `parties`, if it is more than 0
	// and less than that: values are smaller then. Checks are left out.
	Parties int
	// More, if not nil, has more to say about a protocol without errors; see package lint.
	More func(*model.Protocol) diag.List
	// Symbols, if not nil, is told where names are declared and used, also if there are errors.
	Symbols *symbols.Table
}
