package conform

import (
	"bytes"
	"errors"
	"strconv"
	"testing"

	"github.com/parley-go/parley/machines/resp"
	"github.com/parley-go/parley/proptest/race"
)

var errCommand = errors.New("bad COMMAND")

// handLine reads `$5` or `*3` with the CR LF behind it by hand: the number, and where it ends; 0 if it is none.
func handLine(b []byte, at int, mark byte) (n, end int) {
	if at >= len(b) || b[at] != mark {
		return 0, 0
	}
	i := bytes.IndexByte(b[at:], '\r')
	if i < 2 || at+i+1 >= len(b) || b[at+i+1] != '\n' {
		return 0, 0
	}
	for _, c := range b[at+1 : at+i] {
		if c < '0' || c > '9' || n > 1<<20 {
			return 0, 0
		}
		n = 10*n + int(c-'0')
	}
	return n, at + i + 2
}

// handCommand is what one would write by hand for COMMAND.
func handCommand(b []byte, m *resp.Message) error {
	*m = resp.Message{Kind: resp.MessageCommand}
	n, at := handLine(b, 0, '*')
	if at == 0 || n > len(m.Command.Args.Items) {
		return errCommand
	}
	m.Command.Args.Len = uint8(n)
	for i := range n {
		size, end := handLine(b, at, '$')
		arg := &m.Command.Args.Items[i]
		if end == 0 || size > len(arg.Data) || end+size+2 > len(b) || b[end+size] != '\r' || b[end+size+1] != '\n' {
			return errCommand
		}
		arg.Len = uint16(copy(arg.Data[:], b[end:end+size]))
		at = end + size + 2
	}
	if at != len(b) {
		return errCommand
	}
	return nil
}

// handAppend writes a COMMAND by hand.
func handAppend(dst []byte, m *resp.Message) []byte {
	args := &m.Command.Args
	dst = append(strconv.AppendUint(append(dst, '*'), uint64(args.Len), 10), "\r\n"...)
	for i := range args.Items[:args.Len] {
		arg := &args.Items[i]
		dst = append(strconv.AppendUint(append(dst, '$'), uint64(arg.Len), 10), "\r\n"...)
		dst = append(append(dst, arg.Data[:arg.Len]...), "\r\n"...)
	}
	return dst
}

const setCommand = "*3\r\n$3\r\nSET\r\n$8\r\nuser:117\r\n$11\r\nhello world\r\n"

// TestHandCommand: what is measured says the same, and nothing allocates.
func TestHandCommand(t *testing.T) {
	var ours, hand resp.Message
	frame := []byte(setCommand)
	err := resp.DecodeMessageTo("server", frame, &ours)
	if err != nil || handCommand(frame, &hand) != nil || ours != hand {
		t.Fatalf("they differ: %v", err)
	}
	out, err := resp.AppendMessage(nil, &ours)
	if err != nil || !bytes.Equal(out, handAppend(nil, &hand)) || !bytes.Equal(out, frame) {
		t.Fatalf("written they differ: %q, %v", out, err)
	}
	if race.Enabled {
		return // the detector allocates
	}
	if n := testing.AllocsPerRun(100, func() {
		if size, err := resp.FrameSizeTo("server", frame); size != len(frame) || err != nil {
			t.Error(size, err)
		}
		if err := resp.DecodeMessageTo("server", frame, &ours); err != nil {
			t.Error(err)
		}
		out, _ = resp.AppendMessage(out[:0], &ours)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkRESP compares the generated codec with one written by hand. `size` is what a reader of a stream needs
// besides.
func BenchmarkRESP(b *testing.B) {
	frame := []byte(setCommand)
	var m resp.Message
	out := make([]byte, 0, 256)
	if err := handCommand(frame, &m); err != nil {
		b.Fatal(err)
	}
	for name, f := range map[string]func(){
		"decode":         func() { _ = resp.DecodeMessageTo("server", frame, &m) },
		"decode by hand": func() { _ = handCommand(frame, &m) },
		"size":           func() { _, _ = resp.FrameSizeTo("server", frame) },
		"encode":         func() { out, _ = resp.AppendMessage(out[:0], &m) },
		"encode by hand": func() { out = handAppend(out[:0], &m) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				f()
			}
		})
	}
}
