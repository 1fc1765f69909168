package system

import (
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
)

// Crossing says what becomes of messages between instances that do not keep to the same specification, as those of
// two versions of a program.
type Crossing interface {
	// Begin is told the table of all texts, once, before anything else.
	Begin(strs *interp.Strings)
	// Frames are those of the messages that an instance sends.
	Frames(i int) *stage.Frames
	// Read is what a message that one instance sends is to another: one of Protocol.Messages, with its slots. The
	// machine of the receiver needs an event of that name.
	Read(from, to int, m *model.Message, slots []int64) (*model.Message, []int64)
}

// Unreadable follows the name of a message that its receiver cannot read, see [Crossing.Read].
const Unreadable = " (unreadable)"

// SentText is what an effect sends, in words; where it is another message to who receives it, that one too.
func (s *Machines) SentText(e *interp.Effect, m *model.Message, slots []int64) string {
	own := string(interp.AppendMessage(nil, s.Texts, e.Message, e.Slots))
	if read := string(interp.AppendMessage(nil, s.Texts, m, slots)); s.crossing != nil && read != own &&
		m.Name != e.Message.Name+Unreadable {
		return own + ", read as " + read
	}
	return own
}

// Crosses is what a message that one instance sends is to another.
func (s *Machines) Crosses(from, to int, e *interp.Effect) (*model.Message, []int64) {
	if s.crossing == nil {
		return e.Message, e.Slots
	}
	return s.crossing.Read(from, to, e.Message, e.Slots)
}
