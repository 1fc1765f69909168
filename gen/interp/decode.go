package interp

import (
	"bytes"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/wire"
)

// decoder reads the items of a body; b is the whole frame.
type decoder struct {
	b      []byte
	whole  int // bytes of the frame
	at     int
	begins [][]int // where items begin, of the lists of items that enclose each other
	strs   *Strings
	self   bool // the frame ends where its items do
	most   int  // bytes that it may have then
	counts []textCount
	err    wire.Error
}

// textCount is a length in bytes that came before its text.
type textCount struct {
	field *model.Field
	n     uint64
}

func (d *decoder) fail(field string, offset int, problem wire.Problem, value, limit int64) bool {
	d.err.Field, d.err.Offset, d.err.Problem, d.err.Value, d.err.Limit = field, offset, problem, value, limit
	return false
}

// need reports whether n more bytes are there.
func (d *decoder) need(field string, n int) bool {
	if len(d.b)-d.at >= n {
		return true
	}
	return d.fail(field, d.at, wire.Short, int64(len(d.b)), int64(d.at+n))
}

// items reads items into the slots of a message or of a list's element. prefix comes before field
// names in errors: empty or `list.`.
func (d *decoder) items(items []model.WireItem, slots []int64, prefix string) bool {
	begin := make([]int, len(items))
	d.begins = append(d.begins, begin)
	defer func() { d.begins = d.begins[:len(d.begins)-1] }()
	var sums []sumAhead
	for i, item := range items {
		begin[i] = d.at
		if !d.summed(sums, i) {
			return false
		}
		ok := true
		switch it := item.(type) {
		case *model.WireInt:
			ok = d.int(it, slots[it.Field.Offset:], prefix+it.Field.Name)
		case *model.WirePad:
			if ok = d.need("", it.Bytes); ok {
				d.at += it.Bytes
			}
		case *model.WireConst:
			ok = d.constant(it)
		case *model.WireLiteral:
			ok = d.literal(it)
		case *model.WireSum:
			if it.Ahead {
				ok = d.sumAhead(it, &sums)
				break
			}
			ok = d.sum(it)
		case *model.WireBits:
			ok = d.bits(it, slots, prefix)
		case *model.WireSpace:
			d.at += wire.Spaces(d.b[d.at:])
		case *model.WireAlign:
			d.at = min(d.at+padding(d.at, begin, it), len(d.b))
		case *model.WireAddress:
			ok = d.address(it, slots[it.Field.Offset:], prefix+it.Field.Name)
		case *model.WirePresent:
			ok = d.present(it, slots[it.Field.Offset:], prefix+it.Field.Name)
		case *model.WireSized:
			ok = d.sized(it, slots, prefix)
		case *model.WireIf:
			ok = d.part(it, slots, prefix)
		case *model.WireCase:
			ok = d.choice(it, slots, prefix)
		case *model.WireCount:
			ok = d.count(it, slots[it.Field.Offset:], prefix+it.Field.Name)
		case *model.WireEach:
			ok = d.each(it, slots, prefix)
		case *model.WireWord:
			ok = d.word(it, slots[it.Field.Offset:], prefix+it.Field.Name)
		case *model.WireBytes:
			ok = d.text(it, slots[it.Field.Offset:], prefix+it.Field.Name)
		case *model.WireRun:
			ok = d.run(it, slots[it.Field.Offset:], prefix+it.Field.Name)
		case *model.WireValue:
			ok = d.value(it.Field.Type, slots[it.Field.Offset:], prefix+it.Field.Name)
		}
		if !ok {
			return false
		}
	}
	return d.summed(sums, len(items))
}

