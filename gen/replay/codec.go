package replay

import (
	"fmt"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// codec decodes and encodes the frames of a protocol. It uses the default format if the protocol has no
// wire section. Its messages are those of the protocol, which the machines refer to.
type codec struct {
	protocol, wire *model.Protocol
	views          []*model.Protocol // wire as each channel has it
	phases         []*model.Protocol // wire as a stream has it in each phase, where streams have phases
	strs           *interp.Strings
}

func newCodec(p *model.Protocol, strs *interp.Strings) codec {
	c := codec{protocol: p, wire: model.WithDefaultWire(p), strs: strs}
	for k := range p.Channels() {
		c.views = append(c.views, c.wire.Over(k))
	}
	for k := range c.wire.PhaseCount() {
		c.phases = append(c.phases, c.wire.In(k))
	}
	return c
}

// view is the protocol as a stream of a channel has it in a phase.
func (c codec) view(channel, phase int) *model.Protocol {
	if len(c.phases) > 1 {
		return c.phases[phase]
	}
	return c.views[channel]
}

// decode reads a frame that a role receives from a channel in a phase, any role if to is empty.
func (c codec) decode(channel, phase int, frame []byte, to string) (*model.Message, []int64, error) {
	if channel < 0 || channel >= len(c.views) {
		return nil, nil, fmt.Errorf("there is no channel %d: %s has %d", channel, c.protocol.Name, len(c.views))
	}
	m, slots, err := interp.DecodeFrameTo(c.view(channel, phase), c.strs, frame, to)
	if err.Problem != 0 {
		return nil, nil, err
	}
	return c.protocol.Messages[m.Index], slots, nil
}

func (c codec) encode(m *model.Message, slots []int64) ([]byte, error) {
	b, err := interp.AppendFrame(c.wire, c.strs, nil, c.wire.Messages[m.Index], slots)
	if err.Problem != 0 {
		return b, err
	}
	return b, nil
}
