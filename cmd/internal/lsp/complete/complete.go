// Package complete lists what could stand at a place of a specification. It works on the text alone,
// so that it has an answer while the text is half written. Start from [At].
package complete

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/parley-go/parley/cmd/internal/lsp/source"
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/parse"
	"github.com/parley-go/parley/gen/symbols"
)

// maxItems bounds one answer.
const maxItems = 500

// Item is something that could stand at a place.
type Item struct {
	Label  string
	Kind   int // as the Language Server Protocol numbers them
	Detail string
	Doc    string
}

// At lists what could stand at an offset of a text. key reports whether a key is being written there.
// Other files are read from fsys.
func At(fsys fs.FS, src *ast.Source, off int) (items []Item, key bool) {
	c, root, before, ok := source.AtMarker(src, off)
	if !ok {
		return nil, false
	}
	g, _ := parse.Look(c.Path)
	k := &completer{c: c, guide: g, before: before, names: readDeclared(fsys, src.Name, root, 0)}
	if c.Key {
		k.keys()
	} else {
		k.values()
	}
	word, _ := source.WordAt(src, off)
	seen := map[string]bool{}
	for _, it := range k.items {
		if seen[it.Label] || len(items) == maxItems || strings.Contains(it.Label, source.Marker) {
			continue
		}
		seen[it.Label] = true
		it.Detail, it.Doc = source.Unmarked(it.Detail, word), source.Unmarked(it.Doc, word)
		items = append(items, it)
	}
	return items, c.Key
}

// completer collects the possibilities of one place.
type completer struct {
	c      source.Cursor
	guide  parse.Guide
	before string // of the scalar, up to the word that is being written
	names  *declared
	items  []Item
}

func (k *completer) add(kind int, detail, doc string, labels ...string) {
	for _, l := range labels {
		k.items = append(k.items, Item{Label: l, Kind: kind, Detail: detail, Doc: doc})
	}
}

// at returns element i of the path, "" where there is none; negative ones count from the end.
func (k *completer) at(i int) string {
	if i < 0 {
		i += len(k.c.Path)
	}
	if i < 0 || i >= len(k.c.Path) {
		return ""
	}
	return k.c.Path[i]
}

// role is the role whose section the place is in.
func (k *completer) role() string {
	if k.at(0) == "roles" {
		return k.at(1)
	}
	return ""
}

// Kinds of items, as the Language Server Protocol numbers them.
const (
	completeField    = 5
	completeVariable = 6
	completeFunction = 3
	completeClass    = 7
	completeProperty = 10
	completeEnum     = 13
	completeKeyword  = 14
	completeModule   = 9
	completeMember   = 20
	completeConstant = 21
	completeEvent    = 23
)

var itemKinds = map[symbols.Kind]int{
	symbols.Const: completeConstant, symbols.Type: completeClass, symbols.EnumValue: completeMember,
	symbols.Message: completeEvent,
	symbols.Field:   completeField, symbols.Role: completeClass, symbols.Param: completeConstant,
	symbols.Var:   completeVariable,
	symbols.Timer: completeVariable, symbols.Command: completeFunction,
	symbols.Report: completeEvent, symbols.Part: completeModule,
	symbols.State: completeEnum, symbols.Import: completeModule, symbols.Check: completeKeyword,
	symbols.Claim:    completeKeyword,
	symbols.Instance: completeVariable, symbols.Local: completeVariable,
	symbols.Routine: completeFunction,
}

// declared adds the names of some kinds; owner "" means all owners.
func (k *completer) declared(in *declared, owner string, kinds ...symbols.Kind) {
	if in == nil {
		return
	}
	for _, kind := range kinds {
		for _, x := range in.list {
			if x.Kind == kind && (owner == "" || x.Owner == owner) {
				k.add(itemKinds[kind], x.Kind.String()+" "+x.Text, x.Doc, x.Name)
			}
		}
	}
}

