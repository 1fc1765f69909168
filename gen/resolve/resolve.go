// Package resolve gives a specification its meaning: it binds names, checks types, expands what is
// written once for several states, and lays out values and frames. Its result is a model in which
// nothing can be wrong. It reads trees whose keys are known to stand in their places, and knows
// nothing of files.
//
// The work is done by the packages below, each of which uses only those before it: pass, types,
// wire, convert, expr, machine, check. Start from [Protocol], which lists the stages in order.
package resolve

import (
	"time"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/check"
	"github.com/parley-go/parley/gen/resolve/expr"
	"github.com/parley-go/parley/gen/resolve/machine"
	"github.com/parley-go/parley/gen/resolve/pass"
	"github.com/parley-go/parley/gen/resolve/types"
	"github.com/parley-go/parley/gen/resolve/wire"
)

// Protocol resolves a unit. The protocol is nil if there are errors; with warnings alone it is
// not. Without cfg.Check it resolves all checks, each with its own constants and domains; with it,
// only that one; with cfg.Parties none, since they have parties of their own.
func Protocol(u *pass.Unit, cfg pass.Config) (*model.Protocol, diag.List) {
	declareSymbols(u, cfg.Symbols, map[*pass.Unit]bool{})
	r := newResolver(u, cfg, pass.NewShared(cfg.Symbols), &imports{right: map[*pass.Unit]bool{}})
	r.FindCheck()
	r.declarations()
	r.checkImports()
	r.Resolve()
	r.checks()
	if !r.HasErrors() {
		r.inPhase()
		r.unused()
	}
	l := r.List()
	l.Sort()
	if l.HasErrors() {
		return nil, l
	}
	return r.Protocol, l
}

type (
	// Unit is one specification with what it imports.
	Unit = pass.Unit
	// Config says what the model is specialised for.
	Config = pass.Config
)

// resolver takes a unit through all stages of one pass.
type resolver struct {
	*machine.Set
	imports *imports
}

func newResolver(u *pass.Unit, cfg pass.Config, s *pass.Shared, im *imports) *resolver {
	r := &resolver{imports: im}
	r.Set = machine.New(types.New(pass.New(u, cfg, s), expr.Constant), &importer{r})
	return r
}

// declarations resolves everything that has a name, without the bodies of states.
func (r *resolver) declarations() {
	if r.Protocol.Name == "" {
		r.Errorf("FSM009", r.Root.Src.Span(0, 0), "the protocol has no name").
			With("start with `protocol: name`")
	}
	if t := r.Root.Get("tick"); t != nil {
		r.Protocol.Tick, _ = time.ParseDuration(t.Text)
	}
	r.DeclareConsts()
	if n := r.Root.Get("parties"); n != nil && !r.Outer {
		if r.Root.Get("roles").Get(n.Text) != nil {
			r.Errorf("FSM025", n.Span(), "`parties` says how many instances take part, not who").
				With("write `parties: 2`; a check names them: `instances: {a: " + n.Text + ", b: " + n.Text + "}`")
		} else if v, ok := r.ConstIn(n, 1, pass.MaxParties, "the number of parties"); ok {
			r.Parties, r.MaxInstance = int(v), v-1
		}
	}
	if n := check.Count(r.Table, r.Check.Get("instances")); n > 0 && n <= pass.MaxInstances {
		r.MaxInstance = int64(n) - 1
	}
	if n := int64(r.Config.Parties); n > 0 && n <= r.MaxInstance && !r.Outer {
		r.MaxInstance = n - 1
	}
	r.Protocol.Parties = int(r.MaxInstance) + 1
	r.DeclareChannels()
	r.DeclareTypes()
	r.DeclareMessages()
	r.alike(wire.Resolve(r.Table))
	r.Declare()
}

// checks resolves the checks. A check with constants or domains of its own, or one that adds
// variables to roles, is resolved against a model that is specialised for it, so that its expressions
// mention the machines of that model. Checks that differ in nothing of the kind share one.
func (r *resolver) checks() {
	n := r.Root.Get("checks")
	if n == nil || r.Config.Parties > 0 {
		return
	}
	broken := r.HasErrors()
	special := map[string]*resolver{} // the models that are there, by what they are specialised for
	for _, e := range n.Entries {
		if r.Config.Check != "" && e.Key.Text != r.Config.Check || e.Value.Kind != ast.Map {
			continue
		}
		remembers := check.Remembers(e.Value)
		own := e.Value.Get("consts") != nil || e.Value.Get("domains") != nil || remembers
		if r.Config.Check != "" || !own {
			r.Protocol.Checks = append(r.Protocol.Checks, check.Resolve(r.Set, e))
			continue
		}
		if broken {
			continue // what is wrong would come again
		}
		alike := check.Specialisation(e.Value)
		if sub := special[alike]; sub != nil && !remembers {
			sub.Collector = &diag.Collector{}
			r.Protocol.Checks = append(r.Protocol.Checks, check.Resolve(sub.Set, e))
			r.Collector.Join(sub.Collector)
			continue
		}
		sub := newResolver(r.Unit, pass.Config{Check: e.Key.Text, Consts: r.Config.Consts},
			r.Shared, r.imports)
		sub.FindCheck()
		sub.declarations()
		sub.Resolve()
		if !remembers && sub.Len() == 0 {
			special[alike] = sub
		}
		sub.checks()
		r.Collector.Join(sub.Collector)
		r.Protocol.Checks = append(r.Protocol.Checks, sub.Protocol.Checks...)
	}
}
