package golang

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/model"
)

func (g *gen) encodeBody(m *model.Message, n messageNames, t *text) {
	if !bodyCode(m) {
		return
	}
	e := &layout{g: g, t: &text{}, message: m.Name, counts: map[*model.Field]string{}}
	e.encode(m.Layout, "m", n.fields, "")
	arg := ""
	code := merged(e.t.String())
	if n.member != "" {
		arg = ", m *" + n.typ
		if !mentions(code, "m") {
			arg = ", _ *" + n.typ
		}
	}
	start := "start"
	if !mentions(code, "start") {
		start = "_"
	}
	t.p("\nfunc %s(dst []byte, %s int%s) ([]byte, wire.Error) {\n%sreturn dst, wire.Error{}\n}", n.encode, start, arg, code)
}

const here = "len(dst) - start"

func (e *layout) encode(items []model.WireItem, of string, names []string, prefix string) {
	used := anchors(items)
	begin := map[int]string{}
	for i, item := range items {
		if used[i] {
			begin[i] = fmt.Sprintf("since%d%d", e.nested, i)
			e.t.p("%s := %s", begin[i], here)
		}
		switch it := item.(type) {
		case *model.WireInt:
			e.putInt(it, e.member(of, names, it.Field), prefix+it.Field.Name)
		case *model.WirePad:
			e.t.p("%s", padCode(it.Bytes))
		case *model.WireAddress:
			e.putAddress(it, e.member(of, names, it.Field), prefix+it.Field.Name)
		case *model.WirePresent:
			e.g.helpers["ordinal"] = true
			e.t.p("for i := range %s {\ndst = append(dst, byte(ordinal(%s[i].Present)))\n}", e.member(of, names, it.Field), e.member(of, names, it.Field))
		case *model.WireConst:
			e.t.p("%s", appendNumber(it.Bits, it.Little, strconv.FormatUint(uint64(it.Value), 10)))
		case *model.WireAlign:
			since := "start"
			if it.Since >= 0 {
				since = "start - " + begin[it.Since]
			}
			e.t.p("for (len(dst) - %s)%%%d != 0 {\ndst = append(dst, 0)\n}", since, it.To)
		case *model.WireCount:
			e.putCount(it, e.member(of, names, it.Field), prefix+it.Field.Name)
		case *model.WireEach:
			e.putEach(it, e.member(of, names, it.Field), prefix+it.Field.Name)
		case *model.WireBytes:
			e.putText(it, e.member(of, names, it.Field), prefix+it.Field.Name)
		case *model.WireValue:
			e.encodeValue(it.Field.Type, e.member(of, names, it.Field), prefix+it.Field.Name)
		default:
			e.g.fail(item.Pos(), "the generator does not know this wire item")
		}
	}
}

func (e *layout) putInt(it *model.WireInt, place, field string) {
	t := it.Field.Type
	if t.Kind == model.KindOptional {
		inner := e.number(t.Elem, it, place+".Value", field)
		e.t.p("if %s.Present {\n%s} else {\n%s\n}", place, inner, appendNumber(it.Bits, it.Little, strconv.FormatUint(uint64(it.None), 10)))
		return
	}
	e.t.WriteString(e.number(t, it, place, field))
}

// number composes the appending of a scalar.
func (e *layout) number(t *model.Type, it *model.WireInt, place, field string) string {
	var s text
	fail := func(value, limit string) string {
		return "return dst, " + e.err(field, here, "Range", value, limit)
	}
	v := place
	switch t.Kind {
	case model.KindBool:
		e.g.helpers["ordinal"] = true
		v = "ordinal(" + place + ")"
	case model.KindEnum:
		most, plain := int64(0), true
		for i, c := range t.Codes {
			most, plain = max(most, c), plain && c == int64(i)
		}
		s.p("if int(%s) >= %d {\n%s\n}", place, len(t.Names), fail("int64("+place+")", strconv.Itoa(len(t.Names)-1)))
		if !plain {
			v = e.g.codeTable(t) + "[" + place + "]"
		}
		if uint64(most) > largest(it.Bits) {
			s.p("if %s > %d {\n%s\n}", v, largest(it.Bits), fail("int64("+v+")", strconv.FormatInt(int64(largest(it.Bits)), 10)))
		}
	case model.KindOpaque:
		if t.Bits > it.Bits {
			s.p("if %s > %d {\n%s\n}", place, largest(it.Bits), fail("int64("+place+")", strconv.FormatInt(int64(largest(it.Bits)), 10)))
		}
	default:
		if fits(t, -1) {
			s.p("if %s < 0 {\n%s\n}", place, fail("int64("+place+")", "0"))
		}
		if limit := largest(it.Bits); limit < 1<<62 && fits(t, int64(limit)+1) {
			s.p("if %s > %d {\n%s\n}", place, limit, fail("int64("+place+")", strconv.FormatUint(limit, 10)))
		}
	}
	if it.Bits == 8 && d8(e.g.typ(t, "").name) && v == place {
		s.p("dst = append(dst, %s)", v)
	} else {
		s.p("%s", appendNumber(it.Bits, it.Little, v))
	}
	return s.String()
}

