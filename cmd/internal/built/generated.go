// Package built compares the interpreter with generated code that is built for it: packages are
// generated in memory, a program of them and runtime/fsmtest/stepper is built in the module of the
// user, and it is asked for single steps. Nothing is written into the module. Start from [Build].
package built

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/parley-go/parley/cmd/internal/gotest"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/gen/golang"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/runtime/fsmtest/stepper"
)

// Module is where the program is built: the folder of a Go module that has Parley, and its path.
type Module struct{ Root, Path string }

// folder is where the packages would lie in the module. Nothing is there: the Go tool is told so.
const folder = "fsmgen_simulate"

// Machines is a running program of generated machines. It may be used by several goroutines.
type Machines struct {
	first map[string]int // by check: the number of the machine of the first instance
	from  map[string]*model.Protocol
	stop  func()
	errs  *bytes.Buffer

	mu  sync.Mutex
	in  *json.Encoder
	out *json.Decoder
}

// Build generates the machines of checks, each with the model that was compiled for it, and starts a
// program of them. The error is what the Go tool says if it cannot be built. Whoever uses the machines
// closes them.
func Build(ctx context.Context, at Module, models []*model.Protocol, checks []*model.Check) (*Machines, error) {
	dir, err := os.MkdirTemp("", "fsmgen-simulate-")
	if err != nil {
		return nil, err
	}
	m := &Machines{first: map[string]int{}, from: map[string]*model.Protocol{}, errs: &bytes.Buffer{},
		stop: func() { os.RemoveAll(dir) }}
	if err := m.build(ctx, at, dir, models, checks); err != nil {
		m.stop()
		return nil, err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "program"))
	cmd.Stderr = m.errs
	in, err := cmd.StdinPipe()
	if err != nil {
		m.stop()
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		m.stop()
		return nil, err
	}
	m.in, m.out = json.NewEncoder(in), json.NewDecoder(out)
	m.stop = func() {
		in.Close() // it ends when nothing is asked any more
		cmd.Wait() // what it ended with has no meaning now
		os.RemoveAll(dir)
	}
	return m, nil
}

// Close ends the program.
func (m *Machines) Close() { m.stop() }

// build writes the packages into a folder of files for the day, and builds the program there.
func (m *Machines) build(ctx context.Context, at Module, dir string, models []*model.Protocol,
	checks []*model.Check) error {
	s := source{at: at, overlay: map[string]string{}, dir: dir, packages: map[string]string{}}
	for i, c := range checks {
		if _, is := m.first[c.Name]; is {
			continue
		}
		p := model.WithDefaultWire(framed(models[i]))
		m.first[c.Name], m.from[c.Name] = s.machines, p
		if err := s.check(p, c); err != nil {
			return fmt.Errorf("check %s: %w", c.Name, err)
		}
	}
	if err := s.put("", "main.go", s.program()); err != nil {
		return err
	}
	list, err := json.Marshal(map[string]any{"Replace": s.overlay})
	if err != nil {
		return err
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := files.Write(overlay, list); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-overlay", overlay, "-o", filepath.Join(dir, "program"),
		"./"+folder)
	cmd.Dir = at.Root
	out, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("the generated machines are built with the Go tool, which is not there: %w", err)
	case err != nil:
		return fmt.Errorf("the generated machines cannot be built in the module %s (%s), which has to require "+
			"github.com/parley-go/parley:\n%s", at.Path, at.Root, bytes.TrimSpace(out))
	}
	return nil
}

// mostFrames is how many values of a message are tried for [framed].
const mostFrames = 10_000

// framed returns a protocol in which each message of a check has a frame: p, or p without its wire format. The few
// values that stand for all in a check may have none in it: a text of a domain has one letter or none, where a frame
// has sixteen bytes. The default format has a frame for each value.
func framed(p *model.Protocol) *model.Protocol {
	if p.Wire == nil {
		return p
	}
	strs := &interp.Strings{}
	strs.InternDomains(p)
	for _, m := range p.Messages {
		values, err := interp.Domains(&model.Event{Name: m.Name, Fields: m.Fields}, mostFrames)
		if err != nil || slices.ContainsFunc(values, func(slots []int64) bool {
			_, err := interp.AppendFrame(p, strs, nil, m, slots)
			return err.Problem != 0
		}) {
			c := *p
			c.Wire = nil
			return &c
		}
	}
	return p
}

