package sim_test

import (
	"strings"
	"testing"

	"github.com/parley-go/parley/machines/lobby"
	"github.com/parley-go/parley/machines/ready"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/sim"
	"github.com/parley-go/parley/runtime/trace"
)

// withStranger is a lobby to which somebody hostile has come: the others play as if nobody had.
func withStranger(games *int, breaks int) *sim.Scenario {
	s := lobbyScenario(games)
	setup := s.Setup
	s.Name, s.Breaks = "lobby with a stranger", breaks
	s.Setup = func(w *sim.World) {
		setup(w)
		stranger := w.AddHostile("stranger", func(w *sim.World) []byte {
			m := lobby.Message{Kind: lobby.MessageKind(w.Rand(12))}
			m.Join.Game = lobby.Game(w.Rand(3))
			b, err := lobby.AppendMessage(nil, &m)
			if err != nil {
				return nil
			}
			return b
		})
		w.Connect(0, stranger, 5, 0)
	}
	return s
}

func TestStrangerInTheLobby(t *testing.T) {
	games := 0
	sum := withStranger(&games, 0).Campaign(t, runs(200))
	if !few(sum) && (games == 0 || sum.Forged == 0) {
		t.Errorf("%d games, %d things forged", games, sum.Forged)
	}
	s := withStranger(&games, 0)
	for seed := range uint64(20) {
		a, b := s.Run(seed, nil), s.Run(seed, func(string) trace.Sink { return trace.NewWriter(nothing{}) })
		if a.Digest != b.Digest || a.Forged != b.Forged {
			t.Fatalf("seed %d is not repeated: %+v, %+v", seed, a, b)
		}
	}
}

// alone is one side at a barrier whose other side is hostile. trusting is whether the claim is made that
// only an honest peer can be held to, and strict whether what is refused is a failure.
func alone(trusting, strict bool, passed *int) *sim.Scenario {
	type R = *ready.PeerRunner
	return &sim.Scenario{Name: "alone", Setup: func(w *sim.World) {
		o := driver.Options[R]{OnReport: func(R, int) { *passed++ }}
		if strict {
			o.OnError = func(_ R, err *driver.Error) { w.Always = func() string { return err.Error() } }
		}
		sim.Add(w, "a", ready.NewPeerRunner(), o, sim.Command[R]{
			Do:  func(_ *sim.World, r R) fsm.Result { return r.Ready() },
			May: func(r R) bool { return r.Machine.State != ready.StateLocalReady }})
		w.AddHostile("b", nil)
		w.Connect(0, 1, 0, 0)
		w.Goal = func() bool { return true }
		before := *passed
		if trusting {
			w.Always = func() string {
				if *passed > before {
					return "a has passed a barrier that b never came to"
				}
				return ""
			}
		}
	}}
}

// What a hostile peer sends gets through: it is told if a claim needs an honest one. What is refused of
// it is a failure only where the scenario says so.
func TestStrangerAlone(t *testing.T) {
	passed, refused, trusted := 0, 0, 0
	for seed := range uint64(200) {
		if r := alone(false, false, &passed).Run(seed, nil); r.Failure != nil {
			t.Fatalf("seed %d: %v", seed, r.Failure)
		}
		if r := alone(true, false, new(int)).Run(seed, nil); r.Failure != nil {
			if trusted++; !strings.Contains(r.Failure.Error(), "b never came to") || r.Failure.Calm {
				t.Fatalf("seed %d: %v", seed, r.Failure)
			}
		}
		if r := alone(false, true, new(int)).Run(seed, nil); r.Failure != nil {
			refused++
		}
	}
	if passed == 0 || refused == 0 || trusted == 0 {
		t.Errorf("passed %d, refused %d, trusted %d", passed, refused, trusted)
	}
}