// d8 says whether a Go type is a byte.
func d8(typ string) bool { return typ == "uint8" }

// merged joins neighbouring appends of bytes.
func merged(code string) string {
	const head = "dst = append(dst, "
	var out []string
	for _, line := range strings.Split(code, "\n") {
		n := len(out) - 1
		if n >= 0 && strings.HasPrefix(line, head) && strings.HasPrefix(out[n], head) && !strings.Contains(line+out[n], "...") && len(out[n]) < 90 {
			out[n] = strings.TrimSuffix(out[n], ")") + ", " + strings.TrimPrefix(line, head)
			continue
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// codeTable names the table of an enumeration's codes on the wire.
func (g *gen) codeTable(t *model.Type) string {
	gt := g.typ(t, "")
	if name := g.codes[gt]; name != "" {
		return name
	}
	name := g.top.take(unexported(gt.name) + "Codes")
	g.codes[gt] = name
	most := int64(0)
	codes := make([]string, len(t.Codes))
	for i, c := range t.Codes {
		most = max(most, c)
		codes[i] = strconv.FormatInt(c, 10)
	}
	width := width(&model.Type{Kind: model.KindInt, Hi: most})
	g.tail = append(g.tail, fmt.Sprintf("%s\nvar %s = [...]%s{%s}", comment(name, "are the numbers of "+gt.name+" on the wire."), name, width, strings.Join(codes, ", ")))
	return name
}

func (e *layout) putCount(it *model.WireCount, place, field string) {
	t := it.Field.Type
	if t.Kind == model.KindArray {
		e.t.p("{\nn := 0\nfor i := range %s {\nif %s[i].Present {\nn++\n}\n}\n%s\n}", place, place, appendNumber(it.Bits, it.Little, "n"))
		return
	}
	most := uint64(t.Cap)
	e.t.p("if int(%s.Len) > %d {\nreturn dst, %s\n}", place, min(most, largest(it.Bits)),
		e.err(field, here, "Count", "int64("+place+".Len)", strconv.FormatUint(min(most, largest(it.Bits)), 10)))
	e.t.p("%s", appendNumber(it.Bits, it.Little, place+".Len"))
}

func (e *layout) putEach(it *model.WireEach, place, field string) {
	t := it.Field.Type
	e.nested++
	v := "e"
	if e.nested > 1 {
		v += strconv.Itoa(e.nested)
	}
	one := place + "[i]"
	if t.Kind == model.KindArray {
		e.t.p("for i := range %s {", place)
	} else {
		one = place + ".Items[i]"
		e.t.p("for i := range %s.Items[:min(int(%s.Len), %d)] {", place, place, t.Cap)
	}
	if it.Present != nil {
		e.t.p("if !%s.Present {\n%s\ncontinue\n}", one, padCode(it.RowBytes))
	}
	if t.Elem.Kind == model.KindRecord {
		e.t.p("%s := &%s", v, one)
	} else {
		v = one
	}
	e.encode(it.Items, v, e.g.typ(t.Elem, "").fields, field+".")
	e.t.p("}")
	if t.Kind == model.KindList && it.Rows > 0 {
		e.t.p("dst = append(dst, make([]byte, (%d-min(int(%s.Len), %d))*%d)...)", it.Rows, place, t.Cap, it.RowBytes)
	}
	e.nested--
}

// putAddress composes the number + 1 of an instance, where the link puts its address.
func (e *layout) putAddress(it *model.WireAddress, place, field string) {
	put := func(v string) string {
		s := fmt.Sprintf("if %s < -1 || %s > 254 {\nreturn dst, %s\n}\ndst = append(dst, byte(%s)+1", v, v, e.err(field, here, "Range", "int64("+v+")", "254"), v)
		if it.Bytes > 1 {
			s += ", " + zeros(it.Bytes-1)
		}
		return s + ")"
	}
	if it.Field.Type.Kind == model.KindOptional {
		e.t.p("if %s.Present {\n%s\n} else {\n%s\n}", place, put(place+".Value"), padCode(it.Bytes))
		return
	}
	e.t.p("%s", put(place))
}

func (e *layout) putText(it *model.WireBytes, place, field string) {
	most := it.Field.Type.Cap
	problem := "Count"
	if it.Nul {
		problem = "Unterminated"
	}
	e.t.p("{\ntext := %s.Data[:min(int(%s.Len), %d)]", place, place, most)
	if it.Nul {
		e.t.p("if bytes.IndexByte(text, 0) >= 0 {\nreturn dst, %s\n}\ndst = append(append(dst, text...), 0)", e.err(field, here, problem, "int64(len(text))", strconv.Itoa(most)))
	} else {
		e.t.p("dst = append(dst, text...)")
	}
	e.t.p("}")
}
