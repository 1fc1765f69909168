package trace

import (
	"encoding/hex"
	"io"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/parley-go/parley/runtime/fsm"
)

// bufferSize is how many bytes a Writer gathers before it writes by itself.
const bufferSize = 32 << 10

// Writer is a [Sink] that writes lines of JSON. It does not allocate once its
// buffer has grown to the longest run of lines. When the file fails, recording
// ends: what was written stays readable, further lines are counted as lost.
type Writer struct {
	w    io.Writer
	buf  []byte
	held uint64 // lines in buf
	err  error
	lost uint64
}

// NewWriter returns a writer to w, which should be a file: a Write that blocks would hold up the
// driver. Lines are gathered and written when they are 32 KiB, by the next Flush of the driver, at
// most a fifth of a second later, and when Run ends. So the record is whole, with a line of kind
// closed at its end, only after Driver.Done: a program that ends earlier loses the last lines.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Begin implements [Sink].
func (t *Writer) Begin(h Header) {
	b := append(t.buf, `{"parley":"trace","version":`...)
	b = strconv.AppendInt(b, Version, 10)
	b = appendField(b, "protocol", h.Protocol)
	b = appendField(b, "role", h.Role)
	if h.Instance != "" {
		b = appendField(b, "instance", h.Instance)
	}
	b = appendField(b, "hash", h.Hash)
	b = appendField(b, "machine", h.Machine)
	if len(h.Channels) > 0 {
		b = append(b, `,"channels":[`...)
		for i, name := range h.Channels {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendQuoted(b, name)
		}
		b = append(b, ']')
	}
	b = append(b, `,"time":"`...)
	b = h.Time.UTC().AppendFormat(b, time.RFC3339Nano)
	t.line(append(b, '"'))
}

// Step implements [Sink].
func (t *Writer) Step(s *Step) {
	if t.err != nil {
		t.lost++
		return
	}
	b := append(t.buf, `{"seq":`...)
	b = strconv.AppendUint(b, s.Seq, 10)
	b = append(b, `,"at":`...)
	b = strconv.AppendInt(b, int64(s.At), 10)
	b = appendField(b, "kind", s.Kind.String())
	if s.Again {
		b = append(b, `,"again":true`...)
	}
	if s.Peer != fsm.Broadcast {
		b = append(b, `,"peer":`...)
		b = strconv.AppendInt(b, int64(s.Peer), 10)
	}
	b = appendChannel(b, s.Channel)
	b = appendText(b, "event", s.Event)
	b = appendHex(b, "frame", s.Frame)
	if s.Kind != Malformed && s.Kind != Closed {
		b = appendField(b, "code", s.Code.String())
	}
	if s.Transition != fsm.NoTransition {
		b = append(b, `,"transition":`...)
		b = strconv.AppendUint(b, uint64(s.Transition), 10)
		b = appendField(b, "name", s.Name)
	}
	b = appendField(b, "before", s.Before)
	b = appendField(b, "after", s.After)
	if len(s.Effects) > 0 {
		b = appendEffects(b, s.Effects)
	}
	b = appendText(b, "problem", s.Problem)
	t.line(appendText(b, "note", s.Note))
}

// appendChannel appends the place of a channel that is not the first.
func appendChannel(b []byte, channel int) []byte {
	if channel == 0 {
		return b
	}
	return strconv.AppendInt(append(b, `,"channel":`...), int64(channel), 10)
}

func appendEffects(b []byte, effects []Effect) []byte {
	b = append(b, `,"effects":[`...)
	for i := range effects {
		if i > 0 {
			b = append(b, ',')
		}
		e := &effects[i]
		b = append(b, `{"kind":"`...)
		b = append(b, effectNames[e.Kind]...)
		b = append(b, '"')
		if e.Kind == fsm.Send || e.Kind == fsm.Close {
			b = append(b, `,"peer":`...)
			b = strconv.AppendInt(b, int64(e.Peer), 10)
		}
		b = appendChannel(b, e.Channel)
		b = appendText(b, "do", e.Text)
		b = append(appendHex(b, "frame", e.Frame), '}')
	}
	return append(b, ']')
}

var effectNames = [...]string{fsm.Send: "send", fsm.Report: "report", fsm.StartTimer: "start",
	fsm.StopTimer: "stop", fsm.Close: "close"}

// line ends the line in b, which begins with what is buffered.
func (t *Writer) line(b []byte) {
	t.buf = append(b, "}\n"...)
	t.held++
	if len(t.buf) >= bufferSize {
		t.Flush()
	}
}

// Flush implements [Sink].
func (t *Writer) Flush() error {
	if t.err != nil || len(t.buf) == 0 {
		return t.err
	}
	n, err := t.w.Write(t.buf)
	if err == nil && n < len(t.buf) {
		err = io.ErrShortWrite
	}
	if err != nil {
		t.err = err
		t.lost += t.held
	}
	t.buf, t.held = t.buf[:0], 0
	return err
}

// Lost returns how many lines, at least, were not recorded because the file failed.
func (t *Writer) Lost() uint64 { return t.lost }

func appendField(b []byte, name, value string) []byte {
	return appendQuoted(append(append(append(b, `,"`...), name...), `":`...), value)
}

func appendQuoted(b []byte, value string) []byte {
	b = append(b, '"')
	n := plain(value)
	b = append(b, value[:n]...)
	for _, r := range value[n:] {
		b = appendRune(b, r)
	}
	return append(b, '"')
}

func appendText(b []byte, name string, value []byte) []byte {
	if len(value) == 0 {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":"`...)
	n := plain(value)
	b = append(b, value[:n]...)
	for value = value[n:]; len(value) > 0; value = value[n:] {
		var r rune
		r, n = utf8.DecodeRune(value)
		b = appendRune(b, r)
	}
	return append(b, '"')
}

// plain returns how many bytes at the start of s may stand in a JSON text as they are.
func plain[T string | []byte](s T) int {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return i
		}
	}
	return len(s)
}

// appendRune appends r as it may stand in a JSON text.
func appendRune(b []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	switch {
	case r == '"' || r == '\\':
		return append(b, '\\', byte(r))
	case r < ' ':
		return append(b, '\\', 'u', '0', '0', digits[r>>4], digits[r&15])
	}
	return utf8.AppendRune(b, r)
}

func appendHex(b []byte, name string, value []byte) []byte {
	if len(value) == 0 {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":"`...)
	return append(hex.AppendEncode(b, value), '"')
}
