package frames

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"
	"time"

	"github.com/parley-go/parley/machines/lockstep"
)

// A replay is a line with its name and version, and then records: the length of the content as a u32, its CRC-32C,
// and the content, whose first byte says what it is. Numbers are big-endian. The messages in a record are those that
// the protocol has for the same things, as it writes them, so a replay is what somebody who watches is told. Nothing
// is ever written again, so a file that was cut short has all that was whole.
const magic = "parley lockstep replay 1\n"

const (
	recordStart    = 1 // seed u32, slots that play u8
	recordSnapshot = 2 // the snapshot
	recordTurn     = 3 // frame u32, 1 and the sum before it u32 or 0, messages
	maxRecord      = 64 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrCut says that a replay ends in the middle of a record, as that of a program does which was switched off. All
// before it has been played.
var ErrCut = errors.New("lockstep: the replay is cut short")

// Recorder writes a replay. A client or a server gets it by its configuration; each game has its own. Who has lost the
// link and comes again goes on with the same one. A game whose recorder fails goes on without it. A nil recorder
// records nothing.
type Recorder struct {
	// OnError is told once why nothing is written any more. All until then can be played. It may be nil.
	OnError func(error)

	mu  sync.Mutex
	w   io.Writer
	err error
	b   []byte
}

// NewRecorder returns a recorder that writes to w, each record with one call of Write.
func NewRecorder(w io.Writer) (*Recorder, error) {
	_, err := io.WriteString(w, magic)
	return &Recorder{w: w, err: err}, err
}

// Begin writes that a game begins. Begin and Turn are exported for programs that play turns of their own, without a
// [Client].
func (r *Recorder) Begin(seed uint32, players []int) {
	var set lockstep.Slots
	for _, p := range players {
		set = set.With(lockstep.Slot(p))
	}
	r.write(recordStart, func(b []byte) ([]byte, error) {
		return append(binary.BigEndian.AppendUint32(b, seed), byte(set)), nil
	})
}

// snapshot writes that the game goes on from a snapshot.
func (r *Recorder) snapshot(b []byte) {
	r.write(recordSnapshot, func(to []byte) ([]byte, error) { return append(to, b...), nil })
}

// Turn writes a turn, with the checksum of the game before it if that is known; see Begin.
func (r *Recorder) Turn(t *Turn, sum uint32, known bool) {
	r.write(recordTurn, func(b []byte) (_ []byte, err error) {
		b = binary.BigEndian.AppendUint32(b, t.Frame)
		if known {
			b = binary.BigEndian.AppendUint32(append(b, 1), sum)
		} else {
			b = append(b, 0)
		}
		m := lockstep.Message{Kind: lockstep.MessageNwfDone, NwfDone: lockstep.NwfDoneMessage{
			Frame: lockstep.Frame(t.Frame), Due: lockstep.GameFrame(t.Due), Next: lockstep.GameFrame(t.Next),
			Length: lockstep.Length(t.Length / time.Millisecond)}}
		add := func() {
			if err == nil {
				b, err = lockstep.AppendMessage(b, &m)
			}
		}
		add()
		m.Kind = lockstep.MessagePlayerNew
		for _, s := range t.Joined {
			m.PlayerNew = lockstep.PlayerNewMessage{Slot: lockstep.Slot(s), Frame: lockstep.Frame(t.Frame)}
			add()
		}
		m.Kind = lockstep.MessagePlayerKicked
		for _, s := range t.Left {
			m.PlayerKicked = lockstep.PlayerKickedMessage{Slot: lockstep.Slot(s), Frame: lockstep.Frame(t.Frame)}
			add()
		}
		m.Kind = lockstep.MessageGamecommands
		for _, o := range t.Orders {
			g := &m.Gamecommands
			*g = lockstep.GamecommandsMessage{Slot: lockstep.Slot(o.Slot), Frame: lockstep.Frame(t.Frame)}
			g.Commands.Len = uint8(copy(g.Commands.Items[:], o.Commands))
			add()
		}
		return b, err
	})
}

// write writes a record. After the first error nothing is written any more, so that no record stands behind half of
// another one.
func (r *Recorder) write(kind byte, content func([]byte) ([]byte, error)) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	b, err := content(append(r.b[:0], 0, 0, 0, 0, 0, 0, 0, 0, kind))
	if err == nil {
		r.b = b
		binary.BigEndian.PutUint32(b, uint32(len(b)-8))
		binary.BigEndian.PutUint32(b[4:], crc32.Checksum(b[8:], castagnoli))
		_, err = r.w.Write(b)
	}
	if err != nil {
		r.err = fmt.Errorf("lockstep: the replay is not written any more: %w", err)
		if r.OnError != nil {
			r.OnError(r.err)
		}
	}
}

// Played says what a replay had.
type Played struct {
	Turns uint32 // command frames
	Steps uint64 // game frames
}

