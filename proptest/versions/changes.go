package versions

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

var names = [2]string{"OLD", "NEW"}

// changer collects what differs on the wire.
type changer struct {
	*pair
	list []Change
}

// changes lists what differs between the messages of two versions, and what each makes of the other's.
func changes(before, now *model.Protocol) []Change {
	c := &changer{pair: newPair(before, now)}
	c.begin(&interp.Strings{})
	c.channels()
	framed := c.framing()
	for _, m := range c.messages() {
		from := len(c.list)
		c.message(m[older], m[newer])
		if from == len(c.list) && !framed {
			continue
		}
		tries := c.tries(m)
		for i := from; i < len(c.list); i++ {
			c.list[i].Tries = tries
		}
		// What all frames have in common is shown with the first message that it breaks.
		for i := range c.list[:from] {
			if x := &c.list[i]; x.Message == "" && framing(x.Rule) && worst(x.Tries) < worst(tries) {
				x.Tries = tries
			}
		}
	}
	c.unwired()
	return c.list
}

// framing reports whether a rule is about all frames.
func framing(r Rule) bool {
	return slices.Contains([]Rule{HeaderChanged, FrameChecksum, FrameLength, FrameLimit, Framing}, r)
}

func worst(tries []Try) int {
	w := -1
	for _, t := range tries {
		w = max(w, worse(t.Result))
	}
	return w
}

func (c *changer) add(rule Rule, message string, at [2]diag.Span, format string, args ...any) {
	x := Change{Rule: rule, Message: message, Text: fmt.Sprintf(format, args...)}
	for v, s := range at {
		if s.IsZero() {
			continue
		}
		if v == older {
			x.Old = place(s)
		} else {
			x.New = place(s)
		}
	}
	c.list = append(c.list, x)
}

// place is where something stands, as file:line:col.
func place(s diag.Span) string { return fmt.Sprintf("%s:%d:%d", s.File, s.Start.Line, s.Start.Col) }

// messages pairs those of both versions: by name, and what is left by number and layout.
func (c *changer) messages() (list [][2]*model.Message) {
	taken := map[*model.Message]bool{}
	for _, m := range c.p[older].Messages {
		k := slices.IndexFunc(c.p[newer].Messages, func(o *model.Message) bool { return o.Name == m.Name })
		if k < 0 {
			k = slices.IndexFunc(c.p[newer].Messages, func(o *model.Message) bool { return c.renamed(m, o) })
		}
		x := [2]*model.Message{m, nil}
		if k >= 0 {
			x[newer] = c.p[newer].Messages[k]
			taken[x[newer]] = true
		}
		list = append(list, x)
	}
	for _, m := range c.p[newer].Messages {
		if !taken[m] {
			list = append(list, [2]*model.Message{nil, m})
		}
	}
	return list
}

// renamed reports whether messages of different names have the same bytes.
func (c *changer) renamed(m, o *model.Message) bool {
	has := func(v int, name string) bool {
		return slices.ContainsFunc(c.p[v].Messages, func(x *model.Message) bool { return x.Name == name })
	}
	if has(newer, m.Name) || has(older, o.Name) || c.p[older].WireOf(m) == nil || c.p[newer].WireOf(o) == nil {
		return false
	}
	return m.ID == o.ID && m.From == o.From && m.ID >= 0 &&
		slices.EqualFunc(pieces(m.Layout), pieces(o.Layout), func(a, b piece) bool { return a.text() == b.text() })
}

