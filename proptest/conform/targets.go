package conform

import (
	loop "github.com/looplab/fsm"

	"github.com/parley-go/parley/machines/battleend"
	"github.com/parley-go/parley/machines/clock"
	"github.com/parley-go/parley/machines/confirm"
	"github.com/parley-go/parley/machines/connection"
	"github.com/parley-go/parley/machines/lobby"
	"github.com/parley-go/parley/machines/lockstep"
	"github.com/parley-go/parley/machines/masterserver"
	"github.com/parley-go/parley/machines/negotiation"
	"github.com/parley-go/parley/machines/netplay"
	"github.com/parley-go/parley/machines/ready"
	"github.com/parley-go/parley/machines/registration"
	"github.com/parley-go/parley/machines/reset"
	"github.com/parley-go/parley/machines/setup"
	"github.com/parley-go/parley/machines/slotserver"
	"github.com/parley-go/parley/machines/snapshot"
	"github.com/parley-go/parley/machines/startup"
	"github.com/parley-go/parley/machines/update"
)

// Target is one role of a generated package.
type Target struct {
	// Spec is the specification's path in the module.
	Spec string
	Role string
	// Runner is the constructor of the runner.
	Runner any
	// Looplab puts a runner behind looplab/fsm.
	Looplab func(runner any, callbacks loop.Callbacks) any
	// Decode, Append and FrameSize are the package's codec.
	Decode, Append any
	FrameSize      func([]byte) (int, error)
}

