// Package rules holds, as tests, what the whole repository keeps to: who may
// import whom, how long a file may be, and which words have no place in it. It
// knows packages and files only by their names. Start from the table in
// imports_test.go.
package rules
