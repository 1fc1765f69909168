package conform

//go:generate go run ../../cmd/fsmgen generate --adapter looplab -o sample testdata/*/spec.yaml

import (
	"github.com/parley-go/parley/proptest/conform/sample/corners"
	"github.com/parley-go/parley/proptest/conform/sample/corners/looplabcorners"
	"github.com/parley-go/parley/proptest/conform/sample/kitchen"
	"github.com/parley-go/parley/proptest/conform/sample/kitchen/looplabkitchen"
	"github.com/parley-go/parley/proptest/conform/sample/nested"
	"github.com/parley-go/parley/proptest/conform/sample/nested/looplabnested"
	"github.com/parley-go/parley/proptest/conform/sample/ring"
	"github.com/parley-go/parley/proptest/conform/sample/ring/looplabring"
)

// samples are packages that use every part of the language, for these tests only.
var samples = []Target{
	{"proptest/conform/testdata/kitchen/spec.yaml", "peer", kitchen.NewPeerRunner, looplabkitchen.NewPeer, kitchen.DecodeMessage, kitchen.AppendMessage, kitchen.FrameSize},
	{"proptest/conform/testdata/corners/spec.yaml", "server", corners.NewServerRunner, looplabcorners.NewServer, corners.DecodeMessage, corners.AppendMessage, corners.FrameSize},
	{"proptest/conform/testdata/nested/spec.yaml", "peer", nested.NewPeerRunner, looplabnested.NewPeer, nested.DecodeMessage, nested.AppendMessage, nested.FrameSize},
	{"proptest/conform/testdata/corners/spec.yaml", "client", corners.NewClientRunner, looplabcorners.NewClient, corners.DecodeMessage, corners.AppendMessage, corners.FrameSize},
	{"proptest/conform/testdata/ring/spec.yaml", "node", ring.NewNodeRunner, looplabring.NewNode, ring.DecodeMessage, ring.AppendMessage, ring.FrameSize},
}

func allTargets() []Target { return append(samples[:len(samples):len(samples)], Targets...) }
