package sources

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/symbols"
	"github.com/parley-go/parley/proptest/race"
)

const root = "../.."

// An index has what one file of a specification says, with all that it extends and imports.
type index struct {
	names    map[string]bool // `end`, `state.EVENT`, `role.state`, `check claim`
	branches map[string]int  // how many an event has at most, by event and by state and event
	lines    []string        // of protocols of lines, see template
	text     string          // of all files, see flat

	messages map[string]*layout
	states   map[string]map[string]*reaction // by state and event, of all machines
	values   map[string]int64                // see TestValues
}

// A layout is what the tables of layouts say of a message.
type layout struct {
	id               int64
	least, most, top int // bytes, and those of the header
	empty            int // of the message whose values are all zero, 0 if there is none
	line             string
	fields           []string
	own              bool // it is declared in the folder of the page
}

// A reaction is what a state does with an event.
type reaction struct {
	mode model.Mode
	to   map[string]bool // where branches lead; "stays" is the state itself
	sent map[string]bool // what branches send
}

// newIndex compiles a file.
func newIndex(file string) (*index, error) {
	table := symbols.New()
	p, l := compile.Load(file, compile.Options{Symbols: table})
	if p == nil {
		return nil, l
	}
	x := &index{names: map[string]bool{}, branches: map[string]int{}, messages: map[string]*layout{},
		states: map[string]map[string]*reaction{}, values: map[string]int64{}}
	for _, s := range table.Symbols() {
		x.names[s.Name] = true
		if s.Owner != "" {
			x.names[s.Owner+"."+s.Name], x.names[s.Owner+" "+s.Name] = true, true
		}
	}
	for _, name := range model.BuiltinClaims() {
		x.names[name] = true
	}
	for _, c := range p.Consts {
		x.values[c.Name] = c.Value
	}
	for _, t := range p.Types {
		x.values[t.Name] = t.Hi
		for i, code := range t.Codes {
			x.values[t.Name+"."+t.Names[i]] = code
		}
		if t.Kind == model.KindBytes || t.Kind == model.KindList {
			x.values[t.Name] = int64(t.Cap)
		}
	}
	for _, m := range p.Messages {
		x.message(p, m)
	}
	for _, m := range p.Roles {
		x.machine(p, m.Name, m)
	}
	for _, c := range p.Checks {
		for _, m := range c.Monitors {
			x.names[m.Inst.Name] = true
		}
		for _, in := range c.Instances {
			for _, part := range in.Role.Parts {
				x.names[part.Name] = true // a monitor of one instance
			}
		}
	}
	for _, name := range p.Files {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		x.text += flat(string(b)) + " "
	}
	return x, nil
}

// message notes how a message is written.
func (x *index) message(p *model.Protocol, m *model.Message) {
	y := &layout{id: m.ID, least: m.MinLen, most: m.MaxLen, own: filepath.Dir(m.Span.File) == filepath.Clean(p.Dir)}
	if w := p.WireOf(m); w != nil {
		y.top = w.HeaderLen
		slots := 0
		for _, f := range m.Fields {
			slots += f.Type.Slots()
		}
		if b, e := interp.AppendFrame(p, &interp.Strings{}, nil, m, make([]int64, slots)); e.Problem == 0 {
			y.empty = len(b)
		}
	}
	for _, f := range m.Fields {
		y.fields = append(y.fields, f.Name)
	}
	for _, part := range m.Line {
		if y.line += part.Text; len(part.Path) > 0 {
			y.line += "*"
		}
	}
	y.line = template(y.line)
	if y.line != "" {
		x.lines = append(x.lines, y.line)
	}
	x.messages[m.Name] = y
}

// machine notes the states and events of a machine, and of its parts under their names.
func (x *index) machine(p *model.Protocol, name string, m *model.Machine) {
	for _, v := range slices.Concat(m.Params, m.Vars) {
		x.names[name+"."+v.Name] = true
	}
	for _, t := range m.Timers {
		x.names[name+"."+t.Name] = true
		if t.Length == nil {
			x.values[t.Name] = (time.Duration(t.Ticks) * p.Tick).Round(time.Millisecond).Milliseconds()
		}
	}
	for _, e := range m.Events {
		x.names[e.Name], x.names[name+"."+e.Name] = true, true
	}
	for _, st := range m.States {
		x.state(name, m, st)
	}
	for _, part := range m.Parts {
		x.machine(p, part.Name, part.Machine)
	}
}

