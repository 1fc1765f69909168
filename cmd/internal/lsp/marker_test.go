package lsp

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestMarker completes in texts that are shown of what is declared: the state in whose line is
// written, also where it is cut off.
func TestMarker(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "hello.yaml")
	c := start(t, dir)
	for pad := range 40 {
		guard := strings.Repeat("n", 50+pad)
		c.open(file, "protocol: hello\nroles:\n  asker:\n    vars: {"+guard+
			": bool}\n    commands: {ask: }\n    initial: idle\n    states:\n"+
			"      idle: {ask: {when: "+guard+", goto: wa}}\n      waiting: {}\n")
		if got := c.labels(file, "goto: wa|"); strings.Join(got, " ") != "idle waiting" {
			t.Errorf("behind goto: there is %v", got)
		}
		c.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": uri(file)}})
	}
	c.end()
}
