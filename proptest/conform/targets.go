package conform

import (
	"github.com/parley-go/parley/machines/battleend"
	"github.com/parley-go/parley/machines/battleend/looplabbattleend"
	"github.com/parley-go/parley/machines/clock"
	"github.com/parley-go/parley/machines/clock/looplabclock"
	"github.com/parley-go/parley/machines/confirm"
	"github.com/parley-go/parley/machines/confirm/looplabconfirm"
	"github.com/parley-go/parley/machines/connection"
	"github.com/parley-go/parley/machines/connection/looplabconnection"
	"github.com/parley-go/parley/machines/lobby"
	"github.com/parley-go/parley/machines/lobby/looplablobby"
	"github.com/parley-go/parley/machines/lockstep"
	"github.com/parley-go/parley/machines/lockstep/looplablockstep"
	"github.com/parley-go/parley/machines/masterserver"
	"github.com/parley-go/parley/machines/masterserver/looplabmasterserver"
	"github.com/parley-go/parley/machines/negotiation"
	"github.com/parley-go/parley/machines/negotiation/looplabnegotiation"
	"github.com/parley-go/parley/machines/netplay"
	"github.com/parley-go/parley/machines/netplay/looplabnetplay"
	"github.com/parley-go/parley/machines/ready"
	"github.com/parley-go/parley/machines/ready/looplabready"
	"github.com/parley-go/parley/machines/registration"
	"github.com/parley-go/parley/machines/registration/looplabregistration"
	"github.com/parley-go/parley/machines/reset"
	"github.com/parley-go/parley/machines/reset/looplabreset"
	"github.com/parley-go/parley/machines/setup"
	"github.com/parley-go/parley/machines/setup/looplabsetup"
	"github.com/parley-go/parley/machines/snapshot"
	"github.com/parley-go/parley/machines/snapshot/looplabsnapshot"
	"github.com/parley-go/parley/machines/startup"
	"github.com/parley-go/parley/machines/startup/looplabstartup"
	"github.com/parley-go/parley/machines/update"
	"github.com/parley-go/parley/machines/update/looplabupdate"
)

// Target is one role of a generated package.
type Target struct {
	// Spec is the specification's path in the module.
	Spec string
	Role string
	// Runner and Looplab are the constructors of the runner and of the adapter.
	Runner, Looplab any
	// Decode, Append and FrameSize are the package's codec.
	Decode, Append any
	FrameSize      func([]byte) (int, error)
}