// keys completes a key of a map.
func (k *completer) keys() {
	n := k.c.Maps[len(k.c.Maps)-1]
	here := n.Keys()
	for _, g := range k.guide.Keys {
		if !slices.Contains(here, g.Name) {
			k.add(completeProperty, "key of "+k.guide.What, g.Doc, g.Name)
		}
	}
	if k.guide.Open {
		k.openKeys()
	}
	k.items = slices.DeleteFunc(k.items, func(it Item) bool { return slices.Contains(here, it.Label) })
}

// openKeys completes keys that are names.
func (k *completer) openKeys() {
	role := k.role()
	switch last := k.at(-1); {
	case role != "" && (k.at(2) == "states" && len(k.c.Path) == 4 || k.at(2) == "common" && last == "on"):
		k.events(role)
	case last == "forward":
		k.declared(k.names, role, symbols.Part)
	case last == "set":
		k.declared(k.names, role, symbols.Var)
	case k.at(2) == "parts" && len(k.c.Path) == 5:
		part := k.names.part(role, k.at(3))
		switch last {
		case "with":
			k.declared(part.names, part.role, symbols.Param)
		case "types":
			k.declared(part.names, "", symbols.Type)
		case "send":
			k.declared(part.names, "", symbols.Message)
		}
	case last == "domains":
		k.declared(k.names, "", symbols.Type)
	case k.at(0) == "checks" && last == "consts":
		k.declared(k.names, "", symbols.Const)
	case last == "environment":
		k.declared(k.names, "", symbols.Command)
	case k.at(0) == "messages" && k.at(2) == "wire":
		k.wireItems()
	}
}

// events adds what a state may mention.
func (k *completer) events(role string) {
	k.declared(k.names, "", symbols.Message)
	k.declared(k.names, role, symbols.Command, symbols.Timer)
	k.add(completeEvent, "event", "", "start", "up", "lost")
	for _, x := range k.names.list {
		if x.Kind != symbols.Part || x.Owner != role {
			continue
		}
		part := k.names.part(role, x.Name)
		k.add(completeEvent, "a part entered a final state", "", x.Name+".finished")
		if part.names == nil {
			continue
		}
		for _, y := range part.names.list {
			if y.Kind == symbols.Report && y.Owner == part.role {
				k.add(completeEvent, "report of a part", y.Doc, x.Name+"."+y.Name)
			}
		}
	}
}

// values completes a scalar that is no key.
func (k *completer) values() {
	k.add(completeKeyword, k.guide.What, "", k.guide.Words...)
	role, last := k.role(), k.at(-1)
	if last == parse.Item {
		last = k.at(-2)
	}
	inText := strings.ContainsAny(k.before, "{(.")
	switch {
	case last == "goto" || last == "initial" || k.at(2) == "common" && (last == "in" || last == "except"):
		k.declared(k.names, role, symbols.State)
	case last == "send" && k.at(2) == "parts":
	case (last == "send" || last == "report" || last == "run" || last == "call") && role != "":
		k.target(last)
	case last == "or":
		k.declared(k.names, "", symbols.Command)
	case last == "like":
		k.declared(k.names, "", symbols.Check)
	case last == "restart":
		k.declared(k.names, role, symbols.Part)
	case role != "" && (last == "start" || last == "stop"):
		k.declared(k.names, role, symbols.Timer)
	case last == "to" && role != "":
		k.add(completeKeyword, "to whom", "", "sender", "all")
		k.expression()
	case last == "ignore" || k.at(-2) == "forward" || k.at(-3) == "forward":
		k.events(role)
	case last == "defer":
		k.declared(k.names, "", symbols.Message)
	case last == "machine":
		k.machines()
	case k.at(-2) == "instances" && !inText:
		k.declared(k.names, "", symbols.Role)
	case last == "expect":
		k.declared(k.names, k.at(1), symbols.Claim)
		k.add(completeKeyword, "built-in claim", "", model.BuiltinClaims()...)
	case k.guide.What == "a type":
		k.declared(k.names, "", symbols.Type)
		k.add(completeKeyword, "type", "", "bool", "u8", "u16", "u32", "opaque", "text", "instance")
	case k.guide.What == "a width" || k.guide.What == "a wire item's form":
		k.add(completeKeyword, "width", "", "u8", "u16", "u24", "u32", "u64", "nul", "counted", "rest")
	case k.guide.What == "an expression" || k.guide.What == "a value":
		k.expression()
	}
}

