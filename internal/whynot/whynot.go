// Package whynot reproduces, as tests, what the README says about state
// machine libraries that are given their table at run time: mistakes they
// take without a word. Each test passes as long as the library behaves so; one
// that fails means that the README's table is out of date. The folder stateless is
// a module of its own, because nothing else needs that library.
package whynot
