// Package types chooses the Go names of all that a protocol has: types, messages, and machines with their
// states, events, reports and timers. It must not compose statements. Start from [New].
package types

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/model"
)

// Place returns the name of a file relative to the module, as the header has it.
func (g *Gen) Place(file string) string {
	if len(g.P.Files) == 0 || file == "" {
		return file
	}
	if file == g.P.Files[0] {
		return g.O.Spec
	}
	// Other files are named relative to the same folder as the main file.
	base := path.Dir(g.P.Files[0])
	rel := path.Clean(file)
	if base != "." && strings.HasPrefix(rel, path.Clean(base)+"/") {
		return path.Join(path.Dir(g.O.Spec), strings.TrimPrefix(rel, path.Clean(base)+"/"))
	}
	if up := path.Dir(path.Clean(base)); up != "." && strings.HasPrefix(rel, up+"/") {
		return path.Join(path.Dir(path.Dir(g.O.Spec)), strings.TrimPrefix(rel, up+"/"))
	}
	return rel
}

// At returns a comment that names a line of the specification.
func (g *Gen) At(file string, line int) string {
	return fmt.Sprintf("// %s:%d", g.Place(file), line)
}

// File returns an empty file with the header of generated files.
func (g *Gen) File(pkg string) *jen.File {
	f := jen.NewFilePathName(g.O.ImportPath, pkg)
	for _, p := range gotree.Imports {
		f.ImportName(p, path.Base(p))
	}
	f.HeaderComment(base.Header(g.O.Origin()))
	f.HeaderComment("// fsmgen " + base.Version)
	return f
}

// Programs returns the roles that are generated as machines of their own. A role that is a part of
// another one is left out, unless a check has it as an instance.
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

// Prepare chooses the names that other code refers to, always in the same order.
func (g *Gen) Prepare() {
	for _, t := range g.P.Types {
		g.Typ(t, "")
	}
	g.nameMessages()
	for _, r := range Programs(g.P) {
		g.Roles = append(g.Roles, g.NewRole(r))
	}
}

// Suffix ends the names of what the codec of one of several channels has: OnState. With one channel it is empty.
func (g *Gen) Suffix(channel int) string {
	if !g.P.Several() {
		return ""
	}
	var names []string
	for _, c := range g.P.Channels() {
		names = append(names, c.Name)
	}
	return "On" + base.GoNames(names...)[channel]
}

// OfChannel returns the name of a function or table that each channel's codec has. Users of the package append
// messages without saying over which channel they go.
func (g *Gen) OfChannel(name string, channel int) string {
	if name == "AppendMessage" && g.P.Several() {
		name = "appendMessage"
	}
	return name + g.Suffix(channel)
}

// OfPhase returns the name of a function or table that the codec has for each phase.
func (g *Gen) OfPhase(name string, phase int) string {
	return base.Unexported(strings.TrimSuffix(name, "To")) + "In" + base.GoNames(g.P.Wire.Phases...)[phase]
}

// MaxFrame returns the largest frame of all channels in bytes.
func (g *Gen) MaxFrame() (most int) {
	for k := range g.P.Channels() {
		most = max(most, g.P.Over(k).Wire.Max)
	}
	return most
}

// New returns a Gen that has chosen no names yet; see Prepare.
func New(p *model.Protocol, o base.Options) *Gen {
	g := &Gen{
		P:       p,
		O:       o,
		Top:     base.NewPackageScope(),
		out:     base.Scope{"types": true, "messages": true, "codec": true, "text": true},
		types:   map[string]*Type{},
		enums:   map[*Type][]string{},
		Helpers: map[string]bool{},
		checks:  map[string]bool{},
		consts:  map[*model.Const]string{},
	}
	for k := range p.Channels() {
		for _, n := range base.CodecNames {
			if p.Several() {
				g.Top.Take(g.OfChannel(n, k))
			}
		}
	}
	if p.Phased() {
		for _, n := range base.InPhases {
			g.Top.Take(n)
		}
		for k := range p.Wire.Phases {
			for _, n := range base.PhaseNames {
				if !strings.HasSuffix(n, "To") {
					g.Top.Take(g.OfPhase(n, k))
				}
			}
		}
	}
	if g.O.Spec == "" && len(p.Files) > 0 {
		g.O.Spec = p.Files[0]
	}
	if g.O.Package == "" {
		g.O.Package = base.PackageName(p)
	}
	if g.O.ImportPath == "" {
		g.O.ImportPath = "github.com/parley-go/parley/machines/" + g.O.Package
	}
	return g
}

// Gen has the Go names of all that the protocol has, which one generation shares.
type Gen struct {
	P     *model.Protocol
	O     base.Options
	Top   base.PackageScope
	out   base.Scope // names of files, without .go
	Roles []*Machine

	types      map[string]*Type
	Declared   []*Type
	enums      map[*Type][]string
	Helpers    map[string]bool // which shared helpers are needed
	checks     map[string]bool // functions that look for invalid elements
	CheckOrder []checkFunc

	Messages []MessageNames
	consts   map[*model.Const]string // names of constants that code uses
}

// NamedConst is a constant of the specification with its Go name.
type NamedConst struct {
	*model.Const
	Go string
}

// Constants returns the constants that code uses, in the order of their declaration.
func (g *Gen) Constants() []NamedConst {
	var out []NamedConst
	for _, c := range g.P.Consts {
		if name := g.consts[c]; name != "" {
			out = append(out, NamedConst{c, name})
		}
	}
	return out
}

// Constant returns the Go name of a constant of the specification. It returns "" if the value is
// negative, or if the protocol has no such constant: a part can come from another protocol.
func (g *Gen) Constant(name string, value int64) string {
	for _, c := range g.P.Consts {
		if c.Name == name && c.Value == value && value >= 0 {
			long := base.GoName(name)
			if g.Top.Scope[long] && g.consts[c] == "" {
				long += "Const"
			}
			g.consts[c] = g.Top.Own("const "+name, long)
			return g.consts[c]
		}
	}
	return ""
}

// MessageNames are the Go names of one message.
type MessageNames struct {
	Kind   string // constant of MessageKind
	Member string // field of Message
	Typ    string // struct, "" if the message has no fields
	Fields []string
	Encode string // functions of the codec
	Decode string
}

// Fail ends the generation with an error for the author, [base.Unsupported].
func (g *Gen) Fail(at fmt.Stringer, format string, args ...any) {
	panic(base.Unsupported{Msg: at.String() + ": " + fmt.Sprintf(format, args...)})
}

// Table returns the name of a table that each role has.
func (g *Gen) Table(r *Machine, what string) string {
	return g.Top.Own(what+" "+r.Typ, base.Unexported(r.Prefix+what))
}

// Maker returns the name of the function that makes values of a type.
func (g *Gen) Maker(typ string) string { return g.Top.Own("make "+typ, "New"+typ) }

// Locals returns a scope for the local names of one function.
func (g *Gen) Locals() base.LocalScope { return g.Top.Locals() }
