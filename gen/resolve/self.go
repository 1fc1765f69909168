package resolve

import (
	"regexp"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/model"
)

// selfName is how a machine calls its own number. A role that uses it has a parameter of this name,
// which checks and parents give by themselves.
const selfName = "self"

var selfWord = regexp.MustCompile(`(^|[^A-Za-z0-9_.])self($|[^A-Za-z0-9_])`)

// declareSelf adds the parameter self if the role uses it and has no value of that name.
func (ro *role) declareSelf() {
	if !ro.r.usesSelf(ro.r.unit, ro.node, map[*ast.Node]bool{}) {
		return
	}
	t := ro.r.basicType("instance", ro.m.Span)
	v := &model.Var{Name: selfName, Doc: "the number of this instance", Type: t, Self: true, Offset: int(ro.size), Span: ro.m.Span}
	ro.values[selfName], ro.params[v], ro.self = v, true, v
	ro.m.Params = append(ro.m.Params, v)
	ro.r.use(v.Span)
	ro.grow(1, v.Span)
}

// usesSelf reports whether a role, or a machine that runs inside it, uses self. seen holds the
// roles that were looked at: the same machine may be part of many.
func (s *shared) usesSelf(u *Unit, n *ast.Node, seen map[*ast.Node]bool) bool {
	if n == nil || seen[n] {
		return false
	}
	seen[n] = true
	for _, section := range []string{"params", "vars", "timers", "parts", "states"} {
		if n.Get(section).Get(selfName) != nil {
			return false
		}
	}
	if s.needSelf[n] {
		return true
	}
	for _, section := range []string{"states", "common", "parts", "routines"} {
		if mentionsSelf(n.Get(section)) {
			return true
		}
	}
	if parts := n.Get("parts"); parts != nil {
		for _, e := range parts.Entries {
			unit, role, imported := strings.Cut(textOf(e.Value, "machine"), ".")
			sub := u.Imports[unit]
			if !imported {
				sub, role = u, unit
			}
			if sub != nil && s.usesSelf(sub, sub.Root.Get("roles").Get(role), seen) {
				return true
			}
		}
	}
	return false
}

// mentionsSelf looks for the word in what is no text for people.
func mentionsSelf(n *ast.Node) bool {
	if n == nil {
		return false
	}
	if n.Kind == ast.Scalar {
		return saysSelf(n.Text)
	}
	for _, it := range n.Items {
		if mentionsSelf(it) {
			return true
		}
	}
	for _, e := range n.Entries {
		if k := e.Key.Text; k != "doc" && k != "refuse" && (saysSelf(k) || mentionsSelf(e.Value)) {
			return true
		}
	}
	return false
}

func saysSelf(text string) bool {
	return strings.Contains(text, selfName) && selfWord.MatchString(text)
}
