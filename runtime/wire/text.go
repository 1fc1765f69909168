package wire

import (
	"strconv"

	"github.com/parley-go/parley/runtime/fsm"
)

// The functions below append values as text, each after the words that stand before it. A [Scanner]
// reads what they write.

// AppendInt appends a number.
func AppendInt(b []byte, before string, v int64) []byte {
	return strconv.AppendInt(append(b, before...), v, 10)
}

// AppendUint appends an opaque number.
func AppendUint(b []byte, before string, v uint64) []byte {
	return strconv.AppendUint(append(b, before...), v, 10)
}

// AppendBool appends a truth value.
func AppendBool(b []byte, before string, v bool) []byte {
	return strconv.AppendBool(append(b, before...), v)
}

// AppendBools appends an array of truth values.
func AppendBools(b []byte, before string, list []bool) []byte {
	b = append(append(b, before...), '[')
	for i, v := range list {
		b = strconv.AppendBool(Comma(b, i), v)
	}
	return append(b, ']')
}

// AppendWord appends a name, such as that of an enumeration's value.
func AppendWord(b []byte, before, word string) []byte {
	return append(append(b, before...), word...)
}

// AppendText appends a text in quotation marks, followed by dots if its length is greater than it
// can be.
func AppendText(b []byte, before, text string, longer bool) []byte {
	b = strconv.AppendQuote(append(b, before...), text)
	if longer {
		b = append(b, "..."...)
	}
	return b
}

// Comma appends the separator before element i of a list.
func Comma(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ", "...)
	}
	return b
}

// AppendTo appends the destination of an effect whose specification names it.
func AppendTo(b []byte, peer fsm.Peer) []byte {
	if peer == fsm.Broadcast {
		return append(b, " to all"...)
	}
	return AppendInt(b, " to ", int64(peer))
}
