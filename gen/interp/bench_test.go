package interp_test

import (
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// BenchmarkStep gives each machine of a specification every event that needs no arguments drawn, in
// each of its states.
func BenchmarkStep(b *testing.B) {
	for _, name := range []string{"startup", "setup", "netplay", "lockstep"} {
		p, _ := compile.Load("../../specs/"+name+"/spec.yaml", compile.Options{})
		if p == nil {
			b.Fatal(name)
		}
		m := p.Roles[0]
		strs := &interp.Strings{}
		args := make([][]int64, len(m.Params))
		for i, v := range m.Params {
			args[i] = make([]int64, v.Type.Slots())
			interp.Zero(v.Type, args[i])
		}
		v, err := interp.NewValue(m, strs, args...)
		if err != nil {
			b.Fatal(err)
		}
		var events []interp.Event
		for _, ev := range m.Events {
			if ev.Kind != model.EventReport && ev.Kind != model.EventFinished {
				zero := make([]int64, interp.FieldSlots(ev.Fields))
				interp.Zero(&model.Type{Kind: model.KindRecord, Fields: ev.Fields}, zero)
				events = append(events, interp.Event{Event: ev, Args: zero})
			}
		}
		x := interp.New(m, strs)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for s := range m.States {
					v[0] = int64(s)
					for _, ev := range events {
						x.Step(v, ev)
					}
				}
			}
		})
	}
}
