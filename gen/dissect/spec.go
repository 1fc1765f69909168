package dissect

import (
	"fmt"
	"strings"

	"github.com/parley-go/parley/gen/model"
)

// writer writes the table that the engine works on.
type writer struct {
	strings.Builder
	depth int
	err   error
}

func (w *writer) line(format string, args ...any) {
	w.WriteString(strings.Repeat("  ", w.depth))
	fmt.Fprintf(w, format+"\n", args...)
}

func (w *writer) block(head, tail string, body func()) {
	w.line("%s", head)
	w.depth++
	body()
	w.depth--
	w.line("%s", tail)
}

// quote writes a text of Lua.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c == 127:
			fmt.Fprintf(&b, "\\%03d", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}

func words(s string) string { return quote(strings.Join(strings.Fields(s), " ")) }

func (w *writer) spec(p *model.Protocol, o Options) {
	form := p.Wire
	w.block("local spec = {", "}", func() {
		w.line("name = %s, title = %s,", quote(p.Name), quote(p.Name+" (Parley)"))
		w.line("transport = %s, port = %d, typed = %t,", quote(o.Transport), o.Port, form.TypeNumber() != nil)
		if o.Server != "" {
			w.line("server = %s,", quote(o.Server))
		}
		if form.Self {
			w.line("self = true,")
		}
		if p.Phased() {
			w.line("phased = true,")
		}
		w.line("most = %d, header_length = %d, surplus = %t, lines = %t, strict = %t, ascii = %t,", form.Max,
			form.HeaderLen, form.Surplus, form.Lines, form.Strict, form.ASCII)
		w.block("header = {", "},", func() {
			for _, item := range form.Header {
				w.header(item)
			}
		})
		w.block("messages = {", "},", func() {
			for _, m := range p.Messages {
				w.message(m)
			}
		})
	})
}

func (w *writer) header(item model.WireItem) {
	switch it := item.(type) {
	case *model.WireLength:
		w.line(`{ k = "length", %s, less = %d, of = %d },`, number(it.Number), it.Less, it.Of)
	case *model.WireType:
		w.line(`{ k = "type", %s },`, number(it.Number))
	case *model.WireConst:
		w.line(`{ k = "const", %s, value = %d },`, number(it.Number), it.Value)
	case *model.WireChecksum:
		w.line(`{ k = "checksum", bits = 32, little = %t },`, it.Little)
	case *model.WireSequence:
		w.line(`{ k = "sequence", bits = %d, little = %t },`, it.Bits, it.Little)
	case *model.WireLiteral:
		w.line(`{ k = "literal", bytes = %s },`, quote(it.Bytes))
	case *model.WireHead:
		w.line(`{ k = "head", %s },`, number(it.Number))
	case *model.WireBits:
		w.block(fmt.Sprintf(`{ k = "bits", %s, parts = {`, number(it.Number)), "} },", func() {
			for _, part := range it.Parts {
				switch x := part.Item.(type) {
				case *model.WireType:
					w.line(`{ k = "type", shift = %d, width = %d },`, part.Shift, part.Bits)
				case *model.WireConst:
					w.line(`{ k = "const", shift = %d, width = %d, value = %d, signed = %t },`, part.Shift, part.Bits,
						x.Value, x.Signed)
				}
			}
		})
	case *model.WirePad:
		for range it.Bytes {
			w.line(`{ k = "padding", bits = 8, little = false },`)
		}
	default:
		w.refuse(item)
	}
}

func (w *writer) refuse(item model.WireItem) {
	if w.err == nil {
		w.err = fmt.Errorf("%s: the dissector cannot take this item apart (%s)", item.Pos(),
			strings.TrimPrefix(fmt.Sprintf("%T", item), "*model.Wire"))
	}
}

func (w *writer) message(m *model.Message) {
	w.block("{", "},", func() {
		w.line("name = %s, id = %d, from = %s, least = %d, doc = %s,", quote(m.Name), m.ID, quote(m.From),
			max(m.MinLen, 0), words(m.Doc))
		w.line("fields = %s,", fields(m.Fields))
		if m.Phases != 0 {
			var in []string
			for k := range model.MostPhases {
				if m.In(k) {
					in = append(in, fmt.Sprintf("[%d] = true", k))
				}
			}
			w.line("phases = { %s },", strings.Join(in, ", "))
			if m.Next >= 0 {
				w.line("next = %d,", m.Next)
			}
		}
		if len(m.Line) > 0 {
			w.block("line = {", "},", func() { w.template(m) })
		}
		if len(m.Head) > 0 {
			w.block("head = {", "},", func() {
				for _, h := range m.Head {
					bits := h.In.Bits
					switch x := h.Item.(type) {
					case *model.WireInt:
						bits = x.Bits
					case *model.WireConst:
						bits = x.Bits
					}
					w.block(fmt.Sprintf(`{ k = "bits", at = %d, %s, items = {`, h.At, number(h.In)), "} },", func() {
						w.bit(h.Item, h.In, h.Shift, bits)
					})
				}
			})
		}
		w.block("items = {", "},", func() { w.items(m.Layout) })
	})
}

