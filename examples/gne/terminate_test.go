package main

import (
	"os"
	"testing"

	"github.com/parley-go/parley/examples/internal/process"
)

// TestMain is also the program.
func TestMain(m *testing.M) {
	process.Main(main)
	os.Exit(m.Run())
}

// TestTerminated: a server that is asked to end does so by itself.
func TestTerminated(t *testing.T) {
	process.Start(t, []string{"-listen", "127.0.0.1:0"}, "listening on ").Terminate()
}
