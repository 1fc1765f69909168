package probe

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/replay"
	"github.com/parley-go/parley/runtime/run"
	"github.com/parley-go/parley/runtime/world"
)

// Kind is what is wrong.
type Kind string

// The kinds of finding.
const (
	Left    Kind = "left the specification"
	Hung    Kind = "hung"
	Died    Kind = "died"
	Flooded Kind = "floods"
	Mute    Kind = "says nothing"
)

// Finding is something that is wrong with the program.
type Finding struct {
	Kind Kind `json:"kind"`
	// Why says what is wrong, and what would have been right. After is the hostile act that it came of; empty if we
	// kept to our role.
	Why   string `json:"why"`
	After string `json:"after,omitempty"`
	// Script is what we did, as lines. Steady says that doing it again has shown the same.
	Script []string `json:"script"`
	Steady bool     `json:"steady"`
	// Stays says that since then honest sessions show the same, too. The script is then all that was done before.
	Stays bool `json:"stays,omitempty"`
	// Run is the session as a run; the program's own steps in it are what it sent.
	Run *run.Run `json:"run,omitempty"`

	what    string
	acts    []act
	packets []packet
	unsure  bool // the program may have taken our instances for those of connections before these
}

// same reports whether two findings are about the same thing.
func (f *Finding) same(g *Finding) bool {
	return g != nil && f.Kind == g.Kind && f.what == g.what
}

// Report is what was found.
type Report struct {
	Spec    string `json:"spec"`
	Address string `json:"address"`
	Check   string `json:"check"`
	Us      string `json:"us"`
	Target  string `json:"target"`
	// External: the role of the program is external in the specification. Loose: names of messages alone are compared.
	External bool `json:"external,omitempty"`
	// Chosen says which check and instance were taken where the options do not say which, and why.
	Chosen   string  `json:"chosen,omitempty"`
	Loose    bool    `json:"loose,omitempty"`
	Seed     uint64  `json:"seed"`
	Sessions int     `json:"sessions"`
	Acts     int     `json:"acts"`
	Hostile  int     `json:"hostile"`
	Starts   int     `json:"starts,omitempty"`
	Seconds  float64 `json:"seconds"`
	// Transitions and Pairs are what was seen of the program's machine, of how many.
	Transitions [2]int     `json:"transitions"`
	Pairs       [2]int     `json:"pairs"`
	Uncovered   []string   `json:"uncovered,omitempty"`
	Findings    []*Finding `json:"findings,omitempty"`
	// Open is what the specification leaves open: what our machine does not take. So is what came once where the
	// program may not have heard yet of the end of connections before.
	Open []string `json:"open,omitempty"`
	// Limit is what seems to be a limit of connections of the program: how many it lets in at a time; 0: none was met.
	Limit int `json:"limit,omitempty"`
	// Ended says why the search ended before it was done; empty if it was.
	Ended string `json:"ended,omitempty"`
}

// prober is a search at work.
type prober struct {
	*game
	o        *Options
	target   *target
	covered  *coverage
	planner  *planner
	report   *Report
	rng      *rand.Rand
	deadline time.Time
	done     map[string]int   // how often a command was given where the instances were
	reached  map[string][]act // the shortest acts that led to a state of the program, by its name
	order    []string         // those states as they were found
	asks     []act            // the shortest that the program has answered
	best     []act            // of the session that covered most
	mute     bool             // the program has said nothing yet
	vainly   int
	barren   int  // searches for a new transition in a row that found none
	previous last // the session before
	passing  bool // the program ends in good order after each session
	halved   bool // the honest part was ended for the hostile one
}

// last is a session that has ended: what was done in it, which of that was hostile, and how it is told.
type last struct {
	acts           []act
	hostile, after string
}

// Run tests the program at an address. The error is for what cannot be begun.
func Run(ctx context.Context, p *model.Protocol, address string, o Options) (*Report, error) {
	pr, err := newProber(p, address, o)
	if err != nil {
		return nil, err
	}
	defer pr.target.stop()
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, pr.o.Budget)
	defer cancel()
	if err := pr.honest(ctx); err != nil {
		return nil, err
	}
	if pr.o.Hostile >= 0 {
		pr.attack(ctx)
	}
	pr.finish(ctx)
	pr.report.Seconds = time.Since(began).Seconds()
	return pr.report, nil
}