func (c *changer) message(m, o *model.Message) {
	switch {
	case o == nil:
		c.add(MessageRemoved, m.Name, [2]diag.Span{m.Span, {}}, "%s is gone", m.Name)
		return
	case m == nil:
		c.add(MessageAdded, o.Name, [2]diag.Span{{}, o.Span}, "%s is new", o.Name)
		return
	}
	at := [2]diag.Span{m.Span, o.Span}
	if m.Name != o.Name {
		c.add(MessageRenamed, o.Name, at, "%s is called %s, and has the same bytes", m.Name, o.Name)
	}
	if m.ID != o.ID {
		c.add(MessageNumber, o.Name, at, "%s has the number %d, and had %d", o.Name, o.ID, m.ID)
	}
	if m.From != o.From {
		c.add(MessageSender, o.Name, at, "%s is sent by %s, and was sent by %s", o.Name, either(o.From), either(m.From))
	}
	a, b := c.p[older].Channels()[m.Channel].Name, c.p[newer].Channels()[o.Channel].Name
	if a != b && c.p[older].Several() && c.p[newer].Several() {
		c.add(MessageChannel, o.Name, at, "%s goes over %s, and went over %s", o.Name, b, a)
	}
	if x, y := c.phases(older, m), c.phases(newer, o); x != y {
		c.add(MessagePhase, o.Name, at, "%s may be sent in %s, and could be in %s", o.Name, y, x)
	}
	if x, y := template(m), template(o); x != y {
		c.add(MessageLine, o.Name, at, "the line of %s is %q, and was %q", o.Name, y, x)
	}
	c.fields(m, o)
	if c.p[older].WireOf(m) != nil && c.p[newer].WireOf(o) != nil {
		c.layout(o.Name, m, o)
	}
}

func either(role string) string {
	if role == "" {
		return "anybody"
	}
	return role + " alone"
}

// phases are those in which a message may be sent, in words, and what follows it.
func (c *changer) phases(v int, m *model.Message) string {
	w := c.p[v].WireOf(m)
	if w == nil || len(w.Phases) == 0 {
		return "all phases"
	}
	var list []string
	for k, name := range w.Phases {
		if m.In(k) {
			list = append(list, name)
		}
	}
	text := diag.And(list)
	if m.Next >= 0 && m.Next < len(w.Phases) {
		text += " (then " + w.Phases[m.Next] + ")"
	}
	return text
}

// template is the line of a message as text.
func template(m *model.Message) string {
	var b strings.Builder
	for _, p := range m.Line {
		if len(p.Path) == 0 {
			b.WriteString(p.Text)
			continue
		}
		var path []string
		for _, f := range p.Path {
			path = append(path, f.Name)
		}
		b.WriteString("{" + strings.Join(path, ".") + "}")
	}
	return b.String()
}

// fields compares the fields of two messages.
func (c *changer) fields(m, o *model.Message) {
	same := func(list []*model.Field, name string) *model.Field {
		for _, f := range list {
			if f.Name == name {
				return f
			}
		}
		return nil
	}
	var kept []string
	for k, f := range m.Fields {
		g := same(o.Fields, f.Name)
		if g == nil && len(m.Fields) == len(o.Fields) && same(m.Fields, o.Fields[k].Name) == nil &&
			kind(f.Type) == kind(o.Fields[k].Type) {
			g = o.Fields[k]
			c.add(FieldRenamed, o.Name, [2]diag.Span{f.Span, g.Span}, "field %s of %s is called %s", f.Name, o.Name,
				g.Name)
		} else if g == nil {
			c.add(FieldRemoved, o.Name, [2]diag.Span{f.Span, o.Span}, "field %s of %s is gone", f.Name, o.Name)
			continue
		}
		kept = append(kept, g.Name)
		c.types(o.Name, g.Name, [2]*model.Type{f.Type, g.Type}, [2]diag.Span{f.Span, g.Span}, 0)
	}
	for _, g := range o.Fields {
		if !slices.Contains(kept, g.Name) {
			c.add(FieldAdded, o.Name, [2]diag.Span{m.Span, g.Span}, "field %s of %s is new", g.Name, o.Name)
		}
	}
}

// maxNested bounds how deep types are compared.
const maxNested = 8

