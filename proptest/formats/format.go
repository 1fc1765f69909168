// Package formats draws whole descriptions of frames at random, with all items that the language has, and holds the
// codecs to each other on them: the reference codec writes again what it accepts, generated Go does the same as the
// reference codec, and Wireshark finds the same in a capture. It knows no protocol. Start from [Draw].
package formats

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// Draw draws a specification whose frames have items of many kinds. Most that it draws have a meaning; a
// few are refused, because nothing tells two of their messages apart.
func Draw() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		d := &drawing{t: t}
		return d.spec()
	})
}

// drawing is a specification that is being drawn.
type drawing struct {
	t      *rapid.T
	types  []string // their declarations
	named  int      // how many names were given
	self   bool     // frames end where their items do
	fixed  int      // the bytes of a header that nothing fills in at the end, from the first on
	varied bool     // the header has no fixed size
	// surplus: bytes may follow the last item. summable: links do not fill in anything of the header.
	surplus, summable bool
}

// scope is a message or a record, whose fields are declared as items place them.
type scope struct {
	fields []string
	prefix string   // before the names of fields, in items
	list   bool     // it is an element of a list
	maybe  bool     // only optional fields can be placed
	region bool     // the frame ends where a region does
	around []string // what items around these place
	tail   bool     // items may take the rest
	depth  int
}

func (d *drawing) n(lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(d.t, what) }

// once is true one time in so many.
func (d *drawing) once(in int, what string) bool { return d.n(1, in, what) == 1 }

func one[T any](d *drawing, what string, of ...T) T { return rapid.SampledFrom(of).Draw(d.t, what) }

// name gives a new name.
func (d *drawing) name(prefix string) string {
	d.named++
	return fmt.Sprint(prefix, d.named)
}

// field declares a field of a type and returns what items call it.
func (d *drawing) field(s *scope, typ string) string {
	name := d.name("f")
	if s.maybe {
		if strings.HasPrefix(typ, "{") {
			typ = d.typed(typ)
		}
		typ += "?"
	}
	s.fields = append(s.fields, fmt.Sprintf("%s: %s", name, quoted(typ)))
	return s.prefix + name
}

// quoted writes a type so that YAML takes it as one text; those in braces are maps.
func quoted(typ string) string {
	if strings.HasPrefix(typ, "{") {
		return typ
	}
	return `"` + typ + `"`
}

// typed declares a type and returns its name.
func (d *drawing) typed(decl string) string {
	name := d.name("T")
	d.types = append(d.types, fmt.Sprintf("  %s: %s\n", name, decl))
	return name
}

// header is a way to begin frames.
type header struct {
	items, head string // head: fields of the header that messages have, one with a type each
	typed       bool
	fixed       int
	varied      bool
}

var headers = []header{
	{items: "length: u16, type: u8", typed: true, fixed: 0},
	{items: "type: u8, rest length: u16", typed: true, fixed: 1},
	{items: "type: u8, rest length: mqtt", typed: true, varied: true},
	{items: "type: quic, body length: {as: u16, order: little}", typed: true, varied: true},
	{items: "bits: [type: u4, h1: u2, h2: u1, const: {as: u1, value: 1}], rest length: u16", head: "h1 h2",
		typed: true, fixed: 1},
	{items: "const: {text: AB}, body length: u24, type: u16, checksum: crc32", typed: true, fixed: 2},
	{items: "type: u8", typed: true, fixed: 1},
	{items: "const: {hex: 00 ff}, pad: 1, type: u8", typed: true, fixed: 2},
	{items: "sequence: u16, type: u8, body length: u32", typed: true},
	{items: "const: {as: u16, value: 513}, length: {as: u32, order: little}, type: {as: u16, order: little}",
		typed: true, fixed: 2},
	{items: "h1: u8, rest length: u16", head: "h1", fixed: 1},
	{items: ""},
}

