package conform

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	nethttp "net/http"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/parley-go/parley/machines/http"
	"github.com/parley-go/parley/machines/ntp"
	"github.com/parley-go/parley/machines/tftp"
	"github.com/parley-go/parley/proptest/conform/sample/dns"
)

var errFormat = errors.New("bad frame")

// handData reads DATA of TFTP by hand.
func handData(b []byte, m *tftp.Message) error {
	if len(b) < 4 || len(b) > 4+len(m.Data.Data.Data) || b[0] != 0 || b[1] != 3 {
		return errFormat
	}
	*m = tftp.Message{Kind: tftp.MessageData}
	m.Data.Block = tftp.Block(binary.BigEndian.Uint16(b[2:]))
	m.Data.Data.Len = uint16(copy(m.Data.Data.Data[:], b[4:]))
	return nil
}

func handAppendData(dst []byte, m *tftp.Message) []byte {
	dst = binary.BigEndian.AppendUint16(append(dst, 0, 3), uint16(m.Data.Block))
	return append(dst, m.Data.Data.Data[:m.Data.Data.Len]...)
}

// handTime reads PACKET of NTP by hand.
func handTime(b []byte, m *ntp.Message) error {
	if len(b) != 48 || b[0]&7 > 5 {
		return errFormat
	}
	m.Kind = ntp.MessagePacket
	m.Packet = ntp.PacketMessage{Leap: ntp.Leap(b[0] >> 6),
		Version: ntp.Version(b[0] >> 3 & 7), Mode: ntp.Mode(b[0] & 7),
		Stratum: ntp.Stratum(b[1]), Poll: ntp.Poll(int8(b[2])), Precision: ntp.Precision(int8(b[3])),
		RootDelay:      ntp.Short(binary.BigEndian.Uint32(b[4:])),
		RootDispersion: ntp.Short(binary.BigEndian.Uint32(b[8:])), Source: ntp.Short(binary.BigEndian.Uint32(b[12:])),
		Reference: ntp.Stamp(binary.BigEndian.Uint64(b[16:])), Origin: ntp.Stamp(binary.BigEndian.Uint64(b[24:])),
		Received: ntp.Stamp(binary.BigEndian.Uint64(b[32:])), Sent: ntp.Stamp(binary.BigEndian.Uint64(b[40:]))}
	return nil
}

func handAppendTime(dst []byte, m *ntp.Message) []byte {
	p := &m.Packet
	dst = append(dst, byte(p.Leap)<<6|byte(p.Version)<<3|byte(p.Mode), byte(p.Stratum), byte(p.Poll),
		byte(p.Precision))
	for _, v := range []ntp.Short{p.RootDelay, p.RootDispersion, p.Source} {
		dst = binary.BigEndian.AppendUint32(dst, uint32(v))
	}
	for _, v := range []ntp.Stamp{p.Reference, p.Origin, p.Received, p.Sent} {
		dst = binary.BigEndian.AppendUint64(dst, uint64(v))
	}
	return dst
}

// Frames that are measured.
var (
	dataFrame  = append([]byte{0, 3, 1, 2}, bytes.Repeat([]byte("data "), 60)...)
	timeFrame  = append([]byte{0x24, 2, 6, 0xec}, bytes.Repeat([]byte{1, 2, 3, 4}, 11)...)
	queryFrame = []byte("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03www\x07example\x03com\x00\x00\x01\x00\x01")
	httpFrame  = []byte("POST /form HTTP/1.1\r\nHost: a.example\r\nUser-Agent: parley\r\nAccept: */*\r\n" +
		"Content-Type: text/plain\r\nContent-Length: 11\r\n\r\nhello world")
)

// libraryQuery reads a question with dnsmessage of golang.org/x/net.
func libraryQuery(b []byte) (q dnsmessage.Question, err error) {
	var p dnsmessage.Parser
	if _, err = p.Start(b); err != nil {
		return q, err
	}
	return p.Question()
}

func libraryAppendQuery(dst []byte, q dnsmessage.Question) ([]byte, error) {
	b := dnsmessage.NewBuilder(dst, dnsmessage.Header{ID: 0x1234, RecursionDesired: true})
	if err := b.StartQuestions(); err != nil {
		return nil, err
	}
	if err := b.Question(q); err != nil {
		return nil, err
	}
	return b.Finish()
}

// libraryRequest reads a request with net/http.
func libraryRequest(r *bufio.Reader, b *bytes.Reader) (*nethttp.Request, []byte, error) {
	b.Reset(httpFrame)
	r.Reset(b)
	req, err := nethttp.ReadRequest(r)
	if err != nil {
		return nil, nil, err
	}
	body, err := io.ReadAll(req.Body)
	return req, body, err
}

