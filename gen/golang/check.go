package golang

import (
	"fmt"
	"math"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/parley-go/parley/gen/model"
)

// invalid composes the test that a Go value is no value of t; "" if every one is.
func (g *gen) invalid(t *model.Type, x string) string {
	switch t.Kind {
	case model.KindInt, model.KindNode:
		var tests []string
		if t.Lo > math.MinInt64 && fits(t, t.Lo-1) {
			tests = append(tests, fmt.Sprintf("%s < %d", x, t.Lo))
		}
		if t.Hi < math.MaxInt64 && fits(t, t.Hi+1) {
			tests = append(tests, fmt.Sprintf("%s > %d", x, t.Hi))
		}
		return strings.Join(tests, " || ")
	case model.KindEnum:
		if n := len(t.Names); n != 256 {
			return fmt.Sprintf("%s > %d", x, n-1)
		}
	case model.KindBytes:
		if t.Cap != 255 && t.Cap != math.MaxUint16 {
			return fmt.Sprintf("%s.Len > %d", x, t.Cap)
		}
	case model.KindSet:
		if n := t.Elem.Count(); n < 64 {
			return fmt.Sprintf("%s>>%d != 0", x, n)
		}
	case model.KindOptional:
		if v := g.invalid(t.Elem, x+".Value"); v != "" {
			return fmt.Sprintf("%s.Present && (%s)", x, v)
		}
	case model.KindRecord:
		var tests []string
		for i, f := range t.Fields {
			if v := g.invalid(f.Type, x+"."+g.typ(t, "").fields[i]); v != "" {
				tests = append(tests, v)
			}
		}
		return strings.Join(tests, " || ")
	case model.KindList, model.KindArray:
		if t.Kind == model.KindArray && g.invalid(t.Elem, "e") == "" {
			return ""
		}
		gt := g.typ(t, "")
		name := g.top.own("invalid "+key(t), "invalid"+simpleName(gt.name))
		if !g.checks[name] {
			g.checks[name] = true
			g.checkOrder = append(g.checkOrder, checkFunc{name, gt})
		}
		return name + "(&" + x + ")"
	}
	return ""
}

// checkFunc is a generated function that looks through a list or array.
type checkFunc struct {
	name string
	of   *goType
}

func (g *gen) checkFuncs(f *jen.File) {
	for i := 0; i < len(g.checkOrder); i++ {
		c := g.checkOrder[i]
		elem := g.invalid(c.of.t.Elem, "v.Items[i]")
		var t text
		t.p("func %s(v *%s) bool {", c.name, c.of.name)
		switch {
		case c.of.t.Kind == model.KindArray:
			t.p("for i := range v {\nif %s {\nreturn true\n}\n}\nreturn false", g.invalid(c.of.t.Elem, "v[i]"))
		case elem == "":
			t.p("return int(v.Len) > len(v.Items)")
		default:
			t.p("if int(v.Len) > len(v.Items) {\nreturn true\n}\nfor i := range v.Items[:v.Len] {\nif %s {\nreturn true\n}\n}\nreturn false", elem)
		}
		t.p("}")
		f.Line()
		f.Comment(comment(c.name, "says whether some element is none of its type."))
		f.Add(t.code())
	}
}

// eventCheck is the test of one field of an event, or of its sender.
type eventCheck struct {
	field string
	t     *model.Type
	test  string
}

// checksOf lists the tests that an event needs.
func (g *gen) checksOf(r *machine, e roleEvent) []eventCheck {
	var out []eventCheck
	if t := r.m.Sender; t != nil && e.ev.FromPeer() {
		out = append(out, eventCheck{"sender", t, g.invalid(t, "ev.From")})
	}
	for i, a := range e.args(g) {
		if e.ev.Kind == model.EventTimer {
			continue
		}
		f := e.ev.Fields[i]
		if v := g.invalid(f.Type, a.s); v != "" {
			out = append(out, eventCheck{f.Name, f.Type, v})
		}
	}
	return out
}

// eventChecks composes the cases of Event.invalid.
func (g *gen) eventChecks(r *machine) string {
	var t text
	for _, e := range r.events {
		var tests []string
		for _, c := range g.checksOf(r, e) {
			tests = append(tests, c.test)
		}
		if len(tests) > 0 {
			t.p("case %s:\nreturn %s", e.kind, strings.Join(tests, " || "))
		}
	}
	return t.String()
}