// number reads a number, and says how many bytes it takes. It does not go behind them.
func (d *decoder) number(n model.Number, field string) (v uint64, size int, ok bool) {
	rest := d.b[d.at:]
	switch n.Varint {
	case model.LEB128:
		v, size = wire.LEB128(rest, n.Bits, n.Overlong)
	case model.QUIC:
		v, size = wire.QUIC(rest, n.Overlong)
	case model.Decimal:
		if n.Signed {
			v, size = wire.Integer(rest, n.Overlong, n.End)
		} else {
			v, size = wire.Digits(rest, 10, n.Overlong, n.End)
		}
	case model.Hex:
		v, size = wire.Digits(rest, 16, n.Overlong, n.End)
	default:
		if !d.need(field, n.Bits/8) {
			return 0, 0, false
		}
		size = n.Bits / 8
		return extend(xored(wire.Unsigned(rest[:size], n.Little), n, d.b), n), size, true
	}
	switch {
	case size == 0:
		return 0, 0, d.fail(field, d.at, wire.Short, int64(len(d.b)), int64(len(d.b)+1))
	case size < 0 && (n.Varint == model.Decimal || n.Varint == model.Hex):
		return 0, 0, d.fail(field, d.at, wire.NoDigits, 0, 0)
	case size < 0:
		return 0, 0, d.fail(field, d.at, wire.Varint, 0, 0)
	case n.Signed:
		v = uint64(wire.Unzigzag(v))
	}
	return v, size, true
}

func (d *decoder) int(it *model.WireInt, slots []int64, field string) bool {
	v, size, ok := d.number(it.Number, field)
	if ok = ok && d.known(it, v, slots, field); ok {
		d.at += size
	}
	return ok
}

// known turns the number of an item into a value of its field.
func (d *decoder) known(it *model.WireInt, v uint64, slots []int64, field string) bool {
	t := it.Field.Type
	if t.Kind == model.KindOptional {
		if it.HasNone && v == uint64(it.None) {
			return true
		}
		slots[0] = 1
		t, slots = t.Elem, slots[1:]
	}
	return d.scalar(t, it.Number, v, slots, field)
}

// bits reads the items of a number.
func (d *decoder) bits(it *model.WireBits, slots []int64, prefix string) bool {
	word, size, ok := d.number(it.Number, "")
	if !ok {
		return false
	}
	for _, part := range it.Parts {
		v := cutBits(word, part)
		switch x := part.Item.(type) {
		case *model.WireInt:
			ok = d.known(x, v, slots[x.Field.Offset:], prefix+x.Field.Name)
		case *model.WirePresent:
			ok = d.flag(x, v, slots[x.Field.Offset:], prefix+x.Field.Name)
		case *model.WireConst:
			if int64(v) != x.Value {
				ok = d.fail("", d.at, wire.Mismatch, int64(v), x.Value)
			}
		}
		if !ok {
			return false
		}
	}
	d.at += size
	return true
}

// scalar turns a number on the wire into a value of t.
func (d *decoder) scalar(t *model.Type, n model.Number, v uint64, slots []int64, field string) bool {
	switch t.Kind {
	case model.KindBool:
		if v > 1 && !n.Nonzero {
			return d.fail(field, d.at, wire.Range, int64(v), 1)
		}
		slots[0] = truth(v != 0)
		return true
	case model.KindEnum:
		most := int64(0)
		for i, code := range t.Codes {
			if uint64(code) == v {
				slots[0] = int64(i)
				return true
			}
			most = max(most, code)
		}
		return d.fail(field, d.at, wire.Range, int64(v), most)
	case model.KindOpaque:
		if v > largest(t.Bits) {
			return d.fail(field, d.at, wire.Range, int64(v), int64(largest(t.Bits)))
		}
		slots[0] = int64(v)
		return true
	case model.KindSet:
		if v > largest(int(t.Elem.Count())) {
			return d.fail(field, d.at, wire.Range, int64(v), int64(largest(int(t.Elem.Count()))))
		}
		slots[0] = int64(v)
		return true
	}
	if n.Signed && int64(v) > t.Hi || !n.Signed && (t.Hi < 0 || v > uint64(t.Hi)) {
		return d.fail(field, d.at, wire.Range, int64(v), t.Hi)
	}
	if int64(v) < t.Lo {
		return d.fail(field, d.at, wire.Range, int64(v), t.Lo)
	}
	slots[0] = int64(v)
	return true
}

func (d *decoder) constant(it *model.WireConst) bool {
	v, size, ok := d.number(it.Number, "")
	if !ok {
		return false
	}
	if int64(v) != it.Value {
		return d.fail("", d.at, wire.Mismatch, int64(v), it.Value)
	}
	d.at += size
	return true
}

