package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// layouter writes the rows of a frame's table. After something of variable length, offsets are the
// least ones.
type layouter struct {
	b      strings.Builder
	at     int
	varies bool
	depth  int
}

// layout describes a message's frame with byte offsets, or its line. It returns "" if the protocol
// has no wire format.
func layout(p *model.Protocol, m *model.Message) string {
	switch w := p.WireOf(m); {
	case w == nil:
		return ""
	case w.Lines:
		return lineLayout(m)
	default:
		return layOut(w, m).b.String()
	}
}

// lineLayout is a line as the specification writes it.
func lineLayout(m *model.Message) string {
	var b strings.Builder
	for i := range m.Line {
		part := &m.Line[i]
		if len(part.Path) == 0 {
			b.WriteString(part.Text)
			continue
		}
		var names []string
		for _, f := range part.Path {
			names = append(names, f.Name)
		}
		b.WriteString("{" + strings.Join(names, ".") + "}")
	}
	return fmt.Sprintf("\nline of %s, its end included\n\n`%s`\n", length(m), b.String())
}

func layOut(w *model.Wire, m *model.Message) *layouter {
	l := &layouter{}
	fmt.Fprintf(&l.b, "\nframe of %s\n\n| offset | bytes | |\n|---|---|---|\n", length(m))
	l.items(w.Header, m)
	l.items(m.Layout, m)
	return l
}

func length(m *model.Message) string {
	if m.MinLen == m.MaxLen {
		return diag.Counted(m.MinLen, "byte")
	}
	return fmt.Sprintf("%d to %d bytes", m.MinLen, m.MaxLen)
}

func (l *layouter) row(bytes int, size, what string) {
	off := fmt.Sprint(l.at)
	if l.varies {
		off += "+"
	}
	if l.depth > 0 {
		off = "·"
	}
	fmt.Fprintf(&l.b, "| %s | %s | %s |\n", off, size, what)
	if l.depth == 0 {
		l.at += bytes
	}
}

func (l *layouter) number(n model.Number, what string) {
	least, most := n.Bytes()
	if n.End != "" {
		what += fmt.Sprintf(", in digits, and %q", n.End)
	}
	if n.Little && n.Bits > 8 {
		what += ", little-endian"
	}
	if least == most {
		l.row(least, fmt.Sprint(least), what)
		return
	}
	l.row(least, fmt.Sprintf("%d–%d", least, most), what)
	l.varies = l.varies || l.depth == 0
}

// bits lists the items of a number, from the highest bit on.
func bits(it *model.WireBits, m *model.Message) string {
	parts := slices.Clone(it.Parts)
	slices.SortFunc(parts, func(a, b model.WireBit) int { return b.Shift - a.Shift })
	var out []string
	for _, part := range parts {
		what := "padding"
		switch x := part.Item.(type) {
		case *model.WireInt:
			what = fieldName(x.Field)
		case *model.WireConst:
			what = fmt.Sprintf("always %d", x.Value)
		case *model.WireType:
			what = fmt.Sprintf("type = %d", m.ID)
		case *model.WireHead:
			what = headName(x.Name, m)
		}
		out = append(out, fmt.Sprintf("%d bits %s", part.Bits, what))
	}
	return "from the highest bit on: " + strings.Join(out, ", ")
}

// headName says what a message has in a place of the header that messages fill in.
func headName(name string, m *model.Message) string {
	for _, h := range m.Head {
		if x, ok := h.Item.(*model.WireConst); ok && h.Item.Pos() == x.Pos() && !hasField(m, name) {
			return fmt.Sprintf("`%s`, here %d", name, x.Value)
		}
	}
	return "`" + name + "`"
}

func hasField(m *model.Message, name string) bool {
	return slices.ContainsFunc(m.Fields, func(f *model.Field) bool { return f.Name == name })
}