// types compares the types of a field.
func (c *changer) types(message, name string, t [2]*model.Type, at [2]diag.Span, depth int) {
	a, b := t[older], t[newer]
	if a.Kind != b.Kind && !(number(a) && number(b)) {
		c.add(FieldType, message, at, "%s of %s is %s, and was %s", name, message, kind(b), kind(a))
		return
	}
	switch {
	case number(a) && (a.Lo != b.Lo || a.Hi != b.Hi):
		c.add(FieldBounds, message, at, "%s of %s is %d..%d, and was %d..%d", name, message, b.Lo, b.Hi, a.Lo, a.Hi)
	case a.Kind == model.KindEnum:
		c.values(message, name, t, at)
	case a.Kind == model.KindOpaque && (a.Bits != b.Bits || a.Float != b.Float):
		c.add(FieldType, message, at, "%s of %s is %s, and was %s", name, message, kind(b), kind(a))
	case a.Kind == model.KindBytes && (a.Cap != b.Cap || a.Exact != b.Exact):
		c.add(FieldBounds, message, at, "%s of %s has at most %d bytes, and had %d", name, message, b.Cap, a.Cap)
	case a.Kind == model.KindBytes && (a.Charset != b.Charset || a.Without != b.Without || a.Binary != b.Binary):
		c.add(FieldType, message, at, "%s of %s may have other bytes in it", name, message)
	case a.Kind == model.KindList && a.Cap != b.Cap:
		c.add(FieldBounds, message, at, "%s of %s has at most %d elements, and had %d", name, message, b.Cap, a.Cap)
	case a.Kind == model.KindArray && (a.Index.Count() != b.Index.Count() || a.Index.Lowest() != b.Index.Lowest()):
		c.add(FieldBounds, message, at, "%s of %s has %d elements, and had %d", name, message, b.Index.Count(),
			a.Index.Count())
	}
	if depth == maxNested {
		return
	}
	if a.Elem != nil && b.Elem != nil {
		c.types(message, name, [2]*model.Type{a.Elem, b.Elem}, at, depth+1)
	}
	for _, f := range a.Fields {
		k := slices.IndexFunc(b.Fields, func(g *model.Field) bool { return g.Name == f.Name })
		if k < 0 {
			c.add(FieldRemoved, message, [2]diag.Span{f.Span, b.Span}, "field %s.%s of %s is gone", name, f.Name,
				message)
			continue
		}
		g := b.Fields[k]
		c.types(message, name+"."+f.Name, [2]*model.Type{f.Type, g.Type}, [2]diag.Span{f.Span, g.Span}, depth+1)
	}
	for _, g := range b.Fields {
		if !slices.ContainsFunc(a.Fields, func(f *model.Field) bool { return f.Name == g.Name }) {
			c.add(FieldAdded, message, [2]diag.Span{a.Span, g.Span}, "field %s.%s of %s is new", name, g.Name, message)
		}
	}
}

// values compares the names and numbers of enumerations.
func (c *changer) values(message, name string, t [2]*model.Type, at [2]diag.Span) {
	coded := func(t *model.Type) (list []string) {
		for i, n := range t.Names {
			word := ""
			if t.Words != nil {
				word = " " + t.Words[i]
			}
			list = append(list, fmt.Sprintf("%s = %d%s", n, t.Codes[i], word))
		}
		return list
	}
	var gone, come []string
	before, now := coded(t[older]), coded(t[newer])
	for _, x := range before {
		if !slices.Contains(now, x) {
			gone = append(gone, x)
		}
	}
	for _, x := range now {
		if !slices.Contains(before, x) {
			come = append(come, x)
		}
	}
	switch {
	case len(gone) > 0 && len(come) > 0:
		c.add(FieldValues, message, at, "%s of %s has %s, and had %s", name, message, diag.And(come), diag.And(gone))
	case len(gone) > 0:
		c.add(FieldValues, message, at, "%s of %s has no %s any more", name, message, diag.And(gone))
	case len(come) > 0:
		c.add(FieldValues, message, at, "%s of %s has %s as well", name, message, diag.And(come))
	}
}