// Targets are all generated packages.
var Targets = []Target{
	{"specs/ready/spec.yaml", "peer", ready.NewPeerRunner, looplabready.NewPeer, ready.DecodeMessage, ready.AppendMessage, ready.FrameSize},
	{"specs/update/spec.yaml", "peer", update.NewPeerRunner, looplabupdate.NewPeer, update.DecodeMessage, update.AppendMessage, update.FrameSize},
	{"specs/confirm/spec.yaml", "peer", confirm.NewPeerRunner, looplabconfirm.NewPeer, confirm.DecodeMessage, confirm.AppendMessage, confirm.FrameSize},
	{"specs/reset/spec.yaml", "peer", reset.NewPeerRunner, looplabreset.NewPeer, reset.DecodeMessage, reset.AppendMessage, reset.FrameSize},
	{"specs/battle-end/spec.yaml", "peer", battleend.NewPeerRunner, looplabbattleend.NewPeer, battleend.DecodeMessage, battleend.AppendMessage, battleend.FrameSize},
	{"specs/setup/spec.yaml", "peer", setup.NewPeerRunner, looplabsetup.NewPeer, setup.DecodeMessage, setup.AppendMessage, setup.FrameSize},
	{"specs/startup/spec.yaml", "peer", startup.NewPeerRunner, looplabstartup.NewPeer, startup.DecodeMessage, startup.AppendMessage, startup.FrameSize},
	{"specs/lockstep/spec.yaml", "client", lockstep.NewClientRunner, looplablockstep.NewClient, lockstep.DecodeMessage, lockstep.AppendMessage, lockstep.FrameSize},
	{"specs/lockstep/spec.yaml", "server", lockstep.NewServerRunner, looplablockstep.NewServer, lockstep.DecodeMessage, lockstep.AppendMessage, lockstep.FrameSize},
	{"specs/lobby/spec.yaml", "server", lobby.NewServerRunner, looplablobby.NewServer, lobby.DecodeMessage, lobby.AppendMessage, lobby.FrameSize},
	{"specs/lobby/spec.yaml", "player", lobby.NewPlayerRunner, looplablobby.NewPlayer, lobby.DecodeMessage, lobby.AppendMessage, lobby.FrameSize},
	{"specs/clock/spec.yaml", "server", clock.NewServerRunner, looplabclock.NewServer, clock.DecodeMessage, clock.AppendMessage, clock.FrameSize},
	{"specs/clock/spec.yaml", "client", clock.NewClientRunner, looplabclock.NewClient, clock.DecodeMessage, clock.AppendMessage, clock.FrameSize},
	{"specs/masterserver/spec.yaml", "master", masterserver.NewMasterRunner, looplabmasterserver.NewMaster, masterserver.DecodeMessage, masterserver.AppendMessage, masterserver.FrameSize},
	{"specs/masterserver/spec.yaml", "gameserver", masterserver.NewGameserverRunner, looplabmasterserver.NewGameserver, masterserver.DecodeMessage, masterserver.AppendMessage, masterserver.FrameSize},
	{"specs/masterserver/spec.yaml", "impostor", masterserver.NewImpostorRunner, looplabmasterserver.NewImpostor, masterserver.DecodeMessage, masterserver.AppendMessage, masterserver.FrameSize},
	{"specs/masterserver/spec.yaml", "other", masterserver.NewOtherRunner, looplabmasterserver.NewOther, masterserver.DecodeMessage, masterserver.AppendMessage, masterserver.FrameSize},
	{"specs/masterserver/spec.yaml", "stranger", masterserver.NewStrangerRunner, looplabmasterserver.NewStranger, masterserver.DecodeMessage, masterserver.AppendMessage, masterserver.FrameSize},
	{"specs/connection/spec.yaml", "client", connection.NewClientRunner, looplabconnection.NewClient, connection.DecodeMessage, connection.AppendMessage, connection.FrameSize},
	{"specs/connection/spec.yaml", "server", connection.NewServerRunner, looplabconnection.NewServer, connection.DecodeMessage, connection.AppendMessage, connection.FrameSize},
	{"specs/connection/spec.yaml", "other", connection.NewOtherRunner, looplabconnection.NewOther, connection.DecodeMessage, connection.AppendMessage, connection.FrameSize},
	{"specs/negotiation/spec.yaml", "server", negotiation.NewServerRunner, looplabnegotiation.NewServer, negotiation.DecodeMessage, negotiation.AppendMessage, negotiation.FrameSize},
	{"specs/negotiation/spec.yaml", "client", negotiation.NewClientRunner, looplabnegotiation.NewClient, negotiation.DecodeMessage, negotiation.AppendMessage, negotiation.FrameSize},
	{"specs/snapshot/spec.yaml", "server", snapshot.NewServerRunner, looplabsnapshot.NewServer, snapshot.DecodeMessage, snapshot.AppendMessage, snapshot.FrameSize},
	{"specs/snapshot/spec.yaml", "client", snapshot.NewClientRunner, looplabsnapshot.NewClient, snapshot.DecodeMessage, snapshot.AppendMessage, snapshot.FrameSize},
	{"specs/registration/spec.yaml", "script", registration.NewScriptRunner, looplabregistration.NewScript, registration.DecodeMessage, registration.AppendMessage, registration.FrameSize},
	{"specs/registration/spec.yaml", "file", registration.NewFileRunner, looplabregistration.NewFile, registration.DecodeMessage, registration.AppendMessage, registration.FrameSize},
	{"specs/registration/spec.yaml", "server", registration.NewServerRunner, looplabregistration.NewServer, registration.DecodeMessage, registration.AppendMessage, registration.FrameSize},
	{"specs/registration/spec.yaml", "client", registration.NewClientRunner, looplabregistration.NewClient, registration.DecodeMessage, registration.AppendMessage, registration.FrameSize},
	{"specs/netplay/spec.yaml", "peer", netplay.NewPeerRunner, looplabnetplay.NewPeer, netplay.DecodeMessage, netplay.AppendMessage, netplay.FrameSize},
}