// literal reads bytes that are always the same. The error is that of the first other byte.
func (d *decoder) literal(it *model.WireLiteral) bool {
	if d.self {
		if i := wire.Begins(d.b[d.at:], it.Bytes); i >= 0 {
			return d.fail("", d.at+i, wire.Byte, int64(d.b[d.at+i]), int64(it.Bytes[i]))
		}
	}
	if !d.need("", len(it.Bytes)) {
		return false
	}
	for i := range len(it.Bytes) {
		if got := d.b[d.at+i]; got != it.Bytes[i] {
			return d.fail("", d.at+i, wire.Byte, int64(got), int64(it.Bytes[i]))
		}
	}
	d.at += len(it.Bytes)
	return true
}

// count reads the length of a list into its slot, or remembers that of a text.
func (d *decoder) count(it *model.WireCount, slots []int64, field string) bool {
	n, size, ok := d.number(it.Number, field)
	if !ok {
		return false
	}
	if it.Field.Type.Kind == model.KindBytes {
		d.counts = append(d.counts, textCount{it.Field, n})
	} else if it.Field.Type.Kind == model.KindArray {
		// What is there is told elsewhere.
	} else if n > uint64(it.Field.Type.Cap) {
		return d.fail(field, d.at, wire.Count, int64(n), int64(it.Field.Type.Cap))
	} else {
		slots[0] = int64(n)
	}
	d.at += size
	return true
}

func (d *decoder) each(it *model.WireEach, all []int64, prefix string) bool {
	t := it.Field.Type
	slots, field := all[it.Field.Offset:], prefix+it.Field.Name
	size, from, n := t.Elem.Slots(), 0, 0
	if it.AheadOf > 0 && !d.ahead(it, slots, field) {
		return false
	}
	if it.ToEnd || it.Until != nil {
		return d.open(it, all, prefix)
	}
	if t.Kind == model.KindList {
		n, slots = int(slots[0]), slots[1:]
	} else {
		from, n = it.Elements()
	}
	if it.Rows > 0 && !d.need(field, it.Rows*it.RowBytes) {
		return false
	}
	end := d.at + it.Rows*it.RowBytes
	for i := from; i < n; i++ {
		row := slots[i*size : (i+1)*size]
		if it.Present != nil && row[0] == 0 {
			d.at += it.RowBytes
		} else if !d.items(it.Items, row, field+".") {
			return false
		}
	}
	if it.Rows > 0 {
		d.at = end
	}
	return true
}

// ahead reads the count or the presence that stands behind the rows.
func (d *decoder) ahead(it *model.WireEach, slots []int64, field string) bool {
	at := d.at
	d.at += it.AheadOf
	ok := true
	if it.Present == nil {
		least := 1
		if it.Count.Varint == model.Fixed {
			least = it.Count.Bits / 8
		}
		ok = d.need(field, least) && d.count(it.Count, slots, field)
	} else if ok = d.need(field, it.Rows); ok {
		from, to := it.Elements()
		for i := from; i < to; i++ {
			slots[i*it.Field.Type.Elem.Slots()] = truth(d.b[d.at+i-from] != 0)
		}
	}
	d.at = at
	return ok
}

// address reads the number + 1 of an instance, or 0 for none, with zeros behind it.
func (d *decoder) address(it *model.WireAddress, slots []int64, field string) bool {
	if !d.need(field, it.Bytes) {
		return false
	}
	t := it.Field.Type
	v := uint64(d.b[d.at])
	for _, b := range d.b[d.at+1 : d.at+it.Bytes] {
		if b != 0 {
			v = 255
		}
	}
	if t.Kind == model.KindOptional {
		if v == 0 {
			slots[0] = 0
			d.at += it.Bytes
			return true
		}
		slots[0] = 1
		t, slots = t.Elem, slots[1:]
	}
	if v == 0 || v-1 > uint64(t.Hi) {
		return d.fail(field, d.at, wire.Range, int64(v)-1, t.Hi)
	}
	slots[0] = int64(v) - 1
	d.at += it.Bytes
	return true
}

// behind returns how many bytes come after something that takes the rest.
func (d *decoder) behind(b model.Behind, field string) (int, bool) {
	n := uint64(b.Bytes)
	for _, f := range b.Counts {
		n += min(d.counted(f), 1<<32)
	}
	if n > uint64(len(d.b)-d.at) {
		return 0, d.fail(field, d.at, wire.Short, int64(len(d.b)), int64(uint64(d.at)+n))
	}
	return int(n), true
}

