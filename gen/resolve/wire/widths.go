package wire

import (
	"strconv"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/apart"
)

// varints are the numbers of varying length, by name.
var varints = map[string]model.Number{
	"leb128": {Bits: 64, Varint: model.LEB128},
	"zigzag": {Bits: 64, Varint: model.LEB128, Signed: true},
	"mqtt":   {Bits: 28, Varint: model.LEB128},
	"quic":   {Bits: 62, Varint: model.QUIC},

	"decimal": {Bits: 64, Varint: model.Decimal},
	"integer": {Bits: 64, Varint: model.Decimal, Signed: true},
	"hex":     {Bits: 64, Varint: model.Hex},
}

var widthNames = []string{"u8", "u16", "u24", "u32", "u40", "u48", "u56", "u64", "i8", "i16", "i24", "i32", "i64",
	"leb128", "zigzag", "mqtt", "quic", "decimal", "integer", "hex"}

// width returns the number of a name, among bits or among bytes; Bits is 0 if there is none.
func width(name string, inBits bool) model.Number {
	if n, ok := varints[name]; ok && !inBits {
		return n
	}
	if len(name) < 2 || name[0] != 'u' && name[0] != 'i' || name[1] == '0' {
		return model.Number{}
	}
	bits, err := strconv.Atoi(name[1:])
	if err != nil || bits < 1 || bits > 64 || !inBits && bits%8 != 0 || name == "i1" {
		return model.Number{}
	}
	return model.Number{Bits: bits, Signed: name[0] == 'i'}
}

// fits reports whether all numbers from lo to hi can be written.
func fits(lo, hi int64, n model.Number) bool {
	least, most := n.Range()
	return lo >= least && (hi < 0 || uint64(hi) <= most)
}

// describe says how wide a number is, for messages.
func describe(n model.Number) string {
	out := strconv.Itoa(n.Bits) + " bits"
	if n.Signed {
		out = "signed " + out
	}
	return out
}

// hasCode reports whether a value of t has the number v on the wire.
func hasCode(t *model.Type, v int64) bool {
	if t.Kind == model.KindEnum {
		for _, c := range t.Codes {
			if c == v {
				return true
			}
		}
		return false
	}
	lo, hi := apart.Codes(t)
	return v >= lo && v <= hi
}

// few reports whether a type has so few values that each can be listed.
func few(t *model.Type) bool { return t.Count() <= 4096 }

// valueName returns a value of t as a specification writes it.
func valueName(t *model.Type, v int64) string {
	switch t.Kind {
	case model.KindEnum:
		return t.Names[v]
	case model.KindBool:
		return strconv.FormatBool(v != 0)
	}
	return strconv.FormatInt(v, 10)
}
