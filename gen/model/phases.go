package model

import "math/bits"

// MostPhases is how many phases a stream may have.
const MostPhases = 16

// PhaseCount is how many phases the streams of the protocol have: 1 if the specification names none.
func (p *Protocol) PhaseCount() int {
	if p.Wire == nil {
		return 1
	}
	return max(len(p.Wire.Phases), 1)
}

// Phased reports whether the streams of the protocol have phases.
func (p *Protocol) Phased() bool { return p.PhaseCount() > 1 }

// In returns the protocol as a stream has it in one phase: with the messages of that phase alone. What is read from
// the stream there is read by it. Of a protocol without phases it is the protocol. The messages keep their Index.
func (p *Protocol) In(phase int) *Protocol {
	if !p.Phased() {
		return p
	}
	c := *p
	c.Messages = nil
	for _, m := range p.Messages {
		if m.In(phase) {
			c.Messages = append(c.Messages, m)
		}
	}
	return &c
}

// In reports whether the message may be sent in a phase of its stream.
func (m *Message) In(phase int) bool { return m.Phases == 0 || m.Phases>>phase&1 != 0 }

// FirstPhase is the first phase in which the message may be sent.
func (m *Message) FirstPhase() int {
	if m.Phases == 0 {
		return 0
	}
	return bits.TrailingZeros16(m.Phases)
}

// After is the phase of a stream behind the message.
func (m *Message) After(phase int) int {
	if m.Phases == 0 || m.Next < 0 {
		return phase
	}
	return m.Next
}

// Raw reports whether what a role receives in a phase is no messages: the bytes are somebody else's. Without
// a role (to is empty) they are nobody's message at all.
func (p *Protocol) Raw(phase int, to string) bool {
	if !p.Phased() {
		return false
	}
	for _, m := range p.Messages {
		if m.In(phase) && m.Reaches(to, p) {
			return false
		}
	}
	return true
}