// template writes the line of a message.
func (w *writer) template(m *model.Message) {
	for _, part := range m.Line {
		if len(part.Path) == 0 {
			w.line("{ literal = %s },", quote(part.Text))
			continue
		}
		var steps, names []string
		for _, f := range part.Path {
			steps, names = append(steps, quote(f.Name)), append(names, f.Name)
		}
		stop := ""
		if part.Stop != model.LineEnd {
			stop = ", stop = " + quote(string(part.Stop))
		}
		w.line("{ field = %s, path = { %s }, type = %s, none = %s%s, doc = %s },",
			quote(strings.Join(names, ".")), strings.Join(steps, ", "), typeOf(part.Type()),
			quote(part.None), stop, words(part.Path[len(part.Path)-1].Doc))
	}
}

func (w *writer) items(list []model.WireItem) {
	for _, item := range list {
		w.item(item)
	}
}

func (w *writer) item(item model.WireItem) {
	switch it := item.(type) {
	case *model.WireInt:
		none := ""
		if it.HasNone {
			none = fmt.Sprintf(", none = %d", it.None)
		}
		w.line(`{ k = "int", field = %s%s, %s, type = %s%s, doc = %s },`,
			quote(it.Field.Name), path(it.Field), number(it.Number), typeOf(it.Field.Type), none, doc(it.Field))
	case *model.WireLiteral:
		w.line(`{ k = "literal", bytes = %s },`, quote(it.Bytes))
	case *model.WireBits:
		w.block(fmt.Sprintf(`{ k = "bits", %s, items = {`, number(it.Number)), "} },", func() {
			for _, part := range it.Parts {
				w.bit(part.Item, it.Number, part.Shift, part.Bits)
			}
		})
	case *model.WireSum:
		w.line(`{ k = "sum", sum = %q, %s, from = { %d, %d }, to = { %d, %d }, ends = %t, ahead = %t },`, it.Sum,
			number(it.Number), it.From.Up, it.From.Index, it.To.Up, it.To.Index, it.Ends, it.Ahead)
	case *model.WirePad:
		w.line(`{ k = "pad", bytes = %d },`, it.Bytes)
	case *model.WireConst:
		w.line(`{ k = "const", %s, value = %d },`, number(it.Number), it.Value)
	case *model.WireSpace:
		w.line(`{ k = "space" },`)
	case *model.WireAlign:
		w.line(`{ k = "align", to = %d, since = %d },`, it.To, it.Since)
	case *model.WireCount:
		w.count(it)
	case *model.WireEach:
		w.each(it)
	case *model.WireBytes:
		by := "rest"
		if it.Domain {
			by = "domain"
		} else if it.Whole {
			by = "whole"
		} else if it.Nul {
			by = "nul"
		} else if it.Count {
			by = "counted"
		}
		tail := ""
		if it.End != "" {
			by = "ended"
			tail = fmt.Sprintf("tail = %s, lone = %t, plain = %t, without = %s, ", quote(it.End), it.LoneLF,
				it.Field.Type.Binary, quote(it.Field.Type.Without))
		}
		w.line(`{ k = "text", field = %s%s, by = %s, %smost = %d, cut = %t, charset = %s%s, xor_at = %d, base = %d, back = %t, `+
			`doc = %s },`, quote(it.Field.Name), path(it.Field), quote(by), tail, it.Field.Type.Cap, it.Cut,
			quote(it.Field.Type.Charset), behind(it.Behind), it.XorAt, it.Base, it.Back, doc(it.Field))
	case *model.WireRun:
		w.line(`{ k = "run", field = %s%s, bits = 64, byte = %d, type = %s, doc = %s },`, quote(it.Field.Name),
			path(it.Field), it.Byte, typeOf(it.Field.Type), doc(it.Field))
	case *model.WireWord:
		var words []string
		for _, word := range it.Field.Type.InLine() {
			words = append(words, quote(word))
		}
		w.line(`{ k = "word", field = %s%s, tail = %s, words = { %s }, type = %s, doc = %s },`, quote(it.Field.Name),
			path(it.Field), quote(it.End), strings.Join(words, ", "), typeOf(it.Field.Type), doc(it.Field))
	case *model.WireSized:
		w.block(fmt.Sprintf(`{ k = "sized", %s, items = {`, number(it.Number)), "} },", func() { w.items(it.Items) })
	case *model.WireIf:
		w.block(fmt.Sprintf(`{ k = "if", field = %s, flagged = %t, items = {`, quote(it.Field.Name), it.Flagged),
			"} },", func() { w.items(it.Items) })
	case *model.WirePresent:
		if it.Field.Type.Kind != model.KindOptional {
			w.refuse(item)
		}
		w.line(`{ k = "present", field = %s, %s },`, quote(it.Field.Name), number(it.Number))
	case *model.WireCase:
		w.choice(it)
	case *model.WireAddress:
		w.line(`{ k = "address", field = %s, bytes = %d, doc = %s },`, quote(it.Field.Name), it.Bytes, doc(it.Field))
	case *model.WireValue:
		w.line(`{ k = "value", field = %s%s, type = %s, doc = %s },`, quote(it.Field.Name), path(it.Field),
			typeOf(it.Field.Type), doc(it.Field))
	default:
		w.refuse(item)
	}
}

