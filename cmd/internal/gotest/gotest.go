// Package gotest writes counterexamples of the checker as Go tests of generated machines: the same
// run, step by step, and at its end what the claim says. A test fails as long as the machines are
// those that the run was found with; of machines generated from a mended specification it passes,
// or says that the run is no longer possible. It takes runs as package run has them, and the names
// that gen/golang gives. Start from [Write].
package gotest

import (
	"fmt"
	"go/format"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/golang"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/runtime/world"
)

// Options say what is written.
type Options struct {
	// Package is the name of the test's package; empty: that of the machines with _test.
	Package string
	// Command is the command line that wrote the file, for its header.
	Command string
}

// Source has the models of a specification.
type Source struct {
	// Checked gives the model that was narrowed for a check.
	Checked func(check string) (*model.Protocol, error)
	// Full are the machines as the specification has them, Narrowed those of the size that a check
	// explores; why says that there are none.
	Full     Machines
	Narrowed func(check string) (m Machines, why string, err error)
}

// Machines are a generated package and the model it was generated from.
type Machines struct {
	Model *model.Protocol
	API   *golang.API
}

// Write gives a file with a test for each counterexample of the report, and says which have none
// and why. The file is nil if there is no test to write.
func Write(src Source, r *check.SuiteReport, o Options) (file []byte, left []string, err error) {
	var tests strings.Builder
	var used []*golang.API
	names := map[string]bool{}
	for _, c := range r.Checks {
		p, err := src.Checked(c.Check)
		if err != nil {
			return nil, nil, err
		}
		for i := range c.Claims {
			cl := &c.Claims[i]
			if cl.Counterexample == nil {
				continue
			}
			w := &writer{src: src.Full, check: p.Checks[0], report: cl, strs: &interp.Strings{}}
			why := ""
			back := looksBack(w.claim())
			if back || !possible(src.Full.Model, p, cl) {
				if w.src, why, err = src.Narrowed(c.Check); err != nil {
					return nil, nil, err
				}
			}
			text := ""
			if back && torn(cl) {
				why = "a crash cuts a step short, and a machine does not know which of its reports nobody saw"
			}
			if monitored(w.claim()) {
				why = "the claim looks at a monitor of several instances, for which no code is generated"
			}
			if why == "" {
				text, why = w.test(testName(c.Check, cl.Name, names))
			}
			if why != "" {
				left = append(left, fmt.Sprintf("check %s, %s: %s", c.Check, cl.Name, why))
				continue
			}
			tests.WriteString("\n" + text)
			same := func(a *golang.API) bool { return a.ImportPath() == w.src.API.ImportPath() }
			if !slices.ContainsFunc(used, same) {
				used = append(used, w.src.API)
			}
		}
	}
	if tests.Len() == 0 {
		return nil, left, nil
	}
	out, err := format.Source([]byte(head(src, used, o, tests.String()) + tests.String()))
	if err != nil {
		return nil, left, fmt.Errorf("the test is no Go (%w); this is a bug of Parley", err)
	}
	return out, left, nil
}

func testName(check, claim string, taken map[string]bool) string {
	base := "Test" + golang.GoName(check) + golang.GoName(claim)
	name := base
	for i := 2; taken[name]; i++ {
		name = fmt.Sprint(base, i)
	}
	taken[name] = true
	return name
}

// head is everything before the tests.
func head(src Source, used []*golang.API, o Options, tests string) string {
	name := o.Package
	if name == "" && len(used) == 1 {
		name = used[0].Package() + "_test"
	} else if name == "" {
		name = src.Full.API.Package() + "_test"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "// Counterexamples of %s, as tests. Written by %s; change it as you like.\n",
		filepath.ToSlash(filepath.Base(src.Full.Model.Files[0])), o.Command)
	b.WriteString("// A test fails while the machines can do what the checker found; " +
		"generate them anew from the mended specification and run it again.\n\n")
	fmt.Fprintf(&b, "package %s\n\nimport (\n", name)
	if strings.Contains(tests, "bits.") {
		b.WriteString("\"math/bits\"\n")
	}
	b.WriteString("\"reflect\"\n")
	if strings.Contains(tests, "slices.") {
		b.WriteString("\"slices\"\n")
	}
	b.WriteString("\"testing\"\n\n")
	for _, api := range used {
		if path := api.ImportPath(); filepath.Base(path) == api.Package() {
			fmt.Fprintf(&b, "%q\n", path)
		} else {
			fmt.Fprintf(&b, "%s %q\n", api.Package(), path)
		}
	}
	if strings.Contains(tests, "fsm.Result") || strings.Contains(tests, "fsm.Took") ||
		strings.Contains(tests, "fsm.Peer") {
		b.WriteString("\"github.com/parley-go/parley/runtime/fsm\"\n")
	}
	b.WriteString("\"github.com/parley-go/parley/runtime/fsmtest\"\n)\n")
	b.WriteString(made)
	if strings.Contains(tests, "text(") {
		b.WriteString("\n// text is a text that is short enough.\n" +
			"func text[T any](t T, ok bool) T {\nif !ok {\npanic(\"too long\")\n}\nreturn t\n}\n")
	}
	return b.String()
}