// Play plays a replay with a game of its own. wait, if it is not nil, is called before each game frame with its
// length. The error is [ErrCut] if the file ends early, and says where the game has gone another way than it did
// when the replay was written.
func Play(file io.Reader, game Game, wait func(time.Duration)) (p Played, err error) {
	in := bufio.NewReader(file)
	head := make([]byte, len(magic))
	_, err = io.ReadFull(in, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return p, err
	}
	if err != nil || string(head) != magic {
		return p, errors.New("lockstep: this is no replay, or one of another version")
	}
	begun := false
	for {
		b, err := readRecord(in)
		if err == io.EOF {
			return p, nil
		}
		if err != nil {
			return p, err
		}
		switch kind, b := b[0], b[1:]; {
		case kind == recordStart && len(b) == 5:
			game.Start(binary.BigEndian.Uint32(b), players(lockstep.Slots(b[4])))
			begun = true
		case kind == recordSnapshot:
			if err := game.Restore(b); err != nil {
				return p, fmt.Errorf("lockstep: the snapshot: %w", err)
			}
			begun = true
		case kind == recordTurn && begun:
			t, sum, known, err := readTurn(b)
			if err != nil {
				return p, err
			}
			if known && sum != game.Sum() {
				return p, fmt.Errorf("lockstep: before frame %d the game has the checksum %08x, and had %08x when the "+
					"replay was written: it is another version of the game, or not deterministic",
					t.Frame, game.Sum(), sum)
			}
			game.Turn(t)
			for range t.Next - t.Due {
				if wait != nil {
					wait(t.Length)
				}
				game.Step()
			}
			p.Turns++
			p.Steps += uint64(t.Next - t.Due)
		default:
			return p, fmt.Errorf("lockstep: after %d turns the replay has a record that cannot stand there", p.Turns)
		}
	}
}

// readRecord returns the content of the next record; io.EOF behind the last.
func readRecord(in *bufio.Reader) ([]byte, error) {
	var head [8]byte
	if _, err := io.ReadFull(in, head[:]); err == io.EOF {
		return nil, io.EOF
	} else if err == io.ErrUnexpectedEOF {
		return nil, ErrCut
	} else if err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n == 0 || n > maxRecord {
		return nil, fmt.Errorf("%w: a record of %d bytes", ErrCut, n)
	}
	// What a damaged length asks for is not there, so memory is taken as bytes come.
	b, err := io.ReadAll(io.LimitReader(in, int64(n)))
	if err != nil {
		return nil, err
	}
	if uint32(len(b)) < n {
		return nil, ErrCut
	}
	if crc32.Checksum(b, castagnoli) != binary.BigEndian.Uint32(head[4:]) {
		return nil, fmt.Errorf("%w: the checksum of a record is wrong", ErrCut)
	}
	return b, nil
}

var errTurn = errors.New("lockstep: the replay has a turn that is none")

// readTurn reads what [Recorder.turn] has written.
func readTurn(b []byte) (t *Turn, sum uint32, known bool, err error) {
	if len(b) < 5 || b[4] > 1 || b[4] == 1 && len(b) < 9 {
		return nil, 0, false, errTurn
	}
	var q queue
	q.reset(binary.BigEndian.Uint32(b))
	known = b[4] == 1
	if b = b[5:]; known {
		sum, b = binary.BigEndian.Uint32(b), b[4:]
	}
	for len(b) > 0 {
		n, err := lockstep.FrameSize(b)
		if err != nil || n == 0 || n > len(b) {
			return nil, 0, false, errTurn
		}
		var m lockstep.Message
		if err := lockstep.DecodeMessage(b[:n], &m); err != nil {
			return nil, 0, false, fmt.Errorf("%w: %w", errTurn, err)
		}
		b = b[n:]
		frame, first := lockstep.Frame(q.first), q.told == 0
		switch {
		case m.Kind == lockstep.MessageNwfDone && m.NwfDone.Frame == frame && first &&
			m.NwfDone.Next-m.NwfDone.Due-1 < 160:
			q.announced(frame, m.NwfDone.Due, m.NwfDone.Length, m.NwfDone.Next)
		case m.Kind == lockstep.MessagePlayerNew && m.PlayerNew.Frame == frame && !first:
			q.joined(m.PlayerNew.Slot, frame)
		case m.Kind == lockstep.MessagePlayerKicked && m.PlayerKicked.Frame == frame && !first:
			q.left(m.PlayerKicked.Slot, frame)
		case m.Kind == lockstep.MessageGamecommands && m.Gamecommands.Frame == frame && !first:
			q.commands(m.Gamecommands.Slot, frame, &m.Gamecommands.Commands)
		default:
			return nil, 0, false, errTurn
		}
	}
	if q.told != 1 {
		return nil, 0, false, errTurn
	}
	return q.take(), sum, known, nil
}