func (d *drawing) spec() string {
	var b strings.Builder
	fmt.Fprintf(&b, "protocol: drawn\ndoc: drawn at random\nsource: nowhere\nallow: {FSM094: only frames matter}\n")
	h := header{}
	order := one(d, "order", "big", "little")
	if d.self = d.once(4, "self"); !d.self {
		h = headers[d.n(0, len(headers)-1, "header")]
	}
	d.fixed, d.varied = h.fixed, h.varied
	d.summable = !h.varied && !strings.Contains(h.items, "checksum") && !strings.Contains(h.items, "sequence")
	wire := fmt.Sprintf("wire: {order: %s, header: [%s], max: 60000", order, h.items)
	if d.self {
		wire = fmt.Sprintf("wire: {order: %s, selfDelimiting: true, max: 60000", order)
	} else if d.once(8, "surplus") {
		wire += ", surplus: skip"
		d.surplus = true
	}
	count := d.n(1, 3, "messages")
	if !d.self && !h.typed {
		count = 1
	}
	alike, id := d.once(5, "alike"), 0
	var messages strings.Builder
	var names []string
	for i := range count {
		s := &scope{tail: !d.self}
		var items []string
		if (d.self || alike) && count > 1 {
			items = append(items, fmt.Sprintf("const: {text: %c}", 'P'+i))
		}
		for _, name := range strings.Fields(h.head) {
			if i == 0 || d.once(3, "in the header") {
				typ := map[string]string{"h1": one(d, "head", "0..3", "0..2", "bool"), "h2": "bool"}[name]
				s.fields = append(s.fields, fmt.Sprintf("%s: %q", name, typ))
			}
		}
		items = append(items, d.items(s)...)
		name := fmt.Sprint("M", i)
		names = append(names, name)
		fmt.Fprintf(&messages, "  %s:\n", name)
		if h.typed {
			if id == 0 || !alike {
				id += d.n(1, 4, "id")
			}
			fmt.Fprintf(&messages, "    id: %d\n", id)
		}
		if len(s.fields) > 0 {
			fmt.Fprintf(&messages, "    fields: {%s}\n", strings.Join(s.fields, ", "))
		}
		if len(items) > 0 {
			fmt.Fprintf(&messages, "    wire:\n      - %s\n", strings.Join(items, "\n      - "))
		} else {
			messages.WriteString("    doc: empty\n")
		}
	}
	if len(d.types) > 0 {
		b.WriteString("types:\n" + strings.Join(d.types, ""))
	}
	fmt.Fprintf(&b, "%s}\nmessages:\n%s", wire, messages.String())
	fmt.Fprintf(&b, "roles: {peer: {initial: idle, states: {idle: {ignore: [%s]}}}}\n", strings.Join(names, ", "))
	return b.String()
}

// items draws a list of items.
func (d *drawing) items(s *scope) []string {
	var out, placed []string
	at := map[string]int{}
	rest, tail := false, false
	count := d.n(1, 6-s.depth, "items")
	for i := 0; i < count && !rest && !tail; i++ {
		last := i == count-1
		before := len(s.fields)
		kind := d.n(0, 19, "item")
		switch {
		case last && s.tail && (!s.list || s.region) && d.once(3, "tail"):
			var more []string
			more, rest, tail = d.tail(s)
			out = append(out, more...)
		case kind < 5:
			out = append(out, d.scalar(s))
		case kind == 5:
			out = append(out, d.bits(s))
		case kind == 6:
			out = append(out, d.constant())
		case kind < 9:
			out = append(out, d.text(s)...)
		case kind < 12 && s.depth < 2:
			out = append(out, d.list(s)...)
		case kind == 12 && s.depth < 2:
			out = append(out, d.sized(s, placed))
		case kind == 13 && s.depth < 2 && !s.maybe && s.prefix == "":
			out = append(out, d.part(s)...)
		case kind == 14 && s.depth < 2 && !s.maybe && s.prefix == "":
			out = append(out, d.choice(s, placed)...)
		case kind == 15 && len(placed)+len(s.around) > 0:
			all := append(slices.Clip(s.around), placed...)
			from, to := d.n(0, len(all)-1, "since"), ""
			if from < len(all)-1 && d.once(2, "to") {
				to = ", to: " + one(d, "to", all[from+1:]...)
			}
			since := all[from]
			xor := one(d, "sum xor", "", "", ", xor: 77")
			out = append(out, fmt.Sprintf("checksum: {as: %s, since: %s%s%s}",
				one(d, "sum", "crc32", "crc32c", "adler32", "internet"), since, to, xor))
		case kind == 16 && !d.self:
			align := fmt.Sprintf("align: %d", d.n(2, 5, "align"))
			if len(placed) > 0 && d.once(2, "since") || d.varied {
				if len(placed) == 0 {
					continue
				}
				align = fmt.Sprintf("align: {to: %d, since: %s}", d.n(2, 5, "align"), one(d, "since", placed...))
			}
			out = append(out, one(d, "padding", align, fmt.Sprintf("pad: %d", d.n(1, 20, "pad"))))
		case kind == 17 && s.prefix == "" && !s.maybe && s.depth < 2:
			out = append(out, d.record(s)...)
		case kind == 18 && !s.list && s.depth == 0 && !s.maybe && s.prefix == "":
			out = append(out, d.rows(s, len(out) == 0 && !d.varied)...)
		default:
			out = append(out, d.scalar(s))
		}
		if len(s.fields) > before && len(out) > 0 {
			key, _, _ := strings.Cut(out[len(out)-1], ":")
			if word, name, two := strings.Cut(key, " "); two && (word == "each" || word == "if") {
				key = name
			} else if two || key == "bits" || key == "const" || key == "checksum" {
				continue
			}
			placed = append(placed, key)
			at[key] = len(out) - 1
		}
	}
	if len(placed) > 0 && d.once(5, "ahead") {
		out = d.ahead(s, out, placed, at, rest || tail)
	}
	return out
}

