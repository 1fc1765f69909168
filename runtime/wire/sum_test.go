package wire

import "testing"

// TestSums: published values of each sum.
func TestSums(t *testing.T) {
	nine := []byte("123456789")
	for _, x := range []struct {
		sum  Sum
		b    []byte
		want uint64
	}{
		{CRC32, nine, 0xcbf43926}, {CRC32C, nine, 0xe3069283}, {Adler32, []byte("Wikipedia"), 0x11e60398},
		// RFC 1071, section 3: the sum of these is ddf2.
		{Internet, []byte{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}, 0xffff ^ 0xddf2},
		{Internet, []byte{0x01}, 0xfeff}, {Internet, nil, 0xffff},
	} {
		if got := x.sum.Of(x.b); got != x.want {
			t.Errorf("sum %d of % x is %x, not %x", x.sum, x.b, got, x.want)
		}
	}
	if n := testing.AllocsPerRun(10, func() { CRC32C.Of(nine) }); n != 0 {
		t.Errorf("a sum allocates %v times", n)
	}
}

// TestAround: a sum in whose place there are zeros is that of the bytes with zeros there; where it stands apart from
// its bytes, it is theirs.
func TestAround(t *testing.T) {
	b := []byte("\x45\x00 \xff\xff\x80some bytes of which four are not looked at\x00\xff\xff")
	for _, s := range []Sum{CRC32, CRC32C, Adler32, Internet} {
		size := 4
		if s == Internet {
			size = 2
		}
		for at := -size - 1; at <= len(b)+1; at++ {
			zeroed := append([]byte(nil), b...)
			for i := max(at, 0); i < min(at+size, len(b)); i++ {
				zeroed[i] = 0
			}
			if at < 0 && at+size > 0 || at < len(b) && at+size > len(b) {
				continue // half of a sum is never among its bytes
			}
			if got, want := s.Around(b, at), s.Of(zeroed); got != want {
				t.Errorf("sum %d at %d: %x, not %x", s, at, got, want)
			}
		}
		if zeros := make([]byte, 7); s.Around(zeros, 1) != s.Of(zeros) {
			t.Errorf("sum %d of zeros", s)
		}
	}
}