// state notes a state with those around it, and what it does with each event.
func (x *index) state(machine string, m *model.Machine, st *model.State) {
	around := []string{st.Name}
	entered := len(st.Entry) > 0
	for in := st.In; in != nil; in = in.In {
		around = append(around, in.Name)
		entered = entered || len(in.Entry) > 0
	}
	for _, s := range around {
		x.names[s], x.names[machine+"."+s] = true, true
		if entered {
			x.names[s+".entry"] = true
		}
	}
	if x.states[st.Name] == nil {
		x.states[st.Name] = map[string]*reaction{}
	}
	alone := map[string]*reaction{} // of the machine
	x.states[machine+"."+st.Name] = alone
	for _, h := range st.Handlers {
		if h == nil {
			continue
		}
		event := h.Event.Name
		r := &reaction{mode: h.Mode, to: map[string]bool{}, sent: map[string]bool{}}
		for _, b := range h.Branches {
			if b.To == nil || b.To == st {
				r.to["stays"] = true
			} else {
				r.to["→ "+b.To.Name] = true
			}
			r.sends(b.Body)
		}
		x.states[st.Name][event], alone[event] = r, r
		x.count(event, h)
		x.count(machine+"."+event, h)
		for _, s := range around {
			x.count(s+"."+event, h)
			x.count(machine+"."+s+"."+event, h)
		}
	}
}

// sends notes what statements send.
func (r *reaction) sends(list []model.Stmt) {
	for _, st := range list {
		switch st := st.(type) {
		case *model.Send:
			r.sent[st.Message.Name] = true
		case *model.If:
			r.sends(st.Then)
			r.sends(st.Else)
		case *model.Each:
			r.sends(st.Body)
		}
	}
}

func (x *index) count(key string, h *model.Handler) {
	x.names[key] = true
	x.branches[key] = max(x.branches[key], len(h.Branches))
}

// flat returns a text with each run of blanks as one, and without quotation marks.
func flat(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer(`"`, "", `\`, "").Replace(s)), " ")
}

// A folder is a page with the specifications beside it, each compiled when a page first names it.
type folder struct {
	dir   string // from the root of the repository
	page  []string
	files map[string]*index // nil until it is compiled
	order []string          // of the names of files: what pages speak of most comes first
}

// known are the folders by name, each once for all tests.
var known struct {
	sync.Mutex
	list map[string]*folder
}

// open returns the folder specs/NAME; nil if there is none.
func open(t *testing.T, name string) *folder {
	t.Helper()
	known.Lock()
	defer known.Unlock()
	if f := known.list[name]; f != nil {
		return f
	}
	f := &folder{dir: "specs/" + name, files: map[string]*index{}}
	files, err := filepath.Glob(filepath.Join(root, f.dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		return nil
	}
	for _, file := range files {
		f.files[filepath.Base(file)] = nil
	}
	for _, first := range []string{"spec.yaml", "documented.yaml", "coded.yaml"} {
		if _, ok := f.files[first]; ok {
			f.order = append(f.order, first)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(f.files)) {
		if !slices.Contains(f.order, file) {
			f.order = append(f.order, file)
		}
	}
	b, err := os.ReadFile(filepath.Join(root, f.dir, "SOURCES.md"))
	if err != nil {
		return nil
	}
	f.page = strings.Split(string(b), "\n")
	if known.list == nil {
		known.list = map[string]*folder{}
	}
	known.list[name] = f
	return f
}

// all returns the folders of all specifications that are not of the library.
func all(t *testing.T) (list []*folder) {
	t.Helper()
	race.Skip(t)
	pages, err := filepath.Glob(filepath.Join(root, "specs", "*", "SOURCES.md"))
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages (%v)", len(pages), err)
	}
	for _, page := range pages {
		f := open(t, filepath.Base(filepath.Dir(page)))
		if f == nil {
			t.Fatalf("%s: no specification is beside it", page)
		}
		list = append(list, f)
	}
	return list
}

// file returns what a file of the folder says; nil if there is none of this name.
func (f *folder) file(t *testing.T, name string) *index {
	t.Helper()
	known.Lock()
	defer known.Unlock()
	x, ok := f.files[name]
	if !ok {
		return nil
	}
	if x == nil {
		var err error
		if x, err = newIndex(filepath.Join(root, f.dir, name)); err != nil {
			t.Fatal(err)
		}
		f.files[name] = x
	}
	return x
}
