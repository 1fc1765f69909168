package base

import (
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/parley-go/parley/gen/model"
)

// GoName turns a name of a specification into an exported Go name:
// `localOk` LocalOk, `CONFIRM1` Confirm1, `SEED_RANDOM` SeedRandom, `fleet.changed` FleetChanged.
func GoName(name string) string {
	var b strings.Builder
	for _, piece := range strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '.' || r == '-' }) {
		if len(piece) > 1 && piece == strings.ToUpper(piece) {
			piece = strings.ToLower(piece)
		}
		b.WriteString(strings.ToUpper(piece[:1]) + piece[1:])
	}
	if b.Len() == 0 || !unicode.IsLetter(rune(b.String()[0])) {
		return "X" + b.String()
	}
	return b.String()
}

// GoNames gives every name of one scope its Go name; a name that is taken by an
// earlier one gets a number. Fields of messages, records, commands and reports are named so.
func GoNames(names ...string) []string {
	s := Scope{}
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = s.Take(GoName(n))
	}
	return out
}

// MachineMembers gives the members of the struct for a machine in their order: State, then
// parameters, variables, timers and parts. Step is a method.
func MachineMembers(m *model.Machine) []string {
	names := []string{"State", "Step"}
	for _, list := range [2][]*model.Var{m.Params, m.Vars} {
		for _, v := range list {
			names = append(names, v.Name)
		}
	}
	for _, t := range m.Timers {
		names = append(names, t.Name)
	}
	for _, p := range m.Parts {
		names = append(names, p.Name)
	}
	names = GoNames(names...)
	return append(names[:1], names[2:]...)
}

// MessageMembers gives for each message the member of Message that it has if it has
// fields. Kind is a member already, String a method.
func MessageMembers(list []*model.Message) []string {
	names := []string{"Kind", "String"}
	for _, m := range list {
		names = append(names, m.Name)
	}
	return GoNames(names...)[2:]
}

// Scope hands out names, each once.
type Scope map[string]bool

func (s Scope) Take(name string) string {
	unique := name
	for i := 2; s[unique]; i++ {
		unique = name + strconv.Itoa(i)
	}
	s[unique] = true
	return unique
}

// First takes a name, or the first of the longer ones that is free.
func (s Scope) First(name string, longer ...string) string {
	for _, more := range longer {
		if !s[name] {
			break
		}
		if !s[name+more] {
			name += more
		}
	}
	return s.Take(name)
}

// local turns a name into an unexported Go name that is free in s.
func (s Scope) local(name string) string {
	g := Unexported(GoName(name))
	if token.IsKeyword(g) {
		g += "Value"
	}
	return s.Take(g)
}

// Longest is how many lines a generated function may have.
const Longest = 150

// UnexportedNames are GoNames for what other packages do not see.
func UnexportedNames(names ...string) []string {
	s := Scope{}
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = s.local(n)
	}
	return out
}

// Unexported lowers the first letter of a Go name.
func Unexported(name string) string { return strings.ToLower(name[:1]) + name[1:] }

// used are the names that generated functions use themselves, besides Go's predeclared ones.
var used = []string{"m", "fx", "ev", "old", "dst", "b", "at", "n", "msg", "err", "fsm", "wire", "strconv",
	"errors", "binary", "bytes",
	"took", "ignored", "refused", "deferred", "ordinal"}

// reserved are package-level names that are always or often there.
var reserved = []string{"Message", "Shape", "decodeItems", "MessageKind", "Optional", "Some", "DecodeMessage",
	"AppendMessage", "FrameSize",
	"maxFrame", "hash", "decode", "readHeader", "leastFrame", "messageIDs", "appendMessage", "countBits", "maskOf", "maxQueued",
	"add64", "sub64", "mul64", "div64"}

// PackageScope hands out the names of the package. A function sees them all, so that
// none is a name of a parameter or variable too: it would be hidden there.
type PackageScope struct {
	Scope
	inner Scope             // all local names there are
	owned map[string]string // see own
}

func NewPackageScope() PackageScope {
	s := PackageScope{Scope: Scope{}, inner: Scope{}, owned: map[string]string{}}
	for _, n := range slices.Concat(used, reserved, types.Universe.Names()) {
		s.Scope[n] = true
	}
	return s
}

func (s PackageScope) Take(name string) string {
	unique := name
	for i := 2; s.Scope[unique] || s.inner[unique]; i++ {
		unique = name + strconv.Itoa(i)
	}
	s.Scope[unique] = true
	return unique
}

// Own returns the name of what id stands for, choosing it at the first call.
func (s PackageScope) Own(id, name string) string {
	n, ok := s.owned[id]
	if !ok {
		n = s.Take(name)
		s.owned[id] = n
	}
	return n
}

// Locals returns a scope for the local names of one function.
func (s PackageScope) Locals() LocalScope { return LocalScope{Scope{}, s} }

// LocalScope hands out the local names of one function.
type LocalScope struct {
	Scope
	top PackageScope
}

func (s LocalScope) Take(name string) string {
	unique := name
	for i := 2; s.Scope[unique] || s.top.Scope[unique]; i++ {
		unique = name + strconv.Itoa(i)
	}
	s.Scope[unique], s.top.inner[unique] = true, true
	return unique
}

// Local turns a name into an unexported Go name that is free in s.
func (s LocalScope) Local(name string) string {
	g := Unexported(GoName(name))
	if token.IsKeyword(g) {
		g += "Value"
	}
	return s.Take(g)
}
