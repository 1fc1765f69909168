package tla

import (
	"slices"
	"strconv"
)

// node is an expression. op says what it is: "name", "number", "string", a symbol, or one of the words of [parser].
type node struct {
	at   token
	op   string
	text string  // of names and strings, and of fields
	n    int     // of numbers
	x    []*node // operands
	// bound are the names that it binds, defs the definitions of a LET; path is that of a part of an EXCEPT.
	bound []token
	defs  []*definition
}

// definition is that of an operator, or of a function, whose bound is then not nil.
type definition struct {
	name   token
	params []param
	// of a function: f[x \in S] == e
	index *token
	set   *node
	body  *node
}

// param is a parameter; one that is an operator has arguments itself.
type param struct {
	name token
	args int
}

// module is what a module says.
type module struct {
	name      string
	extends   []string
	variables []token
	recursive map[string]int
	defs      []*definition
}

// keywords are no names.
var keywords = map[string]bool{}

func init() {
	for _, w := range []string{"ASSUME", "ASSUMPTION", "AXIOM", "CASE", "CHOOSE", "CONSTANT", "CONSTANTS", "DOMAIN",
		"ELSE",
		"ENABLED", "EXCEPT", "EXTENDS", "IF", "IN", "INSTANCE", "LAMBDA", "LET", "LOCAL", "MODULE", "OTHER",
		"RECURSIVE",
		"SUBSET", "THEN", "THEOREM", "UNCHANGED", "UNION", "VARIABLE", "VARIABLES", "WITH", "TRUE", "FALSE",
		"BOOLEAN",
		"STRING", "LEMMA", "PROOF", "PROVE", "QED", "NEW", "USE", "DEFINE", "HIDE", "HAVE", "TAKE", "PICK", "WITNESS",
		"SUFFICES", "OBVIOUS", "OMITTED", "BY", "DEF", "DEFS", "ONLY", "STATE", "ACTION", "TEMPORAL", "PROPOSITION",
		"COROLLARY"} {
		keywords[w] = true
	}
}

// span is the precedence of an operator: from its lowest to its highest.
type span struct {
	lo, hi int
	left   bool // it may stand beside itself
}

var infix = map[string]span{
	"=>": {1, 1, false}, "~>": {2, 2, false}, "/\\": {3, 3, true}, "\\/": {3, 3, true},
	"=": {5, 5, false}, "#": {5, 5, false}, "<": {5, 5, false}, ">": {5, 5, false}, "<=": {5, 5, false}, ">=": {5,
		5, false},
	"\\in": {5, 5, false}, "\\notin": {5, 5, false}, "\\subseteq": {5, 5, false}, "@@": {6, 6, true}, ":>": {7, 7,
		false},
	"\\": {8, 8, false}, "\\cup": {8, 8, true}, "\\cap": {8, 8, true}, "..": {9, 9, false}, "+": {10, 10, true},
	"\\X": {10, 13, true}, "%": {10, 11, false}, "-": {11, 11, true}, "\\div": {13, 13, false}, "*": {13, 13, true},
	"\\o": {13, 13, true},
}

var prefix = map[string]span{
	"~": {4, 4, true}, "[]": {4, 15, true}, "<>": {4, 15, true}, "ENABLED": {4, 15, false}, "UNCHANGED": {4, 15,
		false},
	"SUBSET": {8, 8, false}, "UNION": {8, 8, false}, "DOMAIN": {9, 9, false}, "-": {12, 12, false},
}

// parser reads the words of a module.
type parser struct {
	words []token
	at    int
	// margins are the columns of the lists of /\ and \/ that are open, the innermost last: a word at or before it
	// ends the list.
	margins []int
}

var end = token{kind: tokEnd, text: "the end of a list or definition"}

// peek is the next word, or an end if it does not belong to what is open.
func (p *parser) peek() token {
	t := p.words[p.at]
	if n := len(p.margins); n > 0 && t.kind != tokEnd && t.col <= p.margins[n-1] {
		e := end
		e.line, e.col = t.line, t.col
		return e
	}
	return t
}

func (p *parser) next() token {
	t := p.peek()
	if t.kind != tokEnd {
		p.at++
	}
	return t
}

func (p *parser) is(text string) bool {
	t := p.peek()
	return t.text == text && t.kind != tokString && t.kind != tokEnd
}

