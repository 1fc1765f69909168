package versions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/check/system"
)

const unreadable = system.Unreadable

// mix is a check in which some instances are of the old version, and the others of the new one. It implements
// [check.Crossing].
type mix struct {
	*pair
	version  []int // of each instance
	roles    []string
	protocol *model.Protocol
	check    *model.Check
	// known are the messages of the mix: by version, those that it sends to its own, and those of it that the other
	// cannot read.
	known, bare [2][]*model.Message
	// left are the claims that the mix has not, and why.
	left []Left
}

// Left is a claim that says something of what one version has not.
type Left struct {
	Check string `json:"check"`
	Claim string `json:"claim"`
	Why   string `json:"why"`
}

// unfit says why a check says nothing about mixed versions.
type unfit struct{ why string }

func (e *unfit) Error() string { return e.why }

// newMix puts instances of both versions into a check that both have. The models are the mix's own: they are changed.
func newMix(before, now *model.Protocol, name string, version []int) (*mix, error) {
	x := &mix{pair: newPair(before, now), version: version}
	var checks [2]*model.Check
	for v, p := range x.p {
		k := slices.IndexFunc(p.Checks, func(c *model.Check) bool { return c.Name == name })
		checks[v] = p.Checks[k]
	}
	if why := comparable(before, now, checks[older], checks[newer]); why != "" {
		return nil, &unfit{why}
	}
	x.messages()
	c := *checks[newer]
	c.Expect, c.Instances = nil, nil
	for i, v := range version {
		inst := *checks[v].Instances[i]
		inst.Come = checks[newer].Instances[i].Come
		c.Instances = append(c.Instances, &inst)
		x.roles = append(x.roles, inst.Role.Name)
		x.events(inst.Role, v)
	}
	x.check = &c
	carry := &carrier{instances: c.Instances, monitors: map[string]*model.Instance{}, message: x.named}
	x.monitors(checks[newer], carry)
	if err := x.rules(checks, carry); err != nil {
		return nil, err
	}
	x.claims(checks, carry)
	x.quiet(checks, carry)
	return x, nil
}

// comparable says why checks of the same name are not of the same parties; empty if they are.
func comparable(before, now *model.Protocol, a, b *model.Check) string {
	names := func(c *model.Check) (out []string) {
		for _, i := range c.Instances {
			out = append(out, i.Name+": "+i.Role.Name)
		}
		return out
	}
	switch {
	case a.HasHostile() || b.HasHostile():
		return "a hostile instance keeps to no version"
	case !slices.Equal(names(a), names(b)):
		return fmt.Sprintf("its instances are not the same (%s, and %s)", strings.Join(names(a), ", "),
			strings.Join(names(b), ", "))
	case b.Time != nil && before.Tick != now.Tick:
		return "a tick is not of the same length in both versions, and the check counts ticks"
	case len(b.Instances) < 2:
		return "it has one instance, which meets nobody"
	}
	return ""
}

// messages lists those of the mix. A message that has the same name and the same slots in both versions is one.
func (x *mix) messages() {
	p := *x.p[newer]
	p.Messages = slices.Clone(p.Messages)
	x.known[newer] = slices.Clone(p.Messages)
	add := func(m *model.Message, name string) *model.Message {
		own := *m
		own.Index, own.Name = len(p.Messages), name
		p.Messages = append(p.Messages, &own)
		return &own
	}
	for _, m := range x.p[older].Messages {
		channel := max(0, channelOf(&p, x.p[older].Channels()[m.Channel].Name))
		k := slices.IndexFunc(x.p[newer].Messages, func(o *model.Message) bool {
			return o.Name == m.Name && o.Channel == channel && fields(m.Fields, o.Fields) == ""
		})
		if k >= 0 {
			x.known[older] = append(x.known[older], p.Messages[k])
			continue
		}
		own := add(m, m.Name)
		own.Channel = channel
		x.known[older] = append(x.known[older], own)
	}
	for v := range x.bare {
		for k, m := range x.p[v].Messages {
			own := add(m, m.Name+unreadable)
			own.Channel = x.known[v][k].Channel
			x.bare[v] = append(x.bare[v], own)
		}
	}
	x.protocol = &p
}

