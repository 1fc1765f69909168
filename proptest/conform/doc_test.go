package conform

//go:generate go run ../../cmd/fsmgen generate -o sample testdata/*/spec.yaml ../../specs/library/dns/spec.yaml ../../specs/library/gne/spec.yaml

import (
	"github.com/parley-go/parley/proptest/conform/sample/alarms"
	"github.com/parley-go/parley/proptest/conform/sample/corners"
	"github.com/parley-go/parley/proptest/conform/sample/crlf"
	"github.com/parley-go/parley/proptest/conform/sample/datagram"
	"github.com/parley-go/parley/proptest/conform/sample/kitchen"
	"github.com/parley-go/parley/proptest/conform/sample/lines"
	"github.com/parley-go/parley/proptest/conform/sample/lobby"
	"github.com/parley-go/parley/proptest/conform/sample/nasty"
	"github.com/parley-go/parley/proptest/conform/sample/nested"
	"github.com/parley-go/parley/proptest/conform/sample/numbers"
	"github.com/parley-go/parley/proptest/conform/sample/parts"
	"github.com/parley-go/parley/proptest/conform/sample/player"
	"github.com/parley-go/parley/proptest/conform/sample/ranges"
	"github.com/parley-go/parley/proptest/conform/sample/ring"
	"github.com/parley-go/parley/proptest/conform/sample/sessions"
	"github.com/parley-go/parley/proptest/conform/sample/states"
	"github.com/parley-go/parley/proptest/conform/sample/texts"
	"github.com/parley-go/parley/proptest/conform/shipped"
)

// samples are packages that use every part of the language, for these tests only.
var samples = []Target{
	{"proptest/conform/testdata/datagram/spec.yaml", "peer", datagram.NewPeerRunner,
		shipped.Adapt[datagram.Peer, datagram.Event],
		datagram.DecodeMessage, datagram.AppendMessage, datagram.FrameSize},
	{"proptest/conform/testdata/states/spec.yaml", "player", states.NewPlayerRunner,
		shipped.Adapt[states.Player, states.Event], states.DecodeMessage, states.AppendMessage, states.FrameSize},
	{"proptest/conform/testdata/numbers/spec.yaml", "peer", numbers.NewPeerRunner,
		shipped.Adapt[numbers.Peer, numbers.Event],
		numbers.DecodeMessage, numbers.AppendMessage, numbers.FrameSize},
	{"proptest/conform/testdata/parts/spec.yaml", "peer", parts.NewPeerRunner,
		shipped.Adapt[parts.Peer, parts.PeerEvent], parts.DecodeMessage, parts.AppendMessage, parts.FrameSize},
	{"proptest/conform/testdata/texts/spec.yaml", "one", texts.NewOneRunner,
		shipped.Adapt[texts.One, texts.OneEvent], texts.DecodeMessage, texts.AppendMessage, texts.FrameSize},
	{"proptest/conform/testdata/kitchen/spec.yaml", "peer", kitchen.NewPeerRunner,
		shipped.Adapt[kitchen.Peer, kitchen.Event],
		kitchen.DecodeMessage, kitchen.AppendMessage, kitchen.FrameSize},
	{"proptest/conform/testdata/corners/spec.yaml", "server", corners.NewServerRunner,
		shipped.Adapt[corners.Server, corners.ServerEvent],
		corners.DecodeMessage, corners.AppendMessage, corners.FrameSize},
	{"proptest/conform/testdata/nested/spec.yaml", "peer", nested.NewPeerRunner,
		shipped.Adapt[nested.Peer, nested.Event], nested.DecodeMessage, nested.AppendMessage, nested.FrameSize},
	{"proptest/conform/testdata/corners/spec.yaml", "client", corners.NewClientRunner,
		shipped.Adapt[corners.Client, corners.ClientEvent],
		corners.DecodeMessage, corners.AppendMessage, corners.FrameSize},
	{"proptest/conform/testdata/crlf/spec.yaml", "one", crlf.NewOneRunner, shipped.Adapt[crlf.One, crlf.Event],
		crlf.DecodeMessage, crlf.AppendMessage, crlf.FrameSize},
	{"proptest/conform/testdata/lines/spec.yaml", "peer", lines.NewPeerRunner, shipped.Adapt[lines.Peer, lines.Event],
		lines.DecodeMessage, lines.AppendMessage, lines.FrameSize},
	{"proptest/conform/testdata/lobby/spec.yaml", "server", lobby.NewServerRunner,
		shipped.Adapt[lobby.Server, lobby.ServerEvent], lobby.DecodeMessage, lobby.AppendMessage, lobby.FrameSize},
	{"proptest/conform/testdata/lobby/spec.yaml", "client", lobby.NewClientRunner,
		shipped.Adapt[lobby.Client, lobby.ClientEvent], lobby.DecodeMessage, lobby.AppendMessage, lobby.FrameSize},
	{"proptest/conform/testdata/ring/spec.yaml", "node", ring.NewNodeRunner, shipped.Adapt[ring.Node, ring.Event],
		ring.DecodeMessage, ring.AppendMessage, ring.FrameSize},
	{"proptest/conform/testdata/ranges/spec.yaml", "shelf", ranges.NewShelfRunner,
		shipped.Adapt[ranges.Shelf, ranges.Event],
		ranges.DecodeMessage, ranges.AppendMessage, ranges.FrameSize},
	{"proptest/conform/testdata/sessions/spec.yaml", "server", sessions.NewServerRunner,
		shipped.Adapt[sessions.Server, sessions.ServerEvent], sessions.DecodeMessage, sessions.AppendMessage,
		sessions.FrameSize},
	{"proptest/conform/testdata/sessions/spec.yaml", "client", sessions.NewClientRunner,
		shipped.Adapt[sessions.Client, sessions.ClientEvent], sessions.DecodeMessage, sessions.AppendMessage,
		sessions.FrameSize},
	{"proptest/conform/testdata/alarms/spec.yaml", "node", alarms.NewNodeRunner,
		shipped.Adapt[alarms.Node, alarms.NodeEvent], alarms.DecodeMessage, alarms.AppendMessage, alarms.FrameSize},
	{"proptest/conform/testdata/nasty/spec.yaml", "nasty", nasty.NewNastyRunner,
		shipped.Adapt[nasty.Nasty, nasty.Event2], nasty.DecodeMessage, nasty.AppendMessage, nasty.FrameSize},
	{"proptest/conform/testdata/player/spec.yaml", "player", player.NewPlayerRunner2,
		shipped.Adapt[player.Player2, player.PlayerEvent],
		player.DecodeMessage, player.AppendMessage, player.FrameSize},
	{"proptest/conform/testdata/player/spec.yaml", "newPlayer", player.NewNewPlayerRunner3,
		shipped.Adapt[player.NewPlayer3, player.NewPlayerEvent],
		player.DecodeMessage, player.AppendMessage, player.FrameSize},
	{"proptest/conform/testdata/player/spec.yaml", "new_player", player.NewNewPlayerRunner4,
		shipped.Adapt[player.NewPlayer4, player.NewPlayerEvent2],
		player.DecodeMessage, player.AppendMessage, player.FrameSize},
}

// Targets are all generated packages.
var Targets = func() (list []Target) {
	for _, x := range shipped.Targets {
		list = append(list, Target(x))
	}
	return list
}()

func allTargets() []Target { return append(samples[:len(samples):len(samples)], Targets...) }
