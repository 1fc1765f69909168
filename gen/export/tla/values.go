package tla

import (
	"fmt"
	"strings"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// Values in TLA+: a truth value is TRUE or FALSE, a number, an opaque value and an instance is a number, a name of
// an enumeration and a text is a string. None is <<>>, and any other value of an optional is a sequence of one. A
// list is a sequence, a set is a set, a record is a record, an array is a function of its index. A message is a
// sequence of its name and its fields, because TLC compares sequences from the front and records in an order of its
// own: so two messages with fields of different types are told apart by their names.

// greatest is the greatest number that TLC has.
const greatest = 1<<31 - 1

// reserved are the words of TLA+ and what the modules that are extended define.
var reserved = wordSet(`ACTION ASSUME ASSUMPTION AXIOM BY CASE CHOOSE CONSTANT CONSTANTS COROLLARY DEF DEFINE DEFS DOMAIN
	ELSE ENABLED EXCEPT EXTENDS FALSE HAVE HIDE IF IN INSTANCE LAMBDA LEMMA LET LOCAL MODULE NEW OBVIOUS OMITTED ONLY
	OTHER PICK PROOF PROPOSITION PROVE QED RECURSIVE SF_ STATE STRING SUBSET SUFFICES TAKE TEMPORAL THEN THEOREM TRUE
	UNCHANGED UNION USE VARIABLE VARIABLES WF_ WITH WITNESS BOOLEAN
	Nat Int Real Infinity Seq Len Append Head Tail SubSeq SelectSeq IsFiniteSet Cardinality Print PrintT Assert JavaTime
	TLCGet TLCSet TLCEval Permutations SortSeq RandomElement Any ToString`)

func wordSet(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(text) {
		out[w] = true
	}
	return out
}

// identifier makes an identifier of TLA+ from a name of the specification.
func identifier(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, name)
	if strings.Trim(clean, "0123456789_") == "" || clean[0] >= '0' && clean[0] <= '9' || reserved[clean] ||
		strings.HasPrefix(clean, "WF_") || strings.HasPrefix(clean, "SF_") {
		clean = "x_" + clean
	}
	return clean
}

// quoted writes a string of TLA+. Bytes that a string cannot have are written as their number in hexadecimal.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(c))
		case c >= ' ' && c <= '~':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, `\\x%02x`, c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func number(n int64) string {
	if n > greatest || n < -greatest {
		refuse("the number %d, which TLC does not have (it has 31 bits; smaller `consts` or `domains` "+
			"in a copy of the "+
			"check make it smaller)", n)
	}
	if n < 0 {
		return fmt.Sprintf("(-%d)", -n)
	}
	return fmt.Sprint(n)
}

func boolean(b bool) string {
	if b {
		return "TRUE"
	}
	return "FALSE"
}

// literal writes the value of a type that the slots have.
func (m *module) literal(t *model.Type, v []int64) string {
	switch t.Kind {
	case model.KindBool:
		return boolean(v[0] != 0)
	case model.KindEnum:
		return quoted(t.Names[v[0]])
	case model.KindBytes:
		return quoted(m.strs.Get(v[0]))
	case model.KindOptional:
		if v[0] == 0 {
			return "<<>>"
		}
		return "<<" + m.literal(t.Elem, v[1:]) + ">>"
	case model.KindRecord:
		var list []string
		for _, f := range t.Fields {
			list = append(list, identifier(f.Name)+" |-> "+m.literal(f.Type, v[f.Offset:]))
		}
		return record(list)
	case model.KindArray:
		n := t.Elem.Slots()
		var list []string
		for i := range int(t.Index.Count()) {
			list = append(list, m.literal(t.Elem, v[i*n:]))
		}
		return m.function(m.elements(t.Index), list)
	case model.KindList:
		n := t.Elem.Slots()
		var list []string
		for i := range int(v[0]) {
			list = append(list, m.literal(t.Elem, v[1+i*n:]))
		}
		return "<<" + strings.Join(list, ", ") + ">>"
	case model.KindSet:
		var list []string
		for i := range t.Elem.Count() {
			if v[0]>>i&1 != 0 {
				list = append(list, m.literal(t.Elem, []int64{t.Elem.Lowest() + i}))
			}
		}
		return "{" + strings.Join(list, ", ") + "}"
	}
	return number(v[0])
}

// record writes a record. TLA+ has none without fields.
func record(fields []string) string {
	if len(fields) == 0 {
		return "<<>>"
	}
	return "[" + strings.Join(fields, ", ") + "]"
}

// function writes the function that has these values at these elements of its domain.
func (m *module) function(domain, values []string) string {
	if len(domain) == 0 {
		return "<<>>"
	}
	same := true
	for _, v := range values {
		same = same && v == values[0]
	}
	if same {
		return "[" + m.fresh("k") + " \\in {" + strings.Join(domain, ", ") + "} |-> " + values[0] + "]"
	}
	text := ""
	for i, v := range values {
		if i > 0 {
			text += " @@ "
		}
		text += "(" + domain[i] + " :> " + v + ")"
	}
	return "(" + text + ")"
}

// maxDomain is how many values a type may have that is gone over.
const maxDomain = 4096

// elements lists the values of a type, each as a text.
func (m *module) elements(t *model.Type) (list []string) {
	if t.Count() > maxDomain {
		refuse("a loop or an index over more than %d values", maxDomain)
	}
	v := make([]int64, t.Slots())
	for interp.Zero(t, v); ; {
		list = append(list, m.literal(t, v))
		if !interp.Next(t, v) {
			return list
		}
	}
}

// domain writes the set of the values of a type.
func (m *module) domain(t *model.Type) string {
	switch t.Kind {
	case model.KindBool:
		return "BOOLEAN"
	case model.KindInt, model.KindNode:
		return number(t.Lo) + ".." + number(t.Hi)
	}
	return "{" + strings.Join(m.elements(t), ", ") + "}"
}

// values writes the sequence of the values of a type, in their order.
func (m *module) values(t *model.Type) string {
	return "<<" + strings.Join(m.elements(t), ", ") + ">>"
}

// keys lists the keys of the instances of a part or timer: a value if there is one key, else a sequence.
func (m *module) keys(fields []*model.Field, count int, of func(i int) []int64) (list []string) {
	if len(fields) == 0 {
		return nil
	}
	for i := range count {
		keys := of(i)
		var texts []string
		for k, f := range fields {
			texts = append(texts, m.literal(f.Type, keys[k:k+1]))
		}
		list = append(list, tuple(texts))
	}
	return list
}

// tuple writes several keys as one, and a single one as itself.
func tuple(keys []string) string {
	if len(keys) == 1 {
		return keys[0]
	}
	return "<<" + strings.Join(keys, ", ") + ">>"
}