func newProber(p *model.Protocol, address string, o Options) (*prober, error) {
	o = o.withDefaults()
	list, err := endpoints(p, address, &o)
	if err != nil {
		return nil, err
	}
	g, err := newGame(p, &o)
	if err != nil {
		return nil, err
	}
	o.reliable = true
	for _, e := range list {
		host, _, _ := net.SplitHostPort(e.address)
		near := host == "localhost" || net.ParseIP(host).IsLoopback()
		o.reliable = o.reliable && (near || !e.datagrams())
	}
	o.loose = o.Names || g.role(g.they).External && !o.Exact
	pr := &prober{game: g, o: &o, target: &target{at: list, news: p.News(), start: o.Start, ready: o.Ready},
		covered: newCoverage(g.role(g.they), o.Passive), rng: rand.New(rand.NewPCG(o.Seed, 2)),
		reached: map[string][]act{}, done: map[string]int{},
		deadline: time.Now().Add(o.Budget), mute: true}
	pr.plans()
	them := g.role(g.they)
	pr.report = &Report{Spec: p.Files[0], Address: pr.target.String(), Check: g.check.Name, Us: g.ours(),
		Chosen: g.chosen, Target: g.name(g.they) + " (" + them.Name + ")", External: them.External, Loose: o.loose,
		Seed: o.Seed}
	return pr, nil
}

// plans begins a planner for the instances that there are.
func (pr *prober) plans() {
	pr.planner = &planner{game: pr.game, covered: pr.covered, vain: map[vain]int{}, most: mostMoves,
		hopeless: map[string]bool{}, passive: pr.o.Passive}
	if len(pr.us) > 1 {
		pr.planner.most = mostMovesOfSeveral
	}
}

// ours are the instances that we play, in words.
func (g *game) ours() string {
	var us []string
	for _, i := range g.us {
		us = append(us, g.name(i)+" ("+g.role(i).Name+")")
	}
	return strings.Join(us, ", ")
}

// endpoints are where the channels of the program are.
func endpoints(p *model.Protocol, address string, o *Options) (list []endpoint, err error) {
	for k, ch := range p.Channels() {
		text := address
		if k > 0 {
			if text = o.Channels[ch.Name]; text == "" {
				return nil, fmt.Errorf("%s has several channels; where %s is --channel %[2]s=ADDRESS says", p.Name,
					ch.Name)
			}
		}
		e := endpoint{}
		if e.network, e.address, err = parseAddress(text, k < len(o.Datagrams) && o.Datagrams[k]); err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	for name := range o.Channels {
		if !slices.ContainsFunc(p.Channels()[1:], func(c model.Channel) bool { return c.Name == name }) {
			return nil, fmt.Errorf("--channel %s: %s has no channel of this name beside its first one", name, p.Name)
		}
	}
	return list, nil
}

// enough reports whether no further session is begun.
func (pr *prober) enough(ctx context.Context) bool {
	switch {
	case ctx.Err() != nil:
		pr.report.Ended = ended(ctx)
	case pr.o.Sessions > 0 && pr.report.Sessions >= pr.o.Sessions:
		pr.report.Ended = "the sessions were used up"
	case len(pr.report.Findings) >= pr.o.Findings:
		pr.report.Ended = fmt.Sprintf("there are %d findings", len(pr.report.Findings))
	case pr.target.start == "" && pr.has(Died):
		pr.report.Ended = "the program has died, and --start does not say how it is started"
	default:
		return false
	}
	return true
}

// ended says why a context has.
func ended(ctx context.Context) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "the budget was used up"
	}
	return "it was interrupted"
}

func (pr *prober) has(k Kind) bool {
	return slices.ContainsFunc(pr.report.Findings, func(f *Finding) bool { return f.Kind == k })
}

// session begins one. It returns nil if the program cannot be reached: that is a finding if it could be before.
func (pr *prober) session(ctx context.Context, before []act) (*session, error) {
	if pr.o.Fresh {
		pr.target.stop()
	}
	s, err := pr.newSession(ctx, pr.target, pr.o)
	if err == nil {
		pr.report.Sessions++
		if pr.o.Progress != nil {
			words := fmt.Sprintf("%d of %d transitions", len(pr.covered.taken), len(pr.covered.all))
			pr.o.Progress(pr.report.Sessions, words)
		}
		return s, nil
	}
	if ctx.Err() != nil {
		return nil, nil
	}
	if !unreachable(err) || pr.report.Sessions == 0 {
		if d := pr.target.death(); d != "" {
			err = fmt.Errorf("%w; %s", err, d)
		}
		return nil, err
	}
	s.unreached()
	if pr.previous.hostile == "" {
		s.finding.acts = slices.Clone(before)
	}
	pr.found(ctx, s, "")
	pr.previous = last{}
	return nil, nil
}

