package lsp

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/parley-go/parley/gen/compile"
)

// TestChangesInPlace: after any changes of parts of a text the server has the client's text.
func TestChangesInPlace(t *testing.T) {
	pieces := []string{"a", "protocol: p\n", "\r\n", "\n", "\r", "é", "🚀", "{x: ", "}", " "}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(what string) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(t, what), "")
		}
		mine := draw("text")
		d := &document{name: "x"}
		d.set(mine)
		s := &server{docs: map[string]*document{"x": d}}
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			units := utf16.Encode([]rune(mine))
			from := rapid.IntRange(0, len(units)).Draw(t, "from")
			to := rapid.IntRange(from, len(units)).Draw(t, "to")
			for from > 0 && splits(units, from) {
				from--
			}
			for to < len(units) && splits(units, to) {
				to++
			}
			text := draw("new")
			c := change{}
			c.Changes = append(c.Changes, struct {
				Range *textRange `json:"range"`
				Text  string     `json:"text"`
			}{&textRange{clientPosition(units, from), clientPosition(units, to)}, text})
			s.changed(d, c)
			mine = string(utf16.Decode(slices.Concat(units[:from], utf16.Encode([]rune(text)),
				units[to:])))
			if d.text != mine {
				t.Fatalf("the server has %q, the client %q", d.text, mine)
			}
		}
	})
}

// splits says that a place is inside a character, or inside the end of a line.
func splits(units []uint16, i int) bool {
	if i <= 0 || i >= len(units) {
		return false
	}
	return utf16.IsSurrogate(rune(units[i-1])) && units[i-1] < 0xDC00 ||
		units[i-1] == '\r' && units[i] == '\n'
}

// clientPosition is how a client names a place.
func clientPosition(units []uint16, i int) position {
	p := position{}
	for k, u := range units[:i] {
		switch {
		case u == '\n', u == '\r' && (k+1 >= len(units) || units[k+1] != '\n'):
			p = position{Line: p.Line + 1}
		default:
			p.Character++
		}
	}
	return p
}

// TestInstancesByNumber: the name of several instances is looked up and renamed without its brackets.
func TestInstancesByNumber(t *testing.T) {
	file := filepath.Join(t.TempDir(), "spec.yaml")
	const spec = `protocol: many
consts: {nodes: 2}
messages: {A: }
roles:
  server: {initial: on, states: {on: {A: {send: A, to: sender}}}}
  client: {params: {i: 0..9}, initial: off, states: {off: {start: {when: i < 9, send: A, to: 0}, A: {goto: gone}}, gone: {final: true}}}
checks:
  all:
    instances: {s: server, "p[k in 1..nodes]": "client(i: k)"}
    claims:
      any: {sometimes: "some(x in p: x.gone) && p[1].gone && empty(s -> p[1])"}
`
	c := start(t, filepath.Dir(file))
	if p := c.open(file, spec); len(p.Diagnostics) != 0 {
		t.Fatalf("%+v", p.Diagnostics)
	}
	if h := c.hover(file, "some(x in |p"); !strings.Contains(h, "**instance** `p`") ||
		!strings.Contains(h, "client(i: k)") {
		t.Errorf("hover: %s", h)
	}
	if got := c.places("textDocument/definition", file, "&& |p[1]"); !slices.Equal(got, []string{"spec.yaml:9:29"}) {
		t.Errorf("declared at %v", got)
	}
	p := c.at(file, "&& |p[1].gone")
	p["newName"] = "player"
	r := c.try("textDocument/rename", p)
	if r.Error != nil {
		t.Fatal(r.Error.Message)
	}
	var e workspaceEdit
	if err := json.Unmarshal(r.Result, &e); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{file: spec}
	applyEdit(t, texts, e)
	if want := strings.ReplaceAll(strings.ReplaceAll(spec, "p[", "player["), "in p:",
		"in player:"); texts[file] != want {
		t.Errorf("got\n%s", texts[file])
	}
	if _, l := compile.Load(file, compile.Options{FS: overlay{other: texts}}); l.HasErrors() {
		t.Error(l.Error())
	}
	c.end()
}
