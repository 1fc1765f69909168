package transport_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/parley-go/parley/runtime/transport"
)

const maxFrame = 100

var errType = errors.New("unknown type")

// binarySize: length of the whole frame u16, type u8 below 8.
func binarySize(b []byte) (int, error) {
	if len(b) < 3 {
		return 0, nil
	}
	if b[2] > 7 {
		return 0, errType
	}
	return max(int(binary.BigEndian.Uint16(b)), 3), nil
}

// lineSize: a line with its newline.
func lineSize(b []byte) (int, error) { return bytes.IndexByte(b, '\n') + 1, nil }

// split puts in through a splitter in pieces whose lengths are taken from cuts, in turn.
func split(t *testing.T, size func([]byte) (int, error), in, cuts []byte) (out [][]byte, err error) {
	s := transport.NewSplitter(size, maxFrame, 150)
	for i := 0; len(in) > 0; i++ {
		space := s.Space()
		if len(space) == 0 {
			t.Fatal("no space")
		}
		n := len(in)
		if len(cuts) > 0 {
			n = int(cuts[i%len(cuts)]) + 1
		}
		n = min(n, len(in), len(space))
		copy(space, in[:n])
		s.Filled(n)
		in = in[n:]
		for {
			f, err := s.Next()
			if err != nil {
				if _, again := s.Next(); again == nil {
					t.Fatal("the stream recovered")
				}
				return out, err
			}
			if f == nil {
				break
			}
			out = append(out, bytes.Clone(f))
		}
	}
	out = append(out, bytes.Clone(s.Rest()))
	return out, nil
}

// FuzzSplitter: however a stream is cut into pieces, the frames are the same,
// and put together they are the stream.
func FuzzSplitter(f *testing.F) {
	f.Add([]byte{0, 5, 1, 2, 3, 0, 3, 7, 0, 4, 9, 1}, []byte{0}, false)
	f.Add([]byte("hello\nworld\n\nend"), []byte{1, 2, 30}, true)
	f.Add(bytes.Repeat([]byte("x"), 300), []byte{99}, true)
	f.Add(bytes.Repeat([]byte{0, 100, 1, 0}, 100), []byte{250}, false)
	f.Fuzz(func(t *testing.T, in, cuts []byte, lines bool) {
		size := binarySize
		if lines {
			size = lineSize
		}
		want, wantErr := split(t, size, in, nil)
		got, err := split(t, size, in, cuts)
		if (err == nil) != (wantErr == nil) || len(got) != len(want) {
			t.Fatalf("%d frames, %v; in one piece %d, %v", len(got), err, len(want), wantErr)
		}
		for i := range got {
			if !bytes.Equal(got[i], want[i]) || len(got[i]) > maxFrame {
				t.Fatalf("frame %d: % x, in one piece % x", i, got[i], want[i])
			}
		}
		if all := bytes.Join(got, nil); !bytes.HasPrefix(in, all) || err == nil && len(all) != len(in) {
			t.Fatalf("the frames are not the stream")
		}
	})
}

func TestSplitterErrors(t *testing.T) {
	tests := map[string]struct {
		size   func([]byte) (int, error)
		in     []byte
		frames int
		want   error
	}{
		"type":        {binarySize, []byte{0, 3, 1, 0, 3, 8}, 1, errType},
		"long":        {binarySize, []byte{0, 101, 1}, 0, transport.ErrFrameTooLong},
		"longest":     {binarySize, append([]byte{0, 100, 1}, make([]byte, 97)...), 2, nil},
		"endless":     {lineSize, bytes.Repeat([]byte("x"), maxFrame), 0, transport.ErrFrameTooLong},
		"almost":      {lineSize, bytes.Repeat([]byte("x"), maxFrame-1), 1, nil},
		"nothing yet": {binarySize, []byte{0, 3}, 1, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := split(t, tt.size, tt.in, []byte{6})
			if !errors.Is(err, tt.want) || len(got) != tt.frames {
				t.Errorf("%d frames, %v; want %d, %v", len(got), err, tt.frames, tt.want)
			}
		})
	}
}

// A frame that is too long is one also when all of it has arrived at once.
func TestTooLongAndWhole(t *testing.T) {
	in := append([]byte{0, maxFrame + 1, 1}, make([]byte, maxFrame)...)
	if got, err := split(t, binarySize, in, []byte{255}); len(got) > 0 || !errors.Is(err, transport.ErrFrameTooLong) {
		t.Errorf("%d frames, %v", len(got), err)
	}
	if n, err := transport.Cut(binarySize, maxFrame, in); n != 0 || !errors.Is(err, transport.ErrFrameTooLong) {
		t.Errorf("cut at %d, %v", n, err)
	}
}
