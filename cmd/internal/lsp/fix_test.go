package lsp

import (
	"encoding/json"
	"path/filepath"
	"testing"
)

// TestQuickFix takes what a diagnostic proposes, once; in the text that is right then nothing is
// left to fix.
func TestQuickFix(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hello.yaml")
	c := start(t, filepath.Dir(file))
	said := c.open(file, "protocol: hello\nmessages: {HI: }\nroles:\n  asker:\n    initial: idle\n    states:\n"+
		"      idle: {HI: {send: HI, goto: wating}}\n      waiting: {HI: ignore}\n")
	if len(said.Diagnostics) == 0 {
		t.Fatal("the slip is not found")
	}
	ask := func() []codeAction {
		var out []codeAction
		params := map[string]any{"textDocument": map[string]any{"uri": uri(file)},
			"range": said.Diagnostics[0].Range,
			"context": map[string]any{"diagnostics": append(said.Diagnostics,
				lspDiagnostic{Message: "did you mean `x`?",
					Range: textRange{position{9, 9}, position{1, 1}}})}}
		if err := json.Unmarshal(c.call("textDocument/codeAction", params), &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	fixes := ask()
	if len(fixes) != 1 || fixes[0].Title != "Write waiting" || fixes[0].Kind != "quickfix" {
		t.Fatalf("the fixes are %+v", fixes)
	}
	applyEdit(t, c.texts, fixes[0].Edit)
	if p := c.change(file, 2, c.texts[file]); len(p.Diagnostics) != 0 {
		t.Errorf("after the fix there is %+v", p.Diagnostics)
	}
	if fixes = ask(); len(fixes) != 0 {
		t.Errorf("what is mended is to be mended again: %+v", fixes)
	}
	c.end()
}
