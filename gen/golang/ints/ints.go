// Package ints composes the reading and writing of one number of a frame: fixed, of varying length, in digits, or
// some bits of a word. It knows neither fields nor messages. Start from [Read] and [Append].
package ints

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/model"
)

// Type returns the Go type of a number: the smallest that holds it.
func Type(n model.Number) string {
	bits := 64
	for _, b := range []int{32, 16, 8} {
		if n.Bits <= b && n.Varint == model.Fixed {
			bits = b
		}
	}
	if n.Signed {
		return fmt.Sprintf("int%d", bits)
	}
	return fmt.Sprintf("uint%d", bits)
}

// Read composes the number of a fixed size at an offset of b; its type is Type.
func Read(n model.Number, at gotree.Expr) gotree.Expr {
	if n.Xor != 0 || n.XorAt > 0 {
		return Xored(n, Read(Plain(n), at), gotree.X("b"), gotree.Int(0))
	}
	if n.Signed {
		n.Signed = false
		return Signed(Read(n, at), n.Bits)
	}
	return ReadFrom(gotree.X("b"), n, at)
}

// ReadFrom composes the unsigned number of a fixed size at an offset of some bytes.
func ReadFrom(b gotree.Expr, n model.Number, at gotree.Expr) gotree.Expr {
	switch n.Bits {
	case 8:
		return gotree.X("$2[$1]", at, b)
	case 16, 32, 64:
		return gotree.X("$1.$2($4[$3:])", order(n.Little), "Uint"+strconv.Itoa(n.Bits), at, b)
	case 24:
		second, third := gotree.Plus(at, 1), gotree.Plus(at, 2)
		if n.Little {
			return gotree.X("uint32($4[$1]) | uint32($4[$2])<<8 | uint32($4[$3])<<16", at, second, third, b)
		}
		return gotree.X("uint32($4[$1])<<16 | uint32($4[$2])<<8 | uint32($4[$3])", at, second, third, b)
	}
	return gotree.X("wire.Unsigned($4[$1:$2], $3)", at, gotree.Plus(at, int64(n.Bits/8)), n.Little, b)
}

// Plain is a number without what it is XORed with.
func Plain(n model.Number) model.Number {
	n.Xor, n.XorAt = 0, 0
	return n
}

// Xored composes a number XORed with what it says, of a frame that begins at a place of some bytes.
func Xored(n model.Number, v gotree.Expr, of, start gotree.Expr) gotree.Expr {
	if n.Xor != 0 {
		v = gotree.X("$1 ^ $2", v, n.Xor)
	}
	if n.XorAt > 0 {
		at := gotree.Plus(start, int64(n.XorAt-1))
		v = gotree.X("$1 ^ $2", v, ReadFrom(of, Plain(n), at))
	}
	return v
}

// Signed composes the signed number that the lowest bits of x are.
func Signed(x gotree.Expr, bits int) gotree.Expr {
	to := Type(model.Number{Bits: bits, Signed: true})
	whole := map[string]int{"int8": 8, "int16": 16, "int32": 32, "int64": 64}[to]
	if whole == bits {
		return gotree.X("$1($2)", to, x)
	}
	return gotree.X("$1($2<<$3) >> $3", to, x, whole-bits)
}

// Varint composes the call that reads a number of varying length at an offset of b: v and n.
func Varint(n model.Number, at gotree.Expr) gotree.Expr {
	switch {
	case n.Varint == model.QUIC:
		return gotree.X("wire.QUIC(b[$1:], $2)", at, n.Overlong)
	case n.Varint == model.Decimal && n.Signed:
		return gotree.X("wire.Integer(b[$1:], $2, $3)", at, n.Overlong, gotree.Str(n.End))
	case n.Varint == model.Decimal:
		return gotree.X("wire.Digits(b[$1:], 10, $2, $3)", at, n.Overlong, gotree.Str(n.End))
	case n.Varint == model.Hex:
		return gotree.X("wire.Digits(b[$1:], 16, $2, $3)", at, n.Overlong, gotree.Str(n.End))
	}
	return gotree.X("wire.LEB128(b[$1:], $2, $3)", at, n.Bits, n.Overlong)
}

