// Package oracle holds both checkers against results that others have published. The table of SOURCES.md has the
// numbers and where they are from; testdata has the models. It must not know how anybody searches.
package oracle
