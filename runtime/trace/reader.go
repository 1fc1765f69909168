package trace

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
)

// MaxLine is the longest line in bytes that a Reader accepts.
const MaxLine = 1 << 20

// Reader reads a record. A last line that was cut off, as after a crash, is
// no error; see Truncated.
type Reader struct {
	r         *bufio.Reader
	header    Header
	line      int
	seq       uint64
	truncated bool
}

// NewReader reads the header of a record.
func NewReader(r io.Reader) (*Reader, error) {
	t := &Reader{r: bufio.NewReaderSize(r, 64<<10)}
	b, whole, err := t.next()
	if err == io.EOF {
		return nil, errors.New("the record is empty")
	}
	if err != nil {
		return nil, err
	}
	var h struct {
		Parley, Protocol, Role, Instance, Hash, Machine string
		Version                                         int
		Channels                                        []string
		Time                                            time.Time
	}
	err = json.Unmarshal(b, &h)
	switch {
	case err != nil && !whole:
		return nil, errors.New("line 1: the header is cut off")
	case err != nil:
		return nil, fmt.Errorf("line 1: not a record: %w", err)
	case h.Parley != "trace":
		return nil, errors.New(`line 1: not a record: the first line has no "parley":"trace"`)
	case h.Version != Version:
		return nil, fmt.Errorf("line 1: the record has format version %d, this program reads version %d",
			h.Version, Version)
	}
	t.header = Header{Protocol: h.Protocol, Role: h.Role, Instance: h.Instance, Hash: h.Hash,
		Machine: h.Machine, Channels: h.Channels, Time: h.Time}
	return t, nil
}

// Header returns the record's header.
func (t *Reader) Header() Header { return t.header }

// Line returns the number of the line read last, from 1.
func (t *Reader) Line() int { return t.line }

// Truncated reports, after io.EOF, that the record does not end with a whole
// line: the line was left out.
func (t *Reader) Truncated() bool { return t.truncated }

// Next reads the next step into s, reusing its buffers. It returns io.EOF at
// the end; every other error names the line.
func (t *Reader) Next(s *Step) error {
	if t.truncated {
		return io.EOF
	}
	b, whole, err := t.next()
	if err != nil {
		return err
	}
	var l line
	if err := json.Unmarshal(b, &l); err != nil {
		if !whole {
			t.truncated = true
			return io.EOF
		}
		return fmt.Errorf("line %d: %w", t.line, err)
	}
	if err := l.step(s); err != nil {
		return fmt.Errorf("line %d: %w", t.line, err)
	}
	if s.Seq != t.seq+1 {
		return fmt.Errorf("line %d: seq is %d, %d expected: lines are missing or out of order", t.line, s.Seq, t.seq+1)
	}
	t.seq = s.Seq
	return nil
}

// next returns the next line that is not blank, and whether it ends with a newline.
func (t *Reader) next() (b []byte, whole bool, err error) {
	for {
		b, err = t.r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			b = slices.Clone(b)
			for errors.Is(err, bufio.ErrBufferFull) && len(b) <= MaxLine {
				var more []byte
				more, err = t.r.ReadSlice('\n')
				b = append(b, more...)
			}
		}
		t.line++
		switch {
		case len(b) > MaxLine:
			return nil, false, fmt.Errorf("line %d: longer than %d bytes", t.line, MaxLine)
		case err != nil && err != io.EOF:
			return nil, false, fmt.Errorf("line %d: %w", t.line, err)
		case len(bytes.TrimSpace(b)) > 0:
			return b, err == nil, nil
		case err != nil:
			return nil, false, io.EOF
		}
	}
}

// line is a step as it stands in the record.
type line struct {
	Seq        uint64
	At         int64
	Kind       string
	Again      bool
	Peer       *int16
	Channel    uint8
	Event      string
	Frame      string
	Code       string
	Transition *uint16
	Name       string
	Before     string
	After      string
	Effects    []struct {
		Kind, Do, Frame string
		Peer            int16
		Channel         uint8
	}
	Problem string
	Note    string
}

var codeNames = []string{fsm.Took.String(), fsm.Ignored.String(), fsm.Deferred.String(), fsm.Refused.String()}

func (l *line) step(s *Step) error {
	s.Reset()
	kind := slices.Index(kindNames[:], l.Kind)
	if kind < 0 {
		return fmt.Errorf("unknown kind %q", l.Kind)
	}
	s.Kind = Kind(kind)
	code := slices.Index(codeNames, l.Code)
	if code < 0 && s.Kind != Malformed && s.Kind != Closed {
		return fmt.Errorf("unknown code %q", l.Code)
	}
	s.Code = fsm.Code(max(code, 0))
	s.Seq, s.At, s.Again = l.Seq, time.Duration(l.At), l.Again
	if l.Peer != nil {
		s.Peer = fsm.Peer(*l.Peer)
	}
	s.Channel = int(l.Channel)
	if l.Transition != nil {
		s.Transition = *l.Transition
	}
	s.Name, s.Before, s.After = l.Name, l.Before, l.After
	s.Event = append(s.Event, l.Event...)
	s.Problem = append(s.Problem, l.Problem...)
	s.Note = append(s.Note, l.Note...)
	var err error
	if s.Frame, err = hex.AppendDecode(s.Frame, []byte(l.Frame)); err != nil {
		return fmt.Errorf("frame: %w", err)
	}
	for i := range l.Effects {
		in := &l.Effects[i]
		kind := slices.Index(effectNames[:], in.Kind)
		if kind < 0 {
			return fmt.Errorf("effect %d: unknown kind %q", i, in.Kind)
		}
		e := s.AddEffect()
		e.Kind, e.Peer, e.Channel = fsm.EffectKind(kind), fsm.Peer(in.Peer), int(in.Channel)
		e.Text = append(e.Text, in.Do...)
		if e.Frame, err = hex.AppendDecode(e.Frame, []byte(in.Frame)); err != nil {
			return fmt.Errorf("effect %d: frame: %w", i, err)
		}
	}
	return nil
}
