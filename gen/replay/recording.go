// Package replay reports whether recorded traffic is a run of a protocol. It takes frames from a packet
// capture, or steps from a trace, and the checked model. It finds a run of the machine that explains
// them. If there is none it finds the longest part that has an explanation, the machine's state at its
// end, and what would have been legal there. It must not know file formats of captures, or sockets.
// Start from [Split] and [Explain] for frames, from [Check] for traces.
package replay

import (
	"bytes"
	"time"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// ChunkKind says what a [Chunk] is.
type ChunkKind uint8

const (
	Data  ChunkKind = iota // bytes became readable
	Close                  // the sender said that it sends no more
	Reset                  // the sender broke the connection off
	Gap                    // the capture lost bytes of the sender here
)

// Chunk is a piece of captured traffic between two parties, in the order of the capture.
type Chunk struct {
	Kind ChunkKind
	// From is the sender: 0 opened the connection, 1 accepted it.
	From int
	// Channel is the place of its channel in Protocol.Channels.
	Channel int
	Time    time.Time
	// Packet is the number of the packet in the capture, from 1.
	Packet int
	Data   []byte
}

// Frame is one frame of the recording.
type Frame struct {
	// From and To are parties by number; To may be Everyone.
	From int
	To   int
	// Channel is the place of its channel in Protocol.Channels.
	Channel int
	Time    time.Time
	Packet  int // where its last byte is
	Offset  int // of its first byte in the sender's stream
	Bytes   []byte
	// Message and Slots are the decoded message. In a Network a frame may be none of the protocol: then
	// Message is nil, and Problem says why.
	Message *model.Message
	Slots   []int64
	Problem string
	// Differs is set if encoding the message again gives other bytes (Again).
	Differs bool
	Again   []byte
	// Ends: it is no frame but the end of the connection, of a recording with several peers. Heard, if not 0, is how
	// many frames there were when the receiver had heard of that.
	Ends  bool
	Heard int
}

// Everyone is the destination of a frame that all others hear.
const Everyone = -1

// Recording is a conversation of two parties, or of all parties of a [Network], as frames.
type Recording struct {
	Protocol *model.Protocol
	Strings  *interp.Strings
	Frames   []Frame
	// Names are those of the parties.
	Names []string
	// Since is by party how many frames there were before it came to the one whom all others speak with, -1 if it has
	// not come. It is nil for a conversation of two.
	Since []int
	// Ends says by sender how its stream ended, in the channel with which links come and go.
	Ends [2]Ending
	// Rest are bytes behind the last whole frame, by sender.
	Rest [2]int
	// Raw are bytes of a phase in which there are no messages, by sender: somebody else's.
	Raw [2]int
	// Fault is where the bytes stop being frames of the protocol, nil if they
	// do not. Frames holds what came before.
	Fault *FrameFault
	// Datagrams: every chunk is one frame, in the channel with which links come and go.
	Datagrams bool

	codec     codec
	datagrams []bool    // by channel
	roles     [2]string // of the sides, if messages are told apart by them; empty while that is not known
	phases    [2]int    // of what each side sends
}

// FrameFault is a frame that cannot be decoded, or a gap in the capture.
type FrameFault struct {
	From, Packet, Offset int
	// Channel is the place of its channel in Protocol.Channels.
	Channel int
	Bytes   []byte
	Reason  string
	// Gap: bytes are missing from the capture, so that nothing is known of what follows.
	Gap bool
}

// Split cuts captured bytes into frames and decodes them. Bytes that are no
// frame end the recording there with Fault set. Datagrams says by channel whether every chunk is one frame.
//
// A protocol without a wire section is taken to be in the default format.
func Split(p *model.Protocol, chunks []Chunk, datagrams ...bool) *Recording {
	return Between(p, &interp.Strings{}, [2]string{}, chunks, datagrams...)
}

// Between is [Split] of a conversation between two roles, by name, that are known beforehand. Texts are put
// among strs.
func Between(p *model.Protocol, strs *interp.Strings, roles [2]string, chunks []Chunk, datagrams ...bool) *Recording {
	r := &Recording{Protocol: p, Strings: strs, Names: SideNames[:], Datagrams: datagrams[p.News()],
		datagrams: datagrams, roles: roles}
	r.codec = newCodec(p, r.Strings)
	// By channel, of each side.
	pending, offset := make([][2][]byte, len(datagrams)), make([][2]int, len(datagrams))
	for _, c := range chunks {
		if c.Kind != Close && c.Kind != Reset && r.Protocol.Raw(r.phases[c.From], r.roles[1-c.From]) {
			r.Raw[c.From] += len(c.Data)
			continue
		}
		waiting, at := &pending[c.Channel][c.From], &offset[c.Channel][c.From]
		switch c.Kind {
		case Close, Reset:
			if e := &r.Ends[c.From]; e.Kind == Data && c.Channel == p.News() {
				*e = Ending{Kind: c.Kind, At: len(r.Frames), Packet: c.Packet, Time: c.Time}
			}
		case Gap:
			r.Fault = &FrameFault{From: c.From, Packet: c.Packet, Offset: *at, Channel: c.Channel,
				Gap: true, Reason: "the capture has a gap here: bytes of this sender are missing"}
		case Data:
			buf := append(*waiting, c.Data...)
			n, fault := r.cut(c, buf, *at)
			*at += n
			*waiting = buf[n:]
			if r.Protocol.Raw(r.phases[c.From], r.roles[1-c.From]) {
				r.Raw[c.From], *waiting = r.Raw[c.From]+len(*waiting), nil
			}
			r.Fault = fault
		}
		if r.Fault != nil {
			return r
		}
	}
	for k := range pending {
		r.Rest[0], r.Rest[1] = r.Rest[0]+len(pending[k][0]), r.Rest[1]+len(pending[k][1])
	}
	return r
}

// cut takes whole frames from the beginning of b, and returns their length.
func (r *Recording) cut(c Chunk, b []byte, offset int) (int, *FrameFault) {
	done := 0
	for done < len(b) && !r.Protocol.Raw(r.phases[c.From], r.roles[1-c.From]) {
		wire := r.codec.view(c.Channel, r.phases[c.From])
		size := len(b)
		if !r.datagrams[c.Channel] {
			n, err := interp.FrameSizeTo(wire, b[done:], r.roles[1-c.From])
			if r.early(wire, b[done:], 1-c.From) {
				break
			}
			if err.Problem != 0 {
				return done, &FrameFault{From: c.From, Packet: c.Packet, Offset: offset + done, Channel: c.Channel,
					Bytes: head(b[done:]), Reason: err.Error()}
			}
			if n == 0 || n > len(b)-done {
				break
			}
			size = n
		}
		f := Frame{From: c.From, To: 1 - c.From, Channel: c.Channel, Time: c.Time, Packet: c.Packet,
			Offset: offset + done, Bytes: bytes.Clone(b[done : done+size])}
		if err := r.decode(&f); err != nil {
			return done, &FrameFault{From: c.From, Packet: c.Packet, Offset: f.Offset, Channel: c.Channel,
				Bytes: head(f.Bytes), Reason: err.Error()}
		}
		r.Frames = append(r.Frames, f)
		r.phases[c.From] = f.Message.After(r.phases[c.From])
		done += size
	}
	return done, nil
}

// early reports whether bytes may still become a longer message, of a stream with phases of which nobody knows yet
// who receives it: for each role another one.
func (r *Recording) early(wire *model.Protocol, b []byte, to int) bool {
	if !wire.Phased() || !wire.Directed() || len(wire.Roles) != 2 || r.roles[to] != "" {
		return false
	}
	for _, m := range wire.Roles {
		if n, err := interp.FrameSizeTo(wire, b, m.Name); err.Problem == 0 && (n == 0 || n > len(b)) {
			return true
		}
	}
	return false
}

func (r *Recording) decode(f *Frame) error {
	m, slots, err := r.directed(f)
	if err != nil {
		return err
	}
	f.Message, f.Slots = m, slots
	again, err := r.codec.encode(m, slots)
	if err != nil || !bytes.Equal(again, f.Bytes) {
		f.Differs, f.Again = true, again
	}
	return nil
}

// directed decodes a frame. If messages are told apart by who sends them, and there are two roles, a side
// is one of them as soon as it has sent what that role alone sends.
func (r *Recording) directed(f *Frame) (*model.Message, []int64, error) {
	p, phase := r.codec.views[f.Channel], r.phases[f.From]
	if !p.Directed() || len(p.Roles) != 2 {
		return r.codec.decode(f.Channel, phase, f.Bytes, "")
	}
	to := r.roles[f.To]
	if to == "" {
		a, _, errA := r.codec.decode(f.Channel, phase, f.Bytes, p.Roles[0].Name)
		b, _, errB := r.codec.decode(f.Channel, phase, f.Bytes, p.Roles[1].Name)
		switch {
		case errA == nil && errB != nil && a.From != "":
			to = p.Roles[0].Name
		case errB == nil && errA != nil && b.From != "":
			to = p.Roles[1].Name
		}
		if to != "" {
			r.roles[f.To], r.roles[f.From] = to, p.Roles[0].Name
			if to == p.Roles[0].Name {
				r.roles[f.From] = p.Roles[1].Name
			}
		}
	}
	return r.codec.decode(f.Channel, phase, f.Bytes, to)
}

func head(b []byte) []byte { return bytes.Clone(b[:min(len(b), 32)]) }

// Text returns the message of frame i as text.
func (r *Recording) Text(i int) string {
	f := &r.Frames[i]
	if f.Ends {
		return "the end of the connection"
	}
	if f.Message == nil {
		return "no frame of " + r.Protocol.Name
	}
	return string(interp.AppendMessage(nil, r.Strings, f.Message, f.Slots))
}

// met reports whether a party has come to the one with which all others speak.
func (r *Recording) met(party int) bool { return len(r.Since) == 0 || r.Since[party] >= 0 }
