package system

import (
	"encoding/binary"

	"github.com/parley-go/parley/proptest/check/report"
)

// Cover asks for the lines that are used to be counted; call it before Run.
func (s *Machines) Cover() {
	s.Counted = &cover{ids: map[string]uint32{}}
	for _, p := range s.Procs {
		p.Machine.Follow = true
	}
}

// tally is the number of the trail of the step just taken; 0 if it used nothing of the specification.
func (p *Process) tally() uint32 {
	c := p.sys.Counted
	trail := p.Machine.Trail()
	if c == nil || len(trail) == 0 {
		return 0
	}
	var id []byte
	keys := make([]report.Mark, len(trail))
	for i, m := range trail {
		keys[i] = report.MarkOf(m)
		id = append(binary.AppendUvarint(id, uint64(len(keys[i].At))), keys[i].At...)
		id = append(binary.AppendUvarint(id, uint64(len(keys[i].What))), keys[i].What...)
	}
	n, ok := c.ids[string(id)]
	if !ok {
		c.trails = append(c.trails, keys)
		n = uint32(len(c.trails))
		c.ids[string(id)] = n
	}
	return n
}