// Targets are all generated packages.
var Targets = []Target{
	{"specs/ready/spec.yaml", "peer", ready.NewPeerRunner, adapt[ready.Peer, ready.Event], ready.DecodeMessage,
		ready.AppendMessage, ready.FrameSize},
	{"specs/update/spec.yaml", "peer", update.NewPeerRunner, adapt[update.Peer, update.Event],
		update.DecodeMessage, update.AppendMessage, update.FrameSize},
	{"specs/confirm/spec.yaml", "peer", confirm.NewPeerRunner, adapt[confirm.Peer, confirm.Event],
		confirm.DecodeMessage, confirm.AppendMessage, confirm.FrameSize},
	{"specs/reset/spec.yaml", "peer", reset.NewPeerRunner, adapt[reset.Peer, reset.Event], reset.DecodeMessage,
		reset.AppendMessage, reset.FrameSize},
	{"specs/battle-end/spec.yaml", "peer", battleend.NewPeerRunner, adapt[battleend.Peer, battleend.Event],
		battleend.DecodeMessage, battleend.AppendMessage, battleend.FrameSize},
	{"specs/setup/spec.yaml", "peer", setup.NewPeerRunner, adapt[setup.Peer, setup.Event], setup.DecodeMessage,
		setup.AppendMessage, setup.FrameSize},
	{"specs/startup/spec.yaml", "peer", startup.NewPeerRunner, adapt[startup.Peer, startup.Event],
		startup.DecodeMessage, startup.AppendMessage, startup.FrameSize},
	{"specs/lockstep/spec.yaml", "client", lockstep.NewClientRunner,
		adapt[lockstep.Client, lockstep.ClientEvent], lockstep.DecodeMessage, lockstep.AppendMessage,
		lockstep.FrameSize},
	{"specs/lockstep/spec.yaml", "server", lockstep.NewServerRunner,
		adapt[lockstep.Server, lockstep.ServerEvent], lockstep.DecodeMessage, lockstep.AppendMessage,
		lockstep.FrameSize},
	{"specs/lobby/spec.yaml", "server", lobby.NewServerRunner, adapt[lobby.Server, lobby.ServerEvent],
		lobby.DecodeMessage, lobby.AppendMessage, lobby.FrameSize},
	{"specs/lobby/spec.yaml", "player", lobby.NewPlayerRunner, adapt[lobby.Player, lobby.PlayerEvent],
		lobby.DecodeMessage, lobby.AppendMessage, lobby.FrameSize},
	{"specs/clock/spec.yaml", "server", clock.NewServerRunner, adapt[clock.Server, clock.ServerEvent],
		clock.DecodeMessage, clock.AppendMessage, clock.FrameSize},
	{"specs/clock/spec.yaml", "client", clock.NewClientRunner, adapt[clock.Client, clock.ClientEvent],
		clock.DecodeMessage, clock.AppendMessage, clock.FrameSize},
	{"specs/masterserver/spec.yaml", "master", masterserver.NewMasterRunner,
		adapt[masterserver.Master, masterserver.MasterEvent], masterserver.DecodeMessage,
		masterserver.AppendMessage, masterserver.FrameSize},
	{"specs/masterserver/spec.yaml", "gameserver", masterserver.NewGameserverRunner,
		adapt[masterserver.Gameserver, masterserver.GameserverEvent], masterserver.DecodeMessage,
		masterserver.AppendMessage, masterserver.FrameSize},
	{"specs/masterserver/spec.yaml", "impostor", masterserver.NewImpostorRunner,
		adapt[masterserver.Impostor, masterserver.ImpostorEvent], masterserver.DecodeMessage,
		masterserver.AppendMessage, masterserver.FrameSize},
	{"specs/masterserver/spec.yaml", "other", masterserver.NewOtherRunner,
		adapt[masterserver.Other, masterserver.OtherEvent], masterserver.DecodeMessage,
		masterserver.AppendMessage, masterserver.FrameSize},
	{"specs/masterserver/spec.yaml", "stranger", masterserver.NewStrangerRunner,
		adapt[masterserver.Stranger, masterserver.StrangerEvent], masterserver.DecodeMessage,
		masterserver.AppendMessage, masterserver.FrameSize},
	{"specs/slotserver/spec.yaml", "server", slotserver.NewServerRunner,
		adapt[slotserver.Server, slotserver.ServerEvent], slotserver.DecodeMessage,
		slotserver.AppendMessage, slotserver.FrameSize},
	{"specs/slotserver/spec.yaml", "client", slotserver.NewClientRunner,
		adapt[slotserver.Client, slotserver.ClientEvent], slotserver.DecodeMessage,
		slotserver.AppendMessage, slotserver.FrameSize},
	{"specs/slotserver/spec.yaml", "other", slotserver.NewOtherRunner,
		adapt[slotserver.Other, slotserver.OtherEvent], slotserver.DecodeMessage,
		slotserver.AppendMessage, slotserver.FrameSize},
	{"specs/connection/spec.yaml", "client", connection.NewClientRunner,
		adapt[connection.Client, connection.ClientEvent], connection.DecodeMessage, connection.AppendMessage,
		connection.FrameSize},
	{"specs/connection/spec.yaml", "server", connection.NewServerRunner,
		adapt[connection.Server, connection.ServerEvent], connection.DecodeMessage, connection.AppendMessage,
		connection.FrameSize},
	{"specs/connection/spec.yaml", "other", connection.NewOtherRunner,
		adapt[connection.Other, connection.OtherEvent], connection.DecodeMessage, connection.AppendMessage,
		connection.FrameSize},
	{"specs/negotiation/spec.yaml", "server", negotiation.NewServerRunner,
		adapt[negotiation.Server, negotiation.ServerEvent], negotiation.DecodeMessage,
		negotiation.AppendMessage, negotiation.FrameSize},
	{"specs/negotiation/spec.yaml", "client", negotiation.NewClientRunner,
		adapt[negotiation.Client, negotiation.ClientEvent], negotiation.DecodeMessage,
		negotiation.AppendMessage, negotiation.FrameSize},
	{"specs/snapshot/spec.yaml", "server", snapshot.NewServerRunner,
		adapt[snapshot.Server, snapshot.ServerEvent], snapshot.DecodeMessage, snapshot.AppendMessage,
		snapshot.FrameSize},
	{"specs/snapshot/spec.yaml", "client", snapshot.NewClientRunner,
		adapt[snapshot.Client, snapshot.ClientEvent], snapshot.DecodeMessage, snapshot.AppendMessage,
		snapshot.FrameSize},
	{"specs/registration/spec.yaml", "script", registration.NewScriptRunner,
		adapt[registration.Script, registration.ScriptEvent], registration.DecodeMessage,
		registration.AppendMessage, registration.FrameSize},
	{"specs/registration/spec.yaml", "file", registration.NewFileRunner,
		adapt[registration.File, registration.FileEvent], registration.DecodeMessage,
		registration.AppendMessage, registration.FrameSize},
	{"specs/registration/spec.yaml", "server", registration.NewServerRunner,
		adapt[registration.Server, registration.ServerEvent], registration.DecodeMessage,
		registration.AppendMessage, registration.FrameSize},
	{"specs/registration/spec.yaml", "client", registration.NewClientRunner,
		adapt[registration.Client, registration.ClientEvent], registration.DecodeMessage,
		registration.AppendMessage, registration.FrameSize},
	{"specs/netplay/spec.yaml", "peer", netplay.NewPeerRunner, adapt[netplay.Peer, netplay.Event],
		netplay.DecodeMessage, netplay.AppendMessage, netplay.FrameSize},
}