// bit writes one of several items of a number.
func (w *writer) bit(item model.WireItem, in model.Number, shift, width int) {
	switch x := item.(type) {
	case *model.WireInt:
		none := ""
		if x.HasNone {
			none = fmt.Sprintf(", none = %d", x.None)
		}
		w.line(`{ k = "int", field = %s%s, bits = %d, shift = %d, width = %d, signed = %t, type = %s%s, doc = %s },`,
			quote(x.Field.Name), path(x.Field), in.Bits, shift, width, x.Signed, typeOf(x.Field.Type), none,
			doc(x.Field))
	case *model.WireConst:
		w.line(`{ k = "const", shift = %d, width = %d, value = %d, signed = %t },`, shift, width, x.Value, x.Signed)
	case *model.WirePresent:
		w.line(`{ k = "present", field = %s, shift = %d, width = %d },`, quote(x.Field.Name), shift, width)
	case *model.WirePad:
	default:
		w.refuse(item)
	}
}

// choice writes the branches of a tag, whose values are codes.
func (w *writer) choice(it *model.WireCase) {
	names := func(list []*model.Field) string {
		var out []string
		for _, f := range list {
			out = append(out, quote(f.Name))
		}
		return strings.Join(out, ", ")
	}
	tag := []string{quote(it.Tag.Name)}
	if it.Tag.Path != nil {
		tag = nil
		for _, step := range it.Tag.Path {
			tag = append(tag, quote(step.Name))
		}
	}
	w.block(fmt.Sprintf(`{ k = "case", path = { %s }, bool = %t, fields = { %s }, branches = {`,
		strings.Join(tag, ", "), it.Tag.Type.Kind == model.KindBool, names(it.Fields)), "} },", func() {
		for _, b := range it.Branches {
			var values []string
			for _, v := range b.Values {
				if it.Tag.Type.Kind == model.KindEnum {
					v = it.Tag.Type.Codes[v]
				}
				values = append(values, fmt.Sprint(v))
			}
			w.block(fmt.Sprintf("{ values = { %s }, other = %t, fields = { %s }, items = {",
				strings.Join(values, ", "), b.Else, names(b.Fields)), "} },", func() { w.items(b.Items) })
		}
	})
}

// number writes how a number is written.
func number(n model.Number) string {
	out := fmt.Sprintf("bits = %d, little = %t", n.Bits, n.Little)
	if n.Signed {
		out += ", signed = true"
	}
	if n.Xor != 0 || n.XorAt > 0 {
		out += fmt.Sprintf(", xor = { %d, %d }, xor_at = %d", n.Xor%(1<<32), n.Xor>>32, n.XorAt)
	}
	if n.Nonzero {
		out += ", nonzero = true"
	}
	if n.Varint != model.Fixed {
		form := map[model.Varint]string{model.LEB128: "leb128", model.QUIC: "quic", model.Decimal: "decimal",
			model.Hex: "hex"}
		out += fmt.Sprintf(", varint = %q", form[n.Varint])
		if n.End != "" {
			out += ", tail = " + quote(n.End)
		}
		if n.Overlong {
			out += ", overlong = true"
		}
	}
	return out
}

func (w *writer) count(it *model.WireCount) {
	if it.Late || it.Field.Type.Kind == model.KindArray {
		w.refuse(it)
	}
	most := ""
	if it.Field.Type.Kind == model.KindList {
		most = fmt.Sprintf(", most = %d", it.Field.Type.Cap)
	}
	w.line(`{ k = "count", field = %s, %s%s },`, quote(it.Field.Name), number(it.Number), most)
}