// kind is a type in words.
func kind(t *model.Type) string {
	switch t.Kind {
	case model.KindBool:
		return "bool"
	case model.KindInt:
		return "a number"
	case model.KindNode:
		return "an instance"
	case model.KindEnum:
		return "an enumeration"
	case model.KindOpaque:
		if t.Float {
			return fmt.Sprintf("a float of %d bits", t.Bits)
		}
		return fmt.Sprintf("opaque u%d", t.Bits)
	case model.KindBytes:
		if t.Binary {
			return "bytes"
		}
		return "a text"
	case model.KindOptional:
		return "optional"
	case model.KindRecord:
		return "a record"
	case model.KindArray:
		return "an array"
	case model.KindList:
		return "a list"
	}
	return "a set"
}

// piece is one item of a layout.
type piece struct {
	name   string // of the field, or what it is with how many of these came before it
	kind   string
	number *model.Number
	rest   string // all else that it says
	field  bool
	at     diag.Span
}

func (p piece) text() string {
	if p.number == nil {
		return p.name + p.kind + p.rest
	}
	return fmt.Sprint(p.name, p.kind, *p.number, p.rest)
}

// pieces are the items of a layout and of those inside of them, in order, no two with the same name and kind. What an
// item says is read off its fields.
func pieces(items []model.WireItem) []piece { return inside(items, "", map[string]int{}) }

func inside(items []model.WireItem, prefix string, seen map[string]int) (list []piece) {
	for _, it := range items {
		v := reflect.ValueOf(it).Elem()
		p := piece{kind: strings.TrimPrefix(v.Type().Name(), "Wire"), at: it.Pos()}
		var inner [][]model.WireItem
		for i := range v.NumField() {
			switch x := v.Field(i).Interface().(type) {
			case model.WireBase:
			case model.Number:
				n := x
				p.number = &n
			case *model.Field:
				if x != nil && p.name == "" {
					p.name, p.field = prefix+x.Name, true
				}
			case []model.WireItem:
				inner = append(inner, x)
			case []model.WireBranch:
				for _, b := range x {
					p.rest += fmt.Sprint(" ", b.Values, b.Else)
					inner = append(inner, b.Items)
				}
			case []model.WireNamed:
				for _, n := range x {
					p.rest += " " + n.Name
					inner = append(inner, n.Items)
				}
			case []model.WireBit:
				for _, b := range x {
					p.rest += fmt.Sprint(" ", b.Shift, ":", b.Bits)
					inner = append(inner, []model.WireItem{b.Item})
				}
			case []*model.Field, model.Behind, model.Anchor:
			case *model.WireConst, *model.WireCount, *model.WirePresent, *model.WireEach:
				if rv := reflect.ValueOf(x); !rv.IsNil() {
					p.rest += " with " + spaced(v.Type().Field(i).Name)
				}
			default:
				if !v.Field(i).IsZero() {
					p.rest += fmt.Sprintf(" %s %v", spaced(v.Type().Field(i).Name), x)
				}
			}
		}
		within := prefix
		if p.field {
			within = p.name + "."
		} else {
			p.name = prefix + strings.ToLower(p.kind)
		}
		key := p.kind + " " + p.name
		if seen[key]++; seen[key] > 1 {
			p.name += fmt.Sprintf(" (%d)", seen[key])
		}
		list = append(list, p)
		for _, in := range inner {
			list = append(list, inside(in, within, seen)...)
		}
	}
	return list
}

