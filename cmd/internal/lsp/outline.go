package lsp

import (
	"bytes"

	"github.com/parley-go/parley/gen/parse"
	"github.com/parley-go/parley/gen/symbols"
)

var symbolKinds = map[symbols.Kind]int{
	symbols.Const: symbolConstant, symbols.Type: symbolStruct, symbols.EnumValue: symbolMember,
	symbols.Message: symbolEvent,
	symbols.Field:   symbolField, symbols.Role: symbolClass, symbols.Param: symbolConstant,
	symbols.Var:   symbolVariable,
	symbols.Timer: symbolObject, symbols.Command: symbolFunction, symbols.Report: symbolEvent,
	symbols.Part:  symbolModule,
	symbols.State: symbolEnum, symbols.Import: symbolModule, symbols.Check: symbolObject,
	symbols.Claim:    symbolBoolean,
	symbols.Instance: symbolVariable, symbols.Channel: symbolObject, symbols.Routine: symbolFunction,
}

// outline lists what the document declares, nested. While the text is no YAML, it lists what it
// had.
func (s *server) outline(d *document, _ place) (any, error) {
	root, found := parse.Tree(d.name, d.src.Text)
	if root == nil || found.HasErrors() {
		if d.shown == nil {
			return []documentSymbol{}, nil
		}
		return d.shown, nil
	}
	names := symbols.New()
	names.Declarations(root)
	d.shown = nested(d, names.Symbols())
	return d.shown, nil
}

// owners are the kinds that have others inside.
var owners = map[symbols.Kind][]symbols.Kind{
	symbols.Type:    {symbols.Field, symbols.EnumValue},
	symbols.Message: {symbols.Field},
	symbols.Role: {symbols.Param, symbols.Var, symbols.Timer, symbols.Command, symbols.Report,
		symbols.Part, symbols.Routine, symbols.State},
	symbols.Check:   {symbols.Instance, symbols.Claim},
	symbols.Command: {symbols.Field}, symbols.Report: {symbols.Field},
	symbols.Part: {symbols.Field}, symbols.Routine: {symbols.Field},
}

func nested(d *document, all []*symbols.Symbol) []documentSymbol {
	out := []documentSymbol{}
	for _, x := range all {
		if x.Owner == "" {
			out = append(out, symbolOf(d, x, all, 0))
		}
	}
	return out
}

func symbolOf(d *document, x *symbols.Symbol, all []*symbols.Symbol, depth int) documentSymbol {
	out := documentSymbol{Name: x.Name, Detail: x.Kind.String(), Kind: symbolKinds[x.Kind],
		Range: rangeOf(d.src, x.Body), Name_: rangeOf(d.src, x.At)}
	if depth > 2 {
		return out
	}
	for _, k := range owners[x.Kind] {
		for _, y := range all {
			// What is inside stands inside.
			if y.Kind == k && y.Owner == x.Name && y.At != x.At && within(x, y) {
				out.Children = append(out.Children, symbolOf(d, y, all, depth+1))
			}
		}
	}
	return out
}

func within(x, y *symbols.Symbol) bool {
	from, to, at := x.Body.Start, x.Body.End, y.At.Start
	return (at.Line > from.Line || at.Line == from.Line && at.Col >= from.Col) &&
		(at.Line < to.Line || at.Line == to.Line && at.Col < to.Col)
}

// format returns the lines that differ from the canonical form as one edit. A text that is no YAML
// stays as it is.
func (s *server) format(d *document, _ place) (any, error) {
	out, found := parse.Format(d.name, d.src.Text)
	if found.HasErrors() || bytes.Equal(out, d.src.Text) {
		return []textEdit{}, nil
	}
	a, b := bytes.SplitAfter(d.src.Text, []byte("\n")), bytes.SplitAfter(out, []byte("\n"))
	head, tail := 0, 0
	for head < min(len(a), len(b)) && bytes.Equal(a[head], b[head]) {
		head++
	}
	for tail < min(len(a), len(b))-head && bytes.Equal(a[len(a)-1-tail], b[len(b)-1-tail]) {
		tail++
	}
	end := position{Line: len(a) - tail}
	if tail == 0 {
		last := d.src.Line(len(a))
		end = position{len(a) - 1, unitColumn(last, len(last))}
	}
	return []textEdit{{textRange{position{Line: head}, end},
		string(bytes.Join(b[head:len(b)-tail], nil))}}, nil
}
