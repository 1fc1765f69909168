package conform

import (
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/machines/http"
	"github.com/parley-go/parley/proptest/race"
)

// TestHTTPRefused: what has been used to hide one request in another is no frame, and the error says where.
func TestHTTPRefused(t *testing.T) {
	var c *codec
	for _, target := range library {
		if strings.Contains(target.Spec, "/http/") {
			c = newCodec(t, target)
		}
	}
	for _, x := range []struct{ frame, want string }{
		{"Content-Length: 1\r\ncontent-length: 1\r\n\r\nx", "field body at byte 35: count 2 exceeds 1"},
		{"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
			"field chunked at byte 44: count 2 exceeds 1"},
		{"Content-Length : 1\r\n\r\nx", "field headers.name at byte 30: the byte 32 is not allowed"},
		{"Content-Length: +1\r\n\r\nx", "field body at byte 32"},
		{"Content-Length: 1, 1\r\n\r\nx", "field body at byte 32"},
		{"Content-Length: 99999999999999999999\r\n\r\nx", "field body at byte 32"},
		{"Content-Length: 5000\r\n\r\nx", "field body at byte 40: count 5000 exceeds 4096"},
		{"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "at byte 35"},
		{"A: b\r\n c: d\r\n\r\n", "field headers.name at byte 22: the byte 32 is not allowed"},
		{"A: b\n\r\n\r\n", "field headers.value at byte 20: the byte 10 is not allowed"},
		{"Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n", "field chunked.pieces at byte 46: no number in digits"},
		{"Transfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n0\r\n\r\n", "at byte 50"},
	} {
		frame := "GET / HTTP/1.1\r\n" + x.frame
		_, err := http.FrameSizeTo("server", []byte(frame))
		_, want := interp.FrameSizeTo(c.Protocol, []byte(frame), "server")
		if err == nil || err.Error() != want.Error() || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%q: %v; %v; want … %s", frame, err, want, x.want)
		}
	}
}

// TestHTTPHasNoEncoding: what would not be read as it was written is not written.
func TestHTTPHasNoEncoding(t *testing.T) {
	for _, x := range []struct{ name, value, want string }{
		{"Content-Length", "5", "field headers at byte 16: an element begins with the name of another row"},
		{"transfer-ENCODING", "", "field headers at byte 16: an element begins with the name of another row"},
		{"Host", " a", "field headers.value at byte 22: the byte 32 is not allowed"},
		{"Host", "a\r\nContent-Length: 5", "field headers.value at byte 23: the byte 13 is not allowed"},
		{"Host", "a", ""},
	} {
		m := http.Message{Kind: http.MessageRequest}
		m.Request.Target, _ = http.NewTarget("/")
		m.Request.Minor, m.Request.Headers.Len = 1, 1
		line := &m.Request.Headers.Items[0]
		line.Name, _ = http.NewName(x.name)
		line.Value, _ = http.NewValue(x.value)
		b, err := http.AppendMessage(nil, &m)
		if x.want == "" && (err != nil || len(b) == 0) ||
			x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%s: %s: %q, %v; want … %s", x.name, x.value, b, err, x.want)
		}
	}
}

// TestHTTPAllocatesNothing: neither way.
func TestHTTPAllocatesNothing(t *testing.T) {
	if race.Enabled {
		return // the detector allocates
	}
	frame := []byte("POST /x HTTP/1.1\r\nHost: a.example\r\nAccept: */*\r\nContent-Length: 5\r\n\r\nhello")
	var m http.Message
	out := make([]byte, 0, 256)
	if n := testing.AllocsPerRun(20, func() {
		if err := http.DecodeMessageTo("server", frame, &m); err != nil {
			t.Error(err)
		}
		out, _ = http.AppendMessage(out[:0], &m)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestErrorsSayWhere: an error names the field and the place, and says what is wrong with it there.
func TestErrorsSayWhere(t *testing.T) {
	for _, x := range []struct {
		target Target
		frame  string
		want   string
	}{
		{sampleOf("/stun/"), "\x01\x01\x00\x08\x21\x12\xa4\x42abcdefghijkl\x80\x28\x00\x04\x00\x00\x00\x01",
			"bad SUCCESS frame, field checksum at byte 24: the checksum is 0x5354554f, not 0x9344ab5"},
		{sampleOf("/parts/"), "\x01\x00\x05\x00\x01\x00\x09a",
			"field list.name at byte 7: 8 bytes, at least 16 needed"},
		{sampleOf("/texts/"), "GET a X/1.1\r\nA: b\rc\r\n\r\n",
			"field headers.value at byte 17: the byte 13 is not allowed"},
		{sampleOf("/texts/"), "#abc\r--", "field a at byte 4: the byte 13 is not allowed"},
		{sampleOf("/texts/"), "\x00\x01\x07\xff\xff", "field tail at byte 5: 65535 bytes, at most 600 allowed"},
		{sampleOf("/texts/"), "\x00\x01\x07\x00\x04\x01a\x00", "field tail at byte 5: 8 bytes, at least 9 needed"},
		{sampleOf("/resp/"), "$3\r\nabcX\n", "at byte 7: the byte is 88 \"X\", not 13"},
		{sampleOf("/resp/"), ":1x\r\n", "field number at byte 1: no number in digits"},
	} {
		c := newCodec(t, x.target)
		_, _, want := interp.DecodeFrame(c.Protocol, c.Strings, []byte(x.frame))
		c.decoded(t, []byte(x.frame))
		if !strings.Contains(want.Error(), x.want) {
			t.Errorf("%q: %v; want … %s", x.frame, want, x.want)
		}
	}
}

// sampleOf returns the target whose path has a part.
func sampleOf(part string) Target {
	for _, x := range append(library, samples...) {
		if strings.Contains(x.Spec, part) {
			return x
		}
	}
	panic("no target " + part)
}
