package versions

import (
	"fmt"
	"io/fs"
	"slices"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/runtime/wire"
)

// Source is where one version of a specification is read.
type Source struct {
	// FS is the tree that Path is in; nil means the operating system's.
	FS   fs.FS
	Path string
	// Name is what messages call the version: OLD or NEW.
	Name string
}

// load compiles the version, for a check if its name is not empty.
func (s *Source) load(check string) (*model.Protocol, error) {
	p, list := compile.Load(s.Path, compile.Options{FS: s.FS, Check: check})
	if p == nil {
		return nil, &diag.Rejected{List: list}
	}
	return p, nil
}

// The two versions, as indices.
const (
	older = iota
	newer
)

// pair is both versions of a protocol, and how each reads what the other sends.
type pair struct {
	p       [2]*model.Protocol
	strs    *interp.Strings
	frames  [2]*stage.Frames
	read    map[string]reading
	crossed map[string]bool // messages that have gone from one to the other, by version and name
}

// reading is what one version makes of a message of the other.
type reading struct {
	message *model.Message // of the reader; nil if it cannot be read
	slots   []int64
	frame   []byte // nil if no bytes are described
	err     wire.Error
	why     string // in words, if message is nil
}

func newPair(before, now *model.Protocol) *pair {
	return &pair{p: [2]*model.Protocol{before, now}, read: map[string]reading{}, crossed: map[string]bool{}}
}

// begin sets the table of texts.
func (x *pair) begin(strs *interp.Strings) {
	x.strs = strs
	for v, p := range x.p {
		strs.InternDomains(p)
		x.frames[v] = stage.NewFrames(p, strs)
	}
}

// reads is what a role of one version makes of a message of the other.
func (x *pair) reads(from int, m *model.Message, slots []int64, role string) reading {
	key := fmt.Sprint(from, role, m.Index, slots)
	r, ok := x.read[key]
	if !ok {
		r = x.ask(from, m, slots, role)
		x.read[key] = r
	}
	return r
}

func (x *pair) ask(from int, m *model.Message, slots []int64, role string) reading {
	sender, reader := x.p[from], x.p[1-from]
	channel := channelOf(reader, sender.Channels()[m.Channel].Name)
	if channel < 0 {
		return reading{why: "there is no channel " + sender.Channels()[m.Channel].Name}
	}
	if sender.WireOf(m) == nil || reader.Over(channel).Wire == nil {
		return x.byName(from, m, slots, channel)
	}
	frame, err := interp.AppendFrame(sender, x.strs, nil, m, slots)
	if err.Problem != 0 { // a text of a check that stands for others has no frame
		return x.byName(from, m, slots, channel)
	}
	r := reading{frame: frame}
	over := reader.Over(channel)
	for phase := range over.PhaseCount() {
		if over.Phased() && !inPhase(sender.WireOf(m), m, over.Wire.Phases[phase]) {
			continue
		}
		if r.message, r.slots, r.err = interp.DecodeFrameTo(over.In(phase), x.strs, frame, role); r.err.Problem == 0 {
			return r
		}
	}
	r.message = nil
	if r.why = r.err.Error(); r.err.Problem == 0 {
		r.why = "no phase of that name has it"
	}
	return r
}

// inPhase reports whether a message may be sent in the phase of a name.
func inPhase(w *model.Wire, m *model.Message, name string) bool {
	k := slices.Index(w.Phases, name)
	return k < 0 || m.In(k)
}

// channelOf is the place of the channel of a name; a protocol with one channel has it under any name.
func channelOf(p *model.Protocol, name string) int {
	if !p.Several() {
		return 0
	}
	return slices.IndexFunc(p.Channels(), func(c model.Channel) bool { return c.Name == name })
}

// byName reads a message by its name and those of its fields, where no bytes are described.
func (x *pair) byName(from int, m *model.Message, slots []int64, channel int) reading {
	reader := x.p[1-from]
	k := slices.IndexFunc(reader.Messages, func(o *model.Message) bool { return o.Name == m.Name })
	if k < 0 || reader.Messages[k].Channel != channel {
		return reading{why: "there is no message " + m.Name}
	}
	to := reader.Messages[k]
	r := reading{message: to, slots: make([]int64, interp.FieldSlots(to.Fields))}
	for _, f := range m.Fields {
		at := slices.IndexFunc(to.Fields, func(o *model.Field) bool { return o.Name == f.Name })
		if at < 0 {
			return reading{why: fmt.Sprintf("%s has no field %s", m.Name, f.Name)}
		}
		text := interp.AppendValue(nil, x.strs, f.Type, slots[f.Offset:f.Offset+f.Type.Slots()])
		v, err := interp.ParseValue(to.Fields[at].Type, x.strs, string(text))
		if err != nil {
			return reading{why: fmt.Sprintf("field %s: %v", f.Name, err)}
		}
		copy(r.slots[to.Fields[at].Offset:], v)
	}
	if len(to.Fields) > len(m.Fields) {
		for _, f := range to.Fields {
			if !slices.ContainsFunc(m.Fields, func(o *model.Field) bool { return o.Name == f.Name }) {
				return reading{why: fmt.Sprintf("%s comes without its field %s", m.Name, f.Name)}
			}
		}
	}
	return r
}