func (p *parser) take(text string) token {
	if !p.is(text) {
		p.peek().fail("%s instead of %s", p.peek().text, text)
	}
	return p.next()
}

func (p *parser) name() token {
	t := p.next()
	if t.kind != tokName || keywords[t.text] {
		t.fail("%s is no name", t.text)
	}
	return t
}

// Parse reads a module. The error is an [*Error].
func Parse(text string) (spec *Spec, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	p := &parser{words: words(text)}
	return compile(p.module()), nil
}

func (p *parser) module() *module {
	m := &module{recursive: map[string]int{}}
	p.take("----")
	p.take("MODULE")
	m.name = p.name().text
	p.take("----")
	if p.is("EXTENDS") {
		p.next()
		m.extends = append(m.extends, p.name().text)
		for p.is(",") {
			p.next()
			m.extends = append(m.extends, p.name().text)
		}
	}
	for !p.is("====") {
		switch {
		case p.is("VARIABLES") || p.is("VARIABLE"):
			p.next()
			m.variables = append(m.variables, p.name())
			for p.is(",") {
				p.next()
				m.variables = append(m.variables, p.name())
			}
		case p.is("RECURSIVE"):
			p.next()
			name := p.name()
			m.recursive[name.text] = p.blanks()
		default:
			// A definition begins at the margin, and all else of it is indented.
			t := p.peek()
			if t.col != 1 {
				t.fail("a definition that is indented")
			}
			m.defs = append(m.defs, p.definition(1))
		}
	}
	return m
}

// blanks reads (_, _).
func (p *parser) blanks() int {
	n := 0
	p.take("(")
	for {
		p.take("_")
		n++
		if !p.is(",") {
			break
		}
		p.next()
	}
	p.take(")")
	return n
}

// definition reads one definition. Where margin is not 0, words at that column end it.
func (p *parser) definition(margin int) *definition {
	d := &definition{name: p.name()}
	if margin > 0 {
		p.margins = append(p.margins, margin)
		defer func() { p.margins = p.margins[:len(p.margins)-1] }()
	}
	switch {
	case p.is("("):
		p.next()
		for {
			x := param{name: p.name()}
			if p.is("(") {
				x.args = p.blanks()
			}
			d.params = append(d.params, x)
			if !p.is(",") {
				break
			}
			p.next()
		}
		p.take(")")
	case p.is("["):
		p.next()
		index := p.name()
		d.index = &index
		p.take("\\in")
		d.set = p.expr()
		p.take("]")
	}
	p.take("==")
	d.body = p.expr()
	return d
}

// expr reads an expression.
func (p *parser) expr() *node { n, _ := p.binary(0, nil); return n }

// operand is an operator of whose operand something is a part.
type operand struct {
	op string
	span
}

// binary reads operands and infix operators that bind tighter than the one to the left. It returns the operator at
// which it stopped, for the check of precedences.
func (p *parser) binary(least int, left *operand) (*node, *operand) {
	x := p.unary()
	var last *operand
	for {
		t := p.peek()
		s, ok := infix[t.text]
		if !ok || t.kind != tokSymbol {
			return x, last
		}
		if left != nil {
			switch {
			case left.hi < s.lo: // it binds tighter than the one to the left
			case left.lo > s.hi || left.op == t.text && s.left:
				return x, last
			default:
				t.fail("%s and %s without parentheses", left.op, t.text)
			}
		}
		if last != nil {
			switch {
			case last.lo > s.hi || last.op == t.text && s.left:
			default:
				t.fail("%s and %s without parentheses", last.op, t.text)
			}
		}
		p.next()
		me := &operand{t.text, s}
		y, _ := p.binary(s.lo, me)
		x = &node{at: t, op: t.text, x: []*node{x, y}}
		last = me
	}
}

// list reads a list of conditions that are written below each other.
func (p *parser) list() *node {
	first := p.peek()
	n := &node{at: first, op: first.text}
	for {
		t := p.peek()
		if t.kind != tokSymbol || t.text != first.text || t.col != first.col {
			break
		}
		p.next()
		p.margins = append(p.margins, first.col)
		n.x = append(n.x, p.expr())
		p.margins = p.margins[:len(p.margins)-1]
	}
	if t := p.peek(); t.kind == tokSymbol && (t.text == "/\\" || t.text == "\\/") {
		t.fail("a list that is not aligned")
	}
	return n
}

