package model

import (
	"slices"

	"github.com/parley-go/parley/gen/diag"
)

// Wire is the frame format of a protocol: a header with the length and the
// type number, then the message's Layout.
type Wire struct {
	// Header items in order; WireLength and WireType occur at most once each.
	Header []WireItem
	// HeaderLen is the header's length in bytes; the least one if it Varies, because it has a number of
	// varying length.
	HeaderLen int
	Varies    bool
	// Max is the largest frame, in bytes, header included.
	Max int
	// Surplus is set if bytes after the last item are skipped; otherwise they are an error.
	Surplus bool
	// Self is set if frames have no length and end where their last item does, so that a stream can be cut.
	Self bool
	// Lines is set if a frame is a line of text that ends with LF. Header is then empty, and
	// messages have a Line instead of a Layout. ASCII is set if a line has only the bytes 32 to
	// 126.
	Lines, ASCII bool
	// CRLF is set if lines are written with CR LF; Strict if an LF alone then ends none.
	CRLF, Strict bool
	// Phases are the names of the phases of a stream, the first one first; none if it has no phases.
	Phases []string
	Span   diag.Span
}

// Delimited reports whether a frame's end can be told from its bytes, so that a stream can be cut.
func (w *Wire) Delimited() bool {
	return w.Lines || w.Self || slices.ContainsFunc(w.Header, func(it WireItem) bool {
		_, ok := it.(*WireLength)
		return ok
	})
}

// EndOfLine returns the bytes that end a line that is written.
func (w *Wire) EndOfLine() string {
	if w.CRLF {
		return "\r\n"
	}
	return "\n"
}

// LinePart is a piece of a line: literal text, or a field.
type LinePart struct {
	Text string // literal, if Path is empty
	// Path leads from a field of the message through records to a scalar, a text, or an optional
	// scalar, whose absence is written None. It reaches up to Stop, the first byte of the literal
	// that follows, or to the end of the line if Stop is LineEnd.
	Path []*Field
	None string
	Stop byte
	Span diag.Span
}

// LineEnd ends a line.
const LineEnd = '\n'

// Type returns the type of the field at the end of the path.
func (p *LinePart) Type() *Type { return p.Path[len(p.Path)-1].Type }

// Offset returns the field's first slot within the message.
func (p *LinePart) Offset() int {
	n := 0
	for _, f := range p.Path {
		n += f.Offset
	}
	return n
}

// CatchAll reports whether a message takes every line, because its template is one text.
func (m *Message) CatchAll() bool {
	return len(m.Line) == 1 && len(m.Line[0].Path) > 0 && m.Line[0].Type().Kind == KindBytes
}

// WireItem is one piece of a frame.
type WireItem interface{ Pos() diag.Span }

// WireBase has the fields that all wire items share.
type WireBase struct{ Span diag.Span }

// Pos returns the place of the item in the specification.
func (b *WireBase) Pos() diag.Span { return b.Span }

// LengthOf is what a length counts.
type LengthOf uint8

const (
	LengthOfFrame LengthOf = iota
	LengthOfBody           // what follows the header
	LengthOfRest           // what follows the length
)

// HeadField is an item of the header whose number depends on the message.
type HeadField struct {
	Item WireItem // WireInt of a field of the message, or WireConst if it has none there
	// At is the offset of the number In whose bits from Shift on are those of the item.
	At    int
	In    Number
	Shift int
}

// Number is how a number is written: as a fixed count of bits, or as one of varying length.
type Number struct {
	// Bits is the width: whole bytes, or 1 to 64 inside of WireBits. Of a number of varying length it
	// is the most that its value may have.
	Bits   int
	Little bool
	// Signed numbers are in two's complement; those of varying length are zigzagged: 0, -1, 1, -2.
	Signed bool
	Varint Varint
	// What is written is XORed with Xor, and with the bytes of the frame from XorAt - 1 on if that is
	// not 0. Only fields of fixed sizes without a sign have either.
	Xor   uint64
	XorAt int
	// Overlong is set if a number of varying length may have more bytes than it needs.
	Overlong bool
	// Nonzero is set if a `bool` may be any number but 0 for true; it is written as 1.
	Nonzero bool
	// End is the bytes that end a number in digits; empty for any other.
	End string
}

