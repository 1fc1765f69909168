package main

import (
	"io"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// load compiles a specification and reports its errors, all of them. Warnings
// are left to `fsmgen vet`: a picture may be what somebody needs to understand them.
func load(stderr io.Writer, file string) (*model.Protocol, error) {
	p, found := compile.Load(file, compile.Options{})
	if p != nil {
		return p, nil
	}
	if err := found.Errors().WriteText(stderr, diag.Render{Excerpt: true}); err != nil {
		return nil, usage("%s", cli.Describe(err))
	}
	return nil, cli.Rejected(found)
}
