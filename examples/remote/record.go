package remote

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"time"
)

// A recording is a line that says what it is, and records: the length of what follows, the checksum of the rest, the
// kind, the time since the record before, the slot, and what was there. Each is written as a whole as soon as
// it happens, so a program that crashes loses at most the one that it was writing, and nothing before it. The
// states of a ship, most of the bytes, are written as what differs from the one before.

const title = "parley recording 1\n"

// year bounds the time between two records, in microseconds.
const year = uint64(365 * 24 * time.Hour / time.Microsecond)

// maxRecord is the most bytes of a record after its length.
const maxRecord = 2048

// Kind is what a record has.
type Kind uint8

// Kinds of records.
const (
	ShipRecord   Kind = iota + 1 // the state of a ship
	EventsRecord                 // a list of remote events
	LineRecord                   // a line of the server: who comes, goes, or what is to be read
	HiddenRecord                 // the ship of the slot is not to be seen
	kinds
)

// ToAll is the slot of a line that the server says to its players, and of events that say whose they are.
const ToAll uint8 = 255

// Record is one thing that happened in a session. Data belongs to the playback and counts until the next one.
type Record struct {
	Kind Kind
	At   time.Duration // since the beginning
	Slot uint8
	Data []byte
}

// Recorder writes a session. Its first error stays.
type Recorder struct {
	w     io.Writer
	last  time.Duration
	ships [256][ShipSize]byte
	buf   []byte
	err   error
}

// NewRecorder begins a recording. Everything is written to w at once, each record in one call.
func NewRecorder(w io.Writer) (*Recorder, error) {
	if _, err := io.WriteString(w, title); err != nil {
		return nil, err
	}
	return &Recorder{w: w}, nil
}

// Add writes a record, later than the one before or at the same time.
func (r *Recorder) Add(k Kind, at time.Duration, slot uint8, data []byte) error {
	if r.err != nil {
		return r.err
	}
	body := append(r.buf[:0], 0, 0, 0, 0, 0, 0, byte(k))
	body = binary.AppendUvarint(body, uint64(max(at-r.last, 0)/time.Microsecond))
	body = append(body, slot)
	if k == ShipRecord {
		if len(data) != ShipSize {
			return fmt.Errorf("recording: a ship has %d bytes, not %d", ShipSize, len(data))
		}
		body = difference(body, r.ships[slot][:], data)
		copy(r.ships[slot][:], data)
	} else {
		body = append(body, data...)
	}
	if len(body)-2 > maxRecord {
		return fmt.Errorf("recording: %d bytes are too many for a record", len(data))
	}
	binary.LittleEndian.PutUint16(body, uint16(len(body)-2))
	binary.LittleEndian.PutUint32(body[2:], crc32.ChecksumIEEE(body[6:]))
	r.last += max(at-r.last, 0) / time.Microsecond * time.Microsecond
	r.buf = body
	_, r.err = r.w.Write(body)
	return r.err
}

// difference appends a bit for each byte of a ship that is another one, and those bytes.
func difference(dst, before, now []byte) []byte {
	var bits [(ShipSize + 7) / 8]byte
	for i := range now {
		if now[i] != before[i] {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	dst = append(dst, bits[:]...)
	for i := range now {
		if now[i] != before[i] {
			dst = append(dst, now[i])
		}
	}
	return dst
}

// ErrTorn is the end of a recording whose program ended while it wrote: everything before is whole.
var ErrTorn = errors.New("the recording ends in the middle of a record")

// Playback reads a recording.
type Playback struct {
	r     *bufio.Reader
	at    time.Duration
	read  int64
	ships [256][ShipSize]byte
	buf   [maxRecord]byte
}

// NewPlayback begins to read a recording.
func NewPlayback(r io.Reader) (*Playback, error) {
	p := &Playback{r: bufio.NewReader(r)}
	head := make([]byte, len(title))
	_, err := io.ReadFull(p.r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if err != nil || string(head) != title {
		return nil, fmt.Errorf("this is no recording: it does not begin with %q", title)
	}
	p.read = int64(len(title))
	return p, nil
}

// Next returns the next record. It ends with io.EOF, with ErrTorn, or with an error that says at which byte the file is
// damaged.
func (p *Playback) Next() (Record, error) {
	var length [2]byte
	if _, err := io.ReadFull(p.r, length[:]); err == io.EOF {
		return Record{}, io.EOF
	} else if err != nil {
		return Record{}, torn(err)
	}
	n := int(binary.LittleEndian.Uint16(length[:]))
	if n < 4+3 || n > maxRecord {
		return Record{}, p.damaged("no record has %d bytes", n)
	}
	b := p.buf[:n]
	if _, err := io.ReadFull(p.r, b); err != nil {
		return Record{}, torn(err)
	}
	if crc32.ChecksumIEEE(b[4:]) != binary.LittleEndian.Uint32(b) {
		return Record{}, p.damaged("the checksum is wrong")
	}
	rec := Record{Kind: Kind(b[4])}
	since, width := binary.Uvarint(b[5:])
	if width <= 0 || 5+width >= n || rec.Kind == 0 || rec.Kind >= kinds || since > year {
		return Record{}, p.damaged("it is of no kind that is known, or of no time")
	}
	p.at += time.Duration(since) * time.Microsecond
	rec.At, rec.Slot, rec.Data = p.at, b[5+width], b[6+width:]
	if rec.Kind == ShipRecord {
		ship := p.ships[rec.Slot][:]
		if !apply(ship, rec.Data) {
			return Record{}, p.damaged("this is no ship")
		}
		rec.Data = ship
	}
	p.read += int64(2 + n)
	return rec, nil
}

// torn keeps errors of the file apart from its end.
func torn(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return ErrTorn
	}
	return err
}

func (p *Playback) damaged(format string, args ...any) error {
	return fmt.Errorf("recording: byte %d: %s", p.read, fmt.Sprintf(format, args...))
}

// apply is the inverse of difference.
func apply(ship, diff []byte) bool {
	const head = (ShipSize + 7) / 8
	if len(diff) < head {
		return false
	}
	bits, rest := diff[:head], diff[head:]
	for i := range ship {
		if bits[i/8]&(1<<(i%8)) == 0 {
			continue
		}
		if len(rest) == 0 {
			return false
		}
		ship[i], rest = rest[0], rest[1:]
	}
	return len(rest) == 0
}
