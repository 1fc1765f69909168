package main

import (
	"io"
	"os"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// load compiles a specification and reports its errors, all of them. Warnings
// are left to `fsmgen vet`: a picture may be what somebody needs to understand them.
func load(stderr io.Writer, file string) (*model.Protocol, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, usage("%v", err)
	}
	p, found := compile.Load(file, compile.Options{})
	if p != nil {
		return p, nil
	}
	if err := found.Errors().WriteText(stderr, diag.Render{Excerpt: true}); err != nil {
		return nil, usage("%v", err)
	}
	return nil, cli.Findings()
}
