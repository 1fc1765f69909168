package mutate

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/explore"
)

// Proposal is a claim that holds as it is and that a mutant violates. It was found by looking for what is different,
// not by reading a document: whoever takes it has to know the rule behind it.
type Proposal struct {
	Check string `json:"check"`
	// Claim is what stands behind the claim's name: `{always: "!(a.done && b.open)"}`.
	Claim string `json:"claim"`
	// Monitor is the monitor that the claim looks at, as it stands behind the name `order`; empty: none.
	Monitor string `json:"monitor,omitempty"`
}

// Bounds of the search for a claim.
const (
	proposeChecks  = 3       // how many checks are looked at, the smallest ones where the mutant does something else
	proposeMost    = 150_000 // configurations of such a check, with what is remembered for claims
	proposeTried   = 8       // candidates that are checked in one step
	proposeGhosts  = 6       // reports and commands that are looked at
	proposeVectors = 20_000  // different pairs of local values, as far as the candidates tell them apart
)

// candidate is a claim that may kill a mutant. A smaller cost is a simpler one.
type candidate struct {
	claim, monitor string
	cost           int
}

// proposer looks for claims on one bench. What it knows of the specification as it is, it keeps.
type proposer struct {
	b    *bench
	seen map[string]*sight // by check and what is laid over it
}

// propose looks for the simplest claim that kills a mutant that has survived: first among those about states and
// variables, then about what programs saw and did, then about what must come, then about the order of reports and
// commands. Each that it returns was checked, with the mistake and without.
func (p *proposer) propose(ctx context.Context, m *Mutant) *Proposal {
	undo, touches := p.b.with(m)
	type at struct {
		c *one
		x *step
	}
	var where []at
	for _, c := range p.b.r.checks {
		if x := p.b.other(c, touches[c.name], false); x != nil && c.report.Configurations <= proposeMost &&
			len(where) < proposeChecks {
			where = append(where, at{c, x})
		}
	}
	undo()
	stages := []func(context.Context, *Mutant, *one, *step) []candidate{p.states, p.told, p.coming, p.order}
	for _, stage := range stages {
		for _, w := range where {
			list := stage(ctx, m, w.c, w.x)
			slices.SortStableFunc(list, func(a, b candidate) int {
				return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.claim, b.claim))
			})
			for _, c := range list[:min(len(list), proposeTried)] {
				if p.kills(ctx, m, w.c, c) {
					return &Proposal{Check: w.c.name, Claim: c.claim, Monitor: c.monitor}
				}
			}
			if ctx.Err() != nil {
				return nil
			}
		}
	}
	return nil
}

// over is a specification with something laid over a check.
type over struct{ dir, base, text string }

const overName = "proposed-claims.yaml"

// Open implements [fs.FS].
func (o over) Open(name string) (fs.File, error) {
	if filepath.Clean(filepath.FromSlash(name)) == filepath.Join(o.dir, overName) {
		return &text{bytes.NewReader([]byte(o.text))}, nil
	}
	return files.Open(filepath.FromSlash(name))
}

// text is a text as a file.
type text struct{ *bytes.Reader }

func (f *text) Stat() (fs.FileInfo, error) { return f, nil }
func (f *text) Close() error               { return nil }
func (f *text) Name() string               { return overName }
func (f *text) Mode() fs.FileMode          { return 0o444 }
func (f *text) ModTime() time.Time         { return time.Time{} }
func (f *text) IsDir() bool                { return false }
func (f *text) Sys() any                   { return nil }

// with compiles the specification with claims, and perhaps monitors, laid over a check; nil if that cannot be.
func (p *proposer) with(c *one, claims, monitors []string) *model.Protocol {
	var b strings.Builder
	path := filepath.Clean(c.file)
	fmt.Fprintf(&b, "protocol: %s\nextends: %s\nchecks:\n  %s:\n    claims:\n", p.b.models[c.name].Name,
		filepath.Base(path), c.check)
	for i, x := range claims {
		fmt.Fprintf(&b, "      proposed%d: %s\n", i, x)
	}
	for i, x := range monitors {
		if i == 0 {
			fmt.Fprint(&b, "    monitors:\n")
		}
		fmt.Fprintf(&b, "      order%d: %s\n", i, x)
	}
	o := p.b.r.o.Compile
	o.Check, o.FS = c.check, over{filepath.Dir(path), filepath.Base(path), b.String()}
	out, _ := compile.Load(filepath.ToSlash(filepath.Join(filepath.Dir(path), overName)), o)
	return out
}

// mutated makes the mistake in a model, and returns what undoes it; nil if the model has no such place.
func mutated(m *Mutant, p *model.Protocol) func() {
	k := slices.IndexFunc(p.Roles, func(role *model.Machine) bool { return role.Name == m.Role })
	if k < 0 {
		return nil
	}
	was := keep(p.Roles[k])
	if !m.change(p.Roles[k]) {
		was.undo()
		return nil
	}
	return was.undo
}

func systemOf(p *model.Protocol, name string) (*check.System, error) {
	k := slices.IndexFunc(p.Checks, func(c *model.Check) bool { return c.Name == name })
	return check.New(p, p.Checks[k])
}

