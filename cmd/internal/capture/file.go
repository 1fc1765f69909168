package capture

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/parley-go/parley/gen/diag"
)

// maxPacketBytes is the largest packet taken: the largest snap length that capture programs use.
const maxPacketBytes = 262144

// rawPacket is one packet record of the file. Data is valid until the next call of source.next.
type rawPacket struct {
	number  int
	time    time.Time
	link    layers.LinkType
	data    []byte
	comment string
}

// source yields the packets of a file of either format.
type source struct {
	format string
	read   func(*rawPacket) error
	limit  *limitReader
}

// ErrNoCapture is the error for a file that does not begin like a packet capture.
var ErrNoCapture = errors.New("not a pcap or pcapng file")

// errFileLimit marks the place where MaxFileBytes ended the file.
var errFileLimit = errors.New("limit of the file size")

// limitReader is an io.LimitReader that ends in an error instead of a silent end of file.
type limitReader struct {
	r    io.Reader
	left int64
	max  int64
	hit  bool
}

func (l *limitReader) Read(p []byte) (int, error) {
	if l.left <= 0 {
		var one [1]byte
		if n, err := io.ReadFull(l.r, one[:]); n == 0 {
			return 0, err
		}
		l.hit = true
		return 0, errFileLimit
	}
	if int64(len(p)) > l.left {
		p = p[:l.left]
	}
	n, err := l.r.Read(p)
	l.left -= int64(n)
	return n, err
}

// openFile recognises the format by the first four bytes. The library's readers would unpack gzip
// silently, which puts no bound on what comes out, so compressed files are refused.
func openFile(r io.Reader, maxBytes int64) (*source, error) {
	limit := &limitReader{r: r, left: maxBytes, max: maxBytes}
	br := bufio.NewReader(limit)
	magic, err := br.Peek(4)
	if len(magic) < 4 {
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return nil, fmt.Errorf("cannot read the capture: %w", err)
		case len(magic) == 0:
			return nil, errors.New("the capture file is empty")
		}
		return nil, fmt.Errorf("%w: it has only %s", ErrNoCapture, diag.Counted(len(magic), "byte"))
	}
	src := &source{limit: limit}
	switch binary.LittleEndian.Uint32(magic) {
	case 0xa1b2c3d4, 0xd4c3b2a1, 0xa1b23c4d, 0x4d3cb2a1:
		src.format, src.read, err = openPcap(br)
	case 0x0a0d0d0a:
		src.format, src.read, err = openPcapNG(br)
	default:
		if magic[0] == 0x1f && magic[1] == 0x8b {
			return nil, errors.New("the capture file is compressed with gzip; unpack it first")
		}
		return nil, fmt.Errorf("%w: it begins with the bytes %x", ErrNoCapture, magic)
	}
	if err != nil {
		return nil, src.explain(0, err)
	}
	return src, nil
}

// next reads one packet, io.EOF at a proper end of the file.
func (s *source) next(number int, pkt *rawPacket) (err error) {
	defer func() {
		// The readers below are a library's; a defect there must not take down the caller over a
		// damaged file.
		if r := recover(); r != nil {
			err = fmt.Errorf("packet %d: the record cannot be read (%v)", number, r)
		}
	}()
	*pkt = rawPacket{number: number}
	err = s.read(pkt)
	if err != nil && err != io.EOF {
		return s.explain(number, err)
	}
	if err == nil && len(pkt.data) > maxPacketBytes {
		return fmt.Errorf("packet %d: it has %d bytes, more than the %d that captures may hold; the file is damaged",
			number, len(pkt.data), maxPacketBytes)
	}
	return err
}

// explain words an error of the file for people; number 0 is the file's header.
func (s *source) explain(number int, err error) error {
	where := "the header of the file"
	if number > 0 {
		where = fmt.Sprintf("packet %d", number)
	}
	switch {
	case s.limit.hit:
		return &LimitError{Packet: number, What: "bytes in the file", Option: "MaxFileBytes", Limit: s.limit.max}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		strings.Contains(err.Error(), io.ErrUnexpectedEOF.Error()):
		// The library flattens some of these errors to text.
		return fmt.Errorf("%s: the file ends inside it (cut off, or a length in it is damaged): %w", where,
			io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("%s: %w", where, err)
}

func openPcap(br io.Reader) (string, func(*rawPacket) error, error) {
	r, err := pcapgo.NewReader(br)
	if err != nil {
		return "pcap", nil, err
	}
	// The snap length in the header is only a wish of the writer: some programs write longer
	// packets, some write 0.
	r.SetSnaplen(maxPacketBytes)
	// The upper bits of the field tell about frame check sequences, the library keeps the lower 16.
	link := r.LinkType()
	return "pcap", func(pkt *rawPacket) error {
		data, ci, err := r.ZeroCopyReadPacketData()
		if err == io.EOF && ci.CaptureLength > 0 {
			err = io.ErrUnexpectedEOF // the record's header was there, its bytes are not
		}
		pkt.time, pkt.link, pkt.data = ci.Timestamp, link, data
		return err
	}, nil
}

func openPcapNG(br io.Reader) (string, func(*rawPacket) error, error) {
	r, err := pcapgo.NewNgReader(br, pcapgo.NgReaderOptions{WantMixedLinkType: true, SkipUnknownVersion: true})
	if err != nil {
		return "pcapng", nil, err
	}
	return "pcapng", func(pkt *rawPacket) error {
		data, ci, opts, err := r.ZeroCopyReadPacketDataWithOptions()
		if err != nil {
			return err
		}
		pkt.time, pkt.data, pkt.comment = ci.Timestamp, data, strings.Join(opts.Comments, "\n")
		pkt.link = linkOf(ci)
		return nil
	}, nil
}

// linkOf takes the link type that the library hands out beside each packet of a file with several
// interfaces.
func linkOf(ci gopacket.CaptureInfo) layers.LinkType {
	if len(ci.AncillaryData) > 0 {
		if link, ok := ci.AncillaryData[0].(layers.LinkType); ok {
			return link
		}
	}
	return layers.LinkTypeNull
}
