// Package rules holds, as tests, what the whole repository keeps to: who may
// import whom, how many files may need each other, and which words have no place in it. It
// knows packages and files only by their names. Start from the table in
// imports_test.go.
package rules
