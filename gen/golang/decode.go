package golang

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/model"
)

// layout composes the decoding or encoding of the items of one message.
type layout struct {
	g       *gen
	t       *text
	message string
	at      string // offset of the next item: a number as long as it is known, else `at`
	sure    int    // so many bytes of the frame are known to be there
	counts  map[*model.Field]string
	nested  int
	last    bool // nobody asks where the item at hand ends
}

func (g *gen) decodeBody(m *model.Message, n messageNames, t *text) {
	if !bodyCode(m) {
		return
	}
	w := g.p.Wire
	d := &layout{g: g, t: &text{}, message: m.Name, at: strconv.Itoa(w.HeaderLen), counts: map[*model.Field]string{},
		sure: w.HeaderLen + minBody(w.HeaderLen, m.Layout)}
	d.decode(m.Layout, "m", n.fields, "")
	if !w.Surplus {
		d.t.p("if len(b) > %s {\nreturn %s\n}", d.at, d.err("", d.at, "Trailing", "int64(len(b) - "+d.at+")", ""))
	}
	arg := ""
	if n.member != "" {
		arg = ", m *" + n.typ
	}
	code := d.t.String()
	if !mentions(code, "m") && arg != "" {
		arg = ", _ *" + n.typ
	}
	b := "b"
	if !mentions(code, "b") {
		b = "_"
	}
	t.p("\nfunc %s(%s []byte%s) wire.Error {\n%sreturn wire.Error{}\n}", n.decode, b, arg, code)
}

// err composes an error value.
func (d *layout) err(field, offset, problem, value, limit string) string {
	s := fmt.Sprintf("wire.Error{Message: %q, ", d.message)
	if field != "" {
		s += fmt.Sprintf("Field: %q, ", field)
	}
	if offset != "0" {
		s += "Offset: " + offset + ", "
	}
	s += "Problem: wire." + problem
	if value != "" && value != "0" {
		s += ", Value: " + value
	}
	if limit != "" && limit != "0" {
		s += ", Limit: " + limit
	}
	return s + "}"
}

// need composes the check that n more bytes are there, unless that is known.
func (d *layout) need(field string, n int) {
	if at, err := strconv.Atoi(d.at); err == nil && at+n <= d.sure {
		return
	}
	end := add(d.at, n)
	d.t.p("if len(b) < %s {\nreturn %s\n}", end, d.err(field, d.at, "Short", "int64(len(b))", "int64("+end+")"))
}

// advance moves on by a fixed number of bytes.
func (d *layout) advance(n int) {
	if d.last {
		return
	}
	if _, err := strconv.Atoi(d.at); err == nil {
		d.at = add(d.at, n)
		return
	}
	if n == 1 {
		d.t.p("at++")
		return
	}
	d.t.p("at += %d", n)
}

// float makes the offset a variable.
func (d *layout) float() {
	if _, err := strconv.Atoi(d.at); err == nil {
		d.t.p("at := %s", d.at)
		d.at = "at"
	}
}

// anchors returns which items an align counts from.
func anchors(items []model.WireItem) map[int]bool {
	used := map[int]bool{}
	for _, item := range items {
		if a, ok := item.(*model.WireAlign); ok && a.Since >= 0 {
			used[a.Since] = true
		}
	}
	return used
}

func (d *layout) decode(items []model.WireItem, of string, names []string, prefix string) {
	used := anchors(items)
	begin := map[int]string{}
	for i, item := range items {
		if used[i] {
			begin[i] = d.at
			if d.at == "at" {
				begin[i] = fmt.Sprintf("since%d%d", d.nested, i)
				d.t.p("%s := at", begin[i])
			}
		}
		d.last = d.nested == 0 && d.g.p.Wire.Surplus && (i == len(items)-1 || i == len(items)-2 && isAlign(items[i+1]))
		switch it := item.(type) {
		case *model.WireInt:
			d.int(it, d.member(of, names, it.Field), prefix+it.Field.Name)
		case *model.WirePad:
			d.need("", it.Bytes)
			d.advance(it.Bytes)
		case *model.WireConst:
			d.need("", it.Bits/8)
			d.t.p("if v := %s; v != %d {\nreturn %s\n}", readNumber(it.Bits, it.Little, d.at), uint64(it.Value),
				d.err("", d.at, "Mismatch", "int64(v)", strconv.FormatInt(it.Value, 10)))
			d.advance(it.Bits / 8)
		case *model.WireAlign:
			if i < len(items)-1 || d.nested > 0 || !d.g.p.Wire.Surplus {
				d.align(it, begin)
			}
		case *model.WireAddress:
			d.address(it, d.member(of, names, it.Field), prefix+it.Field.Name)
		case *model.WirePresent:
			d.need(prefix+it.Field.Name, itemBits(it)/8)
			d.advance(itemBits(it) / 8)
		case *model.WireCount:
			d.count(it, d.member(of, names, it.Field), prefix+it.Field.Name)
		case *model.WireEach:
			d.each(it, d.member(of, names, it.Field), prefix+it.Field.Name)
		case *model.WireBytes:
			d.text(it, d.member(of, names, it.Field), prefix+it.Field.Name)
		case *model.WireValue:
			d.last = false // it is several numbers
			d.decodeValue(it.Field.Type, d.member(of, names, it.Field), prefix+it.Field.Name)
		default:
			d.g.fail(item.Pos(), "the generator does not know this wire item")
		}
	}
}

