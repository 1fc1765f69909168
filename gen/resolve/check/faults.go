package check

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/convert"
	"github.com/parley-go/parley/gen/resolve/pass"
	"github.com/parley-go/parley/gen/syntax"
)

// channels are the faults of channels: 0 says that what the channel may do does not happen here.
var channels = map[string]bool{"lose": true, "duplicate": true, "overtake": true}

// maxFaults bounds how often a fault may happen in one run.
const maxFaults = 255

// faults resolves what may go wrong in a check.
func (r *checker) faults(c *model.Check, in *parties, check *ast.Node) {
	e := check.Entry("faults")
	if e == nil {
		return
	}
	n := e.Value
	f := &model.Faults{Lose: -1, Duplicate: -1, Overtake: -1, Span: e.Key.Span(),
		Crash: make([]int, len(c.Instances)), Restart: make([]int, len(c.Instances))}
	c.Faults = f
	bound := func(key string, to *int) {
		if v := n.Get(key); v != nil {
			if v.Text == "0" && !channels[key] {
				r.Warnf("FSM097", v.Span(), "`%s: 0` says what is so anyway: that never happens", key).
					With("leave it out, or say how often")
			}
			if who := r.mentioned(in, v); who != "" {
				r.whoOrOften(key, who, v)
			} else if m, ok := r.ConstIn(v, 0, maxFaults, "how often"); ok {
				*to = int(m)
			}
		}
	}
	bound("break", &f.Break)
	bound("return", &f.Return)
	bound("partition", &f.Partition)
	r.bridge(f, in, n)
	f.Atomic = pass.IsTrue(n.Get("atomic"))
	bound("lose", &f.Lose)
	bound("duplicate", &f.Duplicate)
	bound("overtake", &f.Overtake)
	if v := n.Get("crash"); v != nil && v.Kind == ast.Scalar {
		bound("crash", &f.CrashAll)
		for i := range f.Crash {
			f.Crash[i] = f.CrashAll
		}
	} else {
		r.each(f.Crash, in, v, r.often)
	}
	if v := n.Get("restart"); v != nil && v.Kind == ast.Scalar {
		most := 0
		bound("restart", &most)
		for i := range f.Restart {
			f.Restart[i] = most
		}
		if f.CrashAll == 0 && !slices.ContainsFunc(f.Crash, func(n int) bool { return n > 0 }) {
			r.restarts(f, n.Entry("restart"), c)
		}
	} else {
		r.each(f.Restart, in, v, r.often)
		r.restarts(f, n.Entry("restart"), c)
	}
	r.noCrash(f, n, c)
	if f.Partition > 0 && len(c.Instances) > maxParted {
		r.Errorf("FSM087", n.Entry("partition").Key.Span(),
			"%d instances can be parted in more ways than a check can try; %d are the most",
			len(c.Instances), maxParted).With("take fewer instances for this check")
	}
	if e := n.Entry("bridge"); e != nil {
		switch left := len(c.Instances) - bits.OnesCount64(f.Bridge); {
		case f.Partition == 0:
			r.Errorf("FSM087", e.Key.Span(), "`bridge` is about partitions, and there is none").
				With("say under `partition` how often, or leave `bridge` out")
		case left < 2:
			r.Errorf("FSM087", e.Key.Span(), "a partition needs two instances that do not hear each other, and "+
				"`bridge` leaves %d", left).With("name those alone that hear both sides")
		}
	}
	if f.Return > 0 && f.Break == 0 && f.Partition == 0 && !c.HasHostile() {
		r.Errorf("FSM087", n.Entry("return").Key.Span(),
			"links may come back, but none is lost while both its ends live").
			With("say under `break` how often that happens; after a crash, `restart` brings links back")
	}
	if e := n.Entry("atomic"); e != nil && f.CrashAll == 0 && slices.Max(f.Crash) == 0 {
		r.Errorf("FSM087", e.Key.Span(), "`atomic` is about crashes, and nobody crashes").
			With("say under `crash` who does, or leave `atomic` out")
	}
	if e := n.Entry("break"); f.Break > 0 && !hasLinks(c) {
		r.Errorf("FSM087", e.Key.Span(),
			"links may break, but there are none: no two of these instances notice what becomes of one").
			With("a role notices it that mentions `up` or `lost` or closes links; for the others there is `lose`, " +
				"`crash` or `partition`")
	}
	r.ofChannels(c, f, n)
	if !c.Several() && !c.Channel.Ordered && f.Overtake > 0 {
		r.Errorf("FSM087", f.Span, "`overtake` means nothing where messages arrive in any order")
	}
}

