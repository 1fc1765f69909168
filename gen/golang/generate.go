// Package golang generates Go from checked specifications: for every role a comparable struct with a
// Step method and a runner that implements fsm.Runner, and the types and codecs of the messages. It is a
// pure function: equal models and options give equal bytes. It must not read or write files, know YAML,
// or run what it generates. Machines are generated from their lowered form, which package core defines;
// tests compare what the code does with package interp. Start from [Generate].
package golang

import (
	"bytes"
	"fmt"
	"go/token"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/body"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/golang/wire"
	"github.com/parley-go/parley/gen/model"
)

// Generate returns the files of the package for p, by name.
func Generate(p *model.Protocol, o base.Options) (files map[string][]byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			u, ok := r.(base.Unsupported)
			if !ok {
				panic(r)
			}
			files, err = nil, u
		}
	}()
	g := newFiles(types.New(model.WithDefaultWire(p), o))
	if !token.IsIdentifier(g.O.Package) {
		return nil, fmt.Errorf("%s: %q cannot name a Go package", g.O.Spec, g.O.Package)
	}
	out := map[string][]byte{}
	add := func(name string, f *jen.File) {
		if err != nil {
			return
		}
		var b bytes.Buffer
		if e := f.Render(&b); e != nil {
			reason, source, _ := strings.Cut(e.Error(), " while formatting source:\n")
			reason = strings.TrimPrefix(reason, "Error ")
			err = &base.NotGo{Spec: g.O.Spec, File: name, Reason: reason, Source: []byte(source)}
			return
		}
		out[name] = b.Bytes()
	}
	g.Prepare()
	for _, r := range g.Roles {
		add(r.File+".go", g.machineFile(r))
		for _, p := range types.AllParts(r) {
			add(p.File+".go", g.partFile(p))
		}
		add(r.File+"_effects.go", g.effectsFile(r))
		add(r.File+"_runner.go", g.runnerFile(r))
	}
	add("messages.go", g.messagesFile())
	add("codec.go", wire.New(g.Gen).File())
	add("text.go", g.textFile())
	add("types.go", g.typesFile()) // last: the others decide which helpers are needed
	if err != nil {
		return nil, err
	}
	return out, nil
}

// EventNames returns the names of a role's events from outside. They are in the order of the generated
// constants: EventKind i is the event named at i. The timers of parts come last, with the way to the
// part: fleet.retry.
func EventNames(role *model.Machine) []string {
	g := types.New(&model.Protocol{Name: role.Protocol, Messages: role.Messages}, base.Options{})
	g.Prepare()
	return g.NewRole(role).EventNames()
}

// gen composes the files.
type gen struct {
	*body.Funcs
	code map[*types.Machine][]*gotree.Func // of a role's Step and parts

	textOrder []*types.Type
	readers   map[string]bool // types whose values are read
	readOrder []*types.Type
	texts     map[string]bool // types whose values are rendered
}

func newFiles(g *types.Gen) *gen {
	return &gen{Funcs: body.New(g), code: map[*types.Machine][]*gotree.Func{}, readers: map[string]bool{},
		texts: map[string]bool{}}
}
