package compile

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

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
		t.Errorf("the example has become another protocol: %s with %d transitions", p.Name, len(p.Roles[0].Transitions))
	}
}