// events gives a role events for what it cannot read, which no state mentions.
func (x *mix) events(role *model.Machine, v int) {
	for _, m := range slices.Concat(x.known[v], x.bare[1-v]) {
		known := func(e *model.Event) bool { return e.Kind == model.EventMessage && e.Message.Name == m.Name }
		if !slices.ContainsFunc(role.Events, known) {
			role.Events = append(role.Events, &model.Event{Kind: model.EventMessage, Name: m.Name, Doc: m.Doc,
				Index: len(role.Events), Message: m, Fields: m.Fields, Span: m.Span})
		}
	}
	for _, st := range role.States {
		for len(st.Handlers) < len(role.Events) {
			st.Handlers = append(st.Handlers, nil)
		}
	}
}

// Begin implements [check.Crossing].
func (x *mix) Begin(strs *interp.Strings) { x.begin(strs) }

// Frames implements [check.Crossing].
func (x *mix) Frames(i int) *stage.Frames { return x.frames[x.version[i]] }

// Read implements [check.Crossing].
func (x *mix) Read(from, to int, m *model.Message, slots []int64) (*model.Message, []int64) {
	v := x.version[from]
	x.crossed[fmt.Sprint(v, " ", m.Name)] = x.crossed[fmt.Sprint(v, " ", m.Name)] || v != x.version[to]
	if v == x.version[to] {
		return x.known[v][m.Index], slots
	}
	r := x.reads(v, m, slots, x.roles[to])
	if r.message == nil {
		return x.bare[v][m.Index], slots
	}
	return x.known[1-v][r.message.Index], r.slots
}

// named is the message of the mix that a condition means.
func (x *mix) named(m *model.Message) (*model.Message, string) {
	for v := range x.p {
		for k, own := range x.p[v].Messages {
			if own == m && x.known[v][k].Index < len(x.p[newer].Messages) {
				return x.known[v][k], ""
			}
		}
	}
	return m, fmt.Sprintf("%s is not the same message in both versions", m.Name)
}

// monitors keeps those of the new version that hear what the instances of both tell.
func (x *mix) monitors(c *model.Check, carry *carrier) {
	x.check.Monitors = nil
	for _, m := range c.Monitors {
		own := &model.Monitor{Inst: m.Inst}
		for _, h := range m.Hears {
			role := x.check.Instances[h.Instance].Role
			if h = counterpart(h, role); h.Command == nil && h.Report == nil {
				own = nil
				break
			}
			own.Hears = append(own.Hears, h)
		}
		if own != nil {
			x.check.Monitors = append(x.check.Monitors, own)
			carry.monitors[m.Inst.Name] = m.Inst
		}
	}
}

// counterpart is a hearing with the command or report that a role has under its name; with neither if it has none.
func counterpart(h model.Hearing, role *model.Machine) model.Hearing {
	out := model.Hearing{Instance: h.Instance, Event: h.Event}
	for _, e := range role.Commands {
		if h.Command != nil && e.Name == h.Command.Name && fields(h.Command.Fields, e.Fields) == "" {
			out.Command = e
		}
	}
	for _, r := range role.Reports {
		if h.Report != nil && r.Name == h.Report.Name && fields(h.Report.Fields, r.Fields) == "" {
			out.Report = r
		}
	}
	return out
}

// rules puts together what the programs of both versions do in their check.
func (x *mix) rules(checks [2]*model.Check, carry *carrier) error {
	x.check.Rules = nil
	for v, c := range checks {
		of := func(r *model.EnvRule) bool {
			for i, inst := range x.check.Instances {
				if x.version[i] == v && hasEvent(inst.Role, r.Command) {
					return true
				}
			}
			return false
		}
		for _, r := range c.Rules {
			if !of(r) {
				continue
			}
			own, n := *carry, *r
			if n.When = own.expr(r.When); own.why != "" {
				return &unfit{"its rule for " + r.Command.Name + " cannot be kept: " + own.why}
			}
			x.check.Rules = append(x.check.Rules, &n)
		}
	}
	return nil
}

// hasEvent reports whether an event is of a machine or of one of its parts.
func hasEvent(m *model.Machine, e *model.Event) bool {
	return slices.Contains(m.Events, e) ||
		slices.ContainsFunc(m.Parts, func(p *model.Part) bool { return hasEvent(p.Machine, e) })
}

// claims keeps those of both versions that name only what both have.
func (x *mix) claims(checks [2]*model.Check, carry *carrier) {
	x.check.Claims = nil
	for _, v := range []int{newer, older} {
		for _, c := range checks[v].Claims {
			if slices.ContainsFunc(x.check.Claims, func(o *model.Claim) bool { return o.Name == c.Name }) ||
				slices.ContainsFunc(x.left, func(o Left) bool { return o.Claim == c.Name }) {
				continue
			}
			own, n := *carry, *c
			n.When, n.Expr, n.Exprs = own.expr(c.When), own.expr(c.Expr), own.list(c.Exprs)
			if own.why != "" {
				x.left = append(x.left, Left{checks[v].Name, c.Name, own.why})
				continue
			}
			x.check.Claims = append(x.check.Claims, &n)
		}
	}
}

