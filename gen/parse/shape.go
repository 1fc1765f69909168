package parse

import (
	"regexp"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
)

// shape describes what may stand at a place of a specification: a scalar, a list, a map, or
// several of them. A node is checked against the one that it is.
type shape struct {
	what   string // for messages: "a message"
	null   bool   // may be empty
	scalar *scalar
	list   *shape
	keys   []key  // known keys of a map
	open   *shape // what other keys lead to; nil: there are no others
	// name describes the open keys; the zero value means plain names.
	name names
	// oneOnly is set for maps that have exactly one entry.
	oneOnly bool
	// listHint is the remedy where somebody wrote a list, and textHint where somebody wrote a
	// single TEXT, instead of a map.
	listHint, textHint string
	// sample is what may stand behind each name where somebody wrote a list of names instead of a map.
	sample string
	hint   string // the remedy where nothing but null may stand
	merge  bool   // an extending file's map is merged into this one key by key
}

type key struct {
	name string
	s    *shape
}

// isMap reports whether a map may stand here.
func (s *shape) isMap() bool { return s.keys != nil || s.open != nil }

// checkShape compares a tree with its shape and reports every difference.
func checkShape(n *ast.Node, s *shape, c *diag.Collector) {
	switch {
	case s == nil:
	case n.IsNull():
		// In an extending file null removes. Whether that is right shows when the files are merged.
		if !s.null && !n.Removes() {
			c.Errorf("FSM008", n.Span(), "%s is missing here", s.what)
		}
	case n.Kind == ast.Scalar && s.scalar != nil:
		if complaint := s.scalar.complain(n); complaint != "" {
			c.Errorf("FSM014", n.Span(), "%s %s", diag.Quote(n.Text), complaint)
		}
	case n.Kind == ast.List && s.list != nil:
		for _, it := range n.Items {
			checkShape(it, s.list, c)
		}
	case n.Kind == ast.Map && s.isMap():
		checkMap(n, s, c)
	case s.forms() == "":
		c.Errorf("FSM008", n.Span(), "%s has no value", s.what).With(s.hint)
	default:
		c.Errorf("FSM008", n.Span(), "%s: %s is needed here, not %s", s.what, s.forms(), n.Kind).
			With(s.remedy(n))
	}
}

func (s *shape) forms() string {
	var f []string
	if s.scalar != nil {
		f = append(f, ast.Scalar.String())
	}
	if s.isMap() {
		f = append(f, ast.Map.String())
	}
	if s.list != nil {
		f = append(f, ast.List.String())
	}
	return strings.Join(f, " or ")
}

// remedy returns how something of the wrong form could have been meant.
func (s *shape) remedy(n *ast.Node) string {
	switch {
	case n.Kind == ast.Scalar && n.Style == ast.Plain && s.isMap():
		if hint := gluedHint(n.Text); hint != "" {
			return hint
		}
		if s.open == &typeShape && NameComplaint(n.Text) == "" {
			return "each has a name: {" + strings.ToLower(n.Text[:1]) + n.Text[1:] + ": " + n.Text + "}"
		}
		return strings.ReplaceAll(s.textHint, "TEXT", n.Text)
	case n.Kind == ast.Scalar && s.textHint != "":
		return strings.ReplaceAll(s.textHint, "TEXT", n.Text)
	case n.Kind == ast.List && s.listHint == "" && s.isMap():
		return s.named(n)
	case n.Kind == ast.List, !s.isMap():
		return s.listHint
	}
	return ""
}

// named returns a list of names as the map that it should have been.
func (s *shape) named(n *ast.Node) string {
	var entries []string
	for _, it := range n.Items {
		if it.Kind != ast.Scalar || it.Style != ast.Plain || s.openKeys().complain(it.Text) != "" {
			return ""
		}
		entries = append(entries, it.Text+": "+s.sample)
	}
	if len(entries) == 0 || len(entries) > 8 || s.sample == "" && (s.open == nil || !s.open.null) {
		return ""
	}
	key := keyBefore(n)
	return "write `" + key + "{" + strings.Join(entries, ", ") + "}`"
}

// keyBefore returns the key whose value a node is, with its colon, or "".
func keyBefore(n *ast.Node) string {
	text := strings.TrimRight(string(n.Src.Text[:n.Start]), " \t\r\n-")
	if !strings.HasSuffix(text, ":") {
		return ""
	}
	begin := strings.LastIndexAny(text, " \n{,") + 1
	return text[begin:] + " "
}

func checkMap(n *ast.Node, s *shape, c *diag.Collector) {
	if s.oneOnly && len(n.Entries) != 1 {
		c.Errorf("FSM008", n.Span(), "%s has one entry, not %d", s.what, len(n.Entries))
		return
	}
	for i, e := range n.Entries {
		if sub, ok := s.lookup(e.Key.Text); ok {
			checkShape(e.Value, sub, c)
			continue
		}
		if s.open == nil {
			if i == 0 || commaHint(n, i) == "" || commaHint(n, i-1) == "" {
				unknownKey(n, i, s, c)
			}
			continue
		}
		complaint := s.openKeys().complain(e.Key.Text)
		switch {
		case i > 0 && commaHint(n, i) != "" && commaHint(n, i-1) != "":
			// more of the text that the entry before began
		case complaint != "" && reportUnled(n, e, c):
		case complaint != "":
			c.Errorf("FSM010", e.Key.Span(), "%s %s", diag.Quote(e.Key.Text), complaint).
				With(gluedHint(e.Key.Text)).With(commaHint(n, i))
		case reportElsewhere(e, s, c):
		case commaHint(n, i) != "" && !s.open.null:
			c.Errorf("FSM008", e.Key.Span(), "%s is missing behind %s", s.open.what,
				diag.Quote(e.Key.Text)).With(commaHint(n, i))
		default:
			checkShape(e.Value, s.open, c)
		}
	}
}

