package replay

import (
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// codec decodes and encodes the frames of a protocol. It uses the default format if the protocol has no
// wire section. Its messages are those of the protocol, which the machines refer to.
type codec struct {
	protocol, wire *model.Protocol
	strs           *interp.Strings
}

func newCodec(p *model.Protocol, strs *interp.Strings) codec {
	return codec{p, model.WithDefaultWire(p), strs}
}

// decode reads a frame that a role receives, any if to is empty.
func (c codec) decode(frame []byte, to string) (*model.Message, []int64, error) {
	m, slots, err := interp.DecodeFrameTo(c.wire, c.strs, frame, to)
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
