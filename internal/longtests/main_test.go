package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

func TestLong(t *testing.T) {
	const text = `package p

var most = race.Draws(1, 2)

func deep() int { return most }
func TestMain(m *testing.M)  { if race.Long() { m.Run() } }
func TestAsks(t *testing.T)  { race.SkipShort(t, "") }
func TestSome(t *testing.T)  { if race.Some(1, 3) { return } }
func TestDeep(t *testing.T)  { deep() }
func TestVar(t *testing.T)   { os.Getenv("PARLEY_LONG") }
func TestShort(t *testing.T) { race.Skip(t); os.Getenv("PARLEY_BIG") }
func Benchmark(b *testing.B) { race.Long() }
`
	f, err := parser.ParseFile(token.NewFileSet(), "a_test.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"TestAsks", "TestDeep", "TestSome", "TestVar"}
	if got := long([]*ast.File{f}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestFind looks through this module: there are such tests, and folders of data have none.
func TestFind(t *testing.T) {
	found, err := find("../..")
	if err != nil || len(found) < 5 || !slices.Contains(found["proptest/check"], "TestSpecs") {
		t.Errorf("%v, %v", found, err)
	}
}