// ahead puts a checksum before the end of its bytes.
func (d *drawing) ahead(s *scope, items, placed []string, at map[string]int, open bool) []string {
	k := d.n(0, len(items), "place")
	for open && k > 0 && (k == len(items) || strings.HasSuffix(items[k], ": rest") ||
		strings.Contains(items[k], "to: end") ||
		strings.HasPrefix(items[k], "if ") || strings.HasPrefix(items[k-1], "if ")) {
		k--
	}
	since := one(d, "since", placed...)
	to := "end"
	for _, name := range placed {
		if at[name] >= k && at[name] > at[since] && d.once(2, "to") {
			to = name
			break
		}
	}
	if to == "end" && d.surplus && s.depth == 0 {
		return items
	}
	from := ", since: " + since
	if s.depth == 0 && !s.list && s.prefix == "" && d.summable && to == "end" && d.once(2, "all") {
		from = ""
	}
	kind := one(d, "sum", "crc32", "crc32c", "adler32", "internet")
	return slices.Insert(items, k, fmt.Sprintf("checksum: {as: %s%s, to: %s}", kind, from, to))
}

// number draws a range and a width that has room for it.
func (d *drawing) number() (typ, form string) {
	type width struct {
		name   string
		lo, hi int64
	}
	lo, hi := int64(0), one[int64](d, "hi", 1, 9, 100, 255, 256, 65535, 70000, 1<<24-1, 1<<32, 1<<40)
	if d.once(3, "negative") {
		lo = -one[int64](d, "lo", 1, 5, 128, 129, 30000, 1<<31)
	} else if d.once(4, "low") {
		lo = min(hi, 3)
	}
	var fits []width
	for _, w := range []width{{"u8", 0, 255}, {"u16", 0, 65535}, {"u24", 0, 1<<24 - 1}, {"u32", 0, 1<<32 - 1},
		{"u40", 0, 1<<40 - 1}, {"u48", 0, 1<<48 - 1}, {"u56", 0, 1<<56 - 1}, {"u64", 0, 1 << 62}, {"i8", -128, 127},
		{"i16", -1 << 15, 1<<15 - 1}, {"i24", -1 << 23, 1<<23 - 1}, {"i32", -1 << 31, 1<<31 - 1},
		{"i64", -1 << 62, 1 << 62}, {"leb128", 0, 1 << 62}, {"zigzag", -1 << 62, 1 << 62},
		{"mqtt", 0, 1<<28 - 1}, {"quic", 0, 1<<62 - 1}, {"decimal", 0, 1 << 62}, {"integer", -1 << 62, 1 << 62},
		{"hex", 0, 1 << 62}} {
		if w.lo <= lo && hi <= w.hi {
			fits = append(fits, w)
		}
	}
	w := one(d, "width", fits...)
	return fmt.Sprintf("%d..%d", lo, hi), d.as(w.name, "")
}

