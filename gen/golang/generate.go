// Package golang generates Go from checked specifications: for every role a
// comparable struct with a Step method, a runner that implements fsm.Runner, the
// types and codecs of the messages, and on request an adapter for looplab/fsm.
// It is a pure function of the model: equal models and options, equal bytes. It
// must not read or write files, know YAML, or run what it generates; what the
// code means is said by package interp, with which it is compared. Start from [Generate].
package golang

import (
	"bytes"
	"fmt"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/parley-go/parley/gen/model"
)

// Version is fsmgen's version, written into every generated file. It changes when the
// generated code of an unchanged specification does, and with a release; what it was built from is
// not part of it, so that every machine generates the same bytes.
const Version = "v0.3"

// Options say what is generated.
type Options struct {
	// Spec is how the header and comments name the specification's file, with forward
	// slashes and relative to the module; empty: the model's own name of it.
	Spec string
	// Check names the check whose constants and domains p has, for the header; empty: none.
	Check string
	// Package is the name of the Go package; empty: the protocol's name.
	Package string
	// ImportPath is where the package is found, needed by adapters; empty:
	// github.com/parley-go/parley/machines/<package>.
	ImportPath string
	// Looplab asks for the adapter to looplab/fsm as well, in the folder looplab<package>.
	Looplab bool
}

// Origin is what the header says the files were generated from.
func (o Options) Origin() string {
	if o.Check == "" {
		return o.Spec
	}
	return o.Spec + ForCheck + o.Check
}

// ForCheck stands in the header between the specification and the check whose constants and domains the machines have.
const ForCheck = " for check "

// Generate returns the files of the package for p by name. The names of an
// adapter's files begin with its folder.
func Generate(p *model.Protocol, o Options) (files map[string][]byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			u, ok := r.(unsupported)
			if !ok {
				panic(r)
			}
			files, err = nil, u
		}
	}()
	g := newGen(model.WithDefaultWire(p), o)
	if !token.IsIdentifier(g.o.Package) {
		return nil, fmt.Errorf("%s: %q cannot name a Go package", g.o.Spec, g.o.Package)
	}
	out := map[string][]byte{}
	add := func(name string, f *jen.File) {
		if err != nil {
			return
		}
		var b bytes.Buffer
		if e := f.Render(&b); e != nil {
			reason, source, _ := strings.Cut(e.Error(), " while formatting source:\n")
			err = &NotGo{Spec: g.o.Spec, File: name, Reason: strings.TrimPrefix(reason, "Error "), Source: []byte(source)}
			return
		}
		out[name] = b.Bytes()
	}
	g.prepare()
	for _, r := range g.roles {
		add(r.file+".go", g.machineFile(r))
		for _, p := range allParts(r) {
			add(p.file+".go", g.partFile(p))
		}
		add(r.file+"_effects.go", g.effectsFile(r))
		add(r.file+"_runner.go", g.runnerFile(r))
		if g.o.Looplab {
			add(g.looplabDir()+"/"+r.file+".go", g.looplabFile(r))
		}
	}
	add("messages.go", g.messagesFile())
	add("codec.go", g.codecFile())
	add("text.go", g.textFile())
	add("types.go", g.typesFile()) // last: the others decide which helpers are needed
	if err != nil {
		return nil, err
	}
	return out, nil
}

// PackageName is the name of the package for a protocol unless another is chosen:
// its own in lower case, letters and digits only.
func PackageName(p *model.Protocol) string {
	return strings.ToLower(GoName(p.Name))
}

// NotGo is the error of generated code that is not even Go, which is never the specification's fault.
type NotGo struct {
	Spec, File string
	Reason     string // of the Go parser, with a place in Source
	Source     []byte
}

func (e *NotGo) Error() string {
	return fmt.Sprintf("%s: the generated code of %s is no Go (%s); this is a bug of Parley", e.Spec, e.File, e.Reason)
}

// unsupported is an error about something that the generator cannot express.
type unsupported struct{ msg string }

func (u unsupported) Error() string { return u.msg }

// fail gives up with a message for the author.
func (g *gen) fail(at fmt.Stringer, format string, args ...any) {
	panic(unsupported{at.String() + ": " + fmt.Sprintf(format, args...)})
}

// gen is the state of one generation.
type gen struct {
	p     *model.Protocol
	o     Options
	top   packageScope
	out   scope // names of files, without .go
	roles []*machine

	types    map[string]*goType
	declared []*goType
	enums    map[*goType][]string
	tables   map[string]string   // enumeration → table of its names
	helpers  map[string]bool     // which shared helpers are needed
	fits     []*fit              // conversions between types
	checks   map[string]bool     // functions that look for invalid elements
	code     map[*machine]string // of a role's Step and parts

	checkOrder []checkFunc
	textOrder  []*goType
	readers    map[string]bool // types whose values are read
	readOrder  []*goType
	codes      map[*goType]string // tables of codes
	tail       []string           // of the codec's file
	texts      map[string]bool    // types whose values are rendered

	messages []messageNames
}

