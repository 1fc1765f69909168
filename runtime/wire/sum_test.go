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
