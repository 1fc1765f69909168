package main

import (
	"os"
	"testing"

	"github.com/parley-go/parley/examples/internal/waits"
)

func TestMain(m *testing.M) { os.Exit(waits.Main(m)) }
