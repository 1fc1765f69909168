package capi

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
)

// New makes a machine from its parameters. It takes each with a method of p; an error
// among these is found by the caller.
type New func(p *Params) (fsm.Commander, error)

// NewLinked makes a machine together with the link that it begins with, which is the one to peer 0
// and those after it: for machines whose parameters depend on their link, such as their own number
// among the addresses of a network. Opening the link ends with ctx.
type NewLinked func(ctx context.Context, p *Params) (fsm.Commander, transport.Link, error)

// Wrap puts a layer, such as TLS, between a machine and a link that it owns from then on, also when
// it fails. server says that the other side has begun; o are the options of the link. With inner ==
// nil it looks at the options alone and returns no link.
type Wrap func(ctx context.Context, inner transport.Link, server bool, o *Params) (transport.Link, error)

// layer is a kind of link that is another one with something around it.
type layer struct {
	inner string
	wrap  Wrap
}

var registry = struct {
	sync.Mutex
	news   map[string]NewLinked
	layers map[string]layer
}{news: map[string]NewLinked{}, layers: map[string]layer{}}

// Register makes a machine known to callers by a name such as "confirm.peer". It is
// called by init functions, and panics if the name is taken.
func Register(name string, f New) {
	RegisterLinked(name, func(_ context.Context, p *Params) (fsm.Commander, transport.Link, error) {
		r, err := f(p)
		return r, nil, err
	})
}

// RegisterLinked is Register for a machine that begins with a link.
func RegisterLinked(name string, f NewLinked) {
	registry.Lock()
	defer registry.Unlock()
	if registry.news[name] != nil {
		panic("capi: " + name + " is registered twice")
	}
	registry.news[name] = f
}

// RegisterLayer makes a kind of link known: "tls", which is "tcp" with wrap around it. The inner
// kind is "tcp" or "udp".
func RegisterLayer(kind, inner string, wrap Wrap) {
	registry.Lock()
	defer registry.Unlock()
	if _, taken := registry.layers[kind]; taken || kind == "tcp" || kind == "udp" || kind == "ipx" || kind == "own" {
		panic("capi: the link " + kind + " is registered twice")
	}
	registry.layers[kind] = layer{inner, wrap}
}

// Names are the names of all machines, sorted.
func Names() []string {
	registry.Lock()
	defer registry.Unlock()
	return slices.Sorted(maps.Keys(registry.news))
}

func lookup(name string) (NewLinked, error) {
	registry.Lock()
	f := registry.news[name]
	registry.Unlock()
	if f == nil {
		return nil, fmt.Errorf("there is no machine %q; there are %s", name, strings.Join(Names(), ", "))
	}
	return f, nil
}

// kinds are the kinds of links that a call can name, sorted.
func kinds() []string {
	registry.Lock()
	defer registry.Unlock()
	return slices.Sorted(maps.Keys(registry.layers))
}

// layered returns what is around a kind of link, and which one is inside.
func layered(kind string) (inner string, wrap Wrap) {
	registry.Lock()
	defer registry.Unlock()
	if l, ok := registry.layers[kind]; ok {
		return l.inner, l.wrap
	}
	return kind, nil
}
