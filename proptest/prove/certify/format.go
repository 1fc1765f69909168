// Package certify verifies certificates: sets of configurations, of which each
// stands for many because its channels may be arbitrarily long, that hold the
// beginning, are closed under every step, and contain no violation. What it
// accepts is proved for channels without a bound.
//
// It is kept small, to be read and believed: it steps machines by the
// interpreter and must not know the explorer, the adapter that feeds it, or
// how a certificate was found. Start from [Verify].
package certify

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Format is the name of the format, in the first line of a certificate.
const Format = "parley unbounded channels 1"

// Header is the first line: what the certificate is about.
type Header struct {
	Format string `json:"certificate"`
	// Hash is that of the specification, Check names the check.
	Spec  string `json:"spec"`
	Hash  string `json:"hash"`
	Check string `json:"check"`
	// Lift says which environment rules do not hold: "" none, "lengths" what
	// rules say about lengths of channels, "rules" no rule at all.
	Lift string `json:"lift,omitempty"`
	// Values is how many values the opaque types have; 0: as the check says.
	Values int64 `json:"values,omitempty"`
	// Claims are established: always, agree and built-in claims by name.
	Claims []string `json:"claims"`
}

// Line is one further line; exactly one of its parts is set. Messages, local
// values and words are numbered as they come; word 0, the empty one, is not
// written.
type Line struct {
	// Message is the index of a message and the slots of its fields.
	Message []int64 `json:"m,omitempty"`
	// Local is the number of an instance; 1 if it was started; for each of its
	// commands how often it was given, if a rule bounds that, else 0; and the slots of its value.
	Local []int64 `json:"v,omitempty"`
	// Word is the contents of a channel, oldest first.
	Word []Block `json:"w,omitempty"`
	// Configuration has a local value for each instance and a word for each channel.
	// Channels are those of every ordered pair of instances, by sender, then receiver, then as the
	// specification lists them.
	Configuration []int `json:"c,omitempty"`
}

// Block is a stretch of a channel: a number, and the messages it consists of. [0, m] is exactly the
// message m; [n, m, ...] with n > 0 is any sequence of at least n messages, each of which is one of
// those listed.
type Block []int

// Open says that the block stands for sequences of any length.
func (b Block) Open() bool { return b[0] > 0 }

// Least is the least number of messages.
func (b Block) Least() int { return max(b[0], 1) }

// Certificate is a certificate as it was read.
type Certificate struct {
	Header
	Messages       [][]int64
	Locals         [][]int64
	Words          [][]Block
	Configurations [][]int
}

// maxLine is the longest line of a certificate, in bytes.
const maxLine = 1 << 20

// Read reads a certificate. It checks that every number is one of those
// defined before, so that nothing behind it can go out of range.
func Read(r io.Reader) (*Certificate, error) {
	c := &Certificate{Words: [][]Block{nil}}
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 64<<10), maxLine)
	for n := 1; s.Scan(); n++ {
		var err error
		if n == 1 {
			if err = json.Unmarshal(s.Bytes(), &c.Header); err == nil && c.Format != Format {
				err = fmt.Errorf("it does not say %q", Format)
			}
		} else {
			err = c.line(s.Bytes())
		}
		if err != nil {
			return nil, fmt.Errorf("line %d of the certificate: %w", n, err)
		}
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("the certificate: %w", err)
	}
	if c.Format == "" {
		return nil, errors.New("the certificate is empty")
	}
	return c, nil
}

func (c *Certificate) line(text []byte) error {
	var l Line
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	switch {
	case l.Message != nil:
		c.Messages = append(c.Messages, l.Message)
	case l.Local != nil:
		c.Locals = append(c.Locals, l.Local)
	case l.Word != nil:
		for _, b := range l.Word {
			if len(b) < 2 || b[0] < 0 || b[0] == 0 && len(b) != 2 {
				return errors.New("a block is [0, message] or [least, message, ...]")
			}
			for _, m := range b[1:] {
				if m < 0 || m >= len(c.Messages) {
					return fmt.Errorf("there is no message %d before it", m)
				}
			}
		}
		c.Words = append(c.Words, l.Word)
	case l.Configuration != nil:
		c.Configurations = append(c.Configurations, l.Configuration)
	default:
		return errors.New("it says nothing")
	}
	return nil
}

// Write writes a certificate.
func (c *Certificate) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	errs := []error{e.Encode(c.Header)}
	for _, m := range c.Messages {
		errs = append(errs, e.Encode(Line{Message: m}))
	}
	for _, v := range c.Locals {
		errs = append(errs, e.Encode(Line{Local: v}))
	}
	for _, w := range c.Words[1:] {
		errs = append(errs, e.Encode(Line{Word: w}))
	}
	for _, x := range c.Configurations {
		errs = append(errs, e.Encode(Line{Configuration: x}))
	}
	return errors.Join(append(errs, out.Flush())...)
}
