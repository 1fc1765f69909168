package syntax

import (
	"fmt"

	"github.com/parley-go/parley/gen/diag"
)

// maxNesting bounds the depth of an expression, maxNodes its size.
const (
	maxNesting = 100
	maxNodes   = 20000
)

// Error is a fault in the text of an expression.
type Error struct {
	Span    diag.Span
	Message string
	Hint    string
}

type parser struct {
	text  string
	place Place
	tok   token
	last  int // end of the token before tok
	depth int
	nodes int
	err   *Error
}

func newParser(text string, place Place) *parser {
	p := &parser{text: text, place: place}
	p.advance()
	return p
}

// Parse reads an expression; at most one error is reported.
func Parse(text string, place Place) (Node, *Error) {
	p := newParser(text, place)
	n := p.expr(0)
	p.finish()
	if p.err != nil {
		return nil, p.err
	}
	return n, nil
}

// ParseOver reads what an `each` runs over: an expression, a type's name or a range.
func ParseOver(text string, place Place) (Node, *Error) {
	p := newParser(text, place)
	n := p.over()
	p.finish()
	if p.err != nil {
		return nil, p.err
	}
	return n, nil
}

func (p *parser) advance() {
	p.last = p.tok.to
	p.tok = next(p.text, p.tok.to)
	if p.tok.kind == bad {
		p.fail(p.tok.from, p.tok.to, "%s", p.tok.text)
	}
}

// fail keeps the first error and makes every further token the end, so that all loops stop.
func (p *parser) fail(i, j int, format string, args ...any) {
	if p.err == nil {
		message := fmt.Sprintf(format, args...)
		if symbol := symbols[p.tok.text]; p.tok.kind == name && symbol != "" {
			i, j = p.tok.from, p.tok.to
			message = fmt.Sprintf("%s is not an operator; write %s", p.tok.text, symbol)
		}
		p.err = &Error{Span: p.place(i, j), Message: message}
	}
	p.tok = token{kind: end, from: len(p.text), to: len(p.text)}
}

// symbols are the operators that other languages write as words.
var symbols = map[string]string{"and": "&&", "or": "||", "not": "!", "AND": "&&", "OR": "||",
	"NOT": "!", "mod": "%", "implies": "=>"}

func (p *parser) finish() {
	if p.err == nil && p.tok.kind != end {
		if right := strangeOps[p.tok.text]; right != "" {
			p.fail(p.tok.from, p.tok.to, "%s is not an operator here; write %s", diag.Quote(p.tok.text), right)
			return
		}
		p.fail(p.tok.from, p.tok.to, "%s is not expected here", diag.Quote(p.tok.text))
	}
}

// strangeOps are signs that mean something elsewhere, and what expressions have for it.
var strangeOps = map[string]string{"->": "=>"}

func (p *parser) is(o string) bool { return p.tok.kind == op && p.tok.text == o }

func (p *parser) accept(o string) bool {
	if p.is(o) {
		p.advance()
		return true
	}
	return false
}

func (p *parser) expect(o, where string) {
	if !p.accept(o) && p.err == nil {
		p.fail(p.tok.from, max(p.tok.to, p.tok.from), "%s is missing %s", diag.Quote(o), where)
	}
}

func (p *parser) name(what string) (string, diag.Span) {
	t := p.tok
	if t.kind != name {
		if p.err == nil {
			p.fail(t.from, t.to, "%s is missing", what)
		}
		return "", diag.Span{}
	}
	p.advance()
	return t.text, p.place(t.from, t.to)
}

func (p *parser) at(from int) base {
	p.nodes++
	if p.nodes > maxNodes && p.err == nil {
		p.fail(from, from, "the expression is too long")
	}
	to := max(from, p.last)
	return base{p.place(from, to), p.text[from:to]}
}

var precedence = map[string]int{
	"=>": 1, "||": 2, "&&": 3,
	"==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "in": 4,
	"+": 5, "-": 5, "*": 6, "/": 6, "%": 6,
}

func (p *parser) binaryOp() (string, int) {
	if p.tok.kind == op || p.tok.kind == name && p.tok.text == "in" {
		return p.tok.text, precedence[p.tok.text]
	}
	return "", 0
}

// expr reads an expression of operators that bind tighter than limit.
func (p *parser) expr(limit int) Node {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxNesting {
		p.fail(p.tok.from, p.tok.to, "the expression is nested too deeply")
		return nil
	}
	from := p.tok.from
	x := p.unary()
	for p.err == nil {
		o, prec := p.binaryOp()
		if prec == 0 || prec <= limit {
			break
		}
		t := p.tok
		p.advance()
		right := prec
		if o == "=>" {
			right = prec - 1
		}
		y := p.expr(right)
		if next, np := p.binaryOp(); np == 4 && prec == 4 && p.err == nil {
			p.fail(p.tok.from, p.tok.to, "comparisons cannot be chained; join them with && instead of a "+
				"second %s", diag.Quote(next))
		}
		x = &Binary{p.at(from), o, p.place(t.from, t.to), x, y}
	}
	return x
}

func (p *parser) unary() Node {
	from := p.tok.from
	for _, o := range []string{"!", "-"} {
		if !p.is(o) {
			continue
		}
		p.depth++
		defer func() { p.depth-- }()
		if p.depth > maxNesting {
			p.fail(from, from, "the expression is nested too deeply")
			return nil
		}
		p.advance()
		x := p.unary()
		return &Unary{p.at(from), o, x}
	}
	return p.postfix()
}