// made is the function of a written test that makes machines. It looks at what the generated
// function takes, so that a test survives machines that begin to use their number, or have other
// values.
const made = `
// made is a runner of a machine with its values. A specification that is mended may begin to use the machine's own
// number, which the machine takes behind its other values then.
func made[R any](t *testing.T, maker any, number int, values ...any) R {
	t.Helper()
	f := reflect.ValueOf(maker)
	if f.Type().NumIn() == len(values)+1 {
		values = append(values, number)
	}
	if f.Type().NumIn() != len(values) {
		t.Skipf("%v takes other values than it did: have the test written again", f.Type().Out(0))
	}
	var in []reflect.Value
	for i, v := range values {
		x, typ := reflect.ValueOf(v), f.Type().In(i)
		if !x.CanConvert(typ) {
			t.Skipf("%v takes other values than it did: have the test written again", f.Type().Out(0))
		}
		in = append(in, x.Convert(typ))
	}
	out := f.Call(in)
	if len(out) > 1 && !out[1].IsNil() {
		t.Skipf("%v takes other values than it did: %v", f.Type().Out(0), out[1])
	}
	return out[0].Interface().(R)
}
`

// writer writes one test.
type writer struct {
	src    Machines
	check  *model.Check
	report *check.ClaimReport
	run    *rehearsal
	strs   *interp.Strings
	vars   []string // Go variables of the runners, by instance
	loops  int
	b      strings.Builder
}

func (w *writer) p(f string, args ...any) { fmt.Fprintf(&w.b, f+"\n", args...) }

func (w *writer) role(name string) *model.Machine {
	i := slices.IndexFunc(w.src.Model.Roles, func(m *model.Machine) bool { return m.Name == name })
	return w.src.Model.Roles[i]
}

func (w *writer) name(i int) string { return w.check.Instances[i].Name }

// test writes a test; why says why there is none.
func (w *writer) test(name string) (text, why string) {
	run, err := rehearse(w.src.Model, w.check, w.report)
	if err != nil {
		return "", "its machines do not follow the run: " + err.Error()
	}
	w.run = run
	w.p("// %s: %s", name, strings.ReplaceAll(strings.TrimPrefix(w.report.Counterexample.Problem, "✗ "), "\n", "\n// "))
	w.p("func %s(t *testing.T) {", name)
	if why := w.machines(); why != "" {
		return "", why
	}
	if why := w.bound(); why != "" {
		return "", why
	}
	if why := w.steps(); why != "" {
		return "", why
	}
	if why := w.end(); why != "" {
		return "", why
	}
	w.p("}")
	return w.b.String(), ""
}

// machines makes the runners and the world.
func (w *writer) machines() (why string) {
	taken := []string{"t", "w", "made", "text",
		"fsm", "fsmtest", "testing", "bits", "slices", "reflect", w.src.API.Package()}
	var made []string
	for _, inst := range w.check.Instances {
		plain := strings.NewReplacer("[", "", "]", "").Replace(inst.Name) // p[1] is p1
		name := strings.ToLower(golang.GoName(plain)[:1]) + golang.GoName(plain)[1:]
		for slices.Contains(taken, name) || token.IsKeyword(name) || types.Universe.Lookup(name) != nil {
			name += "_"
		}
		taken = append(taken, name)
		w.vars = append(w.vars, name)
		role := w.role(inst.Role.Name)
		values, err := stage.Arguments(inst, role, w.strs)
		if err != nil {
			return inst.Name + ": " + err.Error()
		}
		var args []string
		for i, v := range values {
			if !role.Params[i].Self {
				args = append(args, ", "+w.src.API.Value(role.Params[i].Type, w.strs, v))
			}
		}
		typ, function := w.src.API.Runner(role.Name)
		made = append(made, fmt.Sprintf("made[*%[1]s.%[2]s](t, %[1]s.%[3]s, %[4]d%[5]s)",
			w.src.API.Package(), typ, function, inst.Index, strings.Join(args, "")))
		w.p("%s := %s", name, made[len(made)-1])
	}
	w.p("w := fsmtest.New(t, fsmtest.Options{%s},", w.options())
	for i, v := range w.vars {
		starts := map[bool]string{true: ", Starts: true"}[w.run.starts[i]]
		w.p("fsmtest.Machine{Name: %q, Runner: %s%s%s},", w.name(i), v, starts, w.restart(i, made[i]))
	}
	w.p(")\n")
	return ""
}