// wireItems adds what an item of a message's wire may begin with: the message's fields, within
// `each` those of the elements, behind `record.` those of the record.
func (k *completer) wireItems() {
	fields := k.names.get("messages", k.at(1), "fields")
	for _, step := range k.c.Path[3:] {
		if list, is := strings.CutPrefix(step, "each "); is {
			elem := k.names.elements(k.names.field(fields, list))
			if fields = elem.Get("record"); elem != nil && fields == nil {
				k.add(completeKeyword, "the element", "", "item")
			}
		}
	}
	name := k.before[strings.LastIndexByte(k.before, ' ')+1:]
	for step, rest, more := strings.Cut(name, "."); more; step, rest, more = strings.Cut(rest, ".") {
		fields = k.names.written(k.names.field(fields, step)).Get("record")
	}
	if fields != nil && fields.Kind == ast.Map {
		for _, e := range fields.Entries {
			doc, t := "", e.Value
			if n := t.Get("doc"); n != nil {
				doc = n.Text
			}
			if n := t.Get("type"); n != nil {
				t = n
			}
			k.add(completeField, strings.TrimSpace("field "+t.Text), doc, e.Key.Text)
		}
	}
	if name == "" && !strings.Contains(k.before, " ") {
		k.add(completeKeyword, "wire item", "", "pad", "const", "align", "count", "each")
	}
}

// target completes what is sent, reported or run: a name, or within braces its fields.
func (k *completer) target(verb string) {
	role := k.role()
	if head, inside, ok := strings.Cut(k.before, "{"); ok {
		if !strings.HasSuffix(strings.TrimSpace(inside), ":") {
			owner := head[strings.LastIndexByte(head, '.')+1:]
			in := k.names
			if verb == "run" {
				in = k.names.part(role, identBefore(head, '.')).names
			}
			k.declared(in, owner, symbols.Field)
		}
		k.expression()
		return
	}
	switch verb {
	case "send":
		k.declared(k.names, "", symbols.Message)
	case "report":
		k.declared(k.names, role, symbols.Report)
	case "call":
		k.declared(k.names, role, symbols.Routine)
	case "run":
		if strings.HasSuffix(k.before, ".") {
			p := k.names.part(role, identBefore(k.before, '.'))
			k.declared(p.names, "", symbols.Message)
			k.declared(p.names, p.role, symbols.Command)
			return
		}
		k.declared(k.names, role, symbols.Part)
	}
}

// identBefore is the name before the first of a separator, without an index.
func identBefore(text string, sep byte) string {
	head, _, _ := strings.Cut(text, string(sep))
	head, _, _ = strings.Cut(head, "[")
	return strings.TrimSpace(head)
}

func (k *completer) machines() {
	if imp, ok := strings.CutSuffix(k.before, "."); ok {
		k.declared(k.names.imports[imp], "", symbols.Role)
		return
	}
	k.declared(k.names, "", symbols.Import)
	k.declared(k.names, "", symbols.Role)
}

var Functions = []string{"len", "min", "max", "append", "tail", "first", "contains", "with",
	"without", "union", "minus", "intersect", "if", "all", "some", "count"}

// expression completes a name within an expression.
func (k *completer) expression() {
	if k.behindDot() {
		return
	}
	if role := k.role(); role != "" {
		k.eventFields(role)
		k.declared(k.names, role, symbols.Var, symbols.Param, symbols.Part, symbols.Timer, symbols.State)
	}
	if k.at(0) == "checks" {
		k.declared(k.names, k.at(1), symbols.Instance)
		k.add(completeFunction, "function", "", "empty", "reported", "commanded", "last", "pending")
		if k.at(2) == "environment" {
			k.declared(k.names, "", symbols.Var, symbols.Param, symbols.State, symbols.Message)
			k.declared(k.names, k.at(3), symbols.Field)
			k.add(completeKeyword, "channel", "", "out", "in")
		}
	}
	k.declared(k.names, "", symbols.Const, symbols.EnumValue, symbols.Type)
	k.add(completeFunction, "function", "", Functions...)
	k.add(completeKeyword, "", "", "true", "false", "none")
}