// as writes a width, with what else may belong to it.
func (d *drawing) as(width, more string) string {
	keys := "as: " + width
	switch {
	case width == "decimal" || width == "integer" || width == "hex":
		keys += ", end: " + one(d, "end", "crlf", `";"`, `" "`, `"--"`, "lf")
		if width == "integer" {
			break
		}
		fallthrough
	case width == "leb128" || width == "zigzag" || width == "mqtt" || width == "quic":
		if d.once(5, "overlong") {
			keys += ", overlong: accept"
		}
	case d.once(4, "order"):
		keys += ", order: " + one(d, "order", "big", "little")
	}
	if keys == "as: "+width && more == "" {
		return width
	}
	return "{" + keys + more + "}"
}

// counter draws how a count of at most 255 is written.
func (d *drawing) counter() string {
	return d.as(one(d, "counter", "u8", "u8", "u16", "u32", "leb128", "quic", "mqtt", "decimal", "hex"), "")
}

// scalar draws an item of one field.
func (d *drawing) scalar(s *scope) string {
	switch d.n(0, 10, "scalar") {
	case 0:
		return d.field(s, "bool") + ": " + d.as(one(d, "width", "u8", "u16", "leb128"), d.nonzero())
	case 1:
		typ := d.typed("{enum: {a: 0, b: 5, c: 200}}")
		return d.field(s, typ) + ": " + d.as(one(d, "width", "u8", "u16", "quic"), "")
	case 2:
		bits := one(d, "bits", 8, 16, 32, 64)
		form := d.as(one(d, "width", fmt.Sprint("u", bits), "u64"), "")
		return d.field(s, fmt.Sprint("opaque u", bits)) + ": " + form
	case 3:
		if d.once(2, "double") {
			return d.field(s, "f64") + ": u64"
		}
		return d.field(s, "f32") + ": " + d.as("u32", "")
	case 4:
		return d.field(s, "{set: 0..6}") + ": u8"
	case 5:
		if s.maybe || s.prefix != "" {
			break
		}
		return d.field(s, "0..200?") + ": " + d.as(one(d, "width", "u8", "u16", "leb128"), ", none: 255")
	case 6:
		return d.field(s, d.typed("{enum: [x, y, zed], words: {x: GET, y: \"P-\"}}")) + ": " +
			one(d, "word", "{as: word, end: \" \"}", "{as: word, end: crlf}", "word")
	case 7:
		width := one(d, "width", "u8", "u16", "u24", "u64")
		xor := ", xor: 90"
		if d.fixed > 0 && width == "u8" && d.once(2, "xor at") {
			xor = ", xor: {at: 0}"
		}
		return d.field(s, "0..255") + ": " + d.as(width, xor)
	}
	typ, form := d.number()
	return d.field(s, typ) + ": " + form
}

// nonzero draws whether any number but 0 is true.
func (d *drawing) nonzero() string { return one(d, "nonzero", "", ", nonzero: accept") }

// bits draws several items in one number.
func (d *drawing) bits(s *scope) string {
	var parts []string
	left := one(d, "bits", 8, 16, 24, 32, 64)
	for i := 0; left > 0; i++ {
		n := d.n(1, min(left, 20), "part")
		if i == 5 {
			n = left
		}
		switch kind := d.n(0, 5, "kind"); {
		case kind == 0 || i == 5:
			parts = append(parts, fmt.Sprintf("pad: %d", n))
		case kind == 1:
			parts = append(parts, fmt.Sprintf("const: {as: u%d, value: %d}", n, d.n(0, 1, "value")))
		case kind == 2 && n > 1:
			parts = append(parts, fmt.Sprintf("%s: i%d", d.field(s, fmt.Sprintf("%d..%d", -1<<(n-1), 1<<(n-1)-1)), n))
		case kind == 3:
			form := fmt.Sprint("u", n)
			if more := d.nonzero(); more != "" && n > 1 {
				form = "{as: " + form + more + "}"
			}
			parts = append(parts, d.field(s, "bool")+": "+form)
		case kind == 4 && n > 2 && !s.maybe && s.prefix == "":
			parts = append(parts, fmt.Sprintf("%s: {as: u%d, none: 7}", d.field(s, "0..6?"), n))
		default:
			parts = append(parts, fmt.Sprintf("%s: u%d", d.field(s, fmt.Sprintf("0..%d", 1<<n-1)), n))
		}
		left -= n
	}
	list := "[" + strings.Join(parts, ", ") + "]"
	switch d.n(0, 3, "way") {
	case 0:
		return "bits: {low: " + list + "}"
	case 1:
		return "bits: {high: " + list + ", order: little}"
	}
	return "bits: " + list
}

