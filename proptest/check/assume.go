package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/explore"
)

// assumptions say in words what the verdict rests on.
func (s *System) assumptions(res *explore.Result, base *model.Protocol) []string {
	out := []string{s.channelWords(res)}
	out = append(out, s.replaced(base)...)
	out = append(out, s.domainWords(base)...)
	for _, env := range s.Check.Rules {
		out = append(out, ruleWords(env))
	}
	timers, links := false, false
	for _, p := range s.procs {
		timers = timers || len(p.timers) > 0
		for _, t := range p.role.Transitions {
			links = links || t.Mode == model.Handle && !judged(t)
		}
	}
	out = append(out, "all other commands are given at any moment and as often as possible, or never")
	if len(s.Check.Rules) == 0 {
		out[len(out)-1] = "commands are given at any moment and as often as possible, or never"
	}
	if timers {
		out = append(out, "an armed timer may expire at any moment; its length does not matter")
	}
	if links {
		out = append(out, "links neither come up nor break: the events up and lost do not occur")
	}
	if s.closes {
		out = append(out, "closing a link does not stop what is under way on it")
	}
	return out
}

func (s *System) channelWords(res *explore.Result) string {
	ch := s.Check.Channel
	words := []string{"in order"}
	if !ch.Ordered {
		words[0] = "in any order"
	}
	if ch.Lossy {
		words = append(words, "any message may be lost")
	} else {
		words = append(words, "nothing is lost")
	}
	if ch.Duplicates {
		words = append(words, "any message may arrive again")
	} else {
		words = append(words, "nothing arrives twice")
	}
	widest := slices.Max(append(slices.Clone(res.Widest), 0))
	text := "messages arrive " + strings.Join(words, ", ") + fmt.Sprintf("; at most %d are under way in each direction", ch.Capacity)
	if widest < ch.Capacity && res.Complete && len(s.System.Channels) > 0 {
		text += fmt.Sprintf("; never more than %d were, so the result holds for every larger capacity", widest)
	}
	return text
}

// replaced names the constants that differ from the specification's own.
func (s *System) replaced(base *model.Protocol) []string {
	if base == nil {
		return nil
	}
	var out []string
	for _, c := range s.Protocol.Consts {
		for _, b := range base.Consts {
			if b.Name == c.Name && b.Value != c.Value {
				out = append(out, fmt.Sprintf("%s is %d (the specification says %d)", c.Name, c.Value, b.Value))
			}
		}
	}
	return out
}

// domainWords names the types whose values were not all explored.
func (s *System) domainWords(base *model.Protocol) []string {
	own := map[string]*model.Type{}
	if base != nil {
		for _, t := range base.Types {
			own[t.Name] = t
		}
	}
	var out []string
	for _, t := range s.Protocol.Types {
		b := own[t.Name]
		switch {
		case t.Kind == model.KindOpaque && t.Hi == 0, t.Kind == model.KindBytes && t.Hi == 0:
			out = append(out, t.Name+" is carried, not explored: it has one value")
		case t.Kind == model.KindOpaque, t.Kind == model.KindBytes:
			out = append(out, fmt.Sprintf("%s has %d different values", t.Name, t.Hi+1))
		case b == nil:
		case t.Kind == model.KindInt && (t.Lo != b.Lo || t.Hi != b.Hi):
			out = append(out, fmt.Sprintf("%s is %d..%d (the specification says %d..%d)", t.Name, t.Lo, t.Hi, b.Lo, b.Hi))
		case t.Kind == model.KindEnum && len(t.Names) != len(b.Names):
			out = append(out, fmt.Sprintf("%s is one of %s (the specification has %d)", t.Name, strings.Join(t.Names, ", "), len(b.Names)))
		}
	}
	return out
}

func ruleWords(env *model.EnvRule) string {
	text := env.Command.Name + " is given"
	if l, ok := env.When.(*model.Lit); ok && l.Value == 0 {
		return text[:len(text)-5] + "never given"
	}
	if env.When != nil {
		text += " only where " + model.ExprString(env.When)
	}
	if env.Times > 0 {
		text += fmt.Sprintf(", at most %d times by each instance", env.Times)
	}
	return text
}