// source is the source of a program.
type source struct {
	at       Module
	dir      string
	overlay  map[string]string
	packages map[string]string // by what is in them: their names
	machines int
	imports  strings.Builder
	made     strings.Builder
	list     []string
	text     bool // it needs the function text
}

// put has a file lie in a folder of the program.
func (s *source) put(pkg, name string, content []byte) error {
	file := filepath.Join(s.dir, pkg+"_"+name)
	s.overlay[filepath.Join(s.at.Root, folder, pkg, name)] = file
	return files.Write(file, content)
}

// check generates the package of a check's machines, unless another check has the same, and makes one of
// them for each instance.
func (s *source) check(p *model.Protocol, c *model.Check) error {
	all, err := golang.Generate(p, golang.Options{Package: "machines"})
	if err != nil {
		return err
	}
	var whole strings.Builder
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range all {
			if !yield(name) {
				return
			}
		}
	})
	for _, name := range names {
		whole.Write(all[name])
	}
	pkg, ok := s.packages[whole.String()]
	if !ok {
		pkg = fmt.Sprint("m", len(s.packages))
		s.packages[whole.String()] = pkg
		for _, name := range names {
			if err := s.put(pkg, name, all[name]); err != nil {
				return err
			}
		}
		fmt.Fprintf(&s.imports, "\t%s %q\n", pkg, path.Join(s.at.Path, folder, pkg))
	}
	api, err := golang.NewAPI(p, golang.Options{Package: pkg})
	if err != nil {
		return err
	}
	strs := &interp.Strings{}
	strs.InternDomains(p)
	for _, inst := range c.Instances {
		at := slices.IndexFunc(p.Roles, func(m *model.Machine) bool { return m.Name == inst.Role.Name })
		role := p.Roles[at]
		values, err := stage.Arguments(inst, role, strs)
		if err != nil {
			return err
		}
		var args []string
		for i, v := range values {
			args = append(args, api.Value(role.Params[i].Type, strs, v))
			s.text = s.text || strings.Contains(args[i], "text(")
		}
		_, function := api.Runner(role.Name)
		fmt.Fprintf(&s.made, "\tr%d := made(%s.%s(%s))\n", s.machines, pkg, function, strings.Join(args, ", "))
		s.list = append(s.list, fmt.Sprintf("\t\tstepper.Machine{Runner: r%[1]d, Value: &r%[1]d.Machine, "+
			"Keep: []string{%[2]s}},\n", s.machines, strings.Join(gotest.Kept(role), ", ")))
		s.machines++
	}
	return nil
}

// program is the file of the function main.
func (s *source) program() []byte {
	var b bytes.Buffer
	b.WriteString("package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\n\t" +
		"\"github.com/parley-go/parley/runtime/fsmtest/stepper\"\n" + s.imports.String() + ")\n\n")
	b.WriteString("func made[R any](r R, errs ...error) R {\n\tfor _, err := range errs {\n\t\tif err != nil {\n" +
		"\t\t\tpanic(err)\n\t\t}\n\t}\n\treturn r\n}\n\n")
	if s.text {
		b.WriteString("func text[T any](t T, ok bool) T {\n\tif !ok {\n\t\tpanic(\"too long\")\n\t}\n\treturn t\n}\n\n")
	}
	b.WriteString("func main() {\n" + s.made.String() + "\terr := stepper.Serve(os.Stdin, os.Stdout,\n" +
		strings.Join(s.list, "") + "\t)\n\tif err != nil {\n\t\tfmt.Fprintln(os.Stderr, err)\n\t\tos.Exit(1)\n\t}\n}\n")
	return b.Bytes()
}

// ask has the program take a step.
func (m *Machines) ask(q *stepper.Request) (a stepper.Answer, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err = m.in.Encode(q); err == nil {
		err = m.out.Decode(&a)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return a, fmt.Errorf("the program of the generated machines does not answer: %w", err)
	}
	if err != nil {
		return a, errors.New("the program of the generated machines has ended: " + m.errs.String())
	}
	return a, nil
}
