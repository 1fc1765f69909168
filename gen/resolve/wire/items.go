package wire

import (
	"maps"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// writer resolves the items of one header or message.
type writer struct {
	r      *resolver
	little bool
	where  string // for messages: the message or record
	// fields by name, and for each how often it was placed and counted.
	fields  map[string]*model.Field
	order   []*model.Field
	placed  map[string]int
	counted map[string]*model.WireCount
	early   map[string]bool               // what was counted before something took the rest
	names   map[string]int                // index of the item that places a field, for `since`
	inner   map[*model.Field]*model.Field // the fields that stand for the values of optional ones
	header  bool
	heads   []headPlace
	bodies  []*model.WireLength        // of a header; what they leave out is known behind it
	eachOf  map[string]*model.WireEach // the first of a list or array, where each element has a fixed size
	eachAt  map[string]int64           // and where it is
	rowsOf  map[string]int             // for how many elements of an array there were rows
	parts   map[string]map[string]int  // how often the fields of a list's record are placed
	nested  bool
	rest    bool            // a text or list took all the rest
	behind  *model.Behind   // of what took it, which can leave room for more; nil: nothing can follow
	last    *bool           // of a list to the end: set if an element can take the rest
	region  bool            // the items are in a region, which has an end of its own
	flagged map[string]bool // the optional fields of which something before says whether they are there
	tail    *model.Field    // the optional field that is there if bytes remain; only such can follow
	self    bool            // the frame ends where its items do
	wrong   map[string]bool // fields of which an item like `count FIELD` could not be resolved
	inBits  bool            // the items are parts of a number
	ended   bool            // a sum over the frame's length ends the frame
	sizes   bool            // the number of their bytes stands before the items, and is known behind them
	ahead   []aheadSum      // the checksums that stand before the end of their bytes
	outer   *writer         // of the items of which one has these, within the same message or element
	frame   *model.Wire
	varies  bool // the size of what is before the items varies
	min     int64
	max     int64
}

func newWriter(r *resolver, little bool, where string, fields []*model.Field) *writer {
	w := &writer{r: r, little: little, where: where, fields: map[string]*model.Field{},
		placed:  map[string]int{},
		counted: map[string]*model.WireCount{}, names: map[string]int{},
		eachOf: map[string]*model.WireEach{}, eachAt: map[string]int64{}, rowsOf: map[string]int{},
		parts: map[string]map[string]int{}, flagged: map[string]bool{}, wrong: map[string]bool{},
		inner: map[*model.Field]*model.Field{}}
	for _, f := range fields {
		w.fields[f.Name] = f
	}
	w.order = fields
	return w
}

// complete reports fields that no item places.
func (w *writer) complete(fields []*model.Field, at diag.Span) {
	w.completeRows(at)
	for _, name := range slices.Sorted(maps.Keys(w.rowsOf)) {
		if n, all := w.rowsOf[name], int(w.lookup(name).Type.Index.Count()); n < all {
			w.r.Errorf("FSM072", at, "the rows of %s have room for %d of its %d elements", diag.Quote(name), n, all)
		}
	}
	unplaced(fields, w.placed, func(name string, f *model.Field) {
		d := w.r.Errorf("FSM072", at, "the wire of %s does not place the field %s", w.where, diag.Quote(name)).
			See(f.Span, "declared here")
		if w.flagged[name] {
			d.With("`present " + name + "` says only whether it is there; place it behind that, as in `if " +
				name + ": …`")
		}
	})
}

// items resolves a list of wire items in order.
func (w *writer) items(n *ast.Node) []model.WireItem {
	var out []model.WireItem
	if n == nil {
		return nil
	}
	for _, it := range n.Items {
		if len(it.Entries) != 1 {
			continue
		}
		e := it.Entries[0]
		if w.ended && e.Key.Text != "align" {
			w.r.Errorf("FSM074", e.Key.Span(), "nothing can follow a checksum of the frame's beginning and length")
			return out
		}
		after := w.rest
		if after && w.behind == nil {
			w.r.Errorf("FSM074", e.Key.Span(), "nothing can follow what takes the rest of the frame").
				With("of the bytes 01 02 nobody could tell which are the rest; a count, or `sized u16: […]`, " +
					"gives it an end")
			return out
		}
		if word, _, _ := strings.Cut(e.Key.Text, " "); w.tail != nil && word != "if" {
			w.r.Errorf("FSM074", e.Key.Span(), "%s is there if bytes remain, so only other such parts can follow it",
				diag.Quote(w.tail.Name)).
				With("say before it whether it is there: `present " + w.tail.Name + ": u8`")
			return out
		}
		if m := w.item(e, it, len(out)); m != nil {
			out = append(out, m)
			if after && !w.follows(m, e) {
				return out
			}
		} else if _, name, is := strings.Cut(e.Key.Text, " "); is {
			w.wrong[name] = true
		}
	}
	w.aheads(out)
	w.r.prefixes(out)
	w.r.tight(out)
	w.r.runs(out)
	return out
}

// follows makes room for an item behind what takes the rest. Its size must be known before.
func (w *writer) follows(item model.WireItem, e ast.Entry) bool {
	switch it := item.(type) {
	case *model.WireBytes:
		if it.Count && w.early[it.Field.Name] {
			w.behind.Counts = append(w.behind.Counts, it.Field)
			return true
		}
		if it.Whole {
			w.behind.Bytes += it.Field.Type.Cap
			return true
		}
	case *model.WireConst, *model.WireLiteral, *model.WireInt, *model.WirePad, *model.WireBits:
		if n := model.FixedBytes(it); n > 0 {
			w.behind.Bytes += n
			return true
		}
	}
	w.r.Errorf("FSM074", e.Key.Span(), "only what has a size that is known before can follow the rest of the frame").
		With("items of fixed sizes, and texts or bytes that are counted before the rest; of 01 02 03 nobody could " +
			"tell otherwise where the rest ends")
	return false
}

// takesRest notes that an item takes the rest, for which others may come behind it.
func (w *writer) takesRest(behind *model.Behind) {
	w.rest, w.behind, w.early = true, behind, map[string]bool{}
	for name := range w.counted {
		w.early[name] = true
	}
}

// item resolves one item; index is its position in the list.
func (w *writer) item(e ast.Entry, it *ast.Node, index int) model.WireItem {
	base := model.WireBase{Span: it.Span()}
	word, rest, _ := strings.Cut(e.Key.Text, " ")
	rest = strings.TrimSpace(rest)
	if f := w.lookup(e.Key.Text); f != nil {
		w.refer(e.Key, 0, f)
		return w.field(f, e, base, index)
	}
	switch e.Key.Text {
	case "pad":
		v, ok := w.r.ConstIn(e.Value, 1, 65535, "the padding")
		if ok && w.inBits && v > 63 {
			w.r.Errorf("FSM073", e.Value.Span(), "a number has at most 64 bits, %d are too many for padding", v)
			return nil
		}
		if !ok {
			return nil
		}
		w.grow(v, v)
		return &model.WirePad{WireBase: base, Bytes: int(v)}
	case "space":
		v, ok := w.r.ConstIn(e.Value, 0, 16, "the white space")
		if !ok || w.inBits || w.header {
			if ok {
				w.r.Errorf("FSM076", e.Key.Span(), "white space stands among the items of a message")
			}
			return nil
		}
		w.grow(0, v)
		return &model.WireSpace{WireBase: base, Blanks: int(v)}
	case "align":
		if w.self {
			return w.noEnd(e, "`align` may be missing at the end of the frame")
		}
		return w.align(e.Value, base)
	case "const":
		return w.constItem(e.Value, base)
	case "bits":
		return w.bits(e, base, index)
	case "length", "body length", "rest length", "type", "sequence":
		if w.header && w.inBits && e.Key.Text != "type" {
			w.r.Errorf("FSM076", e.Key.Span(), "%s cannot be a part of a number", diag.Quote(e.Key.Text))
			return nil
		}
		if w.header {
			return w.headerItem(e, base)
		}
	case "checksum":
		if w.header {
			return w.checksum(e, base)
		}
		return w.sum(e, base, index)
	}
	switch {
	case word == "count" && rest != "":
		return w.count(rest, e, base)
	case word == "each" && rest != "":
		return w.each(rest, e, base, index)
	case word == "present" && rest != "":
		return w.present(rest, e, base)
	case word == "sized" && rest != "":
		return w.sized(rest, e, base)
	case word == "if" && rest != "":
		return w.optional(rest, e, base, index)
	case word == "case" && rest != "":
		return w.choice(rest, e, base, index)
	}
	if w.header && word == e.Key.Text && w.r.carried(e.Key.Text) {
		return w.head(e, base)
	}
	if w.noRecord(e, e.Key.Text) || w.unchosen(e) {
		return nil
	}
	known := append([]string{"pad", "align", "space", "const", "bits", "sized u16", "checksum"},
		w.known(e.Key.Text)...)
	if w.header {
		known = append(known, "length", "body length", "rest length", "type", "sequence")
	}
	w.r.Errorf("FSM076", e.Key.Span(), "%s has no item or field %s", w.where, diag.Quote(e.Key.Text)).
		With(diag.DidYouMean(e.Key.Text, known))
	return nil
}

func (w *writer) headerItem(e ast.Entry, base model.WireBase) model.WireItem {
	f, ok := w.form(e.Value)
	if !ok {
		return nil
	}
	if f.Bits > 32 && f.Varint == model.Fixed || f.Signed || f.End != "" {
		w.r.Errorf("FSM076", f.n.Span(), "the header's numbers are unsigned and have at most 32 bits")
		return nil
	}
	at := int(w.max)
	fixed := w.min == w.max
	w.growBy(f.Number)
	switch e.Key.Text {
	case "sequence":
		if !fixed || f.Varint != model.Fixed {
			w.r.Errorf("FSM074", e.Key.Span(), "the sequence has a fixed size and place, which links know")
			return nil
		}
		return &model.WireSequence{WireBase: base, Number: f.Number, Offset: at}
	case "type":
		return &model.WireType{WireBase: base, Number: f.Number}
	}
	it := &model.WireLength{WireBase: base, Number: f.Number}
	switch e.Key.Text {
	case "rest length":
		it.Less, it.Of = int(w.max), model.LengthOfRest
	case "body length":
		it.Of = model.LengthOfBody
		w.bodies = append(w.bodies, it)
	default:
		if f.Varint != model.Fixed {
			w.r.Errorf("FSM074", f.n.Span(), "a length of varying size cannot count itself").
				With("write `rest length` or `body length`")
			return nil
		}
	}
	return it
}

func (w *writer) align(n *ast.Node, base model.WireBase) model.WireItem {
	a := &model.WireAlign{WireBase: base, Since: -1}
	to := n
	if n.Kind == ast.Map {
		if !w.onlyKeys(n, []string{"to", "since"}) {
			return nil
		}
		to = n.Get("to")
		if since := n.Get("since"); since != nil {
			i, ok := w.names[since.Text]
			if !ok {
				w.r.Unknown("FSM076", since, "earlier item for", slices.Sorted(maps.Keys(w.names)))
				return nil
			}
			if f := w.lookup(since.Text); f != nil {
				w.refer(since, 0, f)
			}
			a.Since = i
		}
	}
	if to == nil {
		w.r.Errorf("FSM076", n.Span(), "`align` needs `to: n`")
		return nil
	}
	v, ok := w.r.ConstIn(to, 2, 4096, "the alignment")
	if !ok {
		return nil
	}
	a.To = int(v)
	if w.varies && a.Since < 0 {
		w.r.Errorf("FSM074", n.Span(), "the header has no fixed size, so nothing can be aligned to the frame's start").
			With("{to: n, since: an item}")
		return nil
	}
	if w.header {
		pad := (v - w.max%v) % v
		w.grow(pad, pad)
	} else {
		// Padding missing at the end is no error, and what precedes may vary.
		w.grow(0, v-1)
	}
	return a
}

// place notes that an item places a field, and reports the second one that does.
func (w *writer) place(name string, e ast.Entry, index int) bool {
	w.placed[name]++
	w.names[name] = index
	if w.placed[name] > 1 {
		w.r.Errorf("FSM072", e.Key.Span(), "the field %s is placed twice", diag.Quote(name))
		return false
	}
	return true
}

func (w *writer) checksum(e ast.Entry, base model.WireBase) model.WireItem {
	if w.min != w.max {
		w.r.Errorf("FSM074", e.Key.Span(), "the checksum stands at a fixed place, which links know")
		return nil
	}
	if e.Value.Kind != ast.Scalar || e.Value.Text != "crc32" {
		w.r.Errorf("FSM076", e.Value.Span(), "a checksum is crc32")
		return nil
	}
	at := int(w.max)
	w.grow(4, 4)
	return &model.WireChecksum{WireBase: base, Little: w.little, Offset: at}
}

// refer notes the field that an item mentions; prefix is the length of what stands before its
// name.
func (w *writer) refer(key *ast.Node, prefix int, f *model.Field) {
	if f.Name == "" {
		return
	}
	for _, step := range pathOf(f) {
		w.r.Refer(key.Part(prefix, prefix+len(step.Name)), step.Span)
		prefix += len(step.Name) + 1
	}
}
