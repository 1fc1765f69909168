package check

import (
	"encoding/binary"

	"github.com/parley-go/parley/gen/model"
)

// Steps of an instance that are no event of its machine. Their notes begin with a number that no path
// to a part has as its length.
const (
	noteCrash = iota
	noteRestart
	noteDrop
	noteBeat
	noteKinds

	noteSpecial = 1 << 16
)

var specialNames = [noteKinds]string{"crash", "restart", "drop", "beat"}

func packSpecial(kind int) []byte { return binary.AppendUvarint(nil, uint64(noteSpecial+kind)) }

// specialNote tells such notes from those of events.
func specialNote(b []byte) (kind int, ok bool) {
	v, n := binary.Uvarint(b)
	return int(v) - noteSpecial, n > 0 && v >= noteSpecial
}

// special is the label of such a step.
func (p *process) special(kind int) uint32 { return uint32(p.specials + kind) }

// moreThanMessages says what a check has besides machines and messages: faults, time, machines that know
// their number or that of others. Reductions and proofs are not made for these.
func (s *System) moreThanMessages() string {
	switch {
	case s.Check.Faults != nil:
		return "a check with faults"
	case s.Check.Time != nil:
		return "a check that counts time"
	case s.Check.Channel.Full != model.FullFault:
		return "a check in which a full channel is no fault"
	}
	for _, r := range s.Check.Rules {
		if r.Command.Kind == model.EventTimer {
			return "a check with a rule for a timer"
		}
	}
	for _, p := range s.procs {
		knows := p.role.Sender != nil
		for _, v := range p.role.Params {
			knows = knows || v.Self
		}
		if knows {
			return "a check whose machines look at self or sender"
		}
	}
	return ""
}

// isSpecial says whether a label is of such a step, or of a machine that is no instance.
func (s *System) isSpecial(label uint32) bool {
	proc := s.System.Labels[label].Proc
	if proc < 0 {
		return false
	}
	if proc >= len(s.procs) {
		return true
	}
	first := s.procs[proc].specials
	return int(label) >= first && int(label) < first+noteKinds
}
