package main

import (
	"testing"

	"github.com/parley-go/parley/examples/internal/process"
)

// TestTerminated: a server that is asked to end does so by itself.
func TestTerminated(t *testing.T) {
	process.Start(t, []string{"-serve"}, "listening on ").Terminate()
}
