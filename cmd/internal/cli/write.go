package cli

import (
	"errors"
	"io"
	"syscall"
)

// patient is an output that takes everything, even when nobody reads it any more: a command that
// writes files finishes them although its output goes to `head`. It keeps the first error.
type patient struct {
	to  io.Writer
	err error
}

func (p *patient) Write(b []byte) (int, error) {
	n, err := p.to.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		return len(b), nil
	}
	if p.err == nil {
		p.err = err
	}
	return n, err
}