func isAlign(item model.WireItem) bool {
	_, ok := item.(*model.WireAlign)
	return ok
}

// member composes the place of a field. The elements of a list of single values are
// laid out by a field without a name, which is the element.
func (d *layout) member(of string, names []string, f *model.Field) string {
	switch {
	case f.Name == "":
		return of
	case f.Path == nil:
		return of + "." + names[f.Index]
	}
	place := of + "." + names[f.Path[0].Index]
	for i, step := range f.Path[1:] {
		place += "." + d.g.typ(f.Path[i].Type, "").fields[step.Index]
	}
	return place
}

func (d *layout) int(it *model.WireInt, place, field string) {
	d.need(field, it.Bits/8)
	read := readNumber(it.Bits, it.Little, d.at)
	t := it.Field.Type
	if t.Kind == model.KindOptional {
		inner := d.scalar(t.Elem, it.Bits, place+".Value", field)
		if it.HasNone {
			d.t.p("if v := %s; v != %d {\n%s.Present = true\n%s}", read, uint64(it.None), place, inner)
		} else {
			d.t.p("{\nv := %s\n%s.Present = true\n%s}", read, place, inner)
		}
	} else {
		inner := d.scalar(t, it.Bits, place, field)
		if one := strings.TrimSuffix(inner, "\n"); !strings.Contains(one, "\n") && strings.Count(one, "v") > 0 && simpleAssign(one) {
			d.t.p("%s", replaceName(one, "v", read))
		} else {
			d.t.p("{\nv := %s\n%s}", read, inner)
		}
	}
	d.advance(it.Bits / 8)
}

// simpleAssign says whether a line is one assignment that reads v once.
func simpleAssign(line string) bool {
	return strings.Contains(line, " = ") && !strings.HasPrefix(line, "if")
}

// replaceName puts an expression for a name after the `=` of an assignment.
func replaceName(line, name, with string) string {
	left, right, _ := strings.Cut(line, " = ")
	return left + " = " + wordPattern(name).ReplaceAllLiteralString(right, with)
}

// scalar composes the conversion of the number v on the wire to a value of t.
func (d *layout) scalar(t *model.Type, bits int, place, field string) string {
	var s text
	bad := func(limit int64) string {
		return d.err(field, d.at, "Range", "int64(v)", strconv.FormatInt(limit, 10))
	}
	typ := d.g.typ(t, "").name
	switch t.Kind {
	case model.KindBool:
		s.p("%s = v != 0", place)
	case model.KindEnum:
		d.enum(t, bits, place, bad, &s)
	case model.KindOpaque:
		if bits > t.Bits {
			s.p("if v > %d {\nreturn %s\n}", largest(t.Bits), bad(int64(largest(t.Bits))))
		}
		s.p("%s = %s", place, converted(typ, bits, "v"))
	case model.KindSet:
		if most := largest(int(t.Elem.Count())); largest(bits) > most {
			s.p("if v > %d {\nreturn %s\n}", most, bad(int64(most)))
		}
		s.p("%s = %s", place, converted(typ, bits, "v"))
	default:
		if t.Hi < 0 {
			s.p("return %s", bad(t.Hi))
			break
		}
		if largest(bits) > uint64(t.Hi) {
			s.p("if v > %d {\nreturn %s\n}", t.Hi, bad(t.Hi))
		}
		if t.Lo > 0 {
			s.p("if v < %d {\nreturn %s\n}", t.Lo, bad(t.Lo))
		}
		s.p("%s = %s", place, converted(typ, bits, "v"))
	}
	return s.String()
}

// converted composes a conversion, unless v has the type already.
func converted(typ string, bits int, v string) string {
	if typ == fmt.Sprintf("uint%d", goBits(bits)) {
		return v
	}
	return typ + "(" + v + ")"
}

