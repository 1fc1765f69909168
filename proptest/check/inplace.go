package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/model"
)

// carried collects the places whose type is written in place and has one value: no check can give
// them more until the type has a name. Places of the same type are told together.
type carried struct {
	order  []string            // types as written
	places map[string][]string // by type
}

// carriedInPlace says where texts and opaque values written in place are carried and not explored.
// The fields of commands are where values come from. A message carries what its sender has, so it
// is named only where no type of its kind has more values.
func (s *System) carriedInPlace() []string {
	c := &carried{places: map[string][]string{}}
	more := map[model.TypeKind]bool{}
	for _, t := range s.Protocol.Types {
		more[t.Kind] = more[t.Kind] || t.Hi > 0
		c.add(t.Name, t.Elem, nil)
		c.fields(t.Name, t.Fields, nil)
	}
	seen := map[*model.Machine]bool{}
	for _, p := range s.Procs {
		if seen[p.Role] {
			continue
		}
		seen[p.Role] = true
		for _, cmd := range p.Commands {
			if len(cmd.Args) > 0 {
				c.fields(p.Role.Name+"."+cmd.Event.Name, cmd.Event.Fields, nil)
			}
		}
	}
	for _, m := range s.Protocol.Messages {
		c.fields(m.Name, m.Fields, more)
	}
	return c.words()
}

func (c *carried) fields(owner string, list []*model.Field, more map[model.TypeKind]bool) {
	for _, f := range list {
		c.add(owner+"."+f.Name, f.Type, more)
	}
}

// add looks at a type written in place at a place; named types are looked at by themselves.
func (c *carried) add(place string, t *model.Type, more map[model.TypeKind]bool) {
	switch {
	case t == nil || t.Name != "":
	case t.Kind == model.KindBytes, t.Kind == model.KindOpaque:
		if t.Hi > 0 || more[t.Kind] {
			return
		}
		name := model.TypeString(t)
		if c.places[name] == nil {
			c.order = append(c.order, name)
		}
		if !slices.Contains(c.places[name], place) {
			c.places[name] = append(c.places[name], place)
		}
	default:
		c.add(place, t.Elem, more)
		c.fields(place, t.Fields, more)
	}
}

func (c *carried) words() []string {
	var out []string
	for _, name := range c.order {
		list := c.places[name]
		if len(list) == 1 {
			out = append(out,
				fmt.Sprintf("%s (%s) is carried, not explored: it has one value; name the type to give it a "+
					"domain", list[0], name))
			continue
		}
		out = append(out, fmt.Sprintf("%s (%s) are carried, not explored: they have one value; name the "+
			"type to give it a domain", strings.Join(list, ", "), name))
	}
	return out
}