func (d *drawing) constant() string {
	return "const: " + one(d, "const", "{text: AB}", "{hex: 00 ff 10}", "crlf", "{as: u8, value: 7}",
		"{as: i16, value: -2}", "{as: leb128, value: 300}", "{as: decimal, value: 7, end: \";\"}",
		"{as: u32, value: 258, order: little}")
}

// blob draws a type of texts or bytes of varying length.
func (d *drawing) blob() string {
	most := d.n(1, 9, "most")
	return one(d, "blob", fmt.Sprint("text ", most), fmt.Sprint("bytes up to ", most),
		fmt.Sprintf("{type: text %d, charset: %s}", most, one(d, "charset", "utf8", "ascii", "printable")))
}

// text draws the items of a text, whose length is known somehow.
func (d *drawing) text(s *scope) []string {
	switch d.n(0, 7, "text") {
	case 0:
		size := d.n(1, 6, "size")
		name := d.field(s, fmt.Sprint("bytes ", size))
		if d.fixed >= size && d.once(2, "xor at") {
			return []string{name + ": {as: whole, xor: {at: 0}}"}
		}
		return []string{name + ": whole"}
	case 1:
		name := d.field(s, d.blob())
		return []string{name + ": {end: " + one(d, "end", "crlf", "lf", `";"`, `"--"`, "crlf or lf") + "}"}
	case 2:
		forms := []string{"domain", "{as: domain, compressed: accept}"}
		if d.varied {
			forms = forms[:1]
		}
		return []string{d.field(s, "text 20") + ": " + one(d, "domain", forms...)}
	case 3:
		if d.self || s.list && !s.region {
			break
		}
		return []string{d.field(s, fmt.Sprint("text ", d.n(1, 6, "size"))) + ": " +
			one(d, "nul", "nul", "nul", "{as: nul, cut: true}")}
	case 5:
		if d.self || s.maybe {
			break
		}
		end := one(d, "run", "0}-const: {text: AB}", "65}-const: {hex: 00 ff 10}", "1}-const: crlf")
		run, next, _ := strings.Cut(end, "-")
		typ := fmt.Sprintf("%d..%d", d.n(0, 1, "least"), d.n(2, 6, "most"))
		return []string{d.field(s, typ) + ": {run: " + run, next}
	case 4:
		return []string{fmt.Sprintf("space: %d", d.n(0, 2, "blanks")),
			d.field(s, "0..99") + ": {as: decimal, end: \";\"}"}
	}
	name := d.field(s, d.blob())
	return []string{"count " + name + ": " + d.counter(), name + ": counted"}
}

// element draws what a list has: a type, and the items of an element, the first of which is first if it is not empty.
func (d *drawing) element(s *scope, first string, region bool) (typ, row string) {
	sub := &scope{list: true, depth: s.depth + 1, region: region}
	switch d.n(0, 3, "element") {
	case 0:
		typ := fmt.Sprintf("0..%d", one(d, "most", 9, 255))
		return typ, "[item: u8]"
	case 1:
		if first == "" {
			return d.blobName(), "[count item: u8, item: counted]"
		}
	}
	var items []string
	if first != "" {
		items = append(items, d.field(sub, "1..200")+": "+first)
	}
	items = append(items, d.items(sub)...)
	if len(sub.fields) == 0 {
		items = append(items, d.scalar(sub))
	}
	return d.typed("{record: {" + strings.Join(sub.fields, ", ") + "}}"), "[" + strings.Join(items, ", ") + "]"
}

func (d *drawing) blobName() string {
	typ := d.blob()
	if strings.HasPrefix(typ, "{") {
		return d.typed(typ)
	}
	return typ
}

// list draws the items of a list that has an end.
func (d *drawing) list(s *scope) []string {
	most := d.n(1, 4, "most")
	listed := func(elem string) string { return fmt.Sprintf("{list: %s, max: %d}", elem, most) }
	if d.once(3, "until") {
		until := one(d, "until", "{as: u8, value: 0}", "{as: u16, value: 0, order: little}", "crlf", `{text: "0;"}`)
		elem, row := d.element(s, "u8", false)
		if row == "[item: u8]" && !strings.HasPrefix(until, "{as: u8") {
			row = "[item: u16]"
		}
		return []string{fmt.Sprintf("each %s: {until: %s, row: %s}", d.field(s, listed(elem)), until, row)}
	}
	elem, row := d.element(s, "", false)
	name := d.field(s, listed(elem))
	return []string{"count " + name + ": " + d.counter(), "each " + name + ": " + row}
}

