package replay

import (
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// codec decodes and encodes the frames of a protocol, in the default format if
// it has no wire section of its own. Its messages are those of the protocol, to
// which the machines refer.
type codec struct {
	protocol, wire *model.Protocol
	strs           *interp.Strings
}

func newCodec(p *model.Protocol, strs *interp.Strings) codec {
	return codec{p, model.WithDefaultWire(p), strs}
}

func (c codec) decode(frame []byte) (*model.Message, []int64, error) {
	m, slots, err := interp.DecodeFrame(c.wire, c.strs, frame)
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
