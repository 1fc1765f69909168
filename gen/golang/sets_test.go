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

// TestSetMethods: named sets are asked and changed without masks, wherever their values begin.
func TestSetMethods(t *testing.T) {
	file := filepath.Join(t.TempDir(), "spec.yaml")
	const spec = `protocol: room
types: {Ranks: {set: 3..5}, Debts: {set: -2..2}, Wide: {set: 0..61}, Both: {set: bool}}
messages: {GO: {fields: {r: Ranks, d: Debts, w: Wide, b: Both}}}
roles:
  host:
    initial: idle
    states:
      idle: {GO: ignore}
`
	if err := os.WriteFile(file, []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	text := string(generate(t, file, "room")["types.go"])
	for _, want := range []string{
		"func (s Ranks) Has(v uint8) bool {\n\treturn s>>(uint(v)-3)&1 != 0\n}",
		"func (s Ranks) With(v uint8) Ranks {\n\treturn s | 1<<(uint(v)-3)&(1<<3-1)\n}",
		"func (s Debts) Without(v int8) Debts {\n\treturn s &^ (1 << (uint(v) + 2))\n}",
		"func (s Wide) With(v uint8) Wide {\n\treturn s | 1<<uint(v)&(1<<62-1)\n}",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "(s Both)") {
		t.Error("a set of truth values has methods")
	}
}
