package interp

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/wire"
)

// lineSize is [FrameSize] for protocols of lines.
func lineSize(p *model.Protocol, b []byte) (int, wire.Error) {
	end := bytes.IndexByte(b, model.LineEnd)
	switch {
	case end >= 0 && end < p.Wire.Max:
		return end + 1, wire.Error{}
	case len(b) >= p.Wire.Max:
		return 0, wire.Error{Problem: wire.Long, Value: int64(len(b)), Limit: int64(p.Wire.Max)}
	}
	return 0, wire.Error{}
}

// decodeLine is [DecodeFrame] for protocols of lines: the first template that matches, in the order of
// declaration, is the message.
func decodeLine(p *model.Protocol, strs *Strings, b []byte) (*model.Message, []int64, wire.Error) {
	n, err := lineSize(p, b)
	switch {
	case err.Problem != 0:
		return nil, nil, err
	case n == 0:
		return nil, nil, wire.Error{Problem: wire.Short, Value: int64(len(b)), Limit: int64(len(b)) + 1}
	case n < len(b):
		return nil, nil, wire.Error{Offset: n, Problem: wire.Trailing, Value: int64(len(b) - n)}
	}
	if p.Wire.Strict && (n < 2 || b[n-2] != '\r') {
		return nil, nil, wire.Error{Offset: n - 1, Problem: wire.Text, Value: int64(b[n-1])}
	}
	line := strings.TrimSuffix(string(b[:n-1]), "\r")
	for i, c := range []byte(line) {
		if c == '\r' || p.Wire.ASCII && (c < ' ' || c > '~') {
			return nil, nil, wire.Error{Offset: i, Problem: wire.Text, Value: int64(c)}
		}
	}
	for _, m := range p.Messages {
		slots := make([]int64, FieldSlots(m.Fields))
		if matchLine(m, strs, line, slots) {
			return m, slots, wire.Error{}
		}
	}
	return nil, nil, wire.Error{Problem: wire.Text, Value: int64(len(line))}
}

// matchLine compares a line with the template of a message and reads its fields.
func matchLine(m *model.Message, strs *Strings, line string, slots []int64) bool {
	for i := range m.Line {
		part := &m.Line[i]
		if len(part.Path) == 0 {
			rest, ok := strings.CutPrefix(line, part.Text)
			if !ok {
				return false
			}
			line = rest
			continue
		}
		word := line
		if k := strings.IndexByte(line, part.Stop); k >= 0 {
			word = line[:k]
		}
		line = line[len(word):]
		dst, t := slots[part.Offset():], part.Type()
		if t.Kind == model.KindOptional {
			if word == part.None {
				continue
			}
			dst[0], dst, t = 1, dst[1:], t.Elem
		}
		if !readWord(t, strs, word, dst) {
			return false
		}
	}
	return line == ""
}

// readWord reads a value as a line has it.
func readWord(t *model.Type, strs *Strings, word string, dst []int64) bool {
	switch t.Kind {
	case model.KindBytes:
		if len(word) > t.Cap || strings.ContainsAny(word, t.Without) || wire.BadIn(t.Charset, []byte(word)) >= 0 {
			return false
		}
		dst[0] = strs.Intern([]byte(word))
		return true
	case model.KindEnum:
		for i, w := range t.InLine() {
			if w == word {
				dst[0] = int64(i)
				return true
			}
		}
		return false
	}
	v, err := strconv.ParseUint(word, 10, 64)
	if err != nil || strconv.FormatUint(v, 10) != word {
		return false
	}
	dst[0] = int64(v)
	switch t.Kind {
	case model.KindBool:
		return v <= 1
	case model.KindOpaque:
		return t.Bits >= 64 || v < 1<<t.Bits
	}
	return v <= 1<<62 && dst[0] >= t.Lo && dst[0] <= t.Hi
}

// appendLine is [AppendFrame] for protocols of lines.
func appendLine(p *model.Protocol, strs *Strings, dst []byte, msg *model.Message, slots []int64) ([]byte, wire.Error) {
	e := encoder{strs: strs, err: wire.Error{Message: msg.Name}}
	for i := range msg.Line {
		part := &msg.Line[i]
		if len(part.Path) == 0 {
			e.b = append(e.b, part.Text...)
			continue
		}
		v, t := slots[part.Offset():], part.Type()
		if t.Kind == model.KindOptional {
			if v[0] == 0 {
				e.b = append(e.b, part.None...)
				continue
			}
			v, t = v[1:], t.Elem
		}
		switch t.Kind {
		case model.KindBytes:
			text := strs.Get(v[0])
			for k, c := range []byte(text) {
				if c == '\n' || c == '\r' || strings.IndexByte(t.Without, c) >= 0 ||
					p.Wire.ASCII && (c < ' ' || c > '~') {
					e.fail(pathName(part), len(e.b)+k, wire.Text, int64(c), 0)
					return dst, e.err
				}
			}
			if k := wire.BadIn(t.Charset, []byte(text)); k >= 0 {
				e.fail(pathName(part), len(e.b)+k, wire.Charset, int64(text[k]), 0)
				return dst, e.err
			}
			e.b = append(e.b, text...)
		case model.KindEnum:
			e.b = append(e.b, t.InLine()[v[0]]...)
		default:
			e.b = strconv.AppendUint(e.b, uint64(v[0]), 10)
		}
	}
	e.b = append(e.b, p.Wire.EndOfLine()...)
	if len(e.b) > p.Wire.Max {
		e.fail("", 0, wire.Long, int64(len(e.b)), int64(p.Wire.Max))
		return dst, e.err
	}
	// What a template takes that takes everything must not be another message's line.
	if msg.CatchAll() {
		for _, m := range p.Messages {
			if m == msg {
				break
			}
			if matchLine(m, strs, string(e.b[:len(e.b)-len(p.Wire.EndOfLine())]), make([]int64, FieldSlots(m.Fields))) {
				e.fail(pathName(&msg.Line[0]), 0, wire.Text, int64(m.Index), 0)
				return dst, e.err
			}
		}
	}
	return append(dst, e.b...), wire.Error{}
}

// pathName names the field of a template: version.major.
func pathName(p *model.LinePart) string {
	var names []string
	for _, f := range p.Path {
		names = append(names, f.Name)
	}
	return strings.Join(names, ".")
}
