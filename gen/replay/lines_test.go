package replay

import (
	"context"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
)

// TestLines explains a captured conversation in lines: cut anywhere, with both kinds of line ends.
func TestLines(t *testing.T) {
	p, list := compile.Load("../../specs/masterserver/spec.yaml", compile.Options{})
	if p == nil {
		t.Fatal(list)
	}
	chunks := []Chunk{
		{From: 1, Packet: 1, Data: []byte("version: 1.0 join me: alpha os: linux max")},
		{From: 1, Packet: 2, Data: []byte("players: 16 url: http://alpha\r\n")},
		{From: 0, Packet: 3, Data: []byte("join accepted\n")},
		{From: 1, Packet: 4, Data: []byte("players: 3 max: 16\n")},
		{From: 0, Packet: 5, Data: []byte("players acknowledged.\n")},
		{From: 1, Packet: 6, Data: []byte("remove me\n")},
		{From: 0, Packet: 7, Data: []byte("removing you\n")},
	}
	r := Split(p, chunks, false)
	if r.Fault != nil || len(r.Frames) != 6 {
		t.Fatalf("%d frames, fault %+v", len(r.Frames), r.Fault)
	}
	if !r.Frames[0].Differs || r.Frames[2].Differs {
		t.Error("only the line that ended with CR LF is sent in another way")
	}
	for side, name := range []string{"master", "gameserver"} {
		var roles []*model.Machine
		for _, m := range p.Roles {
			if m.Name == name {
				roles = append(roles, m)
			}
		}
		s, err := Explain(context.Background(), r, side, roles, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !s.Accepted {
			t.Errorf("%s is explained up to frame %d only: %+v", name, s.Frontier, s.Machines)
		}
	}
	chunks[4].Data = []byte("players acknowledged\n")
	r = Split(p, chunks, false)
	if s, err := Explain(context.Background(), r, 1, p.Roles[1:2], Options{}); err != nil || s.Accepted || s.Read != 1 {
		t.Errorf("a reply without its full stop is some other line, which a game server cannot read: it "+
			"read %d, frontier %d, %v", s.Read, s.Frontier, err)
	}
}