// honest covers what can be covered by keeping to our role.
func (pr *prober) honest(ctx context.Context) error {
	var before []act
	fruitless, began := 0, time.Now()
	half := func() bool { // the rest is for what is hostile
		return pr.o.Hostile >= 0 && (pr.o.Sessions > 0 && pr.report.Sessions >= (pr.o.Sessions+1)/2 ||
			time.Since(began) > pr.o.Budget/2)
	}
	most := mostFruitless
	switch {
	case len(pr.us) > 1:
		most = mostSeveral
	case pr.o.Passive:
		most = mostPassive
	}
	for fruitless < most && !half() && !pr.enough(ctx) {
		s, err := pr.session(ctx, before)
		if err != nil {
			return err
		}
		if s == nil {
			fruitless++
			continue
		}
		fresh := pr.explore(s)
		before = s.acts
		pr.close(ctx, s, "")
		if pr.mute && s.heard {
			pr.mute = false
		}
		if fresh == 0 {
			fruitless++
		} else {
			fruitless = 0
		}
	}
	pr.halved = fruitless < most && half()
	if pr.mute && pr.report.Sessions > 0 && len(pr.report.Findings) == 0 && ctx.Err() == nil {
		pr.report.Findings = append(pr.report.Findings, &Finding{Kind: Mute, Why: fmt.Sprintf(
			"%s has said nothing in %d sessions", pr.name(pr.they), pr.report.Sessions)})
	}
	return nil
}

// mostMoves is how many moves are looked at for one plan, mostMovesOfSeveral where several instances can act: there
// every other session plans nothing.
const (
	mostMoves          = 3000
	mostMovesOfSeveral = 1000
)

// mostBarren is after how many searches for a new transition that found none they become seldom.
const mostBarren = 4

// mostFruitless is how many sessions in a row that show nothing new end the honest part, mostPassive how many of a
// program that does nothing by itself, mostSeveral of one with which several speak, and mostActs how many acts one
// session has.
const (
	mostFruitless = 15
	mostPassive   = 3
	mostSeveral   = 8
	mostActs      = 40
)

// explore plays one session towards what is not covered, and returns how much of it was new.
func (pr *prober) explore(s *session) (fresh int) {
	look := func() {
		s.settle()
		if s.now != nil && s.now.Side.Accepted {
			fresh += pr.covered.add(s.now.Side.Order)
		}
		pr.answered(s)
		if s.now != nil && len(s.now.Places) > 0 && s.finding == nil && !s.beyond {
			name := pr.state(pr.they, s.now.Places[0].Value)
			if old, ok := pr.reached[name]; !ok || len(s.acts) < len(old) {
				if !ok {
					pr.order = append(pr.order, name)
				}
				pr.reached[name] = slices.Clone(s.acts)
			}
		}
	}
	walks := len(pr.us) > 1 && pr.report.Sessions%2 == 0 // every other session goes to where all are together
	if pr.rng.IntN(lateComers) > 0 {
		for _, i := range pr.us[1:] {
			s.do(act{kind: join, who: i})
		}
	}
	if pr.rng.IntN(eager) < eager/2 {
		pr.blindly(s)
	}
	look()
	for len(s.acts) < mostActs && !s.over() && !s.ended() && (s.rec == nil || len(s.rec.Frames) < mostFrames) {
		var acts []act
		var expects *vain
		if !walks {
			acts, expects = pr.next(s)
		}
		if acts == nil {
			a, isNew := pr.together(s)
			if a == nil {
				break
			}
			if acts = []act{*a}; isNew {
				fresh++
			}
		}
		before, known := len(s.acts), fresh
		if pr.rng.IntN(eager) == 0 {
			acts, expects = nil, nil
			pr.blindly(s)
		}
		for _, a := range acts {
			if !s.do(a) {
				break
			}
			pr.report.Acts++
		}
		look()
		if s.finding != nil {
			break
		}
		if fresh == known {
			pr.vainly++
			if expects != nil {
				pr.planner.inVain(*expects)
			} else if pr.vainly > 20 && len(pr.us) == 1 || len(s.acts) == before {
				break
			}
		}
	}
	if s.note != "" {
		pr.open(s.note)
	}
	if len(s.acts) > len(pr.best) && s.finding == nil && fresh > 0 || pr.best == nil && s.finding == nil {
		pr.best = slices.Clone(s.acts)
	}
	return fresh
}