// bridge resolves who is on both sides of partitions: instances and groups.
func (r *checker) bridge(f *model.Faults, in *parties, n *ast.Node) {
	e := n.Entry("bridge")
	if e == nil {
		return
	}
	for _, v := range pass.Scalars(e.Value) {
		x, err := syntax.Parse(v.Text, v.Part)
		if err != nil {
			r.SyntaxError(err)
			continue
		}
		for _, w := range r.who(in, x) {
			f.Bridge |= 1 << w.Model.Index
		}
	}
}

// who returns the instance that an expression names, or the members of the group.
func (r *checker) who(in *parties, x syntax.Node) []*convert.Instance {
	if id, isName := x.(*syntax.Ident); isName && in.groups[id.Name] != nil {
		r.Refer(id.Pos(), in.groups[id.Name].At)
		return in.groups[id.Name].All
	}
	if m := in.scope(r.Table).End(x); m != nil {
		return []*convert.Instance{{Model: m}}
	}
	return nil
}

// whoOrOften reports a name where it must be said how often.
func (r *checker) whoOrOften(key, who string, v *ast.Node) {
	hint := "write `" + key + ": 1`; whom it meets cannot be chosen"
	if key == "crash" || key == "restart" {
		hint = "write `" + key + ": {" + who + ": 1}`"
		if strings.ContainsAny(who, "[") {
			hint = "write `" + key + ": {\"" + who + "\": 1}`"
		}
	}
	r.Errorf("FSM025", v.Span(), "%s says who, and here it must be said how often", diag.Quote(v.Text)).With(hint)
}

// mentioned returns the instance or group that a text names, or one that plays the role that it names.
func (r *checker) mentioned(in *parties, v *ast.Node) string {
	if v.Kind != ast.Scalar {
		return ""
	}
	name, _, _ := strings.Cut(v.Text, "[")
	if in.groups[name] != nil || in.single[v.Text] != nil {
		return v.Text
	}
	if ro := r.Roles[v.Text]; ro != nil {
		if names := playing(in, ro.Machine); len(names) > 0 {
			return names[0]
		}
	}
	return ""
}

// ofChannels reports faults of which several channels leave open what they mean.
func (r *checker) ofChannels(c *model.Check, f *model.Faults, n *ast.Node) {
	if !c.Several() {
		return
	}
	for _, x := range []struct {
		key, flag string
		most      int
		does      func(model.Channel) bool
	}{
		{"lose", "lossy", f.Lose, func(ch model.Channel) bool { return ch.Lossy }},
		{"duplicate", "duplicates", f.Duplicate, func(ch model.Channel) bool { return ch.Duplicates }},
	} {
		if x.most > 0 && !slices.ContainsFunc(c.Channels(), x.does) {
			r.Errorf("FSM099", n.Entry(x.key).Key.Span(),
				"of several channels `%s` bounds those that do it by themselves, and none does", x.key).
				With(ofChannel(c, x.flag+": true"))
		}
	}
	if f.Overtake > 0 {
		r.Errorf("FSM099", n.Entry("overtake").Key.Span(),
			"of several channels `overtake` leaves open in which messages overtake each other").
			With(ofChannel(c, "order: any"))
	}
}