// messageNames are the Go names for one message.
type messageNames struct {
	kind   string // constant of MessageKind
	member string // field of Message
	typ    string // struct, "" if the message has no fields
	fields []string
	encode string // functions of the codec
	decode string
}

func newGen(p *model.Protocol, o Options) *gen {
	g := &gen{p: p, o: o, top: newPackageScope(), out: scope{"types": true, "messages": true, "codec": true, "text": true}, types: map[string]*goType{}, enums: map[*goType][]string{},
		tables: map[string]string{}, helpers: map[string]bool{}, texts: map[string]bool{}, readers: map[string]bool{},
		checks: map[string]bool{}, code: map[*machine]string{}, codes: map[*goType]string{}}
	if g.o.Spec == "" && len(p.Files) > 0 {
		g.o.Spec = p.Files[0]
	}
	if g.o.Package == "" {
		g.o.Package = PackageName(p)
	}
	if g.o.ImportPath == "" {
		g.o.ImportPath = "github.com/parley-go/parley/machines/" + g.o.Package
	}
	return g
}

// prepare chooses all names that other code refers to, in a fixed order.
func (g *gen) prepare() {
	for _, t := range g.p.Types {
		g.typ(t, "")
	}
	g.nameMessages()
	for _, r := range Programs(g.p) {
		g.roles = append(g.roles, g.newRole(r))
	}
}

// Programs lists the roles that are generated as machines of their own: all but those that
// are only parts of others, in no check an instance.
func Programs(p *model.Protocol) []*model.Machine {
	inner := map[*model.Machine]bool{}
	for _, r := range p.Roles {
		for _, part := range r.Parts {
			inner[part.Machine] = true
		}
	}
	alone := map[string]bool{}
	for _, c := range p.Checks {
		for _, in := range c.Instances {
			alone[in.Role.Name] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(p.Roles), func(r *model.Machine) bool { return inner[r] && !alone[r.Name] })
}

// file starts a file with the header that marks it as ours.
func (g *gen) file(pkg string) *jen.File {
	f := jen.NewFilePathName(g.o.ImportPath, pkg)
	for name, path := range packages { // the order does not matter: this is a table of names
		f.ImportName(path, name)
	}
	f.HeaderComment(Header(g.o.Origin()))
	f.HeaderComment("// fsmgen " + Version)
	return f
}

// Header is the first line of every generated file.
func Header(spec string) string {
	return "// Code generated by fsmgen from " + spec + "; DO NOT EDIT."
}

// at renders the place of a line of the specification for a comment.
func (g *gen) at(file string, line int) string {
	return fmt.Sprintf("// %s:%d", g.place(file), line)
}

// place names a file as the header does: relative to the module.
func (g *gen) place(file string) string {
	if len(g.p.Files) == 0 || file == "" {
		return file
	}
	if file == g.p.Files[0] {
		return g.o.Spec
	}
	// Other files are named relative to the same folder as the main file.
	base := path.Dir(g.p.Files[0])
	rel := path.Clean(file)
	if base != "." && strings.HasPrefix(rel, path.Clean(base)+"/") {
		return path.Join(path.Dir(g.o.Spec), strings.TrimPrefix(rel, path.Clean(base)+"/"))
	}
	if up := path.Dir(path.Clean(base)); up != "." && strings.HasPrefix(rel, up+"/") {
		return path.Join(path.Dir(path.Dir(g.o.Spec)), strings.TrimPrefix(rel, up+"/"))
	}
	return rel
}

func (g *gen) typesFile() *jen.File {
	f := g.file(g.o.Package)
	f.PackageComment(comment("Package", g.o.Package+" is the protocol "+g.p.Name+". "+sentence(g.p.Doc)))
	if g.p.Source != "" {
		f.PackageComment("//")
		f.PackageComment(comment("Source:", sentence(g.p.Source)))
	}
	f.Line()
	f.Comment("The contract with the runtime that this code was generated for.")
	f.Var().Id("_").Op("=").Add(raw("fsm.GeneratedV2"))
	f.Line()
	f.Comment("hash is that of what the specification says of the machines; traces and snapshots carry it.")
	f.Const().Id("hash").Op("=").Lit(g.p.Hash)
	for _, gt := range g.declared {
		g.declare(f, gt)
	}
	g.fitFuncs(f)
	g.helperFuncs(f)
	return f
}