// answered keeps the shortest acts that the program has answered: each of them when it owed nothing.
func (pr *prober) answered(s *session) {
	longer := pr.asks != nil && len(s.acts) >= len(pr.asks)
	if s.finding != nil || s.beyond || s.rec == nil || len(s.acts) == 0 || longer {
		return
	}
	acts := slices.Clone(s.acts)
	acts[0].cross = false // nothing was under way yet
	plain := !slices.ContainsFunc(acts, func(a act) bool { return a.kind != event && a.kind != join || a.cross })
	if plain && slices.ContainsFunc(s.rec.Frames, func(f replay.Frame) bool { return f.From == pr.they }) {
		pr.asks = acts
	}
}

// lateComers is how seldom instances come only when they have something to do.
const lateComers = 3

// eager is how seldom something is done without reading what has come, or planning.
const eager = 4

// blindly does something that our machine may do, before what is under way to it is read.
func (pr *prober) blindly(s *session) {
	for range pr.rng.IntN(3) + 1 {
		x := s.seats[pr.rng.IntN(len(s.seats))]
		list := pr.players[x.who].Commands(x.value)
		if !pr.o.Passive && pr.rng.IntN(2) == 0 { // the program has time to do more before it hears of us
			s.do(act{kind: wait, cross: true})
		}
		if len(list) > 0 && s.do(act{kind: event, who: x.who, text: list[pr.rng.IntN(len(list))],
			cross: true}) {
			pr.report.Acts++
		}
	}
}

// next plans what to do: towards a new transition, then a new pair of them, each first without crossing.
func (pr *prober) next(s *session) ([]act, *vain) {
	from := s.configurations()
	if len(from) == 0 {
		return nil, nil
	}
	var last *model.Transition
	for _, t := range s.now.Side.Order {
		if slices.Contains(pr.covered.all, t) {
			last = t
		}
	}
	for _, g := range []goal{newTransition, newPair} {
		if g == newTransition && pr.barren > mostBarren && pr.rng.IntN(mostBarren) > 0 {
			continue
		}
		for w := range ways {
			if w == together && pr.o.Passive || w == crossing && g == newPair {
				continue
			}
			if acts, expects := pr.planner.plan(from, last, g, w); len(acts) > 0 {
				if g == newTransition {
					pr.barren = 0
				}
				return acts, expects
			}
		}
		if g == newTransition {
			pr.barren++
		}
	}
	return nil, nil
}

// together is what an instance of ours does where the others are, a command or to leave: of all the one that was done
// there least often. New: it never was. It is nil if there is one instance, or if all that is possible there was done
// a few times.
func (pr *prober) together(s *session) (a *act, isNew bool) {
	if len(s.seats) == 1 {
		return nil, false
	}
	var where []string
	for _, x := range s.seats {
		where = append(where, fmt.Sprint(x.joined(), x.closed, pr.state(x.who, x.value)))
	}
	at, best, same, here := strings.Join(where, "; "), "", 0, 0
	consider := func(x act, name string) {
		key := fmt.Sprint(at, x.who, name)
		switch n := pr.done[key]; {
		case n > mostTogether || a != nil && n > pr.done[best]:
			return
		case a != nil && n == pr.done[best]:
			if same++; pr.rng.IntN(same) > 0 {
				return
			}
		default:
			same = 1
		}
		a, best = &x, key
	}
	for _, x := range s.seats {
		if x.joined() && !x.closed && !x.ended {
			here++
		}
	}
	for _, x := range s.seats {
		if x.closed || x.ended {
			continue
		}
		for _, text := range pr.players[x.who].Commands(x.value) {
			consider(act{kind: event, who: x.who, text: text}, word(text))
		}
		if here > 1 && x.joined() && pr.role(pr.they).Mentions(model.EventLost) {
			consider(act{kind: hangUp, who: x.who}, "close")
		}
	}
	if a != nil {
		pr.done[best]++
		isNew = pr.done[best] == 1
	}
	return a, isNew
}

// mostTogether is how often a command is given again where all are where they were.
const mostTogether = 3

// hears counts what the program's machine does where it hears that we have closed, wherever it may be.
func (pr *prober) hears(s *session) {
	if s.now == nil || s.beyond || s.finding != nil || !pr.target.stream() || len(s.now.Places) == 0 {
		return
	}
	x := slices.IndexFunc(s.seats, func(x *seat) bool { return x.joined() && !x.closed })
	if x < 0 {
		return
	}
	var order []*model.Transition
	for i := range s.now.Places {
		p := &s.now.Places[i]
		res := world.Deliver(pr.stage.World.Rules, pr.they, s.around(p), p.Value, s.seats[x].who,
			world.Item[string]{News: world.Cut}, pr.players[pr.they])
		var fired []*model.Transition
		if res.What == world.Stepped && res.Fault == world.NoFault {
			fired = slices.Clone(pr.players[pr.they].Fired())
		}
		if i > 0 && !slices.Equal(fired, order) {
			return
		}
		order = fired
	}
	pr.covered.add(append(slices.Clone(s.now.Side.Order), order...))
}

