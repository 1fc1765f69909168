package sim_test

import (
	"fmt"
	"testing"

	"github.com/parley-go/parley/machines/masterserver"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/sim"
)

// visitors is a masterserver and three numbers at which game servers come and go. In the end exactly those are
// listed that are there. forgets has the masterserver miss that one has gone.
func visitors(forgets bool) *sim.Scenario {
	type R = *masterserver.GameserverRunner
	in := func(s masterserver.GameserverState) func(R) bool {
		return func(r R) bool { return r.Machine.State == s }
	}
	commands := []sim.Command[R]{
		{Do: func(_ *sim.World, r R) fsm.Result {
			return r.Begin(masterserver.Name{}, masterserver.System{}, masterserver.Url{},
				masterserver.Version{Major: 1})
		}, May: in(masterserver.GameserverStateClosed)},
		{Do: func(w *sim.World, r R) fsm.Result { return r.Players(masterserver.Players(w.Rand(3))) },
			May: in(masterserver.GameserverStateJoined)},
		{Do: func(_ *sim.World, r R) fsm.Result { return r.End() }, May: in(masterserver.GameserverStateJoined)},
	}
	return &sim.Scenario{Name: "visitors", Worst: worst, Breaks: 2, Setup: func(w *sim.World) {
		master := masterserver.NewMasterRunner()
		var r fsm.Runner = master
		if forgets {
			r = absentMinded{master}
		}
		sim.Add(w, "master", r, driver.Options[fsm.Runner]{})
		var servers [3]R
		for i := range servers {
			servers[i] = masterserver.NewGameserverRunner()
			id := sim.Add(w, fmt.Sprint("server ", i+1), servers[i], driver.Options[R]{}, commands...)
			w.Comes(id, 3, func() { *servers[i] = *masterserver.NewGameserverRunner() })
			w.Connect(0, id, fsm.Peer(id), 0)
		}
		w.Goal = func() bool {
			for i, s := range servers {
				listed := master.Machine.List[i+1].Present
				if s.Machine.State == masterserver.GameserverStateJoined != listed {
					return false
				}
			}
			return true
		}
	}}
}

// absentMinded is a masterserver that keeps the entry of one whose link is lost.
type absentMinded struct{ *masterserver.MasterRunner }

func (a absentMinded) LinkLost(fsm.Peer) fsm.Result {
	return fsm.Result{Code: fsm.Ignored, Transition: fsm.NoTransition}
}

// TestComers: several parties come to a number, one after another, and what is known of one who has gone is found.
func TestComers(t *testing.T) {
	comes, again := 0, 0
	for seed := range uint64(150) {
		r := visitors(false).Run(seed, nil)
		if r.Failure != nil {
			t.Fatalf("seed %d: %v", seed, r.Failure)
		}
		if comes += r.Comes; r.Comes > 3 {
			again++
		}
	}
	if again < 15 {
		t.Errorf("%d came in all, and in %d runs more than there are numbers", comes, again)
	}
	for seed := range uint64(150) {
		if r := visitors(true).Run(seed, nil); r.Failure != nil {
			return
		}
	}
	t.Error("that somebody is kept who has gone was not found")
}
