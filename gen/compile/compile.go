// Package compile is the compiler's front door: it runs the stages parse and
// resolve over a specification and everything it imports or extends. Start
// from [Load].
package compile

import "io/fs"

// Options say how a specification is compiled.
type Options struct {
	// FS is where files are read from; nil means the operating system's.
	FS fs.FS
	// Check names the check to specialise the model for: its consts and
	// domains replace those of the specification. Empty: none.
	Check string
	// Consts replace constants by name, after those of the check.
	Consts map[string]int64
}
