package replay

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/wire"
)

// MostAddresses is how many addresses a capture of a broadcast protocol may have.
const MostAddresses = 62

// Datagram is a captured datagram. From and To are addresses in the form that frames have; To is
// empty if everybody hears it.
type Datagram struct {
	Time     time.Time
	Packet   int
	From, To string
	Data     []byte
}

// Addressing says what addresses are: strings of Size bytes, whose order is that of the parties.
type Addressing struct {
	Size int
	// Is reports whether bytes in a frame are an address, Text writes one for people.
	Is   func(string) bool
	Text func(string) string
}

// Broadcast reports whether a protocol has addresses in its frames, so that a link numbers its
// parties: its captures are of networks, not of conversations of two.
func Broadcast(p *model.Protocol) bool {
	return p.Wire != nil && !p.Wire.Lines && len(interp.Shape(p).Addresses) > 0
}

// Addresses lists the addresses that send or are sent frames of the protocol, or are named in them,
// in order. The specification needs no more parties than these.
func Addresses(p *model.Protocol, list []Datagram, a Addressing) ([]string, error) {
	shape := interp.Shape(p)
	for _, at := range slices.Concat(mapped(shape.Addresses)...) {
		if at.Size < a.Size {
			return nil, fmt.Errorf("addresses in frames of %s have %d bytes, those of the capture %d", p.Name,
				at.Size, a.Size)
		}
	}
	set := map[string]bool{}
	for i := range list {
		d := &list[i]
		if problem(p, &shape, d.Data) != "" {
			continue
		}
		set[d.From] = true
		if d.To != "" {
			set[d.To] = true
		}
		for _, at := range shape.Addresses[shape.Type.Get(d.Data)] {
			if at.Has(d.Data) {
				if named := string(d.Data[at.At : at.At+a.Size]); a.Is(named) {
					set[named] = true
				}
			}
		}
	}
	keys := make([]string, 0, len(set))
	for k := range set {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	if most := min(p.Parties, MostAddresses); len(keys) > most {
		return nil, fmt.Errorf("%d addresses take part in it, and %d can be told apart; "+
			"take a shorter capture, or keep one port with --port", len(keys), most)
	}
	return keys, nil
}

func mapped(m map[uint64][]wire.Address) (out [][]wire.Address) {
	for _, list := range m {
		out = append(out, list)
	}
	return out
}

// problem says what keeps bytes from being a frame, as far as it shows without the table of addresses.
func problem(p *model.Protocol, shape *wire.Shape, b []byte) string {
	n, err := interp.FrameSize(p, b)
	switch c := shape.Checksum; {
	case err.Problem != 0:
		return err.Error()
	case n == 0 || n > len(b):
		return fmt.Sprintf("it ends after %d bytes, within the frame", len(b))
	case n < len(b):
		return fmt.Sprintf("%d bytes follow the frame", len(b)-n)
	case c.Bits > 0 && c.Get(b) != uint64(wire.Checksum(b, c.At)):
		return fmt.Sprintf("its checksum is %08x, and its bytes give %08x", c.Get(b), wire.Checksum(b, c.At))
	}
	for _, c := range shape.Constants {
		if v := c.Number.Get(b); v != c.Value && c.Number.At < len(b) {
			return fmt.Sprintf("its %s is %d, not %d; --const %[1]s=%[2]d looks at those", c.Name, v, c.Value)
		}
	}
	return ""
}

// Network is a capture in which parties hear each other's broadcasts. The number of a party is the
// place of its address among all: that is what a link makes of addresses, and it is the same for all
// who have heard of the same. Frames are all that parties have sent, with numbers for addresses.
type Network struct {
	Recording
	// Keys are the addresses by number.
	Keys []string
	// Hosts are the parties that send, by number.
	Hosts []*Host
	// Junk are the senders of datagrams alone that are no frames of the protocol.
	Junk []Junk
}

// Host is a party that sends frames.
type Host struct {
	Number int
	// Parts are what its programs did, one after the other: where the sequence numbers begin again, a
	// new program has begun. Without sequence numbers there is one.
	Parts []*Part
	// Repeated counts datagrams that the network has brought twice.
	Repeated int
}

// Part is what one party sent and may have heard in one run of its program.
type Part struct {
	Party int
	// First is the sequence number of its first frame; 0 if there is none.
	First uint64
	// Missing counts frames in between that are not in the capture, by their sequence numbers.
	Missing int

	shared  bool
	out, in []int  // places in Frames
	missing []bool // of out: a frame that is not in the capture stands before the one at that place
}

// Begun reports whether the capture has the beginning of the part, but for a few frames at most.
func (t *Part) Begun() bool { return t.First <= mostAtFirst }

// Sent and Heard return the places of the frames that the part sent and may have heard. A frame that
// is not in the capture is left out.
func (t *Part) Sent() (list []int) {
	for i, k := range t.out {
		if !t.missing[i] {
			list = append(list, k)
		}
	}
	return list
}

// Alien returns the place in Frames of the first frame of the host that our programs do not write, -1
// if there is none: it cannot be read, or has something where the specification writes zeros.
func (n *Network) Alien(h *Host) int {
	return slices.IndexFunc(n.Frames, func(f Frame) bool {
		return f.From == h.Number && (f.Differs || f.Message == nil)
	})
}

// Junk is a sender of datagrams that are no frames.
type Junk struct {
	From              string
	Datagrams, Packet int // how many, and the number of the first packet
	Reason            string
}

// NewNetwork makes frames of datagrams. keys are from [Addresses], and p has as many parties.
func NewNetwork(p *model.Protocol, list []Datagram, keys []string, a Addressing) *Network {
	n := &Network{Keys: keys}
	n.Protocol, n.Strings, n.Datagrams = p, &interp.Strings{}, true
	n.codec = newCodec(p, n.Strings)
	for _, k := range keys {
		n.Names = append(n.Names, a.Text(k))
	}
	shape := interp.Shape(p)
	hosts := make([]*sender, len(keys))
	for i := range list {
		d := &list[i]
		from, known := slices.BinarySearch(keys, d.From)
		to := Everyone
		if d.To != "" {
			to, _ = slices.BinarySearch(keys, d.To)
		}
		f := Frame{From: from, To: to, Time: d.Time, Packet: d.Packet, Bytes: d.Data}
		f.Problem = problem(p, &shape, d.Data)
		if !known || f.Problem != "" && !n.sends(from) {
			n.junk(d, f.Problem)
			continue
		}
		if f.Problem == "" {
			n.number(&f, &shape, a)
		}
		if hosts[from] == nil {
			hosts[from] = &sender{host: &Host{Number: from}}
			n.Hosts = append(n.Hosts, hosts[from].host)
		}
		n.Frames = append(n.Frames, f)
		hosts[from].add(n, len(n.Frames)-1, &shape)
	}
	slices.SortFunc(n.Hosts, func(a, b *Host) int { return a.Number - b.Number })
	for _, h := range n.Hosts {
		n.hears(h)
	}
	return n
}

func (n *Network) sends(party int) bool {
	return slices.ContainsFunc(n.Hosts, func(h *Host) bool { return h.Number == party })
}

func (n *Network) junk(d *Datagram, reason string) {
	for i := range n.Junk {
		if n.Junk[i].From == d.From {
			n.Junk[i].Datagrams++
			return
		}
	}
	n.Junk = append(n.Junk, Junk{From: d.From, Datagrams: 1, Packet: d.Packet, Reason: reason})
}

// number decodes a frame with numbers for addresses, and sees whether encoding it gives the same
// bytes with the sequence number that it has.
func (n *Network) number(f *Frame, shape *wire.Shape, a Addressing) {
	b := bytes.Clone(f.Bytes)
	list := shape.Addresses[shape.Type.Get(b)]
	for _, at := range list {
		if !at.Has(b) {
			continue
		}
		field := b[at.At : at.At+at.Size]
		k, ok := slices.BinarySearch(n.Keys, string(field[:a.Size]))
		if clear(field); ok {
			field[0] = byte(k + 1)
		}
	}
	sum(b, shape)
	m, slots, err := n.codec.decode(0, 0, b, "")
	if err != nil {
		f.Problem = err.Error()
		return
	}
	f.Message, f.Slots = m, slots
	again, err := n.codec.encode(m, slots)
	if err != nil {
		f.Differs = true
		return
	}
	for _, at := range list {
		if at.Has(again) {
			field := again[at.At : at.At+at.Size]
			k := int(field[0]) - 1
			if clear(field); k >= 0 && k < len(n.Keys) {
				copy(field, n.Keys[k])
			}
		}
	}
	if shape.Sequence.Bits > 0 {
		shape.Sequence.Put(again, shape.Sequence.Get(f.Bytes))
	}
	if c := shape.Checksum; c.Bits > 0 { // it was seen to be right
		c.Put(again, c.Get(f.Bytes))
	}
	f.Differs, f.Again = !bytes.Equal(again, f.Bytes), again
}

func sum(b []byte, shape *wire.Shape) {
	if c := shape.Checksum; c.Bits > 0 && c.At+4 <= len(b) {
		c.Put(b, uint64(wire.Checksum(b, c.At)))
	}
}

// sender sorts the frames of a host into parts, by their sequence numbers.
type sender struct {
	host *Host
	part *Part
	last uint64
}

// How long a network may keep a datagram that it brings again, and how many frames in a row may be
// missing from a capture, behind a program's beginning and at it.
const (
	longestWay  = 2 * time.Second
	mostMissing = 1000
	mostAtFirst = 8
)

func (s *sender) add(n *Network, k int, shape *wire.Shape) {
	f := &n.Frames[k]
	number := uint64(0)
	if shape.Sequence.Bits > 0 {
		number = shape.Sequence.Get(f.Bytes)
	}
	if s.part != nil && shape.Sequence.Bits > 0 && number <= s.last && s.repeated(n, f) {
		s.host.Repeated++
		return
	}
	gap := int(number) - int(s.last) - 1
	if s.part == nil || shape.Sequence.Bits > 0 && (number <= s.last || gap > mostMissing) {
		s.part = &Part{Party: f.From, First: number, shared: true}
		s.host.Parts = append(s.host.Parts, s.part)
		gap = 0
		if s.part.Begun() {
			gap = int(number) - 1
		}
	}
	if shape.Sequence.Bits == 0 {
		gap = 0
	}
	for range gap {
		s.part.out, s.part.missing = append(s.part.out, k), append(s.part.missing, true)
		s.part.Missing++
	}
	s.part.out, s.part.missing, s.last = append(s.part.out, k), append(s.part.missing, false), number
}

// repeated reports whether the network has brought a frame before, a short while ago.
func (s *sender) repeated(n *Network, f *Frame) bool {
	for i := len(s.part.out) - 1; i >= 0; i-- {
		old := &n.Frames[s.part.out[i]]
		if f.Time.Sub(old.Time) > longestWay {
			return false
		}
		if f.To == old.To && bytes.Equal(f.Bytes, old.Bytes) {
			return true
		}
	}
	return false
}

// hears gives each part of a host what it may have heard: what came to it between the program before
// and the next one.
func (n *Network) hears(h *Host) {
	for i, t := range h.Parts {
		from, to := 0, len(n.Frames)
		if i > 0 {
			before := h.Parts[i-1].out
			from = before[len(before)-1] + 1
		}
		if i+1 < len(h.Parts) {
			to = h.Parts[i+1].out[0]
		}
		for k := from; k < to; k++ {
			f := &n.Frames[k]
			if f.From != h.Number && (f.To == Everyone || f.To == h.Number) && f.Message != nil {
				t.in = append(t.in, k)
			}
		}
	}
}

// Explain finds for one part of a host the role and parameters whose run explains most of it, as
// [Explain] does for a side of a conversation. What the others did is not asked: they are the
// environment, and may be other programs. What was captured may have been lost on the way to the
// host where the protocol's channel says so, and a peer may have been taken for lost that was silent
// for a while.
func (n *Network) Explain(ctx context.Context, t *Part, roles []*model.Machine, opts Options) (*Side, error) {
	if opts.MaxStates == 0 {
		opts.MaxStates = 400_000
	}
	return t.explain(ctx, &n.Recording, roles, opts)
}
