package export

import (
	"bytes"
	"encoding/json"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// Schema is the value of "schema" in the output of [JSON]. It changes when a field goes or gets another
// meaning. It does not change when a field is added.
const Schema = "parley-model/1"

// JSON writes the checked model of a specification. Expressions, types and statements are texts as
// an author would write them, with all that parts, variants and common handlers stand for written
// out. docs/EXPORT.md describes the fields.
func JSON(p *model.Protocol) ([]byte, error) {
	doc := jsonProtocol{Schema: Schema, Protocol: p.Name, Doc: p.Doc, Source: p.Source,
		Hash: p.Hash, Files: p.Files,
		Consts: []jsonConst{}, Types: []jsonField{}, Messages: []jsonMessage{},
		Roles: []jsonMachine{}, Checks: []jsonCheck{}}
	for _, c := range p.Consts {
		doc.Consts = append(doc.Consts, jsonConst{c.Name, c.Value, c.Doc})
	}
	for _, t := range p.Types {
		written := *t
		written.Name = ""
		doc.Types = append(doc.Types, jsonField{Name: t.Name, Type: model.TypeString(&written),
			Doc: t.Doc})
	}
	for _, m := range p.Messages {
		x := jsonMessage{Name: m.Name, Doc: m.Doc, Fields: jsonFields(m.Fields)}
		if p.Several() {
			x.Channel = p.Channels()[m.Channel].Name
		}
		if w := p.WireOf(m); w != nil && !w.Lines {
			x.ID = &m.ID
		}
		doc.Messages = append(doc.Messages, x)
	}
	doc.Channel, doc.Beside = channelOf(p.Channel), channelsOf(p.Beside)
	for _, r := range p.Roles {
		doc.Roles = append(doc.Roles, machineOf(r))
	}
	for _, c := range p.Checks {
		doc.Checks = append(doc.Checks, checkOf(c))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(doc)
	return b.Bytes(), err
}

type jsonProtocol struct {
	Schema   string        `json:"schema"`
	Protocol string        `json:"protocol"`
	Doc      string        `json:"doc,omitempty"`
	Source   string        `json:"source,omitempty"`
	Hash     string        `json:"hash"`
	Files    []string      `json:"files"`
	Consts   []jsonConst   `json:"consts"`
	Types    []jsonField   `json:"types"`
	Messages []jsonMessage `json:"messages"`
	// Channel is that of messages that name no other, Beside are the others.
	Channel jsonChannel   `json:"channel"`
	Beside  []jsonChannel `json:"beside,omitempty"`
	Roles   []jsonMachine `json:"roles"`
	Checks  []jsonCheck   `json:"checks"`
}

type jsonConst struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
	Doc   string `json:"doc,omitempty"`
}

type jsonField struct {
	Name string `json:"name"`
	Type string `json:"type,omitempty"`
	Init string `json:"init,omitempty"`
	Doc  string `json:"doc,omitempty"`
}

type jsonMessage struct {
	Name string `json:"name"`
	ID   *int64 `json:"id,omitempty"`
	// Channel is the name of its channel, if there are several.
	Channel string      `json:"channel,omitempty"`
	Doc     string      `json:"doc,omitempty"`
	Fields  []jsonField `json:"fields"`
}

type jsonChannel struct {
	Name       string `json:"name,omitempty"`
	Order      string `json:"order"`
	Lossy      bool   `json:"lossy"`
	Duplicates bool   `json:"duplicates"`
	Capacity   int    `json:"capacity"`
	Full       string `json:"full"`
}

type jsonMachine struct {
	Name     string        `json:"name"`
	Protocol string        `json:"protocol"`
	Doc      string        `json:"doc,omitempty"`
	External bool          `json:"external,omitempty"` // a program that somebody else writes
	Params   []jsonField   `json:"params"`
	Vars     []jsonField   `json:"vars"`
	Timers   []jsonTimer   `json:"timers"`
	Commands []jsonMessage `json:"commands"`
	Reports  []jsonMessage `json:"reports"`
	Parts    []jsonPart    `json:"parts"`
	Initial  string        `json:"initial"`
	States   []jsonState   `json:"states"`
}

type jsonTimer struct {
	Name  string      `json:"name"`
	Ticks int64       `json:"ticks"`
	Keys  []jsonField `json:"keys,omitempty"`
	Doc   string      `json:"doc,omitempty"`
}

type jsonPart struct {
	Name    string      `json:"name"`
	Keys    []jsonField `json:"keys,omitempty"`
	Machine jsonMachine `json:"machine"`
}

type jsonState struct {
	Name  string      `json:"name"`
	Doc   string      `json:"doc,omitempty"`
	Final bool        `json:"final,omitempty"`
	Entry []string    `json:"entry,omitempty"`
	On    []jsonEvent `json:"on"`
	Place jsonPlace   `json:"place"`
}

type jsonEvent struct {
	Event    string       `json:"event"`
	Kind     string       `json:"kind"`
	Mode     string       `json:"mode"`
	Branches []jsonBranch `json:"branches,omitempty"`
}

type jsonBranch struct {
	Name string   `json:"name"`
	When string   `json:"when,omitempty"`
	Do   []string `json:"do,omitempty"`
	Goto string   `json:"goto,omitempty"`
	// Defensive says that honest instances never make the machine take the branch.
	Defensive bool      `json:"defensive,omitempty"`
	Doc       string    `json:"doc,omitempty"`
	Place     jsonPlace `json:"place"`
}

type jsonPlace struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

type jsonCheck struct {
	Name      string        `json:"name"`
	Doc       string        `json:"doc,omitempty"`
	Instances []jsonField   `json:"instances"`
	Channel   jsonChannel   `json:"channel"`
	Beside    []jsonChannel `json:"beside,omitempty"`
	// Hostile says of instances that do not keep to their role whether they keep to the form of messages.
	Hostile map[string]string `json:"hostile,omitempty"`
	// Come has how many parties may come to the instances at which nobody is at first.
	Come   map[string]int `json:"come,omitempty"`
	Faults *jsonFaults    `json:"faults,omitempty"`
	Time   *jsonTime      `json:"time,omitempty"`
	Rules  []jsonRule     `json:"environment"`
	Claims []jsonClaim    `json:"claims"`
	Quiet  string         `json:"quiet,omitempty"`
	Expect []string       `json:"expect"`
}

// jsonFaults has how often each fault may happen. What is not stated is left out: a channel does then
// what its own properties say.
type jsonFaults struct {
	Crash     map[string]int `json:"crash,omitempty"`
	Restart   map[string]int `json:"restart,omitempty"`
	CrashAll  int            `json:"crashAll,omitempty"`
	Atomic    bool           `json:"atomic"`
	Break     int            `json:"break,omitempty"`
	Return    int            `json:"return,omitempty"`
	Partition int            `json:"partition,omitempty"`
	Bridge    []string       `json:"bridge,omitempty"`
	Lose      *int           `json:"lose,omitempty"`
	Duplicate *int           `json:"duplicate,omitempty"`
	Overtake  *int           `json:"overtake,omitempty"`
}

type jsonTime struct {
	Beat  int64 `json:"beat"`
	Delay int   `json:"delay"`
	// Drift is how far clocks run from the rate 1 at most, in millionths.
	Drift map[string]int `json:"driftMillionths,omitempty"`
}

type jsonRule struct {
	Event string   `json:"event"`
	When  string   `json:"when,omitempty"`
	Times int      `json:"times,omitempty"`
	Fair  string   `json:"fair,omitempty"`
	Or    []string `json:"or,omitempty"`
}

type jsonClaim struct {
	Name      string   `json:"name"`
	Kind      string   `json:"kind"`
	Expr      string   `json:"expr,omitempty"`
	Values    []string `json:"values,omitempty"`
	When      string   `json:"when,omitempty"`
	Quiescent bool     `json:"quiescent,omitempty"`
	Fair      string   `json:"fair,omitempty"`
	Within    int64    `json:"within,omitempty"`
	Why       string   `json:"why,omitempty"`
}

func jsonFields(list []*model.Field) []jsonField {
	out := []jsonField{}
	for _, f := range list {
		out = append(out, jsonField{Name: f.Name, Type: model.TypeString(f.Type), Doc: f.Doc})
	}
	return out
}

func jsonVars(list []*model.Var) []jsonField {
	out := []jsonField{}
	for _, v := range list {
		out = append(out, jsonField{Name: v.Name, Type: model.TypeString(v.Type),
			Init: model.ExprString(v.Init), Doc: v.Doc})
	}
	return out
}

func channelsOf(list []model.Channel) (out []jsonChannel) {
	for _, c := range list {
		out = append(out, channelOf(c))
	}
	return out
}

func channelOf(c model.Channel) jsonChannel {
	order := "any"
	if c.Ordered {
		order = "fifo"
	}
	return jsonChannel{c.Name, order, c.Lossy, c.Duplicates, c.Capacity,
		[]string{"fault", "lose", "wait"}[c.Full]}
}

func machineOf(m *model.Machine) jsonMachine {
	x := jsonMachine{Name: m.Name, Protocol: m.Protocol, Doc: m.Doc, External: m.External, Params: jsonVars(m.Params),
		Vars: jsonVars(m.Vars), Initial: m.Initial.Name,
		Timers: []jsonTimer{}, Commands: []jsonMessage{}, Reports: []jsonMessage{},
		Parts: []jsonPart{}, States: []jsonState{}}
	for _, t := range m.Timers {
		x.Timers = append(x.Timers, jsonTimer{t.Name, t.Ticks, jsonFields(t.Keys), t.Doc})
	}
	for _, c := range m.Commands {
		x.Commands = append(x.Commands, jsonMessage{Name: c.Name, Doc: c.Doc,
			Fields: jsonFields(c.Fields)})
	}
	for _, r := range m.Reports {
		x.Reports = append(x.Reports, jsonMessage{Name: r.Name, Doc: r.Doc,
			Fields: jsonFields(r.Fields)})
	}
	for _, p := range m.Parts {
		x.Parts = append(x.Parts, jsonPart{p.Name, jsonFields(p.Keys), machineOf(p.Machine)})
	}
	for _, st := range m.States {
		x.States = append(x.States, stateOf(st))
	}
	return x
}

var eventKinds = map[model.EventKind]string{model.EventStart: "start", model.EventUp: "up",
	model.EventLost: "lost", model.EventMessage: "message",
	model.EventCommand: "command", model.EventTimer: "timer",
	model.EventReport: "report", model.EventFinished: "finished"}

var modes = map[model.Mode]string{model.Handle: "handle", model.Ignore: "ignore", model.Defer: "defer"}

func stateOf(st *model.State) jsonState {
	x := jsonState{Name: st.Name, Doc: st.Doc, Final: st.Final, Entry: statements(st.Entry),
		On: []jsonEvent{}, Place: placeOf(st.Span)}
	for _, h := range st.Handlers {
		if h == nil {
			continue
		}
		e := jsonEvent{Event: h.Event.Name, Kind: eventKinds[h.Event.Kind], Mode: modes[h.Mode]}
		for _, t := range h.Branches {
			b := jsonBranch{Name: t.Name, When: model.ExprString(t.When), Do: statements(t.Body),
				Defensive: t.Defensive, Doc: t.Doc, Place: placeOf(t.Span)}
			if t.To != nil {
				b.Goto = t.To.Name
			}
			e.Branches = append(e.Branches, b)
		}
		x.On = append(x.On, e)
	}
	return x
}

func statements(list []model.Stmt) []string {
	var out []string
	for _, s := range list {
		out = append(out, model.StmtString(s))
	}
	return out
}

func placeOf(s diag.Span) jsonPlace { return jsonPlace{s.File, s.Start.Line} }

var claimKinds = map[model.ClaimKind]string{model.Always: "always", model.Sometimes: "sometimes",
	model.Agree: "agree", model.Reachable: "reachable",
	model.Confluent: "confluent", model.Eventually: "eventually", model.LeadsTo: "leadsTo"}

func checkOf(c *model.Check) jsonCheck {
	x := jsonCheck{Name: c.Name, Doc: c.Doc, Channel: channelOf(c.Channel), Beside: channelsOf(c.Beside),
		Quiet: model.ExprString(c.Quiet), Instances: []jsonField{}, Rules: []jsonRule{},
		Claims: []jsonClaim{}, Expect: []string{}}
	for _, in := range c.Instances {
		x.Instances = append(x.Instances, jsonField{Name: in.Name, Type: model.InstanceString(in)})
	}
	x.Faults = faultsOf(c)
	var come []int
	for _, in := range c.Instances {
		come = append(come, in.Come)
	}
	x.Come = byName(c, come)
	for _, in := range c.Instances {
		if !in.IsHostile() {
			continue
		}
		if x.Hostile == nil {
			x.Hostile = map[string]string{}
		}
		x.Hostile[in.Name] = map[model.Hostile]string{
			model.WellFormed: "wellFormed", model.Malformed: "malformed",
		}[in.Hostile]
	}
	if t := c.Time; t != nil {
		x.Time = &jsonTime{Beat: t.Beat, Delay: t.Delay, Drift: byName(c, t.Drift)}
	}
	for _, r := range c.Rules {
		rule := jsonRule{Event: r.Command.Name, When: model.ExprString(r.When), Times: r.Times,
			Fair: r.Fair}
		for _, ev := range r.Or {
			rule.Or = append(rule.Or, ev.Name)
		}
		x.Rules = append(x.Rules, rule)
	}
	for _, k := range c.Claims {
		j := jsonClaim{Name: k.Name, Kind: claimKinds[k.Kind], Expr: model.ExprString(k.Expr),
			When: model.ExprString(k.When), Quiescent: k.Quiescent, Fair: k.Fair,
			Within: k.Within, Why: k.Why}
		for _, e := range k.Exprs {
			j.Values = append(j.Values, model.ExprString(e))
		}
		x.Claims = append(x.Claims, j)
	}
	for _, e := range c.Expect {
		x.Expect = append(x.Expect, e.Name)
	}
	return x
}

// byName has the numbers that are not 0 by the names of the instances.
func byName(c *model.Check, list []int) map[string]int {
	m := map[string]int{}
	for i, n := range list {
		if n > 0 {
			m[c.Instances[i].Name] = n
		}
	}
	return m
}

func faultsOf(c *model.Check) *jsonFaults {
	f := c.Faults
	if f == nil {
		return nil
	}
	stated := func(n int) *int {
		if n < 0 {
			return nil
		}
		return &n
	}
	var bridge []string
	for _, x := range c.Instances {
		if f.Bridge>>x.Index&1 != 0 {
			bridge = append(bridge, x.Name)
		}
	}
	return &jsonFaults{
		Bridge: bridge,
		Crash:  byName(c, f.Crash), Restart: byName(c, f.Restart), CrashAll: f.CrashAll, Atomic: f.Atomic,
		Break:  f.Break,
		Return: f.Return, Partition: f.Partition, Lose: stated(f.Lose), Duplicate: stated(f.Duplicate),
		Overtake: stated(f.Overtake),
	}
}
