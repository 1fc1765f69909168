// Package wire holds what generated code shares where it meets bytes and text: the error that codecs
// return and the bounds they keep, and how values are written as text and read from it. It knows no
// protocol and no socket. Start from [Error] for frames, and from [Scanner] for texts.
package wire

import (
	"hash/crc32"
	"strconv"
	"strings"
)

// Error says why bytes are not a frame of a protocol, or why a message has no encoding. It is
// returned by value, so that a refused frame does not allocate.
type Error struct {
	// Message is the name of the message, empty if the type itself is unknown.
	Message string
	// Field is the field at fault, empty if it is the frame as a whole.
	Field string
	// Offset is the position in the frame, in bytes from its first byte.
	Offset int
	// Problem says what is wrong.
	Problem Problem
	// Value is the offending number and Limit what would have been allowed,
	// where Problem has use for them.
	Value, Limit int64
}

// Problem is the kind of an [Error].
type Problem uint8

const (
	// Short: the frame ends before the field does. Limit is the length needed.
	Short Problem = iota + 1
	// Long: the frame is longer than the protocol allows. Limit is the largest length.
	Long
	// UnknownType: no message has this type number.
	UnknownType
	// Range: the value lies outside its declared range. Limit is the nearest bound.
	Range
	// Count: a count exceeds the capacity of its list. Limit is the capacity.
	Count
	// Mismatch: a constant on the wire differs. Limit is the expected value.
	Mismatch
	// Unterminated: a text has no terminator within its bounds.
	Unterminated
	// Trailing: bytes follow the message and the protocol does not allow them.
	Trailing
	// Text: a line does not match any template of the protocol.
	Text
	// Varint: a number of varying length has more bytes than it may, or than it needs.
	Varint
	// Charset: a text has a byte that its charset does not allow there.
	Charset
	// NoWord: no value is written so.
	NoWord
	// BadSum: a checksum differs. Limit is that of the bytes.
	BadSum
	// Byte: a byte of a constant text differs. Limit is the one that has to be there.
	Byte
	// Union: an optional field is there (Value is 1) and has no place in the kind that is chosen, or it is not
	// and the kind needs it (Limit is 1).
	Union
	// NoDigits: there is no number in digits with its end, or it has zeros before it or too many digits.
	NoDigits
	// EndMark: an element of a list begins with what ends the list, the number Value.
	EndMark
	// RowName: an element of a list begins with the name of another row.
	RowName
)

// Error describes the error in words.
func (e Error) Error() string {
	s := "bad frame"
	if e.Message != "" {
		s = "bad " + e.Message + " frame"
	}
	if e.Field != "" {
		s += ", field " + strings.TrimSuffix(e.Field, ".") // an element has no name of its own
	}
	s += " at byte " + strconv.Itoa(e.Offset) + ": "
	v, l := strconv.FormatInt(e.Value, 10), strconv.FormatInt(e.Limit, 10)
	switch e.Problem {
	case Short:
		return s + v + " bytes, at least " + l + " needed"
	case Long:
		return s + v + " bytes, at most " + l + " allowed"
	case UnknownType:
		return s + "no message has type " + v
	case Range:
		return s + "value " + v + " is out of range (limit " + l + ")"
	case Count:
		return s + "count " + v + " exceeds " + l
	case Mismatch:
		return s + "value " + v + ", expected " + l
	case Unterminated:
		return s + "text is not terminated"
	case Trailing:
		return s + v + " bytes follow the message"
	case Text:
		return s + "the line matches no template"
	case Varint:
		return s + "the number has more bytes than it needs, or does not end"
	}
	switch e.Problem {
	case BadSum:
		return s + "the checksum is 0x" + strconv.FormatUint(uint64(e.Value), 16) + ", not 0x" +
			strconv.FormatUint(uint64(e.Limit), 16)
	case EndMark:
		return s + "an element begins with " + v + ", which ends the list, so it cannot be told from the end"
	case RowName:
		return s + "an element begins with the name of another row, so it cannot be told from that"
	case NoDigits:
		return s + "no number in digits, with its end behind it, stands there"
	case Byte:
		return s + "the byte is " + shown(e.Value) + ", not " + shown(e.Limit)
	case Union:
		if e.Limit == 1 {
			return s + "it is not there, and the kind needs it"
		}
		return s + "it is there, and the kind has no place for it"
	}
	if e.Problem == NoWord {
		return s + "no value is written so"
	}
	if e.Problem == Charset {
		return s + "the byte " + v + " is not allowed by the text's charset"
	}
	return s + "malformed"
}

// shown writes a byte, as a character too if it is one.
func shown(b int64) string {
	if b > ' ' && b <= '~' {
		return strconv.FormatInt(b, 10) + " " + strconv.Quote(string(rune(b)))
	}
	return strconv.FormatInt(b, 10)
}

// Farther returns the error of a frame that could be several messages: that with the greater offset, the
// first of equal ones. One without a problem is none.
func Farther(a, b Error) Error {
	if a.Problem == 0 || b.Problem != 0 && b.Offset > a.Offset {
		return b
	}
	return a
}

// Unfinished is [Farther] for frames that end where their last item does: if one of the messages is only not
// complete, this is the error.
func Unfinished(a, b Error) Error {
	if (a.Problem == Short) != (b.Problem == Short) && a.Problem != 0 && b.Problem != 0 {
		if a.Problem == Short {
			return a
		}
		return b
	}
	return Farther(a, b)
}

// zeros stand in the place of a checksum; nothing writes to them.
var zeros [4]byte

// Checksum returns the CRC-32 (IEEE) of a frame in which the four bytes from at on count as zeros.
func Checksum(frame []byte, at int) uint32 {
	c := crc32.ChecksumIEEE(frame[:at])
	c = crc32.Update(c, crc32.IEEETable, zeros[:])
	return crc32.Update(c, crc32.IEEETable, frame[at+4:])
}
