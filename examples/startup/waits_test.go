package main

import (
	"os"
	"testing"

	"github.com/parley-go/parley/examples/internal/process"
	"github.com/parley-go/parley/examples/internal/waits"
)

// TestMain is also the program.
func TestMain(m *testing.M) {
	process.Main(main)
	os.Exit(waits.Main(m))
}
