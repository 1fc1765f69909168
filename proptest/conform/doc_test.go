package conform

//go:generate go run ../../cmd/fsmgen generate --adapter looplab -o sample testdata/*/spec.yaml

import (
	"github.com/parley-go/parley/proptest/conform/sample/alarms"
	"github.com/parley-go/parley/proptest/conform/sample/alarms/looplabalarms"
	"github.com/parley-go/parley/proptest/conform/sample/corners"
	"github.com/parley-go/parley/proptest/conform/sample/corners/looplabcorners"
	"github.com/parley-go/parley/proptest/conform/sample/datagram"
	"github.com/parley-go/parley/proptest/conform/sample/datagram/looplabdatagram"
	"github.com/parley-go/parley/proptest/conform/sample/kitchen"
	"github.com/parley-go/parley/proptest/conform/sample/kitchen/looplabkitchen"
	"github.com/parley-go/parley/proptest/conform/sample/lines"
	"github.com/parley-go/parley/proptest/conform/sample/lines/looplablines"
	"github.com/parley-go/parley/proptest/conform/sample/lobby"
	"github.com/parley-go/parley/proptest/conform/sample/lobby/looplablobby"
	"github.com/parley-go/parley/proptest/conform/sample/nasty"
	"github.com/parley-go/parley/proptest/conform/sample/nasty/looplabnasty"
	"github.com/parley-go/parley/proptest/conform/sample/nested"
	"github.com/parley-go/parley/proptest/conform/sample/nested/looplabnested"
	"github.com/parley-go/parley/proptest/conform/sample/player"
	"github.com/parley-go/parley/proptest/conform/sample/player/looplabplayer"
	"github.com/parley-go/parley/proptest/conform/sample/ring"
	"github.com/parley-go/parley/proptest/conform/sample/ring/looplabring"
	"github.com/parley-go/parley/proptest/conform/sample/sessions"
	"github.com/parley-go/parley/proptest/conform/sample/sessions/looplabsessions"
)

// samples are packages that use every part of the language, for these tests only.
var samples = []Target{
	{"proptest/conform/testdata/datagram/spec.yaml", "peer", datagram.NewPeerRunner, looplabdatagram.NewPeer, datagram.DecodeMessage, datagram.AppendMessage, datagram.FrameSize},
	{"proptest/conform/testdata/kitchen/spec.yaml", "peer", kitchen.NewPeerRunner, looplabkitchen.NewPeer, kitchen.DecodeMessage, kitchen.AppendMessage, kitchen.FrameSize},
	{"proptest/conform/testdata/corners/spec.yaml", "server", corners.NewServerRunner, looplabcorners.NewServer, corners.DecodeMessage, corners.AppendMessage, corners.FrameSize},
	{"proptest/conform/testdata/nested/spec.yaml", "peer", nested.NewPeerRunner, looplabnested.NewPeer, nested.DecodeMessage, nested.AppendMessage, nested.FrameSize},
	{"proptest/conform/testdata/corners/spec.yaml", "client", corners.NewClientRunner, looplabcorners.NewClient, corners.DecodeMessage, corners.AppendMessage, corners.FrameSize},
	{"proptest/conform/testdata/lines/spec.yaml", "peer", lines.NewPeerRunner, looplablines.NewPeer, lines.DecodeMessage, lines.AppendMessage, lines.FrameSize},
	{"proptest/conform/testdata/lobby/spec.yaml", "server", lobby.NewServerRunner, looplablobby.NewServer, lobby.DecodeMessage, lobby.AppendMessage, lobby.FrameSize},
	{"proptest/conform/testdata/lobby/spec.yaml", "client", lobby.NewClientRunner, looplablobby.NewClient, lobby.DecodeMessage, lobby.AppendMessage, lobby.FrameSize},
	{"proptest/conform/testdata/ring/spec.yaml", "node", ring.NewNodeRunner, looplabring.NewNode, ring.DecodeMessage, ring.AppendMessage, ring.FrameSize},
	{"proptest/conform/testdata/sessions/spec.yaml", "server", sessions.NewServerRunner, looplabsessions.NewServer, sessions.DecodeMessage, sessions.AppendMessage, sessions.FrameSize},
	{"proptest/conform/testdata/sessions/spec.yaml", "client", sessions.NewClientRunner, looplabsessions.NewClient, sessions.DecodeMessage, sessions.AppendMessage, sessions.FrameSize},
	{"proptest/conform/testdata/alarms/spec.yaml", "node", alarms.NewNodeRunner, looplabalarms.NewNode, alarms.DecodeMessage, alarms.AppendMessage, alarms.FrameSize},
	{"proptest/conform/testdata/nasty/spec.yaml", "nasty", nasty.NewNastyRunner, looplabnasty.NewNasty, nasty.DecodeMessage, nasty.AppendMessage, nasty.FrameSize},
	{"proptest/conform/testdata/player/spec.yaml", "player", player.NewPlayerRunner2, looplabplayer.NewPlayer22, player.DecodeMessage, player.AppendMessage, player.FrameSize},
	{"proptest/conform/testdata/player/spec.yaml", "newPlayer", player.NewNewPlayerRunner3, looplabplayer.NewNewPlayer3, player.DecodeMessage, player.AppendMessage, player.FrameSize},
	{"proptest/conform/testdata/player/spec.yaml", "new_player", player.NewNewPlayerRunner4, looplabplayer.NewNewPlayer4, player.DecodeMessage, player.AppendMessage, player.FrameSize},
}

func allTargets() []Target { return append(samples[:len(samples):len(samples)], Targets...) }