// commaHint returns what to do if entry i of a map in braces is the rest of a text with a comma
// and no quotes: {doc: first, second} has a key `second`. It returns "" if it is not.
func commaHint(n *ast.Node, i int) string {
	bare := func(v *ast.Node) bool { return v.Kind == ast.Scalar && v.Start == v.End }
	if !n.Flow || !bare(n.Entries[i].Value) {
		return ""
	}
	first := i - 1
	for first >= 0 && bare(n.Entries[first].Value) {
		first--
	}
	if first < 0 || n.Entries[first].Value.Kind != ast.Scalar || n.Entries[first].Value.Style != ast.Plain {
		return ""
	}
	for i+1 < len(n.Entries) && bare(n.Entries[i+1].Value) {
		i++
	}
	e := n.Entries[first]
	if key := n.Entries[i].Key.Text; gluedInBraces.MatchString(key) && i == first+1 {
		name, value, _ := strings.Cut(key, ":")
		return "a space is missing behind the colon: write `" + name + ": " + value + "`"
	}
	text := strings.TrimSpace(string(n.Src.Text[e.Value.Start:n.Entries[i].Key.End]))
	if strings.ContainsAny(text, "\u201c\u201d\u201e") {
		return "these are quotes of prose; write straight ones: \" before the text and behind it"
	}
	if len(text) > 60 || strings.ContainsAny(text, "\"\n") {
		text = "…, …"
	}
	return "a comma inside braces ends the text; if it belongs to it, quote the text: " + e.Key.Text + ": \"" +
		text + "\""
}

func (s *shape) openKeys() names {
	if s.name.complain == nil {
		return plainNames
	}
	return s.name
}

func (s *shape) lookup(name string) (*shape, bool) {
	for _, k := range s.keys {
		if k.name == name {
			return k.s, true
		}
	}
	return nil, false
}

func (s *shape) keyNames() []string {
	names := make([]string, len(s.keys))
	for i, k := range s.keys {
		names[i] = k.name
	}
	return names
}

// wordsForm is a key that was to be a key and its value.
var wordsForm = regexp.MustCompile(`^(\w+)(?: *= *| +)(\S.*)$`)

// reportUnled reports a key behind which the colon before a brace is missing.
func reportUnled(n *ast.Node, e ast.Entry, c *diag.Collector) bool {
	if n.Flow || e.Key.Style != ast.Plain {
		return false
	}
	s := unled(n.Src, n.Src.Pos(e.Key.Start).Line, e.Key.Start)
	if s == nil {
		return false
	}
	c.Errorf("FSM003", n.Src.Span(s.at, s.end), "%s", s.message).With(s.hint)
	return true
}

func unknownKey(n *ast.Node, i int, s *shape, c *diag.Collector) {
	k := n.Entries[i].Key
	if reportUnled(n, n.Entries[i], c) {
		return
	}
	d := c.Errorf("FSM007", k.Span(), "%s has no key %s", s.what, diag.Quote(k.Text))
	if m := wordsForm.FindStringSubmatch(k.Text); m != nil && n.Entries[i].Value.IsNull() {
		if _, is := s.lookup(m[1]); is {
			d.With("a colon is missing: write `" + m[1] + ": " + m[2] + "`")
			return
		}
	}
	if hint := commaHint(n, i); hint != "" {
		d.With(hint)
		return
	}
	if hint := gluedHint(k.Text); hint != "" {
		d.With(hint)
		return
	}
	if s == &stmtShape && (k.Text == "goto" || k.Text == "when") {
		d.With(diag.Quote(k.Text) + " stands beside `do`, in the branch, not inside; what leads to " +
			"different states are several branches")
		return
	}
	if hint := elsewhere[s.what][k.Text]; hint != "" {
		d.With(hint)
		return
	}
	if hint := diag.DidYouMean(k.Text, s.keyNames()); hint != "" {
		d.With(hint)
		return
	}
	if places := keyPlaces(k.Text); places != "" {
		d.With(diag.Quote(k.Text) + " belongs in " + places)
		return
	}
	d.With("its keys are " + strings.Join(s.keyNames(), ", "))
}

// keyPlaces returns the shapes in which a key would be right.
func keyPlaces(name string) string {
	var found []string
	seen := map[*shape]bool{}
	var visit func(s *shape)
	visit = func(s *shape) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		if _, ok := s.lookup(name); ok {
			found = append(found, s.what)
		}
		for _, k := range s.keys {
			visit(k.s)
		}
		visit(s.open)
		visit(s.list)
	}
	visit(&specShape)
	if len(found) > 3 {
		found = found[:3]
	}
	return strings.Join(found, " or ")
}
