// Package shipped lists the generated packages of this repository, for the tests that hold them to the
// interpreter. It knows neither. Start from [Targets].
package shipped

import (
	"reflect"

	loop "github.com/looplab/fsm"

	"github.com/parley-go/parley/machines/battleend"
	"github.com/parley-go/parley/machines/clock"
	"github.com/parley-go/parley/machines/confirm"
	"github.com/parley-go/parley/machines/connection"
	"github.com/parley-go/parley/machines/events"
	"github.com/parley-go/parley/machines/gameserver"
	"github.com/parley-go/parley/machines/gne"
	"github.com/parley-go/parley/machines/lobby"
	"github.com/parley-go/parley/machines/lockstep"
	"github.com/parley-go/parley/machines/masterserver"
	"github.com/parley-go/parley/machines/negotiation"
	"github.com/parley-go/parley/machines/netplay"
	"github.com/parley-go/parley/machines/ready"
	"github.com/parley-go/parley/machines/registration"
	"github.com/parley-go/parley/machines/reset"
	"github.com/parley-go/parley/machines/setup"
	"github.com/parley-go/parley/machines/skirmish"
	"github.com/parley-go/parley/machines/slotserver"
	"github.com/parley-go/parley/machines/snapshot"
	"github.com/parley-go/parley/machines/ssr"
	"github.com/parley-go/parley/machines/startup"
	"github.com/parley-go/parley/machines/stream"
	"github.com/parley-go/parley/machines/update"
	"github.com/parley-go/parley/runtime/looplab"
)