func (w *writer) each(it *model.WireEach) {
	if it.Rows > 0 || it.Field.Type.Kind != model.KindList {
		w.refuse(it)
		return
	}
	single := ""
	if it.Field.Type.Elem.Kind != model.KindRecord {
		for _, x := range it.Items {
			switch x := x.(type) {
			case *model.WireInt:
				single = ", single = " + quote(x.Field.Name)
			case *model.WireBytes:
				single = ", single = " + quote(x.Field.Name)
			case *model.WireEach, *model.WireBits:
				w.refuse(x)
			}
		}
	}
	if it.ToEnd {
		single += fmt.Sprintf(", to_end = true, most = %d", it.Field.Type.Cap) + behind(it.Behind)
	} else if it.Until != nil {
		single += fmt.Sprintf(", till = { %s, value = %d }, most = %d", number(it.Until.Number), it.Until.Value,
			it.Field.Type.Cap)
	}
	end := "} },"
	if len(it.Named) > 0 {
		end = "},"
	}
	w.block(fmt.Sprintf(`{ k = "each", field = %s%s%s, items = {`, quote(it.Field.Name), path(it.Field),
		single), end, func() { w.items(it.Items) })
	if len(it.Named) > 0 {
		w.block("  named = {", "} },", func() {
			for _, row := range it.Named {
				w.block(fmt.Sprintf("{ name = %s, field = %s, items = {", quote(strings.ToLower(row.Name)),
					quote(row.Field.Name)), "} },", func() { w.items(row.Items) })
			}
		})
	}
}

// behind says how many bytes come after something that takes the rest.
func behind(b model.Behind) string {
	if b.Bytes == 0 && len(b.Counts) == 0 {
		return ""
	}
	var names []string
	for _, f := range b.Counts {
		names = append(names, quote(f.Name))
	}
	return fmt.Sprintf(", behind = { bytes = %d, counts = { %s } }", b.Bytes, strings.Join(names, ", "))
}

// path says where in a record the value of a field of it belongs.
func path(f *model.Field) string {
	if f.Path == nil {
		return ""
	}
	var names []string
	for _, step := range f.Path {
		names = append(names, quote(step.Name))
	}
	return ", path = { " + strings.Join(names, ", ") + " }"
}

func doc(f *model.Field) string {
	if f.Doc == "" {
		return words(f.Type.Doc)
	}
	return words(f.Doc)
}

func fields(list []*model.Field) string {
	var out []string
	for _, f := range list {
		out = append(out, fmt.Sprintf("{ name = %s, type = %s }", quote(f.Name), typeOf(f.Type)))
	}
	return "{ " + strings.Join(out, ", ") + " }"
}

// typeOf writes a type; bits is its width in the default format.
func typeOf(t *model.Type) string {
	switch t.Kind {
	case model.KindOptional:
		return fmt.Sprintf(`{ k = "optional", elem = %s }`, typeOf(t.Elem))
	case model.KindRecord:
		return fmt.Sprintf(`{ k = "record", fields = %s }`, fields(t.Fields))
	case model.KindArray:
		return fmt.Sprintf(`{ k = "array", n = %d, elem = %s }`, t.Index.Count(), typeOf(t.Elem))
	case model.KindList:
		return fmt.Sprintf(`{ k = "list", n = %d, elem = %s }`, t.Cap, typeOf(t.Elem))
	case model.KindBytes:
		return fmt.Sprintf(`{ k = "text", most = %d, without = %s, charset = %s }`, t.Cap, quote(t.Without),
			quote(t.Charset))
	}
	n, _ := model.ValueBytes(t)
	switch t.Kind {
	case model.KindBool:
		return fmt.Sprintf(`{ k = "bool", bits = %d }`, 8*n)
	case model.KindEnum:
		var names, codes []string
		for i, name := range t.Names {
			names, codes = append(names, quote(name)), append(codes, fmt.Sprint(t.Codes[i]))
		}
		inLine := ""
		if t.Words != nil {
			var list []string
			for _, word := range t.Words {
				list = append(list, quote(word))
			}
			inLine = ", words = { " + strings.Join(list, ", ") + " }"
		}
		return fmt.Sprintf(`{ k = "enum", bits = %d, names = { %s }, codes = { %s }%s }`, 8*n,
			strings.Join(names, ", "), strings.Join(codes, ", "), inLine)
	case model.KindOpaque:
		return fmt.Sprintf(`{ k = "opaque", bits = %d }`, t.Bits)
	case model.KindSet:
		return fmt.Sprintf(`{ k = "set", bits = 64, n = %d, elem = %s }`, t.Elem.Count(), typeOf(t.Elem))
	}
	return fmt.Sprintf(`{ k = "number", bits = %d, lo = %d, hi = %d }`, 8*n, t.Lo, t.Hi)
}
