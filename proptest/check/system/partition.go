package system

import (
	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/proptest/explore"
)

// parter is the machine that parts the instances and brings them together again; its value is one side
// of the present partition. It tells each instance whom it is kept away from.
type parter struct {
	begins, ends uint32    // labels
	first        int       // the channel to instance 0; those to the others follow
	partings     []parting // the first is that there is none
}

// parting is one partition: one side of it, and what each instance is told of it.
type parting struct {
	side uint64
	news [][]byte // nil: nothing, for it is on both sides
}

func (b *parter) Init() []byte { return codec.AppendSlots(nil, []int64{0}) }

// Final implements [explore.Process]: a partition comes to its end.
func (b *parter) Final(v []byte) bool { return v[0] == 0 }

func (b *parter) Receive([]byte, int, []byte, func(explore.Step)) {}

// Local begins a partition where there is none, and ends it where there is one. That it ends is treated
// fairly.
func (b *parter) Local(v []byte, emit func(explore.Step)) {
	if v[0] != 0 {
		emit(b.step(b.ends, &b.partings[0]))
		return
	}
	for k := range b.partings[1:] {
		s := b.step(b.begins, &b.partings[k+1])
		s.Spends, s.Spontaneous = explore.SpendsPartition, true
		emit(s)
	}
}

func (b *parter) step(label uint32, p *parting) explore.Step {
	now := codec.AppendSlots(nil, []int64{int64(p.side)})
	s := explore.Step{Label: label, Next: now, Note: now}
	for i, msg := range p.news {
		if msg != nil {
			s.Sends = append(s.Sends, explore.Send{Channel: b.first + i, Msg: msg})
		}
	}
	return s
}