func (l *layouter) items(items []model.WireItem, m *model.Message) {
	for _, it := range items {
		switch it := it.(type) {
		case *model.WireLength:
			what := "length of the frame"
			if it.Less > 0 {
				what = fmt.Sprintf("length of the frame behind its first %d bytes", it.Less)
			}
			l.number(it.Number, what)
		case *model.WireType:
			l.number(it.Number, fmt.Sprintf("type = %d", m.ID))
		case *model.WireConst:
			l.number(it.Number, fmt.Sprintf("always %d", it.Value))
		case *model.WireLiteral:
			l.row(len(it.Bytes), fmt.Sprint(len(it.Bytes)), fmt.Sprintf("always %q", it.Bytes))
		case *model.WireHead:
			l.number(it.Number, headName(it.Name, m))
		case *model.WireBits:
			l.number(it.Number, bits(it, m))
		case *model.WireInt:
			what := fieldName(it.Field)
			if it.HasNone {
				what += fmt.Sprintf(" (%d: none)", it.None)
			}
			l.number(it.Number, what)
		case *model.WireChecksum:
			l.number(model.Number{Bits: 32, Little: it.Little}, "CRC-32 of the frame")
		case *model.WireSum:
			what := "checksum of bytes before it"
			if it.Ahead {
				what = "checksum of bytes behind it"
				if it.From.Index < 0 || it.From.Up > 0 || it.From.Index < it.To.Index {
					what = "checksum of bytes around it"
				}
			}
			l.number(it.Number, what)
		case *model.WireSequence:
			l.number(it.Number, "counted up by the link")
		case *model.WireAddress:
			l.row(it.Bytes, fmt.Sprint(it.Bytes), fieldName(it.Field)+", as an address, put in by the link")
		case *model.WirePresent:
			if it.Of == nil {
				l.number(it.Number, "whether "+fieldName(it.Field)+" is there")
				break
			}
			n := it.Of.Rows
			l.row(n, fmt.Sprint(n), "for each of "+fieldName(it.Field)+" whether it is there")
		case *model.WirePad:
			l.row(it.Bytes, fmt.Sprint(it.Bytes), "padding")
		case *model.WireAlign:
			if !l.varies && l.depth == 0 && it.Since < 0 {
				n := (it.To - l.at%it.To) % it.To
				l.row(n, fmt.Sprint(n), fmt.Sprintf("padding to a multiple of %d", it.To))
				continue
			}
			l.row(0, fmt.Sprintf("0–%d", it.To-1), fmt.Sprintf("padding to a multiple of %d", it.To))
			l.varies = true
		case *model.WireSpace:
			l.row(0, "…", "white space")
			l.varies = true
		case *model.WireCount:
			l.number(it.Number, "count of "+fieldName(it.Field))
		case *model.WireEach:
			l.each(it, m)
		case *model.WireBytes:
			l.text(it)
		case *model.WireWord:
			least, most := model.Extent(it)
			what := fieldName(it.Field) + ", as a word"
			if it.End != "" {
				what += fmt.Sprintf(", and %q", it.End)
			}
			l.row(least, fmt.Sprintf("%d–%d", least, most), what)
			l.varies = l.varies || l.depth == 0
		case *model.WireSized:
			l.number(it.Number, "how many bytes these items have:")
			l.inside(it.Items, m)
		case *model.WireIf:
			l.row(0, "…", "if "+fieldName(it.Field)+" is there:")
			l.inside(it.Items, m)
		case *model.WireCase:
			for _, b := range it.Branches {
				when := fmt.Sprintf("if %s has one of %d of its values:", fieldName(it.Tag), len(b.Values))
				if b.Else {
					when = fmt.Sprintf("if %s has any other value:", fieldName(it.Tag))
				}
				l.row(0, "…", when)
				l.inside(b.Items, m)
			}
		case *model.WireRun:
			l.row(0, "…", fmt.Sprintf("%s bytes, each %d", fieldName(it.Field), it.Byte))
			l.varies = true
		case *model.WireValue:
			l.row(0, "…", fieldName(it.Field))
			l.varies = true
		}
	}
}

// inside writes items that may be there or not, or have no fixed size.
func (l *layouter) inside(items []model.WireItem, m *model.Message) {
	l.depth++
	l.items(items, m)
	l.depth--
	l.varies = true
}

// each writes what is there for each element, and goes on behind all of them.
func (l *layouter) each(it *model.WireEach, m *model.Message) {
	head, size, all := fieldName(it.Field)+", for each", "…", 0
	switch {
	case it.Rows > 0:
		all, size = it.Rows*it.RowBytes, fmt.Sprintf("%d × %d", it.Rows, it.RowBytes)
		head = fieldName(it.Field) + ", in each of always so many rows"
	case it.Field.Type.Kind == model.KindArray:
		head += fmt.Sprintf(" of %d", it.Field.Type.Index.Count())
	default:
		head += fmt.Sprintf(" of at most %d", it.Field.Type.Cap)
	}
	for _, row := range it.Named {
		l.row(0, "…", fmt.Sprintf("%q, if %s is there:", row.Name, fieldName(row.Field)))
		l.inside(row.Items, m)
	}
	l.row(all, size, head+":")
	before := l.varies
	l.depth++
	l.items(it.Items, m)
	l.depth--
	l.varies = before || it.Rows == 0
}

func (l *layouter) text(it *model.WireBytes) {
	end := "the rest of the frame"
	switch {
	case it.Domain:
		end = "labels, each behind its length, up to an empty one"
	case it.Nul:
		end = "up to and with a zero byte"
	case it.Count:
		end = "as many as counted"
	case it.LoneLF:
		end = "up to and with CR LF, or LF"
	case it.End != "":
		end = fmt.Sprintf("up to and with %q", it.End)
	}
	l.row(0, fmt.Sprintf("≤ %d", it.Field.Type.Cap), fieldName(it.Field)+", "+end)
	l.varies = true
}

// fieldName is a field's name; the elements of a list of single values have none.
func fieldName(f *model.Field) string {
	if f.Name == "" {
		return "the element"
	}
	return "`" + f.Name + "`"
}