// spaced is a name of Go as words: `row bytes`.
func spaced(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// layout compares the bytes of two messages, as far as their fields do not say it already.
func (c *changer) layout(message string, m, o *model.Message) {
	a, b := pieces(m.Layout), pieces(o.Layout)
	at := func(list []piece, p piece) int {
		return slices.IndexFunc(list, func(q piece) bool { return q.name == p.name && q.kind == p.kind })
	}
	place := func(i int, list []piece, whole diag.Span) diag.Span {
		if i < 0 || list[i].at.IsZero() {
			return whole
		}
		return list[i].at
	}
	var order [2][]int
	for i, p := range a {
		k := at(b, p)
		if k < 0 {
			if !p.field || slices.ContainsFunc(b, func(q piece) bool { return q.name == p.name }) {
				c.add(c.itemRule(p), message, [2]diag.Span{place(i, a, m.Span), o.Span},
					"%s of %s is not written so any more", p.name, message)
			}
			continue
		}
		order[older], order[newer] = append(order[older], k), append(order[newer], k)
		c.piece(message, [2]piece{p, b[k]}, [2]diag.Span{place(i, a, m.Span), place(k, b, o.Span)})
	}
	for k, q := range b {
		if at(a, q) < 0 && !q.field {
			c.add(LayoutChanged, message, [2]diag.Span{m.Span, place(k, b, o.Span)}, "%s of %s is new", q.name, message)
		}
	}
	slices.Sort(order[newer])
	for i, k := range order[older] {
		if k != order[newer][i] {
			p := at(a, b[k])
			c.add(FieldMoved, message, [2]diag.Span{place(p, a, m.Span), place(k, b, o.Span)},
				"%s of %s stands at another place among the bytes", b[k].name, message)
			break
		}
	}
}

func (c *changer) itemRule(p piece) Rule {
	if p.field {
		return FieldEncoding
	}
	return LayoutChanged
}

// piece compares two items of the same name.
func (c *changer) piece(message string, p [2]piece, at [2]diag.Span) {
	a, b := p[older], p[newer]
	rule := c.itemRule(a)
	if a.number != nil && b.number != nil && *a.number != *b.number {
		x, y := *a.number, *b.number
		switch {
		case x.Bits != y.Bits && x.Varint == model.Fixed && y.Varint == model.Fixed && a.field:
			c.add(FieldWidth, message, at, "%s of %s is %s, and was %s", b.name, message, form(y), form(x))
		case x.Little != y.Little && a.field:
			c.add(FieldByteOrder, message, at, "%s of %s is %s, and was %s", b.name, message, form(y), form(x))
		default:
			c.add(rule, message, at, "%s of %s is %s, and was %s", b.name, message, form(y), form(x))
		}
	}
	if a.rest != b.rest {
		c.add(rule, message, at, "%s of %s is written as%s, and was as%s", b.name, message, orNothing(b.rest),
			orNothing(a.rest))
	}
}

func orNothing(s string) string {
	if s == "" {
		return " by default"
	}
	return s
}

// form is how a number is written, in words.
func form(n model.Number) string {
	letter := "u"
	if n.Signed {
		letter = "i"
	}
	text := fmt.Sprintf("%s%d", letter, n.Bits)
	switch n.Varint {
	case model.LEB128:
		text = letter + "leb128"
	case model.QUIC:
		text = "a QUIC number"
	case model.Decimal, model.Hex:
		text = "digits"
	default:
		if n.Bits > 8 && n.Little {
			text += ", lowest byte first"
		} else if n.Bits > 8 {
			text += ", highest byte first"
		}
	}
	if n.Xor != 0 || n.XorAt != 0 {
		text += ", XORed"
	}
	return text
}

// framing compares headers and frames, of each channel that both have. It reports whether something differs.
func (c *changer) framing() bool {
	from := len(c.list)
	for k, ch := range c.p[newer].Channels() {
		at := channelOf(c.p[older], ch.Name)
		if at < 0 {
			continue
		}
		a, b := c.p[older].Over(at).Wire, c.p[newer].Over(k).Wire
		switch {
		case a == nil && b == nil:
		case a == nil:
			c.add(WireAdded, "", [2]diag.Span{{}, b.Span},
				"the bytes are described now; messages go by them, and went by name")
		case b == nil:
			c.add(WireRemoved, "", [2]diag.Span{a.Span, {}}, "the bytes are not described any more")
		default:
			c.wire(a, b)
		}
	}
	return len(c.list) > from
}

func (c *changer) wire(a, b *model.Wire) {
	at := [2]diag.Span{a.Span, b.Span}
	x, y := *a, *b
	flags := func(w *model.Wire) string {
		return fmt.Sprint(w.Lines, w.ASCII, w.CRLF, w.Strict, w.Self, w.Surplus, w.Phases)
	}
	if flags(a) != flags(b) {
		before := strings.Replace(frameWords(&x), "frames are", "they were", 1)
		c.add(Framing, "", at, "%s, and %s", frameWords(&y), before)
	}
	if a.Max != b.Max {
		c.add(FrameLimit, "", at, "a frame has at most %d bytes, and had %d", b.Max, a.Max)
	}
	before, now := pieces(a.Header), pieces(b.Header)
	same := func(p piece) func(piece) bool {
		return func(q piece) bool { return q.name == p.name && q.kind == p.kind }
	}
	told := false
	for _, p := range before {
		k := slices.IndexFunc(now, same(p))
		if k < 0 || now[k].text() == p.text() {
			if k < 0 {
				told = true
				c.add(headerRule(p), "", [2]diag.Span{p.at, b.Span}, "the header has no %s any more", p.name)
			}
			continue
		}
		told = true
		c.add(headerRule(p), "", [2]diag.Span{p.at, now[k].at}, "%s of the header is %s, and was %s", p.name,
			now[k].words(), p.words())
	}
	for _, q := range now {
		if !slices.ContainsFunc(before, same(q)) {
			told = true
			c.add(headerRule(q), "", [2]diag.Span{a.Span, q.at}, "the header has %s as well", q.name)
		}
	}
	if !told && !slices.EqualFunc(before, now, func(p, q piece) bool { return p.text() == q.text() }) {
		c.add(HeaderChanged, "", at, "the header has another order")
	}
}

func (p piece) words() string {
	if p.number == nil {
		return strings.TrimSpace(p.rest)
	}
	return form(*p.number) + p.rest
}

func headerRule(p piece) Rule {
	switch p.kind {
	case "Length":
		return FrameLength
	case "Checksum", "Sum":
		return FrameChecksum
	}
	return HeaderChanged
}

func frameWords(w *model.Wire) string {
	text := "frames are binary"
	switch {
	case w.Lines && w.CRLF:
		text = "frames are lines that end with CR LF"
	case w.Lines:
		text = "frames are lines"
	case w.Self:
		text += " and end where their last item does"
	}
	if w.Surplus {
		text += ", and bytes behind the last item are skipped"
	}
	if len(w.Phases) > 0 {
		text += ", in the phases " + diag.And(w.Phases)
	}
	return text
}

// channels compares the channels themselves.
func (c *changer) channels() {
	for _, a := range c.p[older].Channels() {
		at := channelOf(c.p[newer], a.Name)
		if at < 0 {
			c.add(ChannelRemoved, "", [2]diag.Span{a.Span, {}}, "the channel %s is gone", a.Name)
			continue
		}
		b := c.p[newer].Channels()[at]
		says := func(c model.Channel) string {
			order, loss := "keeps order", "loses nothing"
			if !c.Ordered {
				order = "keeps no order"
			}
			if c.Lossy {
				loss = "loses messages"
			}
			if c.Duplicates {
				loss += ", copies them"
			}
			return order + ", " + loss
		}
		if says(a) != says(b) {
			name := strings.TrimSpace("the channel " + a.Name)
			c.add(ChannelChanged, "", [2]diag.Span{a.Span, b.Span}, "%s %s; it was one that %s", name, says(b), says(a))
		}
	}
	for _, b := range c.p[newer].Channels() {
		if channelOf(c.p[older], b.Name) < 0 {
			c.add(ChannelAdded, "", [2]diag.Span{{}, b.Span}, "the channel %s is new", b.Name)
		}
	}
}

// unwired notes that the numbers which generated code gives to messages without described bytes are others.
func (c *changer) unwired() {
	if c.p[older].Wire != nil || c.p[newer].Wire != nil || c.p[older].Several() || c.p[newer].Several() {
		return
	}
	for _, m := range c.p[older].Messages {
		for _, o := range c.p[newer].Messages {
			if m.Name == o.Name && m.Index != o.Index {
				c.add(NumbersShift, o.Name, [2]diag.Span{m.Span, o.Span},
					"%s is message %d of the file, and was %d: no bytes are described, so generated codecs number "+
						"messages in order, and those of the two versions do not fit", o.Name, o.Index, m.Index)
				return
			}
		}
	}
}
