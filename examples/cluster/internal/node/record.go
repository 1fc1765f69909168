package node

import (
	"time"

	"github.com/parley-go/parley/examples/cluster/internal/store"
	"github.com/parley-go/parley/examples/cluster/machines/tenure"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
)

// record writes down what a claim did, as a driver does for its machine: so a run of the program can be held against
// the specification. A nil one writes nothing.
type record struct {
	sink  trace.Sink
	began time.Time
	seq   uint64
	s     trace.Step
}

// newRecord begins the record of a claim that has not begun; nil for no sink.
func newRecord(sink trace.Sink, game store.Game, claim *tenure.ClaimRunner) *record {
	if sink == nil {
		return nil
	}
	r := &record{sink: sink, began: time.Now()}
	info := claim.Info()
	sink.Begin(trace.Header{Protocol: info.Protocol, Role: info.Role, Instance: game.String(), Hash: info.Hash,
		Machine: string(claim.AppendMachine(nil)), Time: r.began})
	return r
}

// step writes down what an event did to the claim, which has just had it.
func (r *record) step(claim *tenure.ClaimRunner, kind trace.Kind, frame []byte, before uint16, res fsm.Result) {
	if r == nil {
		return
	}
	s, info := &r.s, claim.Info()
	s.Reset()
	r.seq++
	s.Seq, s.At, s.Kind = r.seq, time.Since(r.began), kind
	if kind == trace.Up || kind == trace.Message {
		s.Peer = tenure.StoreConst
	}
	s.Event = claim.AppendEvent(s.Event)
	s.Frame = append(s.Frame, frame...)
	s.Code, s.Transition = res.Code, res.Transition
	if res.Transition != fsm.NoTransition {
		s.Name = info.Transitions[res.Transition].Name
	}
	s.Before, s.After = info.States[before], info.States[claim.State()]
	for i := range claim.Effects() {
		e, t := claim.Effect(i), s.AddEffect()
		t.Kind, t.Peer, t.Text = e.Kind, e.Peer, claim.AppendEffect(t.Text, i)
		if e.Kind == fsm.Send {
			t.Frame, _ = claim.AppendFrame(t.Frame, i) // what cannot be encoded is not sent either
		}
	}
	r.sink.Step(s)
}

// end ends the record.
func (r *record) end() {
	if r == nil {
		return
	}
	r.s.Reset()
	r.seq++
	r.s.Seq, r.s.At, r.s.Kind = r.seq, time.Since(r.began), trace.Closed
	r.sink.Step(&r.s)
	_ = r.sink.Flush() // whoever reads it sees that it is not whole
}
