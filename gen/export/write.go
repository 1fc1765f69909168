package export

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/model"
)

// writer writes lines, indented with tabs.
type writer struct {
	bytes.Buffer
	depth int
	l     *layout
}

func (w *writer) line(format string, args ...any) {
	if format != "" {
		w.WriteString(strings.Repeat("\t", w.depth))
		fmt.Fprintf(w, format, args...)
	}
	w.WriteByte('\n')
}

func (w *writer) indent(f func()) {
	w.depth++
	f()
	w.depth--
}

// comment returns a text in a form that is safe inside a comment.
func comment(text string) string {
	text = strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "*/", "* /")
	return strings.ReplaceAll(text, "/*", "/ *")
}

// write writes the model. It writes the head last, because that declares what the processes use.
func write(l *layout, procs []process, claims []assertion, left []string) []byte {
	body := &writer{l: l}
	for _, p := range procs {
		body.process(p)
	}
	body.monitor(claims)
	w := &writer{l: l}
	w.head(claims, left)
	w.declarations(claims)
	w.Write(body.Bytes())
	return w.Bytes()
}

func (w *writer) head(claims []assertion, left []string) {
	l := w.l
	w.line("/* %s, check %s: %s", l.p.Name, l.c.Name, comment(l.c.Doc))
	w.line("   Written by fsmgen from %s; the specification is the law, not this file.",
		strings.Join(l.p.Files, ", "))
	w.line("")
	vector := ""
	if n := w.vector(); n > 700 {
		vector = fmt.Sprintf(" -DVECTORSZ=%d", n*3/2/1024*1024+1024)
	}
	w.line("   spin -o2 -a FILE && cc -O3 -DSAFETY -DNOREDUCE%s -o pan pan.c && ./pan -m1000000 -w25", vector)
	w.line("")
	w.line("   visits the configurations that fsmgen check visits, each once: " +
		"\"states, stored\" is its number of configurations.")
	w.line("   (-o2 keeps Spin from leaving out variables that nothing reads. " +
		"A depth -m that is too small drops states; Spin says so.) A failed assertion is named like the claim.")
	w.line("   For two cores and more: spin -DCORES -o2 -a FILE, and cc with -DNCORE=2.")
	for _, c := range claims {
		if c.sometimes {
			w.line("   %s is a claim that something happens: "+
				"with spin -DSHOW_%s -o2 -a the assertion fails where it does.", c.flag, c.flag)
		}
	}
	for _, text := range left {
		w.line("   Not in this model, claim %s.", comment(text))
	}
	w.line("*/")
	w.line("")
}

// vector estimates how many bytes a state takes in Spin.
func (w *writer) vector() int {
	l := w.l
	n := 0
	for _, in := range l.insts {
		for _, v := range in.slots {
			if v != nil {
				n += v.bytes()
			}
		}
		n += 4
	}
	columns := 1
	for _, v := range l.fields {
		columns += v.bytes()
	}
	for _, row := range l.chans {
		for _, ch := range row {
			if ch.used {
				n += 4 + columns*ch.spec.Capacity
			}
		}
	}
	return n
}

func (v *variable) bytes() int {
	return map[string]int{"bool": 1, "byte": 1, "short": 2, "int": 4}[v.declared()]
}

func (w *writer) declarations(claims []assertion) {
	l := w.l
	if len(l.messages) > 0 {
		w.line("mtype = { %s };", strings.Join(l.messages, ", "))
	}
	for _, d := range l.defines {
		w.line("#define %s %s", d[0], d[1])
	}
	w.line("")
	w.channels()
	for _, v := range []*variable{l.lost, l.copied} {
		if v != nil {
			w.variable("", v)
		}
	}
	for _, in := range l.insts {
		w.instance(in)
	}
	w.temporaries(claims)
}

// channels declares the channels that are used, and the counters of their messages.
func (w *writer) channels() {
	l := w.l
	columns := "mtype"
	for _, v := range l.fields {
		columns += ", " + v.declared()
	}
	for _, row := range l.chans {
		for _, ch := range row {
			if !ch.used {
				continue
			}
			w.line("chan %s = [%d] of { %s };", ch.name, ch.spec.Capacity, columns)
			for i := range l.messages {
				if v := ch.counts[i]; v != nil {
					w.variable("", v)
				}
			}
		}
	}
}