// eventComplaints composes the cases of Event.outside.
func (g *gen) eventComplaints(r *machine) string {
	var t text
	for _, e := range r.events {
		checks := g.checksOf(r, e)
		if len(checks) == 0 {
			continue
		}
		t.p("case %s:\nswitch {", e.kind)
		for _, c := range checks {
			t.p("case %s:\nreturn %q, %q", c.test, c.field, rangeText(c.t))
		}
		t.p("}")
	}
	return t.String()
}

// rangeText says which values a type has.
func rangeText(t *model.Type) string {
	switch t.Kind {
	case model.KindInt, model.KindNode:
		return fmt.Sprintf("%d..%d", t.Lo, t.Hi)
	case model.KindEnum:
		return strings.Join(t.Names, ", ")
	case model.KindBytes:
		return fmt.Sprintf("text %d", t.Cap)
	case model.KindOptional:
		return rangeText(t.Elem)
	case model.KindSet:
		return "the set of " + rangeText(t.Elem)
	case model.KindList:
		return fmt.Sprintf("a list of at most %d of %s", t.Cap, rangeText(t.Elem))
	case model.KindArray:
		return "an array of " + rangeText(t.Elem)
	}
	return model.TypeString(t)
}

// fit is a conversion between two types that differ in ranges or bounds.
type fit struct {
	name     string
	from, to *model.Type
}

// fit returns the name of the function that converts from one type to another.
func (g *gen) fit(from, to *model.Type) string {
	a, b := g.typ(from, ""), g.typ(to, "")
	for _, f := range g.fits {
		if key(f.from) == key(from) && key(f.to) == key(to) {
			return f.name
		}
	}
	f := &fit{g.top.take("fit" + simpleName(a.name) + "To" + simpleName(b.name)), from, to}
	g.fits = append(g.fits, f)
	return f.name
}

func (g *gen) fitFuncs(f *jen.File) {
	for i := 0; i < len(g.fits); i++ {
		c := g.fits[i]
		var t text
		a, b := g.typ(c.from, "").name, g.typ(c.to, "").name
		t.p("func %s(v *%s) (r %s, ok bool) {", c.name, a, b)
		g.fitBody(c, &t)
		t.p("return r, true\n}")
		f.Line()
		f.Comment(comment(c.name, "converts a value; false if it does not fit."))
		f.Add(t.code())
	}
}

func (g *gen) fitBody(c *fit, t *text) {
	one := func(to *model.Type, dst string, from *model.Type, src string) {
		b := &body{g: g, r: &machine{}, out: t, names: g.locals(), f: &facts{}, refuse: func(bool) string { return "return r, false" }}
		b.names.take("v")
		b.names.take("r")
		b.names.take("ok")
		s := b.fitted(val{s: src, prec: precPrimary, t: from, addr: true}, domain(from), to)
		t.p("%s = %s", dst, s)
	}
	switch c.to.Kind {
	case model.KindOptional:
		t.p("if v.Present {\nr.Present = true")
		one(c.to.Elem, "r.Value", c.from.Elem, "v.Value")
		t.p("}")
	case model.KindRecord:
		for i, f := range c.to.Fields {
			one(f.Type, "r."+g.typ(c.to, "").fields[i], c.from.Fields[i].Type, "v."+g.typ(c.from, "").fields[i])
		}
	case model.KindArray:
		if c.to.Index.Count() != c.from.Index.Count() {
			t.p("if len(v) != len(r) {\nreturn r, false\n}")
		}
		t.p("for i := range min(len(v), len(r)) {")
		one(c.to.Elem, "r[i]", c.from.Elem, "v[i]")
		t.p("}")
	case model.KindList:
		t.p("if int(v.Len) > len(r.Items) {\nreturn r, false\n}\nr.Len = %s(v.Len)\nfor i := range v.Items[:v.Len] {", lenType(c.to.Cap))
		one(c.to.Elem, "r.Items[i]", c.from.Elem, "v.Items[i]")
		t.p("}")
	case model.KindBytes:
		t.p("if int(v.Len) > len(r.Data) {\nreturn r, false\n}\nr.Len = %s(copy(r.Data[:], v.Data[:v.Len]))", lenType(c.to.Cap))
	case model.KindSet:
		shift := lowest(c.from.Elem) - lowest(c.to.Elem)
		t.p("w := uint64(*v)")
		if shift < 0 {
			t.p("if w&(1<<%d-1) != 0 {\nreturn r, false\n}\nw >>= %d", -shift, -shift)
		} else if shift > 0 {
			t.p("if w>>%d != 0 {\nreturn r, false\n}\nw <<= %d", 64-shift, shift)
		}
		if n := c.to.Elem.Count(); n < 64 {
			t.p("if w>>%d != 0 {\nreturn r, false\n}", n)
		}
		t.p("r = %s(w)", g.typ(c.to, "").name)
	}
}