// Varint is the form of a number of varying length.
type Varint uint8

const (
	Fixed   Varint = iota
	LEB128         // seven bits in each byte, the lowest first; all but the last have the bit 128
	QUIC           // the two highest bits of the first byte say whether it has 1, 2, 4 or 8
	Decimal        // digits, and the bytes that End says; Signed ones may have a minus before them
	Hex            // the same with hexadecimal digits, in lower case; never Signed
)

// Bytes returns how many bytes the number takes at least and at most.
func (n Number) Bytes() (least, most int) {
	switch n.Varint {
	case LEB128:
		return 1, (n.Bits + 6) / 7
	case QUIC:
		return 1, 8
	case Decimal:
		return 1 + len(n.End), 20 + len(n.End)
	case Hex:
		return 1 + len(n.End), 16 + len(n.End)
	}
	return (n.Bits + 7) / 8, (n.Bits + 7) / 8
}

// Range returns the least and the greatest number that can be written, the latter as unsigned if
// not Signed.
func (n Number) Range() (lo int64, hi uint64) {
	if n.Signed {
		return -1 << (n.Bits - 1), 1<<(n.Bits-1) - 1
	}
	if n.Bits >= 64 {
		return 0, 1<<64 - 1
	}
	return 0, 1<<n.Bits - 1
}

