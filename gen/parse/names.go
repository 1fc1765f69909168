package parse

import (
	"go/token"
	"go/types"
	"maps"
	"strings"
)

// maxName bounds the length of a name.
const maxName = 64

// reserved are the words that mean something in every expression.
var reserved = map[string]bool{
	"true": true, "false": true, "none": true, "in": true, "for": true, "bool": true, "null": true,
}

// reservedTypes are words that mean something only where a type stands.
var reservedTypes = map[string]bool{
	"opaque": true, "text": true, "bytes": true, "instance": true, "u8": true, "u16": true, "u32": true, "u64": true,
}

// names describes which keys an open map may have: as a check, and as a pattern for the JSON
// Schema, with the words that the pattern would let through.
type names struct {
	complain func(string) string
	pattern  string
	but      map[string]bool
}

const (
	namePattern     = "^[A-Za-z][A-Za-z0-9_]{0,63}$"
	dashedPattern   = "^[A-Za-z][A-Za-z0-9_-]{0,63}$"
	instancePattern = "^[A-Za-z][A-Za-z0-9_]{0,63}([[].*[.][.].*[]])?$"
	eventPattern    = "^[A-Za-z][A-Za-z0-9_]{0,63}([.][A-Za-z][A-Za-z0-9_]{0,63})?$"
	eventsPattern   = "^[A-Za-z][A-Za-z0-9_]{0,63}([.][A-Za-z][A-Za-z0-9_]{0,63})?( *, " +
		"*[A-Za-z][A-Za-z0-9_]{0,63}([.][A-Za-z][A-Za-z0-9_]{0,63})?)*$"
)

var (
	plainNames   = names{NameComplaint, namePattern, reserved}
	typeNames    = names{TypeNameComplaint, namePattern, union(reserved, reservedTypes)}
	dashedNames  = names{DashedNameComplaint, dashedPattern, nil}
	eventKeys    = names{keysOfState, eventsPattern, reserved}
	ruleKeys     = names{keyOfRule, eventPattern, reserved}
	instanceKeys = names{keyOfInstance, instancePattern, reserved}
	freeKeys     = names{freeKey, "[^ \t\r\n]", nil}
)

// goWords are names that Go uses for itself. Nothing can import a package main, and one called
// string or len would hide what every program uses.
var goWords = func() map[string]bool {
	words := map[string]bool{"main": true}
	for _, n := range types.Universe.Names() {
		words[n] = true
	}
	for t := token.BREAK; t <= token.VAR; t++ {
		words[t.String()] = true
	}
	return words
}()

// goFolders are names of folders, and of packages, that the go command treats in its own way.
var goFolders = map[string]string{
	"internal":      "only the module around it could import the package",
	"vendor":        "the go command looks there for copies of other modules",
	"testdata":      "the go command leaves such a folder out",
	"documentation": "the go command leaves out the files of such a package",
}

func union[V bool | string](a map[string]bool, b map[string]V) map[string]bool {
	out := maps.Clone(a)
	for k := range b {
		out[k] = true
	}
	return out
}

// A complaint says what is wrong with a name, as a predicate that follows the name in a sentence.

// TypeNameComplaint returns what is wrong with the name of a type, or "".
func TypeNameComplaint(name string) string {
	if reservedTypes[name] {
		return "is a type of the language and cannot be declared"
	}
	return NameComplaint(name)
}

// NameComplaint returns what is wrong with a name, or "".
func NameComplaint(name string) string {
	switch {
	case name == "":
		return "is empty, and a name is needed"
	case len(name) > maxName:
		return "is longer than a name may be: 64 characters"
	case !plainName(name, false):
		return "is not a name: a name is letters, digits and _, starting with a letter"
	case reserved[name]:
		return "is a word of the language and cannot be a name"
	}
	return ""
}

// DashedNameComplaint returns what is wrong with the name of a claim or check, which no expression
// mentions, or "".
func DashedNameComplaint(name string) string {
	switch {
	case len(name) > maxName:
		return "is longer than a name may be: 64 characters"
	case !plainName(name, true):
		return "is not a name: a name is letters, digits, - and _, starting with a letter"
	}
	return ""
}

func plainName(name string, dash bool) bool {
	for i, c := range name {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case i > 0 && (c == '_' || c >= '0' && c <= '9' || dash && c == '-'):
		default:
			return false
		}
	}
	return name != ""
}

// ProtocolName returns what is wrong with the name of a protocol, or "".
func ProtocolName(name string) string {
	if NameComplaint(name) != "" || name != strings.ToLower(name) || strings.Contains(name, "_") {
		return "cannot name a protocol: the name is lower-case letters and digits, and becomes that of the Go package"
	}
	if goWords[name] {
		return "is a word of Go, and a protocol's name becomes that of the Go package; choose another one"
	}
	if why := goFolders[name]; why != "" {
		return "cannot name a protocol, whose name becomes that of the Go package and its folder: " + why
	}
	return ""
}

// PackageName returns what is wrong with a name for a Go package, or "".
func PackageName(name string) string {
	switch {
	case name != strings.ToLower(name) || NameComplaint(name) != "" && !goWords[name]:
		return "cannot name a Go package: such a name is lower-case letters, digits and _, starting with a letter"
	case goWords[name]:
		return "is a word of Go and cannot name a package"
	case goFolders[name] != "":
		return "cannot name a package: " + goFolders[name]
	}
	return ""
}

// keyOfState accepts events: names, and part.report or part.finished.
func keyOfState(name string) string {
	part, rest, dotted := strings.Cut(name, ".")
	if dotted && NameComplaint(part) == "" && NameComplaint(rest) == "" || NameComplaint(name) == "" {
		return ""
	}
	return "is not an event: an event is a name, part.report or part.finished"
}

// keysOfState accepts several events with commas between them.
func keysOfState(text string) string {
	names := strings.Split(text, ",")
	for i, name := range names {
		if i > 0 {
			name = strings.TrimLeft(name, " ")
		}
		if i < len(names)-1 {
			name = strings.TrimRight(name, " ")
		}
		if c := keyOfState(name); c != "" {
			return c
		}
	}
	return ""
}

func keyOfRule(name string) string {
	if keyOfState(name) != "" {
		return "cannot have a rule: a rule is for a command, or role.command"
	}
	return ""
}

// keyOfInstance accepts names, and name[range].
func keyOfInstance(name string) string {
	head, rest, many := strings.Cut(name, "[")
	if c := NameComplaint(head); c != "" || !many {
		return c
	}
	if !strings.HasSuffix(rest, "]") || !strings.Contains(rest, "..") {
		return "declares no instances: write name, or name[range]"
	}
	return ""
}

// freeKey accepts keys that are parsed later.
func freeKey(name string) string {
	if strings.TrimSpace(name) == "" {
		return "is empty, and a name is needed"
	}
	return ""
}
