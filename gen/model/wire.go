package model

import "github.com/parley-go/parley/gen/diag"

// Wire is the frame format of a protocol: a header with the length and the
// type number, then the message's Layout.
type Wire struct {
	// Header items in order; WireLength and WireType occur at most once each.
	Header []WireItem
	// HeaderLen is the header's length in bytes.
	HeaderLen int
	// Max is the largest frame, in bytes, header included.
	Max int
	// Surplus is set if bytes after the last item are skipped; otherwise they are an error.
	Surplus bool
	// Lines is set if a frame is a line of text that ends with LF. Header is then empty, and
	// messages have a Line instead of a Layout. ASCII is set if a line has only the bytes 32 to
	// 126.
	Lines, ASCII bool
	Span         diag.Span
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

type (
	// WireLength is an unsigned integer that counts the bytes of the frame but
	// the first Less: of all of it, of what follows the header, or of what
	// follows the length.
	WireLength struct {
		WireBase
		Bits   int // 8, 16, 24, 32
		Little bool
		Less   int
	}
	// WireType is the message's type number.
	WireType struct {
		WireBase
		Bits   int
		Little bool
	}
	// WireConst is a constant number; when decoding, another value is an error.
	WireConst struct {
		WireBase
		Bits   int
		Little bool
		Value  int64
		// Name is the constant that the specification writes for the number, empty if it writes
		// anything else.
		Name string
	}
	// WireInt is a scalar field (Bool, Int, Enum by code, Opaque, Node), or an Optional
	// of one whose absence is the number None. Numbers outside the type's range are an error;
	// for Bool every number but 0 is true and true is sent as 1.
	WireInt struct {
		WireBase
		Field   *Field
		Bits    int
		Little  bool
		HasNone bool
		None    int64
	}
	// WireChecksum is the CRC-32 (IEEE 802.3, as zlib computes it) of the whole frame, in which its
	// own four bytes count as zeros. It stands in the header at Offset.
	WireChecksum struct {
		WireBase
		Little bool
		Offset int
	}
	// WireSequence is a number that the link counts up with each frame of a sender; zero when
	// encoding, not looked at when decoding. It stands in the header at Offset.
	WireSequence struct {
		WireBase
		Bits   int
		Little bool
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
	// WirePresent has a byte for each element of an array of optional values: 1 if it is there,
	// else 0. Decoding takes anything but 0 as 1.
	WirePresent struct {
		WireBase
		Field *Field
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
		Field  *Field
		Bits   int
		Little bool
		Late   bool
	}
	// WireEach is the elements of a list or array field, each laid out by Items, whose fields are
	// those of the element's record; several of one list have different fields of it. The count of
	// a list comes from a WireCount before it. With Rows > 0 there are always so many rows of
	// RowBytes bytes; those of no element, or of an absent one where Present is set, are zero when
	// encoding, and not looked at when decoding. AheadOf is then the distance in bytes to a Late
	// count, or to the WirePresent, from this item; 0 if it is before it.
	WireEach struct {
		WireBase
		Field          *Field
		Items          []WireItem
		Rows, RowBytes int
		Count          *WireCount   // the list's
		Present        *WirePresent // the array's, if it has one
		AheadOf        int
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
		Cut   bool
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