// unary reads prefix operators and what they stand before.
func (p *parser) unary() *node {
	t := p.peek()
	if t.kind == tokSymbol && (t.text == "/\\" || t.text == "\\/") {
		return p.list()
	}
	s, ok := prefix[t.text]
	if !ok || t.kind == tokString || t.kind == tokEnd {
		return p.postfix()
	}
	p.next()
	x, _ := p.binary(s.lo, &operand{t.text + " (prefix)", s})
	op := t.text
	if op == "-" {
		op = "negative"
	}
	return &node{at: t, op: op, x: []*node{x}}
}

// postfix reads what stands behind a simple expression: fields, arguments of functions, primes.
func (p *parser) postfix() *node {
	x := p.simple()
	for {
		t := p.peek()
		switch {
		case p.is("."):
			p.next()
			x = &node{at: t, op: "field", text: p.name().text, x: []*node{x}}
		case p.is("["):
			p.next()
			args := p.exprs("]")
			x = &node{at: t, op: "apply", x: append([]*node{x}, args...)}
		case p.is("'"):
			p.next()
			x = &node{at: t, op: "'", x: []*node{x}}
		default:
			return x
		}
	}
}

// exprs reads expressions up to a closing symbol.
func (p *parser) exprs(closing string) (list []*node) {
	if p.is(closing) {
		p.next()
		return nil
	}
	for {
		list = append(list, p.expr())
		if !p.is(",") {
			break
		}
		p.next()
	}
	p.take(closing)
	return list
}

func (p *parser) simple() *node {
	t := p.next()
	n := &node{at: t, op: t.text, text: t.text}
	switch t.kind {
	case tokNumber:
		n.op = "number"
		v, err := strconv.ParseInt(t.text, 10, 32)
		if err != nil {
			t.fail("a number of more than 31 bits")
		}
		n.n = int(v)
		return n
	case tokString:
		n.op = "string"
		return n
	case tokName:
		return p.word(t, n)
	case tokEnd:
		t.fail("an expression is missing")
	}
	switch t.text {
	case "(":
		x := p.expr()
		p.take(")")
		return &node{at: t, op: "()", x: []*node{x}}
	case "<<":
		n.x = p.tuple()
		return n
	case "{":
		return p.set(n)
	case "[":
		return p.bracket(n)
	case "@":
		return n
	case "\\A", "\\E":
		return p.quantifier(n)
	case "WF_", "SF_":
		v := p.words[p.at-1]
		n.text = p.fairOf(v)
		p.take("(")
		n.x = p.exprs(")")
		if len(n.x) != 1 {
			t.fail("fairness of not one action")
		}
		return n
	}
	t.fail("%s begins no expression", t.text)
	return nil
}

// fairOf reads the name that is part of the word WF_name.
func (p *parser) fairOf(token) string { return p.name().text }

// tuple reads the rest of << ... >>.
func (p *parser) tuple() []*node { return p.exprs(">>") }

func (p *parser) word(t token, n *node) *node {
	switch t.text {
	case "TRUE", "FALSE", "BOOLEAN":
		return n
	case "IF":
		n.x = append(n.x, p.expr())
		p.take("THEN")
		n.x = append(n.x, p.expr())
		p.take("ELSE")
		n.x = append(n.x, p.expr())
		return n
	case "CASE":
		return p.cases(n)
	case "LET":
		for !p.is("IN") {
			n.defs = append(n.defs, p.definition(0))
		}
		p.take("IN")
		n.x = []*node{p.expr()}
		if len(n.defs) == 0 {
			t.fail("a LET of nothing")
		}
		return n
	case "CHOOSE":
		n.bound = []token{p.name()}
		p.take("\\in")
		n.x = append(n.x, p.expr())
		p.take(":")
		n.x = append(n.x, p.expr())
		return n
	case "LAMBDA":
		return p.lambda(n)
	}
	if keywords[t.text] {
		t.fail("%s begins no expression", t.text)
	}
	n.op = "name"
	if p.is("(") {
		p.next()
		n.op = "call"
		for {
			if p.is("LAMBDA") {
				l := p.next()
				n.x = append(n.x, p.lambda(&node{at: l, op: "LAMBDA"}))
			} else {
				n.x = append(n.x, p.expr())
			}
			if !p.is(",") {
				break
			}
			p.next()
		}
		p.take(")")
	}
	return n
}