// Append composes the statement that appends a number to dst.
func Append(n model.Number, v gotree.Expr) gotree.Stmt {
	if n.Varint != model.Fixed {
		v = gotree.X("uint64($1)", v)
		if n.Signed {
			v = gotree.X("wire.Zigzag(int64($1))", v)
		}
		switch {
		case n.Varint == model.QUIC:
			return gotree.S("dst = wire.AppendQUIC(dst, $1)", v)[0]
		case n.Varint == model.Decimal && n.Signed:
			return gotree.S("dst = wire.AppendInteger(dst, $1, $2)", v, gotree.Str(n.End))[0]
		case n.Varint == model.Decimal:
			return gotree.S("dst = wire.AppendDigits(dst, $1, 10, $2)", v, gotree.Str(n.End))[0]
		case n.Varint == model.Hex:
			return gotree.S("dst = wire.AppendDigits(dst, $1, 16, $2)", v, gotree.Str(n.End))[0]
		}
		return gotree.S("dst = wire.AppendLEB128(dst, $1)", v)[0]
	}
	if n.Xor != 0 || n.XorAt > 0 {
		v = Xored(n, gotree.Conv(gotree.Name{Name: Type(n)}, v), gotree.X("dst"), gotree.X("start"))
		return Append(Plain(n), v)
	}
	if c, ok := gotree.Number(v); ok && n.Bits <= 32 { // a constant: its bytes
		var parts []gotree.Expr
		for i := range n.Bits / 8 {
			k := n.Bits/8 - 1 - i
			if n.Little {
				k = i
			}
			parts = append(parts, gotree.Int(int(byte(uint64(c)>>(8*k)))))
		}
		return Appended(parts...)
	}
	switch n.Bits {
	case 8:
		return Appended(gotree.X("byte($1)", v))
	case 16, 32, 64:
		return gotree.S("dst = $1.$2(dst, $3($4))", order(n.Little), "AppendUint"+strconv.Itoa(n.Bits),
			"uint"+strconv.Itoa(n.Bits), v)[0]
	case 24:
		parts := []gotree.Expr{gotree.X("byte(uint32($1)>>16)", v), gotree.X("byte(uint32($1)>>8)", v),
			gotree.X("byte(uint32($1))", v)}
		if n.Little {
			slices.Reverse(parts)
		}
		return Appended(parts...)
	}
	return gotree.S("dst = wire.AppendUnsigned(dst, uint64($1), $2, $3)", v, n.Bits/8, n.Little)[0]
}

// Put composes the statement that writes a number of a fixed size at a place of dst.
func Put(n model.Number, at, v gotree.Expr) gotree.Stmt {
	switch n.Bits {
	case 8:
		return gotree.S("dst[$1] = byte($2)", at, v)[0]
	case 16, 32, 64:
		return gotree.S("$1.$2(dst[$3:], $4($5))", order(n.Little), "PutUint"+strconv.Itoa(n.Bits), at,
			"uint"+strconv.Itoa(n.Bits), v)[0]
	case 24:
		if n.Little {
			return gotree.S("{\nn := $2\ndst[$1], dst[$1+1], dst[$1+2] = byte(n), byte(n>>8), byte(n>>16)\n}", at, v)[0]
		}
		return gotree.S("{\nn := $2\ndst[$1], dst[$1+1], dst[$1+2] = byte(n>>16), byte(n>>8), byte(n)\n}", at, v)[0]
	}
	return gotree.S("wire.AppendUnsigned(dst[:$1], uint64($2), $3, $4)", at, v, n.Bits/8, n.Little)[0]
}

// Largest returns the greatest number of so many bits.
func Largest(bits int) uint64 {
	if bits >= 64 {
		return ^uint64(0)
	}
	return 1<<bits - 1
}

// Cut composes the bits of one item of a word, which has a type and so many bits.
func Cut(word gotree.Expr, typ string, bits int, part model.WireBit) gotree.Expr {
	n := model.Number{Bits: part.Bits}
	switch x := part.Item.(type) {
	case *model.WireInt:
		n.Signed = x.Signed
	case *model.WireConst:
		n.Signed = x.Signed
	}
	x := word
	if part.Shift > 0 {
		x = gotree.X("$1>>$2", x, part.Shift)
	}
	to := Type(model.Number{Bits: part.Bits})
	if n.Signed {
		if to != typ {
			x = gotree.X("$1($2)", to, x)
		}
		return Signed(x, part.Bits)
	}
	if part.Shift+part.Bits < bits {
		x = gotree.X("$1&$2", x, Largest(part.Bits))
	}
	if to != typ {
		x = gotree.X("$1($2)", to, x)
	}
	return x
}

// order returns the byte order of numbers, a value of encoding/binary.
func order(little bool) gotree.Expr {
	if little {
		return gotree.X("binary.LittleEndian")
	}
	return gotree.X("binary.BigEndian")
}

// Appended composes the statement that appends bytes to dst.
func Appended(parts ...gotree.Expr) gotree.Stmt { return gotree.S("dst = append(dst, $1)", parts)[0] }
