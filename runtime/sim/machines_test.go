package sim_test

import (
	"testing"
	"time"

	"github.com/parley-go/parley/machines/confirm"
	"github.com/parley-go/parley/machines/ready"
	"github.com/parley-go/parley/machines/update"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/sim"
	"github.com/parley-go/parley/runtime/transport/impair"
)

const ms = time.Millisecond

// worst is the worst network there is.
var worst = impair.Faults{Loss: 0.3, Duplicate: 0.3, Reorder: 0.3, Late: 100 * ms, Delay: 100 * ms,
	Jitter: 200 * ms, Rate: 2000}

// readyScenario is two sides that pass barriers; after the faults they stand
// before or behind the same one.
func readyScenario() *sim.Scenario {
	type R = *ready.PeerRunner
	return &sim.Scenario{Name: "ready", Worst: worst, Partitions: 2, Setup: func(w *sim.World) {
		var side [2]R
		var passed [2]int
		for i, name := range []string{"a", "b"} {
			side[i] = ready.NewPeerRunner()
			o := driver.Options[R]{OnReport: func(R, int) { passed[i]++ }}
			sim.Add(w, name, side[i], o, sim.Command[R]{Calm: true,
				Do: func(_ *sim.World, r R) fsm.Result { return r.Ready() },
				May: func(r R) bool {
					return r.Machine.State != ready.StateLocalReady && !(w.Calm() && passed[i] > passed[1-i])
				}})
		}
		w.Connect(0, 1, 0, 0)
		w.Goal = func() bool { return passed[0] == passed[1] && passed[0] > 0 }
		w.Always = func() string {
			if d := passed[0] - passed[1]; d < -1 || d > 1 {
				return "one side is more than a barrier ahead"
			}
			return ""
		}
	}}
}

// confirmScenario is two sides that agree, take it back and change things, and
// in the end agree.
func confirmScenario() *sim.Scenario {
	type R = *confirm.PeerRunner
	in := func(states ...confirm.State) func(R) bool {
		var set uint16
		for _, s := range states {
			set |= 1 << s
		}
		return func(r R) bool { return set>>r.Machine.State&1 == 1 }
	}
	commands := []sim.Command[R]{
		{Calm: true, Do: func(_ *sim.World, r R) fsm.Result { return r.Confirm() },
			May: in(confirm.StateWaiting, confirm.StateRemoteOk, confirm.StateCancelWaiting,
				confirm.StateCancelRemoteOk)},
		{Do: func(_ *sim.World, r R) fsm.Result { return r.Cancel() },
			May: in(confirm.StateLocalOk, confirm.StateCancelLocalOk)},
		{Do: func(_ *sim.World, r R) fsm.Result { return r.Change() },
			May: in(confirm.StateWaiting, confirm.StateRemoteOk, confirm.StateCancelWaiting,
				confirm.StateCancelRemoteOk)},
	}
	return &sim.Scenario{Name: "confirm", Worst: worst, Partitions: 2, Setup: func(w *sim.World) {
		a, b := confirm.NewPeerRunner(), confirm.NewPeerRunner()
		sim.Add(w, "a", a, driver.Options[R]{}, commands...)
		sim.Add(w, "b", b, driver.Options[R]{}, commands...)
		w.Connect(0, 1, 0, 0)
	}}
}

// updateScenario is two sides that change one value; in the end it is the same at both.
func updateScenario() *sim.Scenario {
	type R = *update.PeerRunner
	change := sim.Command[R]{Do: func(w *sim.World, r R) fsm.Result { return r.Change(update.Value(w.Rand(3))) }}
	return &sim.Scenario{Name: "update", Worst: worst, Partitions: 2, Setup: func(w *sim.World) {
		a, b := update.NewPeerRunner(true), update.NewPeerRunner(false)
		sim.Add(w, "a", a, driver.Options[R]{}, change)
		sim.Add(w, "b", b, driver.Options[R]{}, change)
		w.Connect(0, 1, 0, 0)
		w.Goal = func() bool {
			return a.Machine.State == update.StateSettled && b.Machine.State == update.StateSettled &&
				a.Machine.Own == b.Machine.Own
		}
	}}
}

// Each of these runs as many times as a test may take; PARLEY_SIM_RUNS=1000000 runs a million.
func TestReady(t *testing.T)   { checkFaults(t, readyScenario().Campaign(t, runs(8000))) }
func TestConfirm(t *testing.T) { checkFaults(t, confirmScenario().Campaign(t, runs(8000))) }
func TestUpdate(t *testing.T)  { checkFaults(t, updateScenario().Campaign(t, runs(8000))) }

func checkFaults(t *testing.T, sum sim.Result) {
	t.Helper()
	if s := sum.Stats; !few(sum) && (s.Lost == 0 || s.Delayed == 0 || sum.Commands == 0) {
		t.Errorf("the runs met no faults: %+v", sum)
	}
}
