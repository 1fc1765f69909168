package explain

import (
	"strings"

	"github.com/parley-go/parley/cmd/internal/lsp/source"
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/parse"
)

// Builtins explain what expressions have by themselves, each with its use. The functions are those
// of [functions].
var Builtins = map[string][2]string{
	"len": {"len(x)", "How many elements a list, set or map has. In checks `len(a -> b)` is how many " +
		"messages are under way, `len(out)` and `len(in)` those from and to the machine, `len(out, MSG)` " +
		"only those of one kind."},
	"min":    {"min(a, b)", "The smaller of two numbers."},
	"max":    {"max(a, b)", "The larger of two numbers."},
	"append": {"append(list, x)", "The list with x at its end. A list that is full already is a fault."},
	"tail":   {"tail(list)", "The list without its first element."},
	"first": {"first(list) or first(x in T: COND)",
		"The first element of a list; or the first for which a condition holds, an optional: `none` if there is none."},
	"contains":  {"contains(list, x)", "Whether x is in a list or set; the same as `x in list`."},
	"with":      {"with(set, x)", "The set and x."},
	"without":   {"without(set, x)", "The set, but for x."},
	"union":     {"union(a, b)", "What is in one of two sets or in both."},
	"minus":     {"minus(a, b)", "What is in the set a and not in b."},
	"intersect": {"intersect(a, b)", "What is in both sets."},
	"if":        {"if(condition, a, b)", "a if the condition holds, else b."},
	"all": {"all(x in T: COND)", "Whether the condition holds for each x of a type, list, set or " +
		"group of instances."},
	"some": {"some(x in T: COND)", "Whether the condition holds for one x or more of a type, list, set " +
		"or group of instances."},
	"count": {"count(x in T: COND)", "For how many x of a type, list, set or group of instances the " +
		"condition holds."},
	"empty": {"empty() or empty(a -> b)",
		"In claims: whether no message is under way, on any channel or on this one."},
	"reported": {"reported(a.changed) or reported(a.changed, 2)",
		"In claims: whether an instance has made a report, or has made it so many times at least."},
	"commanded": {"commanded(a.confirm) or commanded(a.confirm, 2)",
		"In claims: whether the program of an instance has given a command, or so many times at least."},
	"last": {"last(a.changed.value)", "In claims: a field of a report or command when it happened the last time, an " +
		"optional: `none` before the first."},
	"pending": {"pending(a.confirm, a.passed, a.cancelled)",
		"In claims: whether the first has happened, and none of the others since."},
	"sender": {"sender", "The number of the instance that the message comes from, of type `instance`; in " +
		"handlers of messages, `up` and `lost`."},
	"msg": {"msg.value", "A field of the event that is handled. Without msg the name means the value of the role, if " +
		"there is one."},
	"self": {"self", "The number of the machine's own instance, of type `instance`: its place in a " +
		"check, a parameter of the constructor in a program."},
	"parties": {"parties", "How many instances take part: in a check as many as it has, in a program a parameter of " +
		"the constructor."},
	"none": {"none", "The value of an optional that has none."},
}

// texts are the keys whose value is for people: words in it mean nothing.
var texts = []string{"doc", "why", "sources"}

// Builtin explains the word at an offset if it is one of the language's own words in an
// expression.
func Builtin(src *ast.Source, off int) string {
	root, _ := parse.Tree(src.Name, src.Text)
	if root == nil {
		return ""
	}
	c, ok := source.Locate(root, off)
	if !ok || c.Node.Kind != ast.Scalar || c.Key && !strings.ContainsAny(c.Node.Text, "[(") {
		return ""
	}
	for _, k := range c.Path {
		for _, t := range texts {
			if k == t {
				return ""
			}
		}
	}
	word, from := source.WordAt(src, off)
	to := from + len(word)
	b, ok := Builtins[word]
	if !ok || strings.Contains(b[0], "(") && (to == len(src.Text) || src.Text[to] != '(') {
		return ""
	}
	return "`" + b[0] + "`\n\n" + b[1]
}