// rows draws a list or array of rows of fixed sizes. What says how many there are, or which, may come behind them if
// they have a fixed place.
func (d *drawing) rows(s *scope, fixed bool) []string {
	items := one(d, "row", "[a: u8, b: {as: u16, order: little}]", "[b: u16, pad: 1, a: u8]",
		"[bits: [a: u4, b: u12]]")
	record := d.typed("{record: {a: 0..15, b: 0..3000}}")
	kinds := 2
	if fixed {
		kinds = 4
	}
	switch d.n(0, kinds, "rows") {
	case 0:
		name := d.field(s, fmt.Sprintf("{list: %s, max: 3}", record))
		return []string{"count " + name + ": " + d.counter(),
			fmt.Sprintf("each %s: {rows: %d, row: %s}", name, d.n(3, 5, "rows"), items)}
	case 1:
		return []string{fmt.Sprintf("each %s: %s", d.field(s, fmt.Sprintf("{array: 0..2, of: %s}", record)), items)}
	case 2:
		return []string{fmt.Sprintf("each %s: {rows: %d, row: [item: u16]}", d.field(s, "{array: bool, of: 0..300}"),
			d.n(2, 4, "rows"))}
	case 3:
		name := d.field(s, "{map: 0..2, of: 0..300}")
		return []string{fmt.Sprintf("each %s: {as: u16, none: 999}", name), "present " + name + ": u8"}
	}
	name := d.field(s, fmt.Sprintf("{list: %s, max: 2}", record))
	return []string{fmt.Sprintf("each %s: {rows: 2, row: [a: u8]}", name), "pad: 1",
		fmt.Sprintf("each %s: {rows: 2, row: [b: u16]}", name), "count " + name + ": " + d.counter()}
}

// sized draws a region.
func (d *drawing) sized(s *scope, placed []string) string {
	sub := *s
	sub.around = append(slices.Clip(s.around), placed...)
	sub.depth, sub.region, sub.tail = s.depth+1, true, true
	size := one(d, "size", "u16", "u16", "u32", "leb128", "quic", "mqtt")
	self, varied := d.self, d.varied
	d.self, d.varied = false, varied || size[0] != 'u'
	items := d.items(&sub)
	d.self, d.varied = self, varied
	s.fields = sub.fields
	return fmt.Sprintf("sized %s: [%s]", size, strings.Join(items, ", "))
}

// record draws a record whose fields are among the items.
func (d *drawing) record(s *scope) []string {
	name := d.name("r")
	sub := &scope{prefix: name + ".", list: s.list, depth: 2, maybe: false, region: s.region}
	var items []string
	for range d.n(1, 3, "fields") {
		items = append(items, d.scalar(sub))
	}
	typ := d.typed("{record: {" + strings.Join(sub.fields, ", ") + "}}")
	s.fields = append(s.fields, fmt.Sprintf("%s: %s", name, typ))
	return items
}

// part draws something that is there at times, behind what says whether it is.
func (d *drawing) part(s *scope) []string {
	name := d.name("p")
	present := "present " + name + ": " + one(d, "flag", "u8", "u16", "leb128")
	if d.once(2, "bits") {
		present = "bits: [pad: 3, present " + name + ": u1, const: {as: u4, value: 5}]"
	}
	typ, item := d.inPart(s, name)
	s.fields = append(s.fields, fmt.Sprintf("%s: %q", name, typ+"?"))
	return []string{present, item}
}