// close ends a session and keeps what was found in it. After is the hostile act in it.
func (pr *prober) close(ctx context.Context, s *session, after string) {
	if !s.closed() && !s.ended() {
		pr.hears(s)
	}
	s.stop()
	pr.death(s)
	if s.finding != nil {
		pr.found(ctx, s, after)
	}
	pr.previous = last{s.acts, s.hostile, after}
}

// death looks whether the program has died in the course of a session. One that ends in good order after a session, as
// it does after honest ones, has not.
func (pr *prober) death(s *session) {
	p := pr.target.process
	if s.finding != nil || p == nil {
		return
	}
	if pr.passing || pr.report.Hostile == 0 { // it may be about to end
		timer := time.NewTimer(s.o.grace)
		select {
		case <-p.ended:
		case <-timer.C:
		}
		timer.Stop()
	}
	if !p.over() {
		return
	}
	if p.err == nil && (pr.passing || pr.report.Hostile == 0) {
		pr.passing = true
		return
	}
	s.find(Died, "", "")
}

// found keeps a finding that is not known yet, with a script that is made short.
func (pr *prober) found(ctx context.Context, s *session, after string) {
	f := s.finding
	if f.acts == nil {
		f.acts = slices.Clone(s.acts)
	}
	f.After = after
	honest := pr.asks
	if before := pr.previous; s.hostile == "" {
		f.After = ""
		if before.hostile != "" { // it came of the session before
			honest = f.acts
			f.acts = slices.Concat(before.acts, []act{{kind: resume}}, f.acts)
			f.After = before.after
		}
		if f.Kind == Died {
			f.what = before.hostile
		}
	}
	if slices.ContainsFunc(pr.report.Findings, f.same) {
		pr.restart()
		return
	}
	if pr.crowded(ctx, s) {
		return
	}
	pr.keep(f, s)
	pr.restart()
	pr.shrink(ctx, f, honest)
	if f.unsure && !f.Steady && !f.Stays && ctx.Err() == nil {
		why, _, _ := strings.Cut(f.Why, "\n")
		pr.open(fmt.Sprintf("once %s, after connections that were broken off, and not again: the program may have "+
			"taken new ones for those", why))
		return
	}
	hostile := false
	for _, a := range f.acts {
		f.Script = append(f.Script, pr.line(a))
		hostile = hostile || a.hostile()
	}
	if !hostile {
		f.After = ""
	}
	pr.report.Findings = append(pr.report.Findings, f)
}

// open notes what nobody can say who is to blame for.
func (pr *prober) open(note string) {
	if !slices.Contains(pr.report.Open, note) && len(pr.report.Open) < mostOpen {
		pr.report.Open = append(pr.report.Open, note)
	}
}

// mostOpen is how many notes a report has at most.
const mostOpen = 64

// keep gives a finding the run and the packets of its session.
func (pr *prober) keep(f *Finding, s *session) {
	f.Run, f.packets = s.run, s.packets
	f.Run.Problem, _, _ = strings.Cut(f.Why, "\n")
}

// restart ends a program in which something is wrong, so that the next session finds a new one.
func (pr *prober) restart() {
	if pr.target.start != "" {
		pr.target.stop()
	}
}

// finish puts the figures into the report.
func (pr *prober) finish(ctx context.Context) {
	r := pr.report
	r.Starts = pr.target.starts
	r.Transitions = [2]int{len(pr.covered.taken), len(pr.covered.all)}
	r.Pairs = [2]int{len(pr.covered.pairs), pr.covered.whole}
	for _, t := range pr.covered.left() {
		r.Uncovered = append(r.Uncovered, t.Name)
	}
	if r.Ended == "" && ctx.Err() != nil {
		r.Ended = ended(ctx)
	}
	if r.Ended == "" && r.Limit > 0 {
		r.Ended = fmt.Sprintf("the program seems to let in %d at a time, so the others stayed away", r.Limit)
	}
	if r.Ended == "" && pr.halved {
		r.Ended = "half of the budget or the sessions went by, and there was still something new"
	}
}

// Failed reports whether something was found.
func (r *Report) Failed() bool { return len(r.Findings) > 0 }
