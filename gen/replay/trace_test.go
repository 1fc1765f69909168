package replay

import (
	"testing"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
)

// TestSentTo: a frame that went to another peer than the specification says is no step of the machine.
func TestSentTo(t *testing.T) {
	p, strs := protocolOf(t, two), &interp.Strings{}
	ask := p.Messages[0]
	codec := newCodec(p, strs)
	frame, err := codec.encode(ask, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		dest model.Dest
		to   int
		peer fsm.Peer
		same bool
	}{
		{model.ToSender, 1, 1, true},
		{model.ToSender, 1, 0, false},
		{model.ToExpr, 2, 2, true},
		{model.ToExpr, 0, 2, false},
		{model.ToPeer, 0, 1, true},
		{model.ToBroadcast, -1, fsm.Broadcast, true},
	} {
		c := &checker{codec: codec, strs: strs, out: &Trace{}}
		why := c.sameSent(&trace.Effect{Kind: fsm.Send, Peer: tt.peer, Frame: frame},
			&interp.Effect{Kind: fsm.Send, Dest: tt.dest, To: tt.to, Message: ask})
		if why == "" != tt.same {
			t.Errorf("%+v: %q", tt, why)
		}
	}
}
