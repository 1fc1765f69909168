package sim_test

import (
	"fmt"
	"testing"

	"github.com/parley-go/parley/machines/lobby"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/sim"
)

// lobbyScenario is a server and four players, who make, join and end games; in the end server and
// players agree where each of them is. The server is number 0 everywhere, the players are 1 to 4 to
// it.
func lobbyScenario(games *int) *sim.Scenario {
	type R = *lobby.PlayerRunner
	in := func(states ...lobby.PlayerState) func(R) bool {
		var set uint16
		for _, s := range states {
			set |= 1 << s
		}
		return func(r R) bool { return set>>r.Machine.State&1 == 1 }
	}
	const chat, open, running = lobby.PlayerStateChat, lobby.PlayerStateOpen, lobby.PlayerStateRunning
	line, _ := lobby.NewLine("hello")
	data, _ := lobby.NewData("move")
	commands := []sim.Command[R]{
		{Do: func(_ *sim.World, r R) fsm.Result { return r.Create() }, May: in(chat)},
		{Do: func(w *sim.World, r R) fsm.Result { return r.Enter(lobby.Game(w.Rand(2))) }, May: in(chat)},
		{Do: func(_ *sim.World, r R) fsm.Result { return r.Begin() },
			May: func(r R) bool { return r.Machine.State == open && r.Machine.Boss }},
		{Do: func(_ *sim.World, r R) fsm.Result { return r.Leave() }, May: in(open, running)},
		{Do: func(_ *sim.World, r R) fsm.Result { return r.Say(line) }, May: in(chat, open, running)},
		{Do: func(_ *sim.World, r R) fsm.Result { return r.Act(data) }, May: in(open, running)},
	}
	return &sim.Scenario{Name: "lobby", Worst: worst, Setup: func(w *sim.World) {
		server, err := lobby.NewServerRunner(0)
		if err != nil {
			panic(err)
		}
		sim.Add(w, "server", server, driver.Options[*lobby.ServerRunner]{})
		var players [4]R
		for i := range players {
			players[i] = lobby.NewPlayerRunner()
			o := driver.Options[R]{OnReport: func(r R, k int) {
				if r.Report(k).Kind == lobby.PlayerReportStarted {
					*games++
				}
			}}
			sim.Add(w, fmt.Sprint("player ", i+1), players[i], o, commands...)
			w.Connect(0, sim.ID(i+1), fsm.Peer(i+1), 0)
		}
		w.Goal = func() bool {
			for i, p := range players {
				s := &server.Machine.Session[i+1]
				there := s.State == lobby.ServerSessionStateRunning
				if (p.Machine.State == running) != there || there && s.At != p.Machine.At {
					return false
				}
			}
			return true
		}
		w.Always = func() string {
			for i := range players {
				s := &server.Machine.Session[i+1]
				if inside := s.State >= lobby.ServerSessionStateOpen; inside && !server.Machine.Rooms[s.At].Present {
					return fmt.Sprintf("player %d is in game %d, which there is not", i+1, s.At)
				}
			}
			return ""
		}
	}}
}

func TestLobby(t *testing.T) {
	games := 0
	checkFaults(t, lobbyScenario(&games).Campaign(t, runs(300)))
	if games == 0 {
		t.Error("no game was begun")
	}
}