// instance declares the variables of one instance.
func (w *writer) instance(in *instance) {
	w.line("")
	w.line("/* %s is a %s */", in.model.Name, comment(model.InstanceString(in.model)))
	if in.started != nil {
		w.variable("", in.started)
	}
	if in.down != nil {
		w.variable("", in.down)
		w.variable("", in.comes)
	}
	for _, v := range in.slots {
		if v != nil {
			w.variable("", v)
		}
	}
	for _, r := range w.l.c.Rules {
		if v := in.given[r]; v != nil {
			w.variable("", v)
		}
	}
}

// temporaries declares the variables that are not part of a state.
func (w *writer) temporaries(claims []assertion) {
	l := w.l
	w.line("")
	w.line("/* what lives inside a step only, and what assertions that fail are named; " +
		"no part of a state: for several")
	w.line("   cores, where Spin hides nothing, each step forgets it */")
	forget := ""
	if len(l.messages) > 0 {
		forget += "; m = 0"
	}
	for _, v := range l.fields {
		forget += "; " + v.name + " = " + v.value(v.init)
	}
	for _, v := range l.temps {
		forget += "; " + v.name + " = 0"
	}
	w.line("#ifdef CORES")
	w.line("#define HIDDEN")
	w.line("#define FORGET %s", forget)
	w.line("#else")
	w.line("#define HIDDEN hidden")
	w.line("#define FORGET")
	w.line("#endif")
	if len(l.messages) > 0 {
		w.line("HIDDEN mtype m;")
	}
	for _, v := range l.fields {
		w.variable("HIDDEN ", v)
	}
	for _, v := range l.temps {
		w.line("HIDDEN int %s;", v.name)
	}
	for _, name := range []string{unspecifiedFlag, faultFlag} {
		w.line("HIDDEN byte %s;", name)
	}
	for _, c := range claims {
		w.line("HIDDEN byte %s;", c.flag)
	}
}

// declared returns the narrowest type of Promela that can hold a variable.
func (v *variable) declared() string {
	switch {
	case v.lo >= 0 && v.hi <= 1:
		return "bool"
	case v.lo >= 0 && v.hi <= 255:
		return "byte"
	case v.lo >= -1<<15 && v.hi < 1<<15:
		return "short"
	}
	return "int"
}

func (w *writer) variable(hidden string, v *variable) {
	kind := v.declared()
	if hidden != "" && kind == "bool" {
		kind = "byte" // Spin hides no bits
	}
	text := hidden + kind + " " + v.name
	if v.init != 0 || v.names != nil && hidden == "" {
		text += " = " + v.value(v.init)
	}
	text += ";"
	if v.doc != "" {
		text += " /* " + comment(v.doc) + " */"
	}
	w.line("%s", text)
}

func (w *writer) process(p process) {
	w.line("")
	w.line("active proctype %s()", p.in.name)
	w.line("{")
	w.line("end:")
	w.indent(func() {
		w.line("do")
		for _, a := range p.alts {
			w.alternative(a)
		}
		w.line(":: false")
		w.line("od")
	})
	w.line("}")
}

func (w *writer) alternative(a alternative) {
	w.line(":: d_step { /* %s */", comment(a.note))
	w.indent(func() {
		w.line("%s ->", a.guard.String())
		switch {
		case a.take != nil:
			w.take(a)
		case len(a.body) == 0:
			w.line("skip")
		default:
			w.statements(a.body)
		}
		if v := a.spends; v != nil {
			w.line("; %s = %s + 1", v.name, v.name)
		}
		w.line("FORGET")
	})
	w.line("}")
}

// takeExact writes what takes a certain message from a channel without order, and what is done with it.
func (w *writer) takeExact(a alternative) {
	r := a.byMessage[0]
	if a.keep {
		w.line("%s>;", w.l.exactly("??<", a.take, r.msg, a.exact))
	} else {
		w.line("%s;", w.l.exactly("??", a.take, r.msg, a.exact))
		if count := a.take.counts[r.msg]; count != nil {
			w.line("%s = %s - 1;", count.name, count.name)
		}
	}
	if w.statements(r.body); len(r.body) == 0 {
		w.line("skip")
	}
}