func (d *layout) enum(t *model.Type, bits int, place string, bad func(int64) string, s *text) {
	most, plain := int64(0), true
	for i, c := range t.Codes {
		most = max(most, c)
		plain = plain && c == int64(i)
	}
	gt := d.g.typ(t, "")
	if plain {
		if largest(bits) > uint64(most) {
			s.p("if v > %d {\nreturn %s\n}", most, bad(most))
		}
		s.p("%s = %s(v)", place, gt.name)
		return
	}
	s.p("switch v {")
	seen := map[int64]bool{}
	// A run of consecutive codes is one case.
	for i := 0; i < len(t.Codes); {
		j := i
		for j+1 < len(t.Codes) && t.Codes[j+1] == t.Codes[j]+1 && !seen[t.Codes[j+1]] {
			j++
		}
		switch {
		case seen[t.Codes[i]] || uint64(t.Codes[i]) > largest(bits):
		case j > i+1 && uint64(t.Codes[j]) <= largest(bits):
			var list []string
			for k := i; k <= j; k++ {
				list = append(list, strconv.FormatInt(t.Codes[k], 10))
				seen[t.Codes[k]] = true
			}
			s.p("case %s:\n%s = %s(%s)", strings.Join(list, ", "), place, gt.name, plusSigned("v", int64(i)-t.Codes[i]))
			i = j + 1
			continue
		default:
			s.p("case %d:\n%s = %s", t.Codes[i], place, d.g.enumNames(gt)[i])
		}
		seen[t.Codes[i]] = true
		i++
	}
	s.p("default:\nreturn %s\n}", bad(most))
}

func plusSigned(x string, n int64) string {
	switch {
	case n == 0:
		return x
	case n < 0:
		return fmt.Sprintf("%s - %d", x, -n)
	}
	return fmt.Sprintf("%s + %d", x, n)
}

func (d *layout) align(it *model.WireAlign, begin map[int]string) {
	since := "0"
	if it.Since >= 0 {
		since = begin[it.Since]
	}
	at, err1 := strconv.Atoi(d.at)
	from, err2 := strconv.Atoi(since)
	if err1 == nil && err2 == nil {
		if over := (at - from) % it.To; over != 0 {
			d.at = strconv.Itoa(at + it.To - over)
		}
		return
	}
	d.float()
	x := "at"
	if since != "0" {
		x = "(at - " + since + ")"
	}
	d.t.p("if over := %s %% %d; over != 0 {\nat = min(at+%d-over, len(b))\n}", x, it.To, it.To)
}

func (d *layout) count(it *model.WireCount, place, field string) {
	d.need(field, it.Bits/8)
	read := readNumber(it.Bits, it.Little, d.at)
	if it.Field.Type.Kind == model.KindBytes {
		name := "count" + strconv.Itoa(len(d.counts)+1) + strings.Repeat("x", d.nested)
		d.counts[it.Field] = name
		d.t.p("%s := uint64(%s)", name, read)
		d.advance(it.Bits / 8)
		return
	}
	if it.Field.Type.Kind == model.KindArray { // what is there is told elsewhere
		d.advance(it.Bits / 8)
		return
	}
	most := int64(it.Field.Type.Cap)
	if largest(it.Bits) > uint64(most) {
		d.t.p("{\nn := %s\nif n > %d {\nreturn %s\n}\n%s.Len = %s(n)\n}", read, most,
			d.err(field, d.at, "Count", "int64(n)", strconv.FormatInt(most, 10)), place, lenType(it.Field.Type.Cap))
	} else {
		d.t.p("%s.Len = %s", place, converted(lenType(it.Field.Type.Cap), it.Bits, read))
	}
	d.advance(it.Bits / 8)
}

func (d *layout) text(it *model.WireBytes, place, field string) {
	d.float()
	most := it.Field.Type.Cap
	t := d.t
	t.p("{")
	switch {
	case it.Nul && d.last:
		t.p("text := b[at:]\nif i := bytes.IndexByte(text, 0); i >= 0 {\ntext = text[:i]\n}")
	case it.Nul:
		t.p("text, end := b[at:], len(b)\nif i := bytes.IndexByte(text, 0); i >= 0 {\ntext, end = text[:i], at+i+1\n}")
	case it.Count:
		n := d.counts[it.Field]
		if n == "" {
			n = "uint64(0)"
		}
		t.p("if %s > uint64(len(b)-at) {\nreturn %s\n}\nend := at + int(%s)\ntext := b[at:end]", n,
			d.err(field, "at", "Short", "int64(len(b))", "int64(uint64(at) + min("+n+", 1<<32))"), n)
	case d.last:
		t.p("text := b[at:]")
	default:
		t.p("text, end := b[at:], len(b)")
	}
	problem := "Count"
	if it.Nul {
		problem = "Unterminated"
	}
	if it.Cut {
		t.p("%s.Len = %s(copy(%s.Data[:], text))", place, lenType(most), place)
	} else {
		t.p("if len(text) > %d {\nreturn %s\n}\n%s.Len = %s(copy(%s.Data[:], text))", most,
			d.err(field, "at", problem, "int64(len(text))", strconv.Itoa(most)), place, lenType(most), place)
	}
	if d.last {
		t.p("}")
	} else {
		t.p("at = end\n}")
	}
}
