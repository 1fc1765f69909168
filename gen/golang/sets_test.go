package golang_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSetsAreExplained: whoever makes a machine with a set reads how it is written, for both constructors.
func TestSetsAreExplained(t *testing.T) {
	file := filepath.Join(t.TempDir(), "spec.yaml")
	const spec = `protocol: room
parties: 4
messages: {GO: }
roles:
  host:
    params: {guests: {set: instance}, ranks: {set: 3..5}}
    initial: idle
    states:
      idle: {GO: {when: sender in guests && 4 in ranks}}
`
	if err := os.WriteFile(file, []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	files := generate(t, file, "room")
	for _, name := range []string{"host.go", "host_runner.go"} {
		text := strings.ReplaceAll(string(files[name]), "\n// ", " ")
		for _, want := range []string{
			"The set guests is written in bits: bit k says that k is in it; 1<<1 | 1<<2 has the two with",
			"The set ranks is written in bits: bit k says that 3 + k is in it;",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q", name, want)
			}
		}
	}
}
