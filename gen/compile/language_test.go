package compile

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// TestVariantOfACommand: a command that a variant mentions has the fields that are written there,
// and no others.
func TestVariantOfACommand(t *testing.T) {
	const base = "protocol: small\nroles:\n  peer: {commands: {put: {doc: puts, fields: {n: 0..3}}}, " +
		"initial: s, states: {s: {put: ignore}}}\n"
	for command, want := range map[string]int{"{fields: null}": 0, "{doc: another}": 0, "": 0,
		"{fields: {n: 0..3, m: bool}}": 2} {
		over := "protocol: small\nextends: base.yaml\nroles: {peer: {commands: {put: " + command + "}}}\n"
		p, l := Load("spec.yaml", Options{FS: fstest.MapFS{"spec.yaml": {Data: []byte(over)},
			"base.yaml": {Data: []byte(base)}}})
		if p == nil {
			t.Fatal(l.Error())
		}
		if got := len(p.Roles[0].Commands[0].Fields); got != want {
			t.Errorf("put: %s has %d fields, not %d", command, got, want)
		}
	}
}

// TestLanguageExample compiles the complete protocol that docs/LANGUAGE.md begins with.
func TestLanguageExample(t *testing.T) {
	page, err := os.ReadFile("../../docs/LANGUAGE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "## A whole protocol\n\n```yaml\n")
	text, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("docs/LANGUAGE.md no longer begins with a whole protocol")
	}
	p, l := Load("spec.yaml", Options{FS: fstest.MapFS{"spec.yaml": {Data: []byte(text)}}})
	if len(l) > 0 {
		t.Fatalf("the example has findings:\n%s", l.Error())
	}
	if p.Name != "ready" || len(p.Roles) != 1 || len(p.Roles[0].Transitions) != 4 || len(p.Checks) != 1 {
		t.Errorf("the example has become another protocol: %s with %d transitions", p.Name,
			len(p.Roles[0].Transitions))
	}
}