// quiet is where the instances may rest: each conjunct as the version of the instance has it that it is about. If some
// is about several, they may rest where one of the versions says so.
func (x *mix) quiet(checks [2]*model.Check, carry *carrier) {
	bool_ := &model.Type{Kind: model.KindBool}
	join := func(op model.Op, a, b model.Expr) model.Expr {
		if a == nil || b == nil {
			return firstOf(a, b)
		}
		return &model.Binary{ExprBase: model.ExprBase{T: bool_, Span: a.Pos()}, Op: op, X: a, Y: b}
	}
	x.check.QuietLocals = max(checks[older].QuietLocals, checks[newer].QuietLocals)
	x.check.Quiet = nil
	var whole, apart model.Expr
	single := true
	for v, c := range checks {
		own := *carry
		own.absent = true
		if q := own.expr(c.Quiet); own.why == "" && q != nil {
			whole = join(model.OpOr, whole, q)
		}
		for _, e := range conjuncts(c.Quiet) {
			i := about(e)
			if i >= len(x.version) { // a monitor
				i = -1
			}
			single = single && i >= 0
			own := *carry
			own.absent = true
			if e = own.expr(e); i >= 0 && x.version[i] == v && own.why == "" {
				apart = join(model.OpAnd, apart, e)
			}
		}
	}
	if x.check.Quiet = whole; single {
		x.check.Quiet = apart
	}
}

func firstOf(list ...model.Expr) model.Expr {
	for _, e := range list {
		if e != nil {
			return e
		}
	}
	return nil
}

// conjuncts are the operands of all && at the top of a condition.
func conjuncts(e model.Expr) []model.Expr {
	if b, ok := e.(*model.Binary); ok && b.Op == model.OpAnd {
		return append(conjuncts(b.X), conjuncts(b.Y)...)
	}
	if e == nil {
		return nil
	}
	return []model.Expr{e}
}

// about is the only instance that a condition looks at; -1 if it looks at several, or at none.
func about(e model.Expr) int {
	seen := map[int]bool{}
	look := &carrier{instances: make([]*model.Instance, 64), message: func(m *model.Message) (*model.Message, string) {
		return m, ""
	}}
	look.watch = func(inst *model.Instance) { seen[inst.Index] = true }
	look.expr(e)
	if len(seen) != 1 {
		return -1
	}
	for i := range seen {
		return i
	}
	return -1
}

// label says which instances are of which version: `OLD client, NEW server`.
func (x *mix) label() string { return labelOf(x.check.Instances, x.version) }

func labelOf(instances []*model.Instance, version []int) string {
	names := [2][]string{}
	var roles [2][]string
	for i, inst := range instances {
		v := version[i]
		names[v] = append(names[v], inst.Name)
		if !slices.Contains(roles[v], inst.Role.Name) {
			roles[v] = append(roles[v], inst.Role.Name)
		}
	}
	for _, r := range roles[older] {
		if slices.Contains(roles[newer], r) {
			return "OLD " + diag.And(names[older]) + " with NEW " + diag.And(names[newer])
		}
	}
	return "OLD " + diag.And(roles[older]) + " with NEW " + diag.And(roles[newer])
}

// system is the mix as the checker takes it.
func (x *mix) system() (*check.System, error) { return check.Between(x.protocol, x.check, x) }

// assignments lists which instances are old in the mixes of a check: each role once alone old and once alone new,
// and, where a role has several instances, one of these.
func assignments(c *model.Check) (list [][]int) {
	add := func(odd func(*model.Instance) bool) {
		for v := range 2 {
			out := make([]int, len(c.Instances))
			for i, inst := range c.Instances {
				if out[i] = v; odd(inst) {
					out[i] = 1 - v
				}
			}
			if !slices.ContainsFunc(list, func(o []int) bool { return slices.Equal(o, out) }) &&
				slices.Contains(out, older) && slices.Contains(out, newer) {
				list = append(list, out)
			}
		}
	}
	for k, inst := range c.Instances {
		if slices.IndexFunc(c.Instances, func(o *model.Instance) bool { return o.Role == inst.Role }) == k {
			add(func(o *model.Instance) bool { return o.Role == inst.Role })
			add(func(o *model.Instance) bool { return o == inst })
		}
	}
	return list
}
