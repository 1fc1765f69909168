package main

import (
	"bytes"
	"io"
	"os"

	"github.com/parley-go/parley/cmd/internal/coverage"
	"github.com/parley-go/parley/proptest/check"
)

// coverageText is the value of --coverage without a file.
const coverageText = "text"

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
		return os.WriteFile(o.coverage, b.Bytes(), 0o666)
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
