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

// GoNames returns the Go names for the names of one scope. If an earlier name has taken one, the later
// one gets a number. Fields of messages, records, commands and reports are named so.
func GoNames(names ...string) []string {
	s := Scope{}
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = s.Take(GoName(n))
	}
	return out
}

// MachineMembers returns the names of the members of a machine's struct, in order: State, then
// parameters, variables, timers and parts. None is called Step, which is a method.
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

// MessageMembers returns for each message the name of the member of Message that has its fields. None is
// called Kind, which is another member, or String, which is a method.
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

// First takes a name. If it is taken already, First takes the first of the longer ones that is free.
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

// local returns an unexported Go name for a name, one that is free in s.
func (s Scope) local(name string) string {
	g := Unexported(GoName(name))
	if token.IsKeyword(g) {
		g += "Value"
	}
	return s.Take(g)
}

// Longest is the number of lines that a generated function may have.
const Longest = 150

// UnexportedNames is GoNames for unexported names.
func UnexportedNames(names ...string) []string {
	s := Scope{}
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = s.local(n)
	}
	return out
}

// Unexported returns a Go name with its first letter in lower case.
func Unexported(name string) string { return strings.ToLower(name[:1]) + name[1:] }

// used are names that generated functions use, besides those that Go predeclares.
var used = []string{"m", "fx", "ev", "old", "dst", "b", "at", "n", "msg", "err", "fsm", "wire", "strconv",
	"errors", "binary", "bytes",
	"took", "ignored", "refused", "deferred", "ordinal"}

// reserved are package-level names that generated packages always or often have.
var reserved = []string{
	"Message", "MessageKind", "Optional", "Some", "appendMessage",
	"hash", "countBits", "maskOf", "maxQueued", "add64", "sub64", "mul64", "div64",
}

// CodecNames are package-level names that the codec of a channel has.
var CodecNames = []string{
	"DecodeMessage", "DecodeMessageTo", "AppendMessage", "FrameSize", "FrameSizeTo", "Shape",
	"decode", "decodeItems", "readHeader", "maxFrame", "leastFrame", "messageIDs",
}

// PackageScope hands out package-level names. A function sees all of them, so no parameter or variable
// of a function has the same name.
type PackageScope struct {
	Scope
	inner Scope             // all local names there are
	owned map[string]string // see own
}

// PhaseNames are package-level names of what reads frames in one phase of a stream, without the phase.
var PhaseNames = []string{"FrameSize", "FrameSizeTo", "DecodeMessage", "DecodeMessageTo", "decode", "decodeItems",
	"readHeader", "leastFrame"}

// InPhases are package-level names that a codec has for streams with phases.
var InPhases = []string{"FrameSizeIn", "DecodeMessageIn", "PhaseAfter"}

func NewPackageScope() PackageScope {
	s := PackageScope{Scope: Scope{}, inner: Scope{}, owned: map[string]string{}}
	for _, n := range slices.Concat(used, reserved, CodecNames, types.Universe.Names()) {
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

// Own returns the name of the thing with the given id. It chooses the name at the first call.
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

// Local returns an unexported Go name for a name, one that is free in s.
func (s LocalScope) Local(name string) string {
	g := Unexported(GoName(name))
	if token.IsKeyword(g) {
		g += "Value"
	}
	return s.Take(g)
}
