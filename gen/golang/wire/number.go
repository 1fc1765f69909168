package wire

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/model"
)

// goInt returns the Go type of a number: the smallest that holds it.
func goInt(n model.Number) string {
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

// readNumber composes the number of a fixed size at an offset of b; its type is goInt.
func readNumber(n model.Number, at gotree.Expr) gotree.Expr {
	if n.Xor != 0 || n.XorAt > 0 {
		return xored(n, readNumber(plain(n), at), gotree.X("b"), gotree.Int(0))
	}
	if n.Signed {
		n.Signed = false
		return signed(readNumber(n, at), n.Bits)
	}
	return readFrom(gotree.X("b"), n, at)
}

func readFrom(b gotree.Expr, n model.Number, at gotree.Expr) gotree.Expr {
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

// plain is a number without what it is XORed with.
func plain(n model.Number) model.Number {
	n.Xor, n.XorAt = 0, 0
	return n
}

// xored composes a number XORed with what it says, of a frame that begins at a place of some bytes.
func xored(n model.Number, v gotree.Expr, of, start gotree.Expr) gotree.Expr {
	if n.Xor != 0 {
		v = gotree.X("$1 ^ $2", v, n.Xor)
	}
	if n.XorAt > 0 {
		at := gotree.Plus(start, int64(n.XorAt-1))
		v = gotree.X("$1 ^ $2", v, readFrom(of, plain(n), at))
	}
	return v
}

// signed composes the signed number that the lowest bits of x are.
func signed(x gotree.Expr, bits int) gotree.Expr {
	to := goInt(model.Number{Bits: bits, Signed: true})
	whole := map[string]int{"int8": 8, "int16": 16, "int32": 32, "int64": 64}[to]
	if whole == bits {
		return gotree.X("$1($2)", to, x)
	}
	return gotree.X("$1($2<<$3) >> $3", to, x, whole-bits)
}

// varint composes the call that reads a number of varying length at an offset of b: v and n.
func varint(n model.Number, at gotree.Expr) gotree.Expr {
	if n.Varint == model.QUIC {
		return gotree.X("wire.QUIC(b[$1:], $2)", at, n.Overlong)
	}
	return gotree.X("wire.LEB128(b[$1:], $2, $3)", at, n.Bits, n.Overlong)
}

// appendNumber composes the statement that appends a number to dst.
func appendNumber(n model.Number, v gotree.Expr) gotree.Stmt {
	if n.Varint != model.Fixed {
		v = gotree.X("uint64($1)", v)
		if n.Signed {
			v = gotree.X("wire.Zigzag(int64($1))", v)
		}
		if n.Varint == model.QUIC {
			return gotree.S("dst = wire.AppendQUIC(dst, $1)", v)[0]
		}
		return gotree.S("dst = wire.AppendLEB128(dst, $1)", v)[0]
	}
	if n.Xor != 0 || n.XorAt > 0 {
		v = xored(n, gotree.Conv(gotree.Name{Name: goInt(n)}, v), gotree.X("dst"), gotree.X("start"))
		return appendNumber(plain(n), v)
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
		return appended(parts...)
	}
	switch n.Bits {
	case 8:
		return appended(gotree.X("byte($1)", v))
	case 16, 32, 64:
		return gotree.S("dst = $1.$2(dst, $3($4))", order(n.Little), "AppendUint"+strconv.Itoa(n.Bits),
			"uint"+strconv.Itoa(n.Bits), v)[0]
	case 24:
		parts := []gotree.Expr{gotree.X("byte(uint32($1)>>16)", v), gotree.X("byte(uint32($1)>>8)", v),
			gotree.X("byte(uint32($1))", v)}
		if n.Little {
			slices.Reverse(parts)
		}
		return appended(parts...)
	}
	return gotree.S("dst = wire.AppendUnsigned(dst, uint64($1), $2, $3)", v, n.Bits/8, n.Little)[0]
}

// putNumber composes the statement that writes a number of a fixed size at a place of dst.
func putNumber(n model.Number, at, v gotree.Expr) gotree.Stmt {
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

// largest returns the greatest number of so many bits.
func largest(bits int) uint64 {
	if bits >= 64 {
		return ^uint64(0)
	}
	return 1<<bits - 1
}

// number composes statements that read a number, work on it, and go behind it. What works on it gets
// the number, and leads to an error by d.at, where the number begins. plain says that it mentions the
// number once.
func (d *layout) number(n model.Number, field string, plain bool, use func(v gotree.Expr) []gotree.Stmt) {
	if n.Varint == model.Fixed {
		d.need(field, n.Bits/8)
		read := readNumber(n, d.at)
		if !plain && !(n.Bits == 8 && !n.Signed) {
			d.t.P("{\nv := $1\n$2\n}", read, use(gotree.X("v")))
		} else {
			d.t.Add(use(read)...)
		}
		d.advance(n.Bits / 8)
		return
	}
	d.float()
	v := gotree.X("v")
	if n.Signed {
		v = gotree.X("wire.Unzigzag(v)")
	}
	code := use(v)
	if n.Signed && !plain {
		code = append(gotree.S("v := wire.Unzigzag(v)"), use(gotree.X("v"))...)
		code = gotree.S("{\n$1\n}", code)
	}
	got := "v"
	if !gotree.Uses(code, "v") {
		got = "_"
	}
	d.t.P("{\n$1, n := $2\nif n <= 0 {\nreturn $3\n}\n$4\nat += n\n}", got, varint(n, d.at), d.badVarint(field), code)
}

// badVarint composes the error of a number of varying length, of which n tells what is wrong.
func (d *layout) badVarint(field string) gotree.Expr {
	return gotree.X("wire.BadVarint($1, $2, b, $3, n)", gotree.Str(d.message), gotree.Str(field), d.at)
}

// bits composes statements that read the items of a number.
func (d *layout) bits(it *model.WireBits, of gotree.Expr, names []string, prefix string) {
	d.need("", it.Bits/8)
	code := d.inner(func() {
		for _, part := range it.Parts {
			d.bit(part.Item, part.Bits, cut(gotree.X("word"), goInt(it.Number), it.Bits, part), of, names, prefix)
		}
	})
	if len(code) > 0 && gotree.Uses(code, "word") {
		d.t.P("{\nword := $1\n$2\n}", readNumber(it.Number, d.at), code)
	}
	d.advance(it.Bits / 8)
}

// bit composes statements that take the number of one item of several in a number.
func (d *layout) bit(item model.WireItem, bits int, v gotree.Expr, of gotree.Expr, names []string, prefix string) {
	switch x := item.(type) {
	case *model.WireInt:
		d.take(x, v, d.member(of, names, x.Field), prefix+x.Field.Name)
	case *model.WirePresent:
		d.flag(x, v, d.member(of, names, x.Field), prefix+x.Field.Name)
	case *model.WireConst:
		d.t.P("if v := $1; v != $2 {\nreturn $3\n}", v, x.Value,
			d.err("", d.at, "Mismatch", gotree.X("int64(v)"), gotree.Int(x.Value)))
	}
}

// cut composes the bits of one item of a word, which has a type and so many bits.
func cut(word gotree.Expr, typ string, bits int, part model.WireBit) gotree.Expr {
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
	to := goInt(model.Number{Bits: part.Bits})
	if n.Signed {
		if to != typ {
			x = gotree.X("$1($2)", to, x)
		}
		return signed(x, part.Bits)
	}
	if part.Shift+part.Bits < bits {
		x = gotree.X("$1&$2", x, largest(part.Bits))
	}
	if to != typ {
		x = gotree.X("$1($2)", to, x)
	}
	return x
}