func (p *parser) postfix() Node {
	from := p.tok.from
	x := p.primary()
	for p.err == nil {
		switch {
		case p.accept("."):
			n, at := p.name("the name after the dot")
			x = &Select{p.at(from), x, n, at}
		case p.accept("["):
			args := p.list("]", "after the index")
			x = &Index{p.at(from), x, args}
		case p.is("{") && isPath(x):
			p.advance()
			f := p.fields()
			x = &Literal{p.at(from), x, f}
		default:
			return x
		}
	}
	return x
}

// isPath reports whether a literal may follow x.
func isPath(x Node) bool {
	switch x := x.(type) {
	case *Ident:
		return true
	case *Select:
		return isPath(x.X)
	case *Index:
		return isPath(x.X)
	}
	return false
}

// list reads expressions separated by commas up to the closing bracket.
func (p *parser) list(closing, where string) []Node {
	var args []Node
	for p.err == nil && !p.is(closing) {
		from := p.tok.from
		x := p.expr(0)
		if p.accept("->") {
			y := p.expr(0)
			x = &Arrow{p.at(from), x, y}
		}
		args = append(args, x)
		if !p.accept(",") {
			break
		}
	}
	p.expect(closing, where)
	return args
}

func (p *parser) fields() []FieldValue {
	var fields []FieldValue
	for p.err == nil && !p.is("}") {
		n, at := p.name("a field's name")
		f := FieldValue{n, at, &Ident{base{at, n}, n}}
		if p.accept(":") {
			f.Value = p.expr(0)
		}
		fields = append(fields, f)
		if !p.accept(",") {
			break
		}
	}
	p.expect("}", "after the fields")
	return fields
}

func (p *parser) primary() Node {
	t := p.tok
	switch {
	case t.kind == number:
		p.advance()
		return &Number{p.at(t.from), t.value}
	case t.kind == str:
		p.advance()
		return &String{p.at(t.from), t.text}
	case t.kind == name && t.text == "in":
		// The incoming channels of an environment rule: len(in).
		p.advance()
		if !p.is(")") && !p.is(",") && p.err == nil {
			p.fail(t.from, t.to, "a value is missing before `in`")
		}
		return &Ident{p.at(t.from), "in"}
	case t.kind == name && symbols[t.text] == "!" && p.err == nil && p.startsOperand():
		p.fail(t.from, t.to, "") // says what to write
		return nil
	case t.kind == name:
		p.advance()
		if p.is("(") {
			return p.call(t)
		}
		return &Ident{p.at(t.from), t.text}
	case p.accept("("):
		x := p.expr(0)
		p.expect(")", "after the parenthesised expression")
		return x
	case p.accept("["):
		return p.bracket(t.from)
	}
	if p.err == nil {
		what := "an expression is missing"
		if t.kind != end {
			what = fmt.Sprintf("an expression is missing before %s", diag.Quote(t.text))
		}
		p.fail(t.from, t.to, "%s", what)
	}
	return nil
}

// startsOperand reports whether what comes behind the present token can be the operand of a `not`.
func (p *parser) startsOperand() bool {
	t := next(p.text, p.tok.to)
	return t.kind == name && t.text != "in" || t.kind == number || t.kind == op && t.text == "("
}

func (p *parser) bracket(from int) Node {
	if p.accept("]") {
		return &List{p.at(from), nil}
	}
	first := p.expr(0)
	if p.tok.kind == name && p.tok.text == "for" {
		p.advance()
		v, at := p.name("the name after `for`")
		p.in()
		over := p.over()
		var cond Node
		if p.tok.kind == name && p.tok.text == "if" {
			p.advance()
			cond = p.expr(0)
		}
		p.expect("]", "after the list")
		return &Build{p.at(from), first, v, at, over, cond}
	}
	elems := []Node{first}
	if p.accept(",") {
		elems = append(elems, p.list("]", "after the list")...)
	} else {
		p.expect("]", "after the list")
	}
	return &List{p.at(from), elems}
}

func (p *parser) in() {
	if p.tok.kind == name && p.tok.text == "in" {
		p.advance()
	} else if p.err == nil {
		p.fail(p.tok.from, p.tok.to, "`in` is missing here")
	}
}

// over reads what a loop runs over. A range ends before operators that compare.
func (p *parser) over() Node {
	from := p.tok.from
	x := p.expr(4)
	if p.accept("..") {
		y := p.expr(4)
		return &Range{p.at(from), x, y}
	}
	return x
}

func (p *parser) call(fn token) Node {
	p.advance()
	if p.quantifies(fn.text) {
		v, at := p.name("a name")
		p.in()
		over := p.over()
		p.expect(":", "after what `"+fn.text+"` goes through")
		x := p.expr(0)
		p.expect(")", "after the condition")
		return &Quantified{p.at(fn.from), fn.text, v, at, over, x}
	}
	if fn.text == "count" && p.err == nil {
		p.fail(fn.from, fn.to, "count needs a condition: count(x in list: …); len(list) is the number of all")
	}
	args := p.list(")", "after the arguments")
	return &Call{p.at(fn.from), fn.text, p.place(fn.from, fn.to), args}
}

// quantifies reports whether a call has the form all(x in T: …). first(list) is an ordinary call,
// so the word after the name decides.
func (p *parser) quantifies(fn string) bool {
	if p.tok.kind != name {
		return false
	}
	switch fn {
	case "all", "some":
		return true
	case "first", "count":
		t := next(p.text, p.tok.to)
		return t.kind == name && t.text == "in"
	}
	return false
}