// inPart draws the type of a field and the items that place its value.
func (d *drawing) inPart(s *scope, name string) (typ, item string) {
	switch d.n(0, 3, "part") {
	case 0:
		typ := fmt.Sprint("bytes up to ", d.n(1, 9, "most"))
		return typ, fmt.Sprintf("if %s: [count %s: u8, %s: counted]", name, name, name)
	case 1:
		elem, row := d.element(&scope{depth: s.depth + 1}, "", false)
		typ := d.typed(fmt.Sprintf("{list: %s, max: 3}", elem))
		return typ, fmt.Sprintf("if %s: [count %s: u8, each %s: %s]", name, name, name, row)
	case 2:
		sub := &scope{prefix: name + ".", list: s.list, depth: 2, region: s.region}
		var items []string
		for range d.n(1, 3, "fields") {
			items = append(items, d.scalar(sub))
		}
		return d.typed("{record: {" + strings.Join(sub.fields, ", ") + "}}"),
			fmt.Sprintf("if %s: [%s]", name, strings.Join(items, ", "))
	}
	typ, form := d.number()
	return typ, fmt.Sprintf("if %s: %s", name, form)
}

// choice draws a tagged union.
func (d *drawing) choice(s *scope, placed []string) []string {
	typ := one(d, "tag", "bool", "0..2", "enum", "u32")
	values := map[string][]string{"bool": {"true", "false"}, "0..2": {"0", "1", "2"}, "enum": {"a", "b", "c"},
		"u32": {"0", "70000", "5"}}[typ]
	form := map[string]string{"bool": "u8", "u32": "u32"}[typ]
	if form == "" {
		form = d.as(one(d, "width", "u8", "u16", "leb128"), "")
	}
	if typ == "enum" {
		typ = d.typed("{enum: {a: 1, b: 2, c: 9}}")
	}
	tag := d.name("t")
	s.fields = append(s.fields, fmt.Sprintf("%s: %q", tag, typ))
	var branches []string
	var fields []string
	for i, v := range values {
		sub := *s
		sub.around = append(slices.Clip(s.around), placed...)
		sub.fields, sub.maybe, sub.depth, sub.tail = nil, true, s.depth+1, false
		var items []string
		if !d.once(4, "nothing") {
			items = d.items(&sub)
		}
		if i == len(values)-1 && (typ == "u32" || d.once(2, "else")) {
			v = "else"
		}
		fields = append(fields, sub.fields...)
		branches = append(branches, fmt.Sprintf("%s: [%s]", v, strings.Join(items, ", ")))
	}
	s.fields = append(s.fields, fields...)
	return []string{tag + ": " + form, fmt.Sprintf("case %s: [%s]", tag, strings.Join(branches, ", "))}
}

// tail draws something that takes the rest of the frame or region; ends: something that is there if bytes remain.
func (d *drawing) tail(s *scope) (items []string, rest, ends bool) {
	switch d.n(0, 2, "tail") {
	case 0:
		if s.maybe {
			break
		}
		name := d.name("p")
		typ, item := d.inPart(s, name)
		s.fields = append(s.fields, fmt.Sprintf("%s: %q", name, typ+"?"))
		items = append(items, item)
		if d.once(2, "two") {
			name := d.name("p")
			s.fields = append(s.fields, fmt.Sprintf("%s: %q", name, "0..9?"))
			items = append(items, fmt.Sprintf("if %s: u8", name))
		}
		return items, false, true
	case 1:
		elem, row := d.element(s, "", false)
		typ := fmt.Sprintf("{list: %s, max: 4}", elem)
		items = append(items, fmt.Sprintf("each %s: {to: end, row: %s}", d.field(s, typ), row))
	}
	if len(items) == 0 {
		items = append(items, d.field(s, d.blob())+": rest")
	}
	if d.once(3, "behind") {
		items = append(items, d.field(s, "u16")+": u16")
	}
	return items, true, false
}

// kinds are the items that specifications may have, by the words of the language.
var kinds = []string{"bits:", "count ", "each ", "present ", "if ", "case ", "sized ", "checksum:", ", to: end}",
	"xor:", "run:", "align:", "pad:", "domain", "whole", "nul", "rest", "counted", "end:", "word", "decimal", "hex,",
	"integer", "leb128", "zigzag", "mqtt", "quic", "until:", "to: end", "rows:", "{set:", "f32", "f64", "opaque",
	"i24", "none:", "space:", "selfDelimiting", "surplus", "sequence", "{map:", "{array:", "overlong", "cut:",
	"compressed", "nonzero", "crlf or lf", "charset", "low:", "xor: {at"}

// Kinds returns which items a specification has, by the words of the language.
func Kinds(spec string) (out []string) {
	for _, word := range kinds {
		if strings.Contains(spec, word) {
			out = append(out, word)
		}
	}
	return out
}
