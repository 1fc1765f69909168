package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"

	"github.com/parley-go/parley/cmd/internal/coverage"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/proptest/check"
)

// coverageText is the value of --coverage without a file.
const coverageText = "text"

// pageApart refuses a page that stands apart from its flag, and would be read as a specification.
func (o *checkFlags) pageApart(args []string) error {
	for _, a := range args {
		if o.coverage == coverageText && filepath.Ext(a) == ".html" {
			return fmt.Errorf("%s is no specification; a page is written with --coverage=%s, without a space", a, a)
		}
	}
	return nil
}

// covered shows which lines the checks used, if that was asked for.
func (o *checkFlags) covered(w io.Writer, reports []*check.SuiteReport) error {
	switch {
	case o.coverage == "":
		return nil
	case o.coverage != coverageText:
		var b bytes.Buffer
		if err := coverage.HTML(&b, reports); err != nil {
			return err
		}
		return files.Write(o.coverage, b.Bytes())
	case o.asJSON:
		return nil // it is in the JSON
	}
	for _, r := range reports {
		if err := coverage.Text(w, r); err != nil {
			return err
		}
	}
	return nil
}