// search runs a check of a model and says which claims do not hold; ok: it came to an end.
func (p *proposer) search(ctx context.Context, model *model.Protocol, c *one, all bool) (violated []string, ok bool) {
	s, err := systemOf(model, c.check)
	if err != nil {
		return nil, false
	}
	o := explore.Options{Workers: 1, MaxConfigurations: 8*c.report.Configurations + 100_000}
	var rep *check.Report
	if all {
		rep, err = s.Run(ctx, o, nil)
	} else {
		rep, err = s.First(ctx, o)
	}
	if err != nil || ctx.Err() != nil {
		return nil, false
	}
	for i := range rep.Claims {
		x := &rep.Claims[i]
		if x.Result == check.Violated && !x.Expected || x.Result != check.Violated && x.Expected || x.Vacuous {
			violated = append(violated, x.Name)
		}
	}
	return violated, !rep.Open
}

// kills reports whether a claim holds without the mistake and is violated with it.
func (p *proposer) kills(ctx context.Context, m *Mutant, c *one, x candidate) bool {
	var monitors []string
	if x.monitor != "" {
		monitors = []string{x.monitor}
	}
	model := p.with(c, []string{strings.ReplaceAll(x.claim, ".order.", ".order0.")}, monitors)
	if model == nil {
		return false
	}
	if violated, ok := p.search(ctx, model, c, false); !ok || len(violated) > 0 {
		return false
	}
	undo := mutated(m, model)
	if undo == nil {
		return false
	}
	defer undo()
	violated, ok := p.search(ctx, model, c, false)
	return ok && slices.Contains(violated, "proposed0")
}

// told looks for claims about what programs saw and did: what the step that is different reports or does not, first.
func (p *proposer) told(ctx context.Context, m *Mutant, c *one, x *step) (out []candidate) {
	inst := p.b.check(c.name).Instances[x.inst]
	for i, name := range eventsOf(inst.Role, m, c, x) {
		if i == proposeGhosts || len(out) > 0 {
			break
		}
		out = p.sights(ctx, m, c, name)
	}
	return out
}

// eventsOf lists the reports and commands of a role, in claims' words, those first that a mutant names.
func eventsOf(role *model.Machine, m *Mutant, c *one, x *step) (list []string) {
	ev := c.noted.events[x.event].Event
	for _, r := range role.Reports {
		list = append(list, "reported."+r.Name)
	}
	for _, cmd := range role.Commands {
		list = append(list, "commanded."+cmd.Name)
	}
	named := func(s string) int {
		_, name, _ := strings.Cut(s, ".")
		switch {
		case strings.Contains(m.Words, "report: "+name):
			return 0
		case name == ev.Name:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(named(a), named(b)) })
	return list
}

// coming looks for claims about what must come from where the step that is different is taken.
func (p *proposer) coming(ctx context.Context, m *Mutant, c *one, x *step) []candidate {
	insts := p.b.check(c.name).Instances
	me := insts[x.inst]
	here := me.Name + "." + me.Role.States[x.value[0]].Name
	var list []string
	for _, fair := range []string{"", ", fair: weak", ", fair: strong"} {
		list = append(list, fmt.Sprintf("{leadsTo: \"!%s\", when: %s%s}", here, quoted(here), fair))
	}
	for _, i := range insts {
		if i.IsHostile() {
			continue
		}
		for _, st := range i.Role.States {
			there := i.Name + "." + st.Name
			list = append(list, fmt.Sprintf("{reachable: %s}", quoted(there)))
			if st.Final {
				list = append(list, fmt.Sprintf("{eventually: %s, fair: strong}", quoted(there)))
			}
			if there != here {
				list = append(list, fmt.Sprintf("{leadsTo: %s, when: %s, fair: strong}", quoted(there), quoted(here)))
			}
		}
	}
	for _, cmd := range me.Role.Commands {
		for _, r := range me.Role.Reports {
			list = append(list, fmt.Sprintf("{leadsTo: \"!pending(commanded(%s.%s), reported(%s.%s))\", when: "+
				"\"pending(commanded(%s.%s), reported(%s.%s))\", fair: strong}", me.Name, cmd.Name, me.Name, r.Name,
				me.Name, cmd.Name, me.Name, r.Name))
		}
	}
	if len(list) > 120 {
		list = list[:120]
	}
	model := p.with(c, list, nil)
	if model == nil {
		return nil
	}
	bad, ok := p.search(ctx, model, c, true)
	undo := mutated(m, model)
	if !ok || undo == nil {
		return nil
	}
	defer undo()
	worse, ok := p.search(ctx, model, c, true)
	if !ok {
		return nil
	}
	var out []candidate
	for i, claim := range list {
		name := fmt.Sprintf("proposed%d", i)
		if !slices.Contains(bad, name) && slices.Contains(worse, name) {
			out = append(out, candidate{claim: claim, cost: len(claim)})
		}
	}
	return out
}

// quoted is an expression as a YAML text.
func quoted(expr string) string {
	if strings.ContainsAny(expr, "{}[],:#&*!|>'\"%@`") {
		return "\"" + expr + "\""
	}
	return expr
}