// ofChannel says where to write what a channel does by itself, which is no fault.
func ofChannel(c *model.Check, text string) string {
	names := c.Channels()
	return "say of one which it is, in the specification: channels: {" + names[len(names)-1].Name + ": {" + text + "}}"
}

// reliable reports what lets a link come up again where several channels are reliable.
func (r *checker) reliable(c *model.Check, check *ast.Node) {
	sure := 0
	for _, ch := range c.Channels() {
		if ch.Ordered && !ch.Lossy && !ch.Duplicates {
			sure++
		}
	}
	if sure < 2 || !hasLinks(c) {
		return
	}
	again := map[*ast.Entry]bool{}
	if c.HasComers() {
		again[check.Entry("come")] = true
	}
	if f, n := c.Faults, check.Get("faults"); f != nil {
		again[n.Entry("restart")] = slices.Max(append(f.Restart, 0)) > 0
		again[n.Entry("return")] = f.Return > 0
		again[n.Entry("partition")] = f.Partition > 0
	}
	for e, is := range again {
		if is {
			r.Errorf("FSM099", e.Key.Span(),
				"with `%s` a link may come up again, and %d channels of this check are reliable: what the link before "+
					"left in them would be heard", e.Key.Text, sure).
				With("say `lossy: true` or `order: any` of all but one, or leave `" + e.Key.Text + "` out")
		}
	}
}

// hasLinks reports whether there is a link between two instances of a check.
func hasLinks(c *model.Check) bool {
	for i, a := range c.Instances {
		for _, b := range c.Instances[i+1:] {
			if a.Role == nil || b.Role == nil || c.Links(a, b) {
				return true // what is wrong with a role is reported
			}
		}
	}
	return false
}

// maxParted is the most instances of a check with partitions: there are 2 to the power of one less of
// them.
const maxParted = 8

// restarts reports instances that may restart but never crash.
func (r *checker) restarts(f *model.Faults, e *ast.Entry, c *model.Check) {
	for i, n := range f.Restart {
		if n > 0 && f.Crash[i] == 0 {
			r.Errorf("FSM087", e.Key.Span(), "%s may restart, but never crashes",
				diag.Quote(c.Instances[i].Name)).With("say under `crash` how often")
			return
		}
	}
}

// noCrash takes hostile instances out of what is said of all, and reports where one is named.
func (r *checker) noCrash(f *model.Faults, n *ast.Node, c *model.Check) {
	for key, list := range map[string][]int{"crash": f.Crash, "restart": f.Restart} {
		for i, in := range c.Instances {
			if !in.IsHostile() || list[i] == 0 {
				continue
			}
			if list[i] = 0; n.Get(key).Kind != ast.Scalar {
				r.Errorf("FSM096", n.Entry(key).Key.Span(),
					"%s is hostile: it has nothing that could crash or begin again", diag.Quote(in.Name)).
					With("leave it out of `" + key + "`; it may fall silent at any moment anyhow")
			}
		}
	}
}

// often reads how often something happens.
func (r *checker) often(n *ast.Node) (int, bool) {
	v, ok := r.ConstIn(n, 0, maxFaults, "how often")
	return int(v), ok
}

// each resolves what is said of some instances: {c: 1, "p[2]": 1, p: 2}. value reads what is said.
func (r *checker) each(to []int, in *parties, n *ast.Node, value func(*ast.Node) (int, bool)) {
	if n == nil {
		return
	}
	for _, e := range n.Entries {
		x, err := syntax.Parse(e.Key.Text, e.Key.Part)
		if err != nil {
			r.SyntaxError(err)
			continue
		}
		v, ok := value(e.Value)
		if !ok {
			continue
		}
		for _, w := range r.who(in, x) {
			if w.Model.Index < len(to) {
				to[w.Model.Index] = v
			}
		}
	}
}