func (p *parser) lambda(n *node) *node {
	n.bound = append(n.bound, p.name())
	for p.is(",") {
		p.next()
		n.bound = append(n.bound, p.name())
	}
	p.take(":")
	n.x = []*node{p.expr()}
	return n
}

// cases reads CASE a -> b [] c -> d [] OTHER -> e: pairs, and the last one alone.
func (p *parser) cases(n *node) *node {
	for {
		if p.is("OTHER") {
			p.next()
			p.take("->")
			n.x = append(n.x, p.expr())
			return n
		}
		n.x = append(n.x, p.expr())
		p.take("->")
		n.x = append(n.x, p.expr())
		if !p.is("[]") {
			return n
		}
		p.next()
	}
}

// quantifier reads \A x \in S : P.
func (p *parser) quantifier(n *node) *node {
	n.bound = []token{p.name()}
	p.take("\\in")
	n.x = append(n.x, p.expr())
	p.take(":")
	n.x = append(n.x, p.expr())
	return n
}

// set reads the rest of { ... }.
func (p *parser) set(n *node) *node {
	if p.is("}") {
		p.next()
		n.op = "set"
		return n
	}
	// {x \in S : P}
	if t := p.peek(); t.kind == tokName && !keywords[t.text] && p.words[p.at+1].text == "\\in" {
		at := p.at
		n.bound = []token{p.name()}
		p.take("\\in")
		s := p.expr()
		if p.is(":") {
			p.next()
			n.op, n.x = "filter", []*node{s, p.expr()}
			p.take("}")
			return n
		}
		p.at, n.bound = at, nil
	}
	first := p.expr()
	if p.is(":") {
		p.next()
		n.bound = []token{p.name()}
		p.take("\\in")
		n.op, n.x = "map", []*node{p.expr(), first}
		p.take("}")
		return n
	}
	n.op, n.x = "set", []*node{first}
	if p.is(",") {
		p.next()
		n.x = append(n.x, p.exprs("}")...)
		return n
	}
	p.take("}")
	return n
}

// bracket reads the rest of [ ... ]: a function, a record, an EXCEPT or an action.
func (p *parser) bracket(n *node) *node {
	if t := p.peek(); t.kind == tokName && !keywords[t.text] {
		switch p.words[p.at+1].text {
		case "|->":
			n.op = "record"
			for {
				f := p.name()
				if slices.ContainsFunc(n.bound, func(o token) bool { return o.text == f.text }) {
					f.fail("the field %s twice", f.text)
				}
				n.bound = append(n.bound, f)
				p.take("|->")
				n.x = append(n.x, p.expr())
				if !p.is(",") {
					break
				}
				p.next()
			}
			p.take("]")
			return n
		case "\\in":
			n.op = "function"
			n.bound = []token{p.name()}
			p.take("\\in")
			n.x = append(n.x, p.expr())
			p.take("|->")
			n.x = append(n.x, p.expr())
			p.take("]")
			return n
		}
	}
	x := p.expr()
	if p.is("]_") { // [A]_vars
		p.next()
		n.op, n.text, n.x = "box", p.name().text, []*node{x}
		return n
	}
	p.take("EXCEPT")
	n.op, n.x = "EXCEPT", []*node{x}
	for {
		n.x = append(n.x, p.change())
		if !p.is(",") {
			break
		}
		p.next()
	}
	p.take("]")
	return n
}

// change reads !.a[b] = e: a node whose operands are the steps of the path, and e last.
func (p *parser) change() *node {
	n := &node{at: p.take("!"), op: "change"}
	for {
		switch {
		case p.is("."):
			p.next()
			f := p.name()
			n.x = append(n.x, &node{at: f, op: "string", text: f.text})
		case p.is("["):
			p.next()
			args := p.exprs("]")
			if len(args) != 1 {
				n.at.fail("a path of several arguments")
			}
			n.x = append(n.x, args[0])
		default:
			if len(n.x) == 0 {
				n.at.fail("a path of nothing")
			}
			p.take("=")
			n.x = append(n.x, p.expr())
			return n
		}
	}
}
