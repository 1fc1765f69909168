package parse

import (
	"strconv"
	"strings"
	"time"

	"github.com/parley-go/parley/gen/ast"
)

// maxName bounds the length of a name.
const maxName = 64

// reserved are the words that mean something in every expression.
var reserved = map[string]bool{
	"true": true, "false": true, "none": true, "in": true, "for": true, "bool": true, "null": true,
}

// reservedTypes are words that mean something only where a type stands.
var reservedTypes = map[string]bool{
	"opaque": true, "text": true, "instance": true, "u8": true, "u16": true, "u32": true, "u64": true,
}

// typeName is for the declared types.
func typeName(name string) string {
	if reservedTypes[name] {
		return "is a type of the language and cannot be declared"
	}
	return NameComplaint(name)
}

// NameComplaint says what is wrong with a name, or "".
func NameComplaint(name string) string {
	switch {
	case name == "":
		return "a name is missing"
	case len(name) > maxName:
		return "a name has at most 64 characters"
	case !plainName(name, false):
		return "a name is letters, digits and _, starting with a letter"
	case reserved[name]:
		return "is a word of the language and cannot be a name"
	}
	return ""
}

// dashedName is for claims and checks, which no expression mentions.
func dashedName(name string) string {
	switch {
	case len(name) > maxName:
		return "a name has at most 64 characters"
	case !plainName(name, true):
		return "a name is letters, digits, - and _, starting with a letter"
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

func nameScalar(n *ast.Node) string { return NameComplaint(n.Text) }

func protocolName(n *ast.Node) string { return ProtocolName(n.Text) }

// ProtocolName says what is wrong with the name of a protocol, or "".
func ProtocolName(name string) string {
	if NameComplaint(name) != "" || name != strings.ToLower(name) || strings.Contains(name, "_") {
		return "a protocol's name is lower-case letters and digits; it becomes the Go package name"
	}
	return ""
}

// keyOfState accepts events: names, and part.report or part.finished.
func keyOfState(name string) string {
	part, rest, dotted := strings.Cut(name, ".")
	if dotted && NameComplaint(part) == "" && NameComplaint(rest) == "" || NameComplaint(name) == "" {
		return ""
	}
	return "an event is a name, or part.report, or part.finished"
}

func keyOfRule(name string) string {
	if keyOfState(name) != "" {
		return "a rule is for a command, or role.command"
	}
	return ""
}

// freeKey accepts keys that are parsed later.
func freeKey(name string) string {
	if strings.TrimSpace(name) == "" {
		return "a name is missing"
	}
	return ""
}

func anyScalar(*ast.Node) string { return "" }

func boolScalar(n *ast.Node) string {
	if n.Style != ast.Plain || n.Text != "true" && n.Text != "false" {
		return "must be true or false"
	}
	return ""
}

func oneOf(words ...string) func(*ast.Node) string {
	return func(n *ast.Node) string {
		for _, w := range words {
			if n.Text == w {
				return ""
			}
		}
		return "must be " + strings.Join(words, " or ")
	}
}

func natural(n *ast.Node) string {
	if v, err := strconv.ParseInt(n.Text, 10, 64); err != nil || v < 0 || v > 1<<40 {
		return "must be a number from 0 on"
	}
	return ""
}

func duration(n *ast.Node) string {
	d, err := time.ParseDuration(n.Text)
	if err != nil || d < time.Microsecond || d > 24*time.Hour {
		return "must be a duration such as 50ms, from 1us to 24h"
	}
	return ""
}