type (
	// WireLength is an unsigned integer that counts the bytes of the frame: of all of it, of what
	// follows the header, or of what follows the length. Less is how many bytes it leaves out, if
	// the header does not vary.
	WireLength struct {
		WireBase
		Number
		Less int
		Of   LengthOf
	}
	// WireType is the message's type number.
	WireType struct {
		WireBase
		Number
	}
	// WireConst is a constant number; when decoding, another value is an error.
	WireConst struct {
		WireBase
		Number
		Value int64
		// Name is the constant that the specification writes for the number, empty if it writes
		// anything else.
		Name string
	}
	// WireLiteral is bytes that are always the same; when decoding, others are an error.
	WireLiteral struct {
		WireBase
		Bytes string
	}
	// WireInt is a scalar field (Bool, Int, Enum by code, Opaque, Node), or an Optional
	// of one whose absence is the number None. Numbers outside the type's range are an error;
	// for Bool every number but 0 is true and true is sent as 1.
	WireInt struct {
		WireBase
		Field *Field
		Number
		HasNone bool
		None    int64
	}
	// WireHead is a place in the header that messages fill in; see HeadField.
	WireHead struct {
		WireBase
		Number
		Name string
	}
	// WireBits is a number whose bits are several items: WireInt, WireConst, WirePresent of an optional
	// field, WireType, or WirePad, whose Bytes are then bits.
	WireBits struct {
		WireBase
		Number // never Signed, of whole bytes
		Parts  []WireBit
	}
	// WireChecksum is the CRC-32 (IEEE 802.3, as zlib computes it) of the whole frame, in which its
	// own four bytes count as zeros. It stands in the header at Offset.
	WireChecksum struct {
		WireBase
		Little bool
		Offset int
	}
	// WireSum is a sum of bytes before it, from one item's first byte to another's; when decoding, another
	// is an error. Ends: the sum is over the frame's length, so the frame ends behind it; a length
	// that stands there at LengthAt counts Less bytes fewer than the frame has. Ahead: the sum stands before To,
	// which is then an item of the same list, or its end; From can stand behind it, too. The sum's own bytes
	// count as zeros.
	WireSum struct {
		WireBase
		Number
		Sum      Sum
		From, To Anchor
		Ahead    bool
		Ends     bool
		Length   Number
		LengthAt int
		Less     int
	}
	// WireSequence is a number that the link counts up with each frame of a sender; zero when
	// encoding, not looked at when decoding. It stands in the header at Offset.
	WireSequence struct {
		WireBase
		Number
		Offset int
	}
	// WireAddress is a Node field, or an Optional of one, where the link puts the address of that
	// instance. In the frame of a machine its first byte is the number + 1, or 0 for none, and the
	// others are 0.
	WireAddress struct {
		WireBase
		Field *Field
		Bytes int
	}
	// WireSized is a number of bytes, and then so many bytes that are the items: a region, in which the
	// frame ends where the region does.
	WireSized struct {
		WireBase
		Number
		Items []WireItem
	}
	// WireIf is items that are there if an optional field is; among them the field is its value.
	// Flagged: a WirePresent before it says so. Else they are there because bytes of the frame or region
	// remain; After is then the optional field of the WireIf before it, without which this one is not.
	WireIf struct {
		WireBase
		Field   *Field
		Flagged bool
		After   *Field
		Items   []WireItem
	}
	// WireCase is the items of one branch of several, as the value of Tag says, which stands before
	// it. The optional fields of a branch are there exactly if it is chosen.
	WireCase struct {
		WireBase
		Tag      *Field
		Branches []WireBranch
		Fields   []*Field // of all branches
	}
	// WirePresent has a byte for each element of an array of optional values that Of has a row for:
	// 1 if it is there, else 0. Decoding takes anything but 0 as 1. Of an optional field it is a
	// Number, 0 or 1, and Of is nil.
	WirePresent struct {
		WireBase
		Field *Field
		Of    *WireEach
		Number
	}
	// WirePad is padding: zero when encoding, not looked at when decoding.
	WirePad struct {
		WireBase
		Bytes int
	}
	// WireAlign pads with zeros until the number of bytes since the item Since (an index into the
	// same list; -1: since the frame's first byte) is a multiple of To. When decoding, padding that
	// is missing at the end of the frame is no error.
	WireAlign struct {
		WireBase
		To    int
		Since int
	}
	// WireCount is the length of a list field (or the length in bytes of a Bytes field), or of an
	// array of optional values how many are there, which is not looked at when decoding. Late: it
	// stands behind the list's elements.
	WireCount struct {
		WireBase
		Field *Field
		Number
		Late bool
	}
	// WireEach is the elements of a list or array field, each laid out by Items, whose fields are
	// those of the element's record; several of one list have different fields of it. The count of
	// a list comes from a WireCount before it. With Rows > 0 there are always so many rows of
	// RowBytes bytes; those of no element, or of an absent one where Present is set, are zero when
	// encoding, and not looked at when decoding. AheadOf is then the distance in bytes to a Late
	// count, or to the WirePresent, from this item; 0 if it is before it. The rows of an array may
	// begin with another element than the first, and there may be fewer elements than rows.
	WireEach struct {
		WireBase
		Field          *Field
		Items          []WireItem
		Rows, RowBytes int
		From           int          // the first element, of an array
		Count          *WireCount   // the list's
		Present        *WirePresent // the array's, if it has one
		// ToEnd: the elements go on to the end of the frame or region. Until: to a number that is no
		// element's first; both are of lists without Rows and Count.
		ToEnd   bool
		Until   *WireConst
		AheadOf int
		// Behind is what comes after a list ToEnd. Last: an element can take all the bytes up to there,
		// so that none follows it.
		Behind Behind
		Last   bool
		// Named are rows of a list Until that are no elements: they begin with a name and may come in any
		// order among the others, each at most once.
		Named []WireNamed
	}
	// WireSpace is white space: so many blanks when encoding, any number of blanks and tabs when decoding.
	WireSpace struct {
		WireBase
		Blanks int
	}
	// WireBytes is a Bytes field: terminated by a zero byte (Nul), or counted
	// by an earlier WireCount, or all the rest of the frame. Longer texts are cut at
	// the type's Cap if Cut, else an error.
	WireBytes struct {
		WireBase
		Field *Field
		Nul   bool
		Count bool
		Rest  bool
		// Domain: a name of the DNS, with dots between its labels. With Back it may point back to a place that
		// is counted from Base; it is written without.
		Domain, Back bool
		Base         int
		// Behind is what comes after the rest, for which it leaves room.
		Behind Behind
		Whole  bool // always as many bytes as its type bounds
		XorAt  int  // if not 0, XORed with the bytes of the frame from XorAt - 1 on
		Cut    bool
		// End is the bytes behind the text, which are not in it; empty if it ends otherwise. LoneLF: End
		// is CR LF, and an LF alone is taken as well.
		End    string
		LoneLF bool
		// Tight: white space before it is not a part of it, so it begins with none.
		Tight bool
	}
	// WireRun is bytes that are all Byte, as many as there are; the field, an integer, says how many.
	WireRun struct {
		WireBase
		Field *Field
		Byte  byte
	}
	// WireWord is an enumeration, as the word that stands for its value, and the bytes End, which may be
	// empty: then it is the longest word that the bytes begin with.
	WireWord struct {
		WireBase
		Field *Field
		End   string
	}
	// WireValue is a field of any type in the default format (see
	// WithDefaultWire). Values are laid out big-endian: a number as the
	// narrowest unsigned integer that holds Hi-Lo, less Lo; a bool, an enum (by
	// index), an opaque value and a set (8 bytes) as they are; a text as its length (u16) and
	// its bytes; an optional as a byte 0, or 1 and the value; a record and an array element by
	// element; a list as its length (u16) and its elements.
	WireValue struct {
		WireBase
		Field *Field
	}
)