// Adapt puts a runner of the machine M behind looplab/fsm.
func Adapt[M comparable, E any](runner any, callbacks loop.Callbacks) any {
	machine := reflect.ValueOf(runner).Elem().FieldByName("Machine").Addr().Interface().(*M)
	return looplab.New(runner.(looplab.Runner[E]), machine, callbacks)
}

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
	{"specs/ready/spec.yaml", "peer", ready.NewPeerRunner, Adapt[ready.Peer, ready.Event], ready.DecodeMessage,
		ready.AppendMessage, ready.FrameSize},
	{"specs/update/spec.yaml", "peer", update.NewPeerRunner, Adapt[update.Peer, update.Event],
		update.DecodeMessage, update.AppendMessage, update.FrameSize},
	{"specs/confirm/spec.yaml", "peer", confirm.NewPeerRunner, Adapt[confirm.Peer, confirm.Event],
		confirm.DecodeMessage, confirm.AppendMessage, confirm.FrameSize},
	{"specs/reset/spec.yaml", "peer", reset.NewPeerRunner, Adapt[reset.Peer, reset.Event], reset.DecodeMessage,
		reset.AppendMessage, reset.FrameSize},
	{"specs/battle-end/spec.yaml", "peer", battleend.NewPeerRunner, Adapt[battleend.Peer, battleend.Event],
		battleend.DecodeMessage, battleend.AppendMessage, battleend.FrameSize},
	{"specs/setup/spec.yaml", "peer", setup.NewPeerRunner, Adapt[setup.Peer, setup.Event], setup.DecodeMessage,
		setup.AppendMessage, setup.FrameSize},
	{"specs/startup/spec.yaml", "peer", startup.NewPeerRunner, Adapt[startup.Peer, startup.Event],
		startup.DecodeMessage, startup.AppendMessage, startup.FrameSize},
	{"specs/lockstep/spec.yaml", "client", lockstep.NewClientRunner,
		Adapt[lockstep.Client, lockstep.ClientEvent], lockstep.DecodeMessage, lockstep.AppendMessage,
		lockstep.FrameSize},
	{"specs/lockstep/spec.yaml", "server", lockstep.NewServerRunner,
		Adapt[lockstep.Server, lockstep.ServerEvent], lockstep.DecodeMessage, lockstep.AppendMessage,
		lockstep.FrameSize},
	{"specs/lobby/spec.yaml", "server", lobby.NewServerRunner, Adapt[lobby.Server, lobby.ServerEvent],
		lobby.DecodeMessage, lobby.AppendMessage, lobby.FrameSize},
	{"specs/lobby/spec.yaml", "player", lobby.NewPlayerRunner, Adapt[lobby.Player, lobby.PlayerEvent],
		lobby.DecodeMessage, lobby.AppendMessage, lobby.FrameSize},
	{"specs/ssr/spec.yaml", "server", ssr.NewServerRunner, Adapt[ssr.Server, ssr.ServerEvent], ssr.DecodeMessage,
		ssr.AppendMessage, ssr.FrameSize},
	{"specs/ssr/spec.yaml", "player", ssr.NewPlayerRunner, Adapt[ssr.Player, ssr.PlayerEvent], ssr.DecodeMessage,
		ssr.AppendMessage, ssr.FrameSize},
	{"specs/clock/spec.yaml", "server", clock.NewServerRunner, Adapt[clock.Server, clock.ServerEvent],
		clock.DecodeMessage, clock.AppendMessage, clock.FrameSize},
	{"specs/clock/spec.yaml", "client", clock.NewClientRunner, Adapt[clock.Client, clock.ClientEvent],
		clock.DecodeMessage, clock.AppendMessage, clock.FrameSize},
	{"specs/masterserver/spec.yaml", "master", masterserver.NewMasterRunner,
		Adapt[masterserver.Master, masterserver.MasterEvent], masterserver.DecodeMessage,
		masterserver.AppendMessage, masterserver.FrameSize},
	{"specs/masterserver/spec.yaml", "gameserver", masterserver.NewGameserverRunner,
		Adapt[masterserver.Gameserver, masterserver.GameserverEvent], masterserver.DecodeMessage,
		masterserver.AppendMessage, masterserver.FrameSize},
	{"specs/masterserver/spec.yaml", "impostor", masterserver.NewImpostorRunner,
		Adapt[masterserver.Impostor, masterserver.ImpostorEvent], masterserver.DecodeMessage,
		masterserver.AppendMessage, masterserver.FrameSize},
	{"specs/masterserver/spec.yaml", "other", masterserver.NewOtherRunner,
		Adapt[masterserver.Other, masterserver.OtherEvent], masterserver.DecodeMessage,
		masterserver.AppendMessage, masterserver.FrameSize},
	{"specs/masterserver/spec.yaml", "stranger", masterserver.NewStrangerRunner,
		Adapt[masterserver.Stranger, masterserver.StrangerEvent], masterserver.DecodeMessage,
		masterserver.AppendMessage, masterserver.FrameSize},
	{"specs/slotserver/spec.yaml", "server", slotserver.NewServerRunner,
		Adapt[slotserver.Server, slotserver.ServerEvent], slotserver.DecodeMessage,
		slotserver.AppendMessage, slotserver.FrameSize},
	{"specs/slotserver/spec.yaml", "client", slotserver.NewClientRunner,
		Adapt[slotserver.Client, slotserver.ClientEvent], slotserver.DecodeMessage,
		slotserver.AppendMessage, slotserver.FrameSize},
	{"specs/slotserver/spec.yaml", "other", slotserver.NewOtherRunner,
		Adapt[slotserver.Other2, slotserver.OtherEvent], slotserver.DecodeMessage,
		slotserver.AppendMessage, slotserver.FrameSize},
	{"specs/slotserver/spec.yaml", "stranger", slotserver.NewStrangerRunner,
		Adapt[slotserver.Stranger, slotserver.StrangerEvent], slotserver.DecodeMessage,
		slotserver.AppendMessage, slotserver.FrameSize},
	{"specs/skirmish/spec.yaml", "host", skirmish.NewHostRunner, Adapt[skirmish.Host, skirmish.HostEvent],
		skirmish.DecodeMessage, skirmish.AppendMessage, skirmish.FrameSize},
	{"specs/skirmish/spec.yaml", "player", skirmish.NewPlayerRunner, Adapt[skirmish.Player2, skirmish.PlayerEvent],
		skirmish.DecodeMessage, skirmish.AppendMessage, skirmish.FrameSize},
	{"specs/stream/spec.yaml", "end", stream.NewEndRunner, Adapt[stream.End, stream.Event],
		stream.DecodeMessage, stream.AppendMessage, stream.FrameSize},
	{"specs/connection/spec.yaml", "client", connection.NewClientRunner,
		Adapt[connection.Client, connection.ClientEvent], connection.DecodeMessage, connection.AppendMessage,
		connection.FrameSize},
	{"specs/connection/spec.yaml", "server", connection.NewServerRunner,
		Adapt[connection.Server, connection.ServerEvent], connection.DecodeMessage, connection.AppendMessage,
		connection.FrameSize},
	{"specs/negotiation/spec.yaml", "server", negotiation.NewServerRunner,
		Adapt[negotiation.Server, negotiation.ServerEvent], negotiation.DecodeMessage,
		negotiation.AppendMessage, negotiation.FrameSize},
	{"specs/negotiation/spec.yaml", "client", negotiation.NewClientRunner,
		Adapt[negotiation.Client, negotiation.ClientEvent], negotiation.DecodeMessage,
		negotiation.AppendMessage, negotiation.FrameSize},
	{"specs/snapshot/spec.yaml", "server", snapshot.NewServerRunner,
		Adapt[snapshot.Server, snapshot.ServerEvent], snapshot.DecodeMessage, snapshot.AppendMessage,
		snapshot.FrameSize},
	{"specs/snapshot/spec.yaml", "client", snapshot.NewClientRunner,
		Adapt[snapshot.Client, snapshot.ClientEvent], snapshot.DecodeMessage, snapshot.AppendMessage,
		snapshot.FrameSize},
	{"specs/registration/spec.yaml", "script", registration.NewScriptRunner,
		Adapt[registration.Script, registration.ScriptEvent], registration.DecodeMessage,
		registration.AppendMessage, registration.FrameSize},
	{"specs/registration/spec.yaml", "file", registration.NewFileRunner,
		Adapt[registration.File, registration.FileEvent], registration.DecodeMessage,
		registration.AppendMessage, registration.FrameSize},
	{"specs/registration/spec.yaml", "server", registration.NewServerRunner,
		Adapt[registration.Server, registration.ServerEvent], registration.DecodeMessage,
		registration.AppendMessage, registration.FrameSize},
	{"specs/registration/spec.yaml", "client", registration.NewClientRunner,
		Adapt[registration.Client, registration.ClientEvent], registration.DecodeMessage,
		registration.AppendMessage, registration.FrameSize},
	{"specs/netplay/spec.yaml", "peer", netplay.NewPeerRunner, Adapt[netplay.Peer, netplay.Event],
		netplay.DecodeMessage, netplay.AppendMessage, netplay.FrameSize},
	{"specs/events/spec.yaml", "player", events.NewPlayerRunner, Adapt[events.Player, events.Event],
		events.DecodeMessage, events.AppendMessage, events.FrameSize},
	// The codec is that of the lines.
	{"specs/gameserver/spec.yaml", "server", gameserver.NewServerRunner,
		Adapt[gameserver.Server, gameserver.ServerEvent], gameserver.DecodeMessageOnLines,
		gameserver.AppendMessage, gameserver.FrameSizeOnLines},
	{"specs/gameserver/spec.yaml", "client", gameserver.NewClientRunner,
		Adapt[gameserver.Client, gameserver.ClientEvent], gameserver.DecodeMessageOnLines,
		gameserver.AppendMessage, gameserver.FrameSizeOnLines},
	// The codec is that of the stream.
	{"specs/gne/spec.yaml", "server", gne.NewServerRunner, Adapt[gne.Server, gne.ServerEvent],
		gne.DecodeMessageOnTcp, gne.AppendMessage, gne.FrameSizeOnTcp},
	{"specs/gne/spec.yaml", "client", gne.NewClientRunner, Adapt[gne.Client, gne.ClientEvent],
		gne.DecodeMessageOnTcp, gne.AppendMessage, gne.FrameSizeOnTcp},
	{"specs/gameserver/spec.yaml", "other", gameserver.NewOtherRunner,
		Adapt[gameserver.Other2, gameserver.OtherEvent], gameserver.DecodeMessageOnLines,
		gameserver.AppendMessage, gameserver.FrameSizeOnLines},
	{"specs/gameserver/spec.yaml", "stranger", gameserver.NewStrangerRunner,
		Adapt[gameserver.Stranger, gameserver.StrangerEvent], gameserver.DecodeMessageOnLines,
		gameserver.AppendMessage, gameserver.FrameSizeOnLines},
}