// counted returns the length of a text that came before it, 0 if none did.
func (d *decoder) counted(f *model.Field) (n uint64) {
	for _, c := range d.counts {
		if c.field == f {
			n = c.n
		}
	}
	return n
}

// run reads bytes that are all the same.
func (d *decoder) run(it *model.WireRun, slots []int64, field string) bool {
	n, t := wire.Run(d.b[d.at:], it.Byte), it.Field.Type
	if int64(n) > t.Hi {
		return d.fail(field, d.at, wire.Count, int64(n), t.Hi)
	}
	if int64(n) < t.Lo {
		return d.fail(field, d.at, wire.Range, int64(n), t.Lo)
	}
	slots[0] = int64(n)
	d.at += n
	return true
}

func (d *decoder) text(it *model.WireBytes, slots []int64, field string) bool {
	if it.Domain {
		name := make([]byte, it.Field.Type.Cap)
		n, end, e := wire.Domain(name, d.b, d.at, it.Base, it.Back)
		if e.Problem != 0 {
			return d.fail(field, e.Offset, e.Problem, e.Value, e.Limit)
		}
		slots[0], d.at = d.strs.Intern(name[:n]), end
		return true
	}
	rest := d.b[d.at:]
	text, end := rest, len(rest)
	switch {
	case it.Nul:
		if i := bytes.IndexByte(rest, 0); i >= 0 {
			text, end = rest[:i], i+1
		}
	case it.End != "":
		i, n := wire.Ended(rest, it.End, it.LoneLF, it.Field.Type.Cap)
		if n <= 0 {
			if it.Field.Type.Binary {
				d.err = wire.BadEnded(d.err.Message, field, d.b, d.at, n, it.Field.Type.Cap)
			} else {
				d.err = wire.BadText(d.err.Message, field, d.b, d.at, n, it.Field.Type.Cap, it.End)
			}
			return false
		}
		text, end = rest[:i], n
	case it.Whole:
		if !d.need(field, it.Field.Type.Cap) {
			return false
		}
		end = it.Field.Type.Cap
		text = rest[:end]
	case it.Count:
		n := d.counted(it.Field)
		if d.self && n > uint64(it.Field.Type.Cap) {
			return d.fail(field, d.at, wire.Count, int64(n), int64(it.Field.Type.Cap))
		}
		if n > uint64(len(rest)) {
			return d.fail(field, d.at, wire.Short, int64(len(d.b)), int64(uint64(d.at)+min(n, 1<<32)))
		}
		text, end = rest[:n], int(n)
	case it.Rest:
		n, ok := d.behind(it.Behind, field)
		if !ok {
			return false
		}
		end -= n
		text = rest[:end]
	}
	if most := it.Field.Type.Cap; len(text) > most {
		problem := wire.Count
		if it.Nul {
			problem = wire.Unterminated
		}
		if !it.Cut {
			return d.fail(field, d.at, problem, int64(len(text)), int64(most))
		}
		if i := wire.BadIn(it.Field.Type.Charset, text); i >= 0 {
			return d.fail(field, d.at+i, wire.Charset, int64(text[i]), 0)
		}
		text = text[:most]
	}
	if i := wire.BadIn(it.Field.Type.Charset, text); i >= 0 {
		return d.fail(field, d.at+i, wire.Charset, int64(text[i]), 0)
	}
	if i := wire.BadByte(text, it.Field.Type.Without, false); it.End != "" && !it.Field.Type.Binary && i >= 0 {
		return d.fail(field, d.at+i, wire.Charset, int64(text[i]), 0)
	}
	if it.XorAt > 0 {
		text = bytes.Clone(text)
		wire.XorBytes(text, d.b[it.XorAt-1:])
	}
	slots[0] = d.strs.Intern(text)
	d.at += end
	return true
}

// word reads an enumeration by its words.
func (d *decoder) word(it *model.WireWord, slots []int64, field string) bool {
	i, n := wire.Which(d.b[d.at:], it.End, it.Field.Type.InLine())
	if n <= 0 {
		d.err = wire.BadWord(d.err.Message, field, d.b, d.at, n)
		return false
	}
	slots[0] = int64(i)
	d.at += n
	return true
}