// helperFuncs emits the shared functions that the package needs.
func (g *gen) helperFuncs(f *jen.File) {
	g.checkFuncs(f)
	all := []struct{ name, doc, code string }{
		{"Optional", "Optional is a T or nothing; the Value of nothing is zero.", "type Optional[T comparable] struct {\nPresent bool\nValue T\n}\n\n// Some makes a present Optional.\nfunc Some[T comparable](v T) Optional[T] { return Optional[T]{Present: true, Value: v} }"},
		{"ordinal", "ordinal is the number of a truth value.", "func ordinal(b bool) int {\nif b {\nreturn 1\n}\nreturn 0\n}"},
		{"add64", "add64 adds; false if the sum needs more than 64 bits.", "func add64(a, b int64) (int64, bool) {\nr := a + b\nreturn r, (r > a) == (b > 0)\n}"},
		{"sub64", "sub64 subtracts; false if the difference needs more than 64 bits.", "func sub64(a, b int64) (int64, bool) {\nr := a - b\nreturn r, (r < a) == (b > 0)\n}"},
		{"mul64", "mul64 multiplies; false if the product needs more than 64 bits.", "func mul64(a, b int64) (int64, bool) {\nif a == 0 || b == 0 {\nreturn 0, true\n}\nr := a * b\nreturn r, r/b == a && !(a == -1 && b == -1<<63) && !(b == -1 && a == -1<<63)\n}"},
		{"div64", "div64 divides by what is not 0; false if the quotient needs more than 64 bits.", "func div64(a, b int64) (int64, bool) { return a / b, a != -1<<63 || b != -1 }"},
		{"numbered", "numbered is the number of an instance in n bytes, -1 for none and 254 for what is no number.", "func numbered(b []byte, n int) int64 {\nfor _, x := range b[1:n] {\nif x != 0 {\nreturn 254\n}\n}\nreturn int64(b[0]) - 1\n}"},
		{"bits", "countBits counts the elements of a set.", "func countBits(set uint64) int64 {\nn := int64(0)\nfor ; set != 0; set &= set - 1 {\nn++\n}\nreturn n\n}"},
		{"mask", "maskOf is the bit of element number i, 0 if there is none.", "func maskOf(i int64) uint64 {\nif i < 0 || i >= 62 {\nreturn 0\n}\nreturn 1 << uint64(i)\n}"},
		{"took", "took is the result of a transition.", "func took(transition uint16) fsm.Result { return fsm.Result{Code: fsm.Took, Transition: transition} }"},
		{"ignored", "ignored is the result of an event that the state ignores.", "func ignored(transition uint16) fsm.Result {\nreturn fsm.Result{Code: fsm.Ignored, Transition: transition}\n}"},
		{"deferred", "deferred is the result of an event that the state keeps for later.", "func deferred(transition uint16) fsm.Result {\nreturn fsm.Result{Code: fsm.Deferred, Transition: transition}\n}"},
		{"refused", "refused is the result of an event that the state does not take.", "func refused(transition uint16) fsm.Result {\nreturn fsm.Result{Code: fsm.Refused, Transition: transition}\n}"},
		{"maxQueued", "maxQueued is how many events of parts one step may handle.", "const maxQueued = 256"},
	}
	for _, h := range all {
		if g.helpers[h.name] {
			f.Line()
			f.Comment("// " + h.doc)
			f.Add(raw(h.code))
		}
	}
}