// eventFields adds the fields of the event whose handler the place is in.
func (k *completer) eventFields(role string) {
	event := ""
	switch {
	case k.at(2) == "states" && len(k.c.Path) > 4:
		event = k.at(4)
	case k.at(2) == "common" && k.at(4) == "on":
		event = k.at(5)
	case k.at(2) == "routines":
		event = k.at(3)
	}
	event, _, _ = strings.Cut(event, ",") // of several the first: what is used all have
	part, rest, dotted := strings.Cut(event, ".")
	if dotted {
		p := k.names.part(role, part)
		k.declared(p.names, rest, symbols.Field)
		event = part // the keys
	}
	k.declared(k.names, event, symbols.Field)
}

// behindDot completes what comes behind a dot, and reports whether there is one.
func (k *completer) behindDot() bool {
	text, ok := strings.CutSuffix(k.before, ".")
	if !ok {
		return false
	}
	var chain []string
	for {
		text = withoutIndex(text)
		i := len(text)
		for i > 0 && source.IsWord(text[i-1]) {
			i--
		}
		if i == len(text) {
			break
		}
		chain = append([]string{text[i:]}, chain...)
		if text, ok = strings.CutSuffix(text[:i], "."); !ok {
			break
		}
	}
	if len(chain) > 0 {
		k.inside(chain)
	}
	return true
}

// withoutIndex cuts an index in brackets from the end.
func withoutIndex(text string) string {
	if !strings.HasSuffix(text, "]") {
		return text
	}
	depth := 0
	for i := len(text) - 1; i >= 0; i-- {
		switch text[i] {
		case ']':
			depth++
		case '[':
			if depth--; depth == 0 {
				return text[:i]
			}
		}
	}
	return text
}

// inside adds what is inside a machine, a type or a record.
func (k *completer) inside(chain []string) {
	m := machine{k.names, k.role()}
	if k.at(0) == "checks" {
		if n := k.names.get("checks", k.at(1), "instances", chain[0]); n != nil {
			role, _, _ := strings.Cut(n.Text, "(")
			m, chain = machine{k.names, strings.TrimSpace(role)}, chain[1:]
			if len(chain) == 0 {
				k.declared(m.names, m.role, symbols.State, symbols.Var, symbols.Param, symbols.Part,
					symbols.Timer)
				return
			}
		}
	}
	for i, name := range chain {
		if p := m.names.part(m.role, name); p.names != nil {
			m = p
			if i == len(chain)-1 {
				k.declared(m.names, m.role, symbols.State, symbols.Var, symbols.Param, symbols.Part,
					symbols.Timer)
			}
			continue
		}
		if i == len(chain)-1 {
			k.declared(m.names, name, symbols.EnumValue)
			k.recordFields(m, name)
		}
		return
	}
}

// recordFields adds the fields of the record that a variable's type mentions.
func (k *completer) recordFields(m machine, name string) {
	for _, x := range m.names.list {
		if x.Name != name || x.Kind != symbols.Var && x.Kind != symbols.Param && x.Kind != symbols.Field {
			continue
		}
		for _, t := range m.names.list {
			if t.Kind == symbols.Type && mentions(x.Text, t.Name) {
				k.declared(m.names, t.Name, symbols.Field)
			}
		}
	}
}

// mentions reports whether a text has a name as a whole word.
func mentions(text, name string) bool {
	for i := strings.Index(text, name); i >= 0; {
		end := i + len(name)
		if (i == 0 || !source.IsWord(text[i-1])) && (end == len(text) || !source.IsWord(text[end])) {
			return true
		}
		next := strings.Index(text[end:], name)
		if next < 0 {
			break
		}
		i = end + next
	}
	return false
}