// options says what lies between the machines.
func (w *writer) options() string {
	r := w.run.rules
	ch := world.Channel{Capacity: w.check.Channel.Capacity}
	if len(r.Channels) > 0 {
		ch = r.Channels[0] // those between others are alike
	}
	list := channel(&ch)
	if w.check.Several() && len(r.Channels) > 0 {
		var all []string
		for k, c := range w.check.Channels() {
			ch := &r.Channels[k] // those from one to another are next to each other
			fields := append([]string{fmt.Sprintf("Name: %q", c.Name)}, channel(ch)...)
			if ch.Duplicates {
				fields = append(fields, "Duplicates: true")
			}
			all = append(all, "{"+strings.Join(fields, ", ")+"}")
		}
		list = []string{"Channels: []fsmtest.Channel{\n" + strings.Join(all, ",\n") + ",\n}"}
	}
	if !r.Faults.Torn {
		list = append(list, "Atomic: true")
	}
	for _, option := range []struct {
		name string
		set  uint64
	}{{"Hostile", r.Hostile}, {"Bridge", r.Faults.Bridge}} {
		var names []string
		for i := range w.check.Instances {
			if option.set>>i&1 != 0 {
				names = append(names, strconv.Quote(w.name(i)))
			}
		}
		if len(names) > 0 {
			list = append(list, option.name+": []string{"+strings.Join(names, ", ")+"}")
		}
	}
	if r.Time != nil {
		drift := ""
		if r.Time.Drift != nil {
			drift = fmt.Sprintf(", Drift: %#v", r.Time.Drift)
		}
		list = append(list, fmt.Sprintf("Time: &fsmtest.Time{Beat: %d, Delay: %d%s}", r.Time.Beat, r.Time.Delay, drift))
	}
	var links []string
	for _, l := range r.Links {
		text := fmt.Sprintf("{A: %q, B: %q", w.name(l.A), w.name(l.B))
		if l.Untold != [2]bool{} {
			text += fmt.Sprintf(", Untold: [2]bool{%v, %v}", l.Untold[0], l.Untold[1])
		}
		if l.Datagrams {
			text += ", Datagrams: true"
		}
		if w.check.Several() {
			text += fmt.Sprintf(", Channel: %q", w.check.Channels()[l.Class].Name)
		}
		links = append(links, text+"}")
	}
	if len(links) > 0 {
		list = append(list, "Links: []fsmtest.Link{"+strings.Join(links, ", ")+"}")
	}
	return strings.Join(list, ", ")
}

// channel says what a channel does.
func channel(ch *world.Channel) []string {
	list := []string{fmt.Sprintf("Capacity: %d", ch.Capacity)}
	switch ch.Full {
	case world.FullLose:
		list = append(list, "Full: fsmtest.Lose")
	case world.FullWait:
		list = append(list, "Full: fsmtest.Wait")
	}
	if ch.Order == world.Any {
		list = append(list, "Unordered: true")
	}
	if !ch.Lossy {
		list = append(list, "Lossless: true")
	}
	return list
}

// restart says how a machine begins again, if the run has it do so, and how one that comes. made makes a fresh one.
func (w *writer) restart(i int, made string) string {
	come := ""
	if w.check.Instances[i].Comes() {
		come = fmt.Sprintf(", Come: func() { *%s = *%s }", w.vars[i], made)
	}
	again := func(m move) bool { return m.Kind == world.MoveRestart && m.Who == i }
	if !slices.ContainsFunc(w.run.moves, again) {
		return come
	}
	v, role := w.vars[i], w.role(w.check.Instances[i].Role.Name)
	fields := Kept(role)
	if len(fields) == 0 {
		return come + fmt.Sprintf(", Restart: func() { *%s = *%s }", v, made)
	}
	return come + fmt.Sprintf(", Restart: func() {\nold := %s.Machine\n*%[1]s = *%s\n"+
		"fsmtest.Keep(&%[1]s.Machine, &old, %s)\n}", v, made, strings.Join(fields, ", "))
}

// Kept lists the fields of a generated machine that survive a crash, as Go texts for [fsmtest.Keep]: what is
// kept of it and of its parts, and its monitors.
func Kept(m *model.Machine) (out []string) {
	for _, x := range m.Vars {
		if x.Kept {
			out = append(out, strconv.Quote(Member(m, x.Name)))
		}
	}
	for _, p := range m.Parts {
		name := Member(m, p.Name)
		if p.Monitor {
			out = append(out, strconv.Quote(name))
			continue
		}
		for _, x := range Kept(p.Machine) {
			out = append(out, strconv.Quote(name+"."+strings.Trim(x, `"`)))
		}
	}
	return out
}