// TestOthersSayTheSame: what is measured reads and writes the same.
func TestOthersSayTheSame(t *testing.T) {
	var d, handD tftp.Message
	if tftp.DecodeMessage(dataFrame, &d) != nil || handData(dataFrame, &handD) != nil || d != handD {
		t.Error("DATA differs")
	}
	if b, err := tftp.AppendMessage(nil, &d); err != nil || !bytes.Equal(b, dataFrame) ||
		!bytes.Equal(handAppendData(nil, &d), dataFrame) {
		t.Errorf("DATA is written as % x, %v", b, err)
	}
	var p, handP ntp.Message
	if ntp.DecodeMessage(timeFrame, &p) != nil || handTime(timeFrame, &handP) != nil || p != handP {
		t.Error("PACKET differs")
	}
	if b, err := ntp.AppendMessage(nil, &p); err != nil || !bytes.Equal(b, timeFrame) ||
		!bytes.Equal(handAppendTime(nil, &p), timeFrame) {
		t.Errorf("PACKET is written as % x, %v", b, err)
	}
	var q dns.Message
	question, err := libraryQuery(queryFrame)
	if err != nil || dns.DecodeMessage(queryFrame, &q) != nil || question.Name.String() != "www.example.com." ||
		q.Query.Questions.Items[0].Name.Items[1].String() != "example" {
		t.Errorf("QUERY differs: %v, %v", question, err)
	}
	if b, err := libraryAppendQuery(nil, question); err != nil || !bytes.Equal(b, queryFrame) {
		t.Errorf("QUERY is written as % x, %v", b, err)
	}
	var h http.Message
	req, body, err := libraryRequest(bufio.NewReader(nil), bytes.NewReader(nil))
	if err != nil || http.DecodeMessageTo("server", httpFrame, &h) != nil ||
		string(body) != h.Request.Body.Value.String() ||
		req.Header.Get("Accept") != h.Request.Headers.Items[2].Value.String() {
		t.Errorf("REQUEST differs: %v, %v", req, err)
	}
}

// BenchmarkFormats compares generated codecs with others: `hand` is written by hand, `lib` is dnsmessage of
// golang.org/x/net, and net/http.
func BenchmarkFormats(b *testing.B) {
	var d tftp.Message
	var p ntp.Message
	var q dns.Message
	var h http.Message
	dst := make([]byte, 0, 1024)
	if tftp.DecodeMessage(dataFrame, &d) != nil || ntp.DecodeMessage(timeFrame, &p) != nil ||
		dns.DecodeMessage(queryFrame, &q) != nil || http.DecodeMessageTo("server", httpFrame, &h) != nil {
		b.Fatal("a frame is none")
	}
	question, err := libraryQuery(queryFrame)
	if err != nil {
		b.Fatal(err)
	}
	reader, from := bufio.NewReader(nil), bytes.NewReader(nil)
	for _, x := range []struct {
		name string
		f    func() error
	}{
		{"tftp/decode/ours", func() error { return tftp.DecodeMessage(dataFrame, &d) }},
		{"tftp/decode/hand", func() error { return handData(dataFrame, &d) }},
		{"tftp/encode/ours", func() (err error) { dst, err = tftp.AppendMessage(dst[:0], &d); return err }},
		{"tftp/encode/hand", func() error { dst = handAppendData(dst[:0], &d); return nil }},
		{"ntp/decode/ours", func() error { return ntp.DecodeMessage(timeFrame, &p) }},
		{"ntp/decode/hand", func() error { return handTime(timeFrame, &p) }},
		{"ntp/encode/ours", func() (err error) { dst, err = ntp.AppendMessage(dst[:0], &p); return err }},
		{"ntp/encode/hand", func() error { dst = handAppendTime(dst[:0], &p); return nil }},
		{"dns/decode/ours", func() error { return dns.DecodeMessage(queryFrame, &q) }},
		{"dns/decode/lib", func() error { _, err := libraryQuery(queryFrame); return err }},
		{"dns/encode/ours", func() (err error) { dst, err = dns.AppendMessage(dst[:0], &q); return err }},
		{"dns/encode/lib", func() (err error) { dst, err = libraryAppendQuery(dst[:0], question); return err }},
		{"http/decode/ours", func() error { return http.DecodeMessageTo("server", httpFrame, &h) }},
		{"http/decode/lib", func() error { _, _, err := libraryRequest(reader, from); return err }},
		{"http/encode/ours", func() (err error) { dst, err = http.AppendMessage(dst[:0], &h); return err }},
	} {
		b.Run(x.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := x.f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
