package main

import (
	"testing"

	"github.com/parley-go/parley/cmd/internal/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m, "fsmviz", execute) }

// TestScripts runs testdata/script/*.txtar; to add a test, add a file there.
func TestScripts(t *testing.T) { clitest.Run(t, "../..") }