// WireNamed is the row of an optional field: it is there if the field is. Its bytes are the name, in which
// decoding does not tell capital letters of ASCII from small ones, and the items.
type WireNamed struct {
	Name  string
	Field *Field
	Items []WireItem
}

// Sum is a checksum, by the name that package wire of the runtime has for it.
type Sum string

const (
	CRC32    Sum = "CRC32"
	CRC32C   Sum = "CRC32C"
	Adler32  Sum = "Adler32"
	Internet Sum = "Internet"
)

// Anchor is where an item begins: Up is how many lists of items are left, from the innermost, to that
// in which it is at Index. With an Index of -1 it is the beginning of the frame, or of the sum itself.
type Anchor struct{ Up, Index int }

// Behind is the size of the items that come after something that takes the rest: so many bytes, and
// those of texts that were counted before.
type Behind struct {
	Bytes  int
	Counts []*Field
}

// WireBranch is the items for some values of a tag. Values are as in a slot: the index of an
// enumeration's name.
type WireBranch struct {
	Values []int64
	// Else is set if the branch has all other values, which are too many for Values.
	Else   bool
	Items  []WireItem
	Fields []*Field
}

// Has reports whether the branch is that of a value; the branches before it are not.
func (b *WireBranch) Has(v int64) bool { return b.Else || slices.Contains(b.Values, v) }

// Name returns the name of the first field in a region, for errors; empty if there is none.
func (it *WireSized) Name() string {
	if f := firstField(it.Items); f != nil {
		return f.Name
	}
	return ""
}

// firstField returns the first field that items place or count, nil if they have none.
func firstField(items []WireItem) *Field {
	for _, item := range items {
		var f *Field
		switch it := item.(type) {
		case *WireInt:
			f = it.Field
		case *WireBytes:
			f = it.Field
		case *WireCount:
			f = it.Field
		case *WireEach:
			f = it.Field
		case *WireWord:
			f = it.Field
		case *WireRun:
			f = it.Field
		case *WireIf:
			f = it.Field
		case *WireSized:
			f = firstField(it.Items)
		case *WireCase:
			if len(it.Fields) > 0 {
				f = it.Fields[0]
			}
		case *WireBits:
			for _, part := range it.Parts {
				if f == nil {
					f = firstField([]WireItem{part.Item})
				}
			}
		}
		if f != nil {
			return f
		}
	}
	return nil
}

