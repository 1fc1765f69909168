// Package suggest searches small changes of a specification that make all its checks pass: a
// reception that is missing, another target, an effect more or less, a transition that should not
// be, more deferred messages that a role may hold. Only what the counterexamples touch is changed.
// Edits are tried on the model, in place, which is fast; those that pass are written into the text
// of the specification, and the text is compiled and checked as a whole before it is suggested.
//
// It must not know YAML's syntax beyond the tree of gen/ast. Start from [Search].
package suggest
