package model

// TypeNumber returns the type of the header, nil if it has none. Then every message is like every
// other one; see [Protocol.Alike].
func (w *Wire) TypeNumber() *WireType {
	for _, item := range w.Header {
		switch it := item.(type) {
		case *WireType:
			return it
		case *WireBits:
			for _, part := range it.Parts {
				if x, ok := part.Item.(*WireType); ok {
					return x
				}
			}
		}
	}
	return nil
}

// Alike returns the messages that a frame's header does not tell from m, m among them, in the order of
// declaration. A frame is the first of them whose items it is.
func (p *Protocol) Alike(m *Message) []*Message {
	if p.Wire.TypeNumber() == nil {
		return p.Messages
	}
	var out []*Message
	for _, o := range p.Messages {
		if o.ID == m.ID {
			out = append(out, o)
		}
	}
	return out
}

// Directed reports whether some message is sent by one role alone.
func (p *Protocol) Directed() bool {
	for _, m := range p.Messages {
		if m.From != "" {
			return true
		}
	}
	return false
}

// Reaches reports whether a role receives the message. Every role does if to is empty, and one that is
// alone receives what it sends.
func (m *Message) Reaches(to string, p *Protocol) bool {
	return to == "" || m.From != to || len(p.Roles) < 2
}