// Elements returns which elements of an array the rows have, from the first up to the second.
func (it *WireEach) Elements() (from, to int) {
	n := int(it.Field.Type.Index.Count())
	return min(it.From, n), min(it.From+it.Rows, n)
}

// WireBit is an item inside of WireBits. Shift is how many bits are below it.
type WireBit struct {
	Item  WireItem
	Shift int
	Bits  int
}

// FixedBytes returns the size in bytes of an item that has always the same, else 0.
func FixedBytes(item WireItem) int {
	least, most := Extent(item)
	if least != most {
		return 0
	}
	return least
}

// Extent returns the least and the greatest size in bytes of an item. It leaves out padding that
// depends on the place.
func Extent(item WireItem) (least, most int) {
	number := func(n Number) (int, int) { return n.Bytes() }
	switch it := item.(type) {
	case *WireLength:
		return number(it.Number)
	case *WireType:
		return number(it.Number)
	case *WireSequence:
		return number(it.Number)
	case *WireChecksum:
		return 4, 4
	case *WireInt:
		return number(it.Number)
	case *WireConst:
		return number(it.Number)
	case *WireSum:
		return number(it.Number)
	case *WireCount:
		return number(it.Number)
	case *WireBits:
		return number(it.Number)
	case *WireHead:
		return number(it.Number)
	case *WireLiteral:
		return len(it.Bytes), len(it.Bytes)
	case *WirePad:
		return it.Bytes, it.Bytes
	case *WireAddress:
		return it.Bytes, it.Bytes
	case *WireEach:
		if it.Until != nil {
			least, _ = it.Until.Bytes()
			return least, 1 << 30
		}
		if it.Rows > 0 {
			return it.Rows * it.RowBytes, it.Rows * it.RowBytes
		}
	case *WireRun:
		return int(it.Field.Type.Lo), int(it.Field.Type.Hi)
	case *WireSized:
		least, _ = it.Bytes()
		return least + leastOf(0, it.Items, false), 1 << 30
	case *WireCase:
		least = 1 << 30
		for _, b := range it.Branches {
			least = min(least, leastOf(0, b.Items, false))
		}
		return least, 1 << 30
	case *WireBytes:
		if it.Whole {
			return it.Field.Type.Cap, it.Field.Type.Cap
		}
		if it.End != "" {
			return len(it.End), it.Field.Type.Cap + len(it.End)
		}
	case *WireWord:
		least, most = 1<<30, 0
		for _, word := range it.Field.Type.InLine() {
			least, most = min(least, len(word)), max(most, len(word))
		}
		return least + len(it.End), most + len(it.End)
	case *WirePresent:
		if it.Of == nil {
			return number(it.Number)
		}
		return it.Of.Rows, it.Of.Rows
	}
	return 0, 1 << 30
}

// LeastBody counts the bytes of items behind the first start bytes of a frame, with empty lists and
// texts. It does not count padding at the end.
func LeastBody(start int, items []WireItem) int { return leastOf(start, items, true) }

// leastOf is [LeastBody]. Unless the items are placed, nobody knows where they begin, and how much padding brings them
// to a multiple from the frame's start.
func leastOf(start int, items []WireItem, placed bool) int {
	at, least := start, start
	begin := make([]int, len(items))
	for i, item := range items {
		begin[i] = at
		if a, ok := item.(*WireAlign); ok {
			since := 0
			if a.Since >= 0 {
				since = begin[a.Since]
			}
			if over := (at - since) % a.To; over != 0 && (placed || a.Since >= 0) {
				at += a.To - over
			}
			continue
		}
		if n, _ := Extent(item); n > 0 {
			at += n
			least = at
		}
	}
	return least - start
}