// take writes what takes a message from a channel and handles it.
func (w *writer) take(a alternative) {
	if a.exact != nil {
		w.takeExact(a)
		return
	}
	columns := "m"
	for _, v := range w.l.fields {
		columns += "," + v.name
	}
	if a.keep {
		columns = "<" + columns + ">"
	}
	w.line("%s?%s;", a.take.name, columns)
	if a.lost {
		a.byMessage = slices.DeleteFunc(slices.Clone(a.byMessage),
			func(r reception) bool { return a.take.counts[r.msg] == nil })
		if len(a.byMessage) == 0 {
			w.line("skip")
			return
		}
	}
	w.line("if")
	for _, r := range a.byMessage {
		count := a.take.counts[r.msg]
		w.line(":: m == %s ->", w.l.messages[r.msg])
		w.indent(func() {
			if count != nil && !a.keep {
				w.line("%s = %s - 1;", count.name, count.name)
			}
			w.statements(r.body)
			if len(r.body) == 0 {
				w.line("skip")
			}
		})
	}
	if a.lost {
		w.line(":: else")
	} else {
		w.line(":: else -> assert(%s)", unspecifiedFlag)
	}
	w.line("fi")
}

func (w *writer) statements(list []stmt) {
	for _, x := range list {
		switch x := x.(type) {
		case *assign:
			w.line("%s = %s;", x.v.name, w.assigned(x))
		case *send:
			w.send(x)
		case *require:
			w.line("if :: %s :: else -> assert(%s) fi; /* %s */", x.cond.String(), x.fail.flag,
				comment(x.fail.why))
		case *failure:
			w.line("assert(%s); /* %s */", x.flag, comment(x.why))
		case *choice:
			w.choice(x)
		}
	}
}

func (w *writer) assigned(x *assign) string {
	if x.x.constant() {
		return x.v.value(x.x.lo)
	}
	return x.x.String()
}

func (w *writer) send(x *send) {
	args := w.l.messages[x.msg]
	for i := range w.l.fields {
		if i < len(x.fields) {
			v := x.fields[i].String()
			if x.fields[i].constant() && i < len(w.l.columns[x.msg]) {
				v = w.l.columns[x.msg][i].v.value(x.fields[i].lo)
			}
			args += "," + v
		} else {
			args += ",0"
		}
	}
	count := ""
	if v := x.ch.counts[x.msg]; v != nil {
		count = fmt.Sprintf(" %s = %s + 1;", v.name, v.name)
	}
	put := x.ch.name + "!"
	if !x.ch.spec.Ordered {
		put += "!" // sorted
	}
	if x.ch.loses() {
		w.line("if :: nfull(%s) -> %s%s;%s :: else fi; /* %s */", x.ch.name, put, args, count, comment(x.note))
		return
	}
	w.line("assert(nfull(%s)); %s%s;%s /* %s */", x.ch.name, put, args, count, comment(x.note))
}

func (w *writer) choice(x *choice) {
	w.line("if")
	for _, a := range x.arms {
		note := ""
		if a.note != "" {
			note = " /* " + comment(a.note) + " */"
		}
		if len(a.body) == 0 {
			w.line(":: %s%s", a.cond.String(), note)
			continue
		}
		w.line(":: %s ->%s", a.cond.String(), note)
		w.indent(func() { w.statements(a.body) })
	}
	if len(x.otherwise) == 0 {
		w.line(":: else")
	} else {
		w.line(":: else ->")
		w.indent(func() { w.statements(x.otherwise) })
	}
	w.line("fi;")
}

// monitor writes the process that takes a step only to fail an assertion.
func (w *writer) monitor(claims []assertion) {
	w.line("")
	w.line("active proctype %s()", w.l.names.take("claims"))
	w.line("{")
	w.line("end:")
	w.indent(func() {
		w.line("do")
		for _, c := range claims {
			cond := not(c.cond)
			if c.sometimes {
				w.line("#ifdef SHOW_%s", c.flag)
				cond = c.cond
			}
			if !cond.is(0) {
				text := cond.String()
				if c.stuck {
					text = "timeout && " + paren(cond, text)
				}
				w.line(":: d_step { %s -> assert(%s) } /* %s */", text, c.flag, comment(c.doc))
			}
			if c.sometimes {
				w.line("#endif")
			}
		}
		w.line(":: false")
		w.line("od")
	})
	w.line("}")
}

func paren(t *term, text string) string {
	if t.op == "||" {
		return "(" + text + ")"
	}
	return text
}
