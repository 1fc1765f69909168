package wire

import (
	"bytes"
	"encoding/hex"
	"math"
	"testing"
)

// TestVarints has the examples of RFC 9000 (section A.1), of MQTT 3.1.1 (section 2.2.3) and of DWARF's
// LEB128, and numbers that lie.
func TestVarints(t *testing.T) {
	leb := func(bits int, overlong bool) func([]byte) (uint64, int) {
		return func(b []byte) (uint64, int) { return LEB128(b, bits, overlong) }
	}
	quic := func(overlong bool) func([]byte) (uint64, int) {
		return func(b []byte) (uint64, int) { return QUIC(b, overlong) }
	}
	for _, x := range []struct {
		read func([]byte) (uint64, int)
		hex  string
		v    uint64
		n    int
	}{
		{quic(false), "c2197c5eff14e88c", 151288809941952652, 8}, {quic(false), "9d7f3e7d", 494878333, 4},
		{quic(false), "7bbd", 15293, 2}, {quic(false), "25", 37, 1}, {quic(true), "4025", 37, 2},
		{quic(false), "4025", 0, -1}, {quic(false), "80003fff", 0, -1}, {quic(false), "80004000", 16384, 4},
		{quic(false), "c00000003fffffff", 0, -1}, {quic(false), "c000000040000000", 1 << 30, 8},
		{quic(false), "9d7f3e", 0, 0}, {quic(false), "", 0, 0},
		{leb(28, false), "00", 0, 1}, {leb(28, false), "7f", 127, 1}, {leb(28, false), "8001", 128, 2},
		{leb(28, false), "ff7f", 16383, 2}, {leb(28, false), "808001", 16384, 3},
		{leb(28, false), "ffff7f", 2097151, 3}, {leb(28, false), "80808001", 2097152, 4},
		{leb(28, false), "ffffff7f", 268435455, 4}, {leb(28, false), "ffffffff", 0, -1},
		{leb(28, false), "8080808001", 0, -1}, {leb(28, false), "808080", 0, 0}, {leb(28, false), "", 0, 0},
		{leb(64, false), "e58e26", 624485, 3}, {leb(64, false), "8000", 0, -1}, {leb(64, true), "8000", 0, 2},
		{leb(64, false), "ffffffffffffffffff01", math.MaxUint64, 10},
		{leb(64, false), "ffffffffffffffffff02", 0, -1}, {leb(64, true), "8080808080808080808000", 0, -1},
	} {
		b, _ := hex.DecodeString(x.hex)
		if v, n := x.read(b); v != x.v || n != x.n {
			t.Errorf("%s is %d in %d bytes, not %d in %d", x.hex, v, n, x.v, x.n)
		}
	}
}

// FuzzVarints: what is read is written back as it was.
func FuzzVarints(f *testing.F) {
	f.Add([]byte{0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c})
	f.Add([]byte{0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, b []byte) {
		if v, n := LEB128(b, 64, false); n > 0 && !bytes.Equal(AppendLEB128(nil, v), b[:n]) {
			t.Errorf("LEB128 % x comes back as % x", b[:n], AppendLEB128(nil, v))
		}
		if v, n := QUIC(b, false); n > 0 && !bytes.Equal(AppendQUIC(nil, v), b[:n]) {
			t.Errorf("QUIC % x comes back as % x", b[:n], AppendQUIC(nil, v))
		}
		if v := Unsigned(b[:min(len(b), 8)], false); Zigzag(Unzigzag(v)) != v {
			t.Errorf("zigzag of %d", v)
		}
		if n := min(len(b), 8); !bytes.Equal(AppendUnsigned(nil, Unsigned(b[:n], true), n, true), b[:n]) {
			t.Errorf("% x", b[:n])
		}
	})
}
