package lsp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/parse"
	"github.com/parley-go/parley/gen/symbols"
)

// maxItems bounds one answer.
const maxItems = 500

// completion lists what could stand at a position. It works on the text alone, so that it does
// so while the text is half written.
func (s *server) completion(d *document, p place) (any, error) {
	off := d.offset(p.Position)
	out := completionList{Items: []completionItem{}}
	c, root, before, ok := atMarker(d.src, off)
	if !ok {
		return out, nil
	}
	g, _ := parse.Look(c.path)
	k := &completer{c: c, guide: g, before: before, names: s.declared(d.name, root, 0), out: &out}
	if c.key {
		k.keys()
	} else {
		k.values()
	}
	_, from := wordAt(d.src, off)
	to := off
	for to < len(d.src.Text) && isWord(d.src.Text[to]) {
		to++
	}
	word := string(d.src.Text[from:to])
	r := rangeOf(d.src, d.src.Span(from, to))
	seen := map[string]bool{}
	kept := out.Items[:0]
	for i, it := range out.Items {
		if seen[it.Label] || len(kept) == maxItems || strings.Contains(it.Label, marker) {
			continue
		}
		seen[it.Label] = true
		it.Detail, it.Doc = unmarked(it.Detail, word), unmarked(it.Doc, word)
		it.TextEdit = &textEdit{r, it.Label + insert(c.key)}
		it.Sort = fmt.Sprintf("%04d", i)
		kept = append(kept, it)
	}
	out.Items = kept
	return out, nil
}

// insert is what comes behind a completed key.
func insert(key bool) string {
	if key {
		return ": "
	}
	return ""
}

// completer collects the possibilities of one place.
type completer struct {
	c      cursor
	guide  parse.Guide
	before string // of the scalar, up to the word that is being written
	names  *declared
	out    *completionList
}

func (k *completer) add(kind int, detail, doc string, labels ...string) {
	for _, l := range labels {
		k.out.Items = append(k.out.Items, completionItem{Label: l, Kind: kind, Detail: detail, Doc: doc})
	}
}

// at returns element i of the path, "" where there is none; negative ones count from the end.
func (k *completer) at(i int) string {
	if i < 0 {
		i += len(k.c.path)
	}
	if i < 0 || i >= len(k.c.path) {
		return ""
	}
	return k.c.path[i]
}

// role is the role whose section the place is in.
func (k *completer) role() string {
	if k.at(0) == "roles" {
		return k.at(1)
	}
	return ""
}

var itemKinds = map[symbols.Kind]int{
	symbols.Const: completeConstant, symbols.Type: completeClass, symbols.EnumValue: completeMember, symbols.Message: completeEvent,
	symbols.Field: completeField, symbols.Role: completeClass, symbols.Param: completeConstant, symbols.Var: completeVariable,
	symbols.Timer: completeVariable, symbols.Command: completeFunction, symbols.Report: completeEvent, symbols.Part: completeModule,
	symbols.State: completeEnum, symbols.Import: completeModule, symbols.Check: completeKeyword, symbols.Claim: completeKeyword,
	symbols.Instance: completeVariable, symbols.Local: completeVariable, symbols.Routine: completeFunction,
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
	n := k.c.maps[len(k.c.maps)-1]
	here := n.Keys()
	for _, g := range k.guide.Keys {
		if !slices.Contains(here, g.Name) {
			k.add(completeProperty, "key of "+k.guide.What, g.Doc, g.Name)
		}
	}
	if k.guide.Open {
		k.openKeys()
	}
	k.out.Items = slices.DeleteFunc(k.out.Items, func(it completionItem) bool { return slices.Contains(here, it.Label) })
}

// openKeys completes keys that are names.
func (k *completer) openKeys() {
	role := k.role()
	switch last := k.at(-1); {
	case role != "" && (k.at(2) == "states" && len(k.c.path) == 4 || k.at(2) == "common" && last == "on"):
		k.events(role)
	case last == "forward":
		k.declared(k.names, role, symbols.Part)
	case last == "set":
		k.declared(k.names, role, symbols.Var)
	case k.at(2) == "parts" && len(k.c.path) == 5:
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
		k.add(completeKeyword, "built-in claim", "", "unspecified-reception", "fault", "deadlock", "orphan-message", "overflow", "never-fires", "unreachable-state")
	case k.guide.What == "a type":
		k.declared(k.names, "", symbols.Type)
		k.add(completeKeyword, "type", "", "bool", "u8", "u16", "u32", "opaque", "text", "instance")
	case k.guide.What == "a width" || k.guide.What == "a wire item's form":
		k.add(completeKeyword, "width", "", "u8", "u16", "u24", "u32", "u64", "nul", "counted", "rest")
	case k.guide.What == "an expression" || k.guide.What == "a value":
		k.expression()
	}
}
