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
	strs           *interp.Strings
}

func newCodec(p *model.Protocol, strs *interp.Strings) codec {
	c := codec{protocol: p, wire: model.WithDefaultWire(p), strs: strs}
	for k := range p.Channels() {
		c.views = append(c.views, c.wire.Over(k))
	}
	return c
}

// decode reads a frame that a role receives from a channel, any role if to is empty.
func (c codec) decode(channel int, frame []byte, to string) (*model.Message, []int64, error) {
	if channel < 0 || channel >= len(c.views) {
		return nil, nil, fmt.Errorf("there is no channel %d: %s has %d", channel, c.protocol.Name, len(c.views))
	}
	m, slots, err := interp.DecodeFrameTo(c.views[channel], c.strs, frame, to)
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
