package golang

import (
	"go/token"
	"strconv"
	"strings"
	"unicode"
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
// earlier one gets a number. Fields of messages, records, commands and reports
// are named so, and so are the members of a machine: State, then parameters, variables, timers and parts.
func GoNames(names ...string) []string {
	s := scope{}
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = s.take(GoName(n))
	}
	return out
}

// scope hands out names, each once.
type scope map[string]bool

func (s scope) take(name string) string {
	unique := name
	for i := 2; s[unique]; i++ {
		unique = name + strconv.Itoa(i)
	}
	s[unique] = true
	return unique
}

// used are the names that generated functions use themselves.
var used = []string{"m", "fx", "ev", "old", "dst", "b", "at", "n", "msg", "fsm", "wire", "strconv", "errors", "binary", "bytes",
	"min", "max", "len", "cap", "append", "int", "int64", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32",
	"true", "false", "byte", "string", "bool", "error", "took", "ignored", "refused", "deferred", "ordinal", "copy", "clear", "any", "new", "make", "nil"}

// locals returns a scope for the local names of one function.
func locals() scope {
	s := scope{}
	for _, n := range used {
		s[n] = true
	}
	return s
}

// local turns a name into an unexported Go name that is free in s.
func (s scope) local(name string) string {
	g := unexported(GoName(name))
	if token.IsKeyword(g) {
		g += "Value"
	}
	return s.take(g)
}

// unexported lowers the first letter of a Go name.
func unexported(name string) string { return strings.ToLower(name[:1]) + name[1:] }
