package check

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/proptest/explore"
)

// TestWidth: no line of a kept run is wider than a terminal shows. TestSpecs holds that they are
// what is printed.
func TestWidth(t *testing.T) {
	const most = 132
	files, _ := filepath.Glob("../../specs/*/expected/*.txt")
	if len(files) < 20 {
		t.Fatalf("only %d runs found", len(files))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if n := utf8.RuneCountInString(line); n > most {
				t.Errorf("%s: a line of %d: %s", file, n, line)
			}
		}
	}
}

// TestChannelLines: of many channels those that are empty are told together.
func TestChannelLines(t *testing.T) {
	s := suiteSystem(t, `protocol: p
messages: {A: }
channel: {capacity: 1}
roles: {peer: {commands: {go: }, initial: a, states: {a: {go: {send: A, to: all}, A: ignore}}}}
checks: {three: {instances: {x: peer, y: peer, z: peer}}}
`)
	var names []string
	for i := range s.System.Channels[:s.Own] {
		names = append(names, s.System.Channels[i].Name)
	}
	a := explore.Word{codec.PackMessage(s.Protocol.Messages[0], nil)}
	none := make([]explore.Word, len(names))
	one := slices.Clone(none)
	one[1] = explore.Word{a[0], a[0]}
	all := slices.Repeat([]explore.Word{a}, len(names))
	for _, c := range []struct {
		channels []explore.Word
		want     []string
	}{
		{none, []string{"all channels are empty"}},
		{one, []string{names[1] + ": A, A", "all other channels are empty"}},
		{append(slices.Clone(all[:1]), none[1]), []string{names[0] + ": A", names[1] + ": empty"}},
		{all[:1], []string{names[0] + ": A"}},
	} {
		if got := s.channelLines(c.channels); !slices.Equal(got, c.want) {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}

// TestFaultSaysWhat: a fault names what it is about as the author has it.
func TestFaultSaysWhat(t *testing.T) {
	for do, want := range map[string]string{
		`{set: {r.x: 1}}`:                        "state a, on go: r is none (",
		`{set: {n: "first(i in Small: i > n)"}}`: "state a, on go: first(i in Small: i > n) is none (",
		`{set: {n: r.x}}`:                        "state a, on go: r is none (",
		`{set: {"row[n]": 1}}`:                   "state a, on go: row[n]: index 2 is outside 0..1 (",
		`{set: {n: "row[n]"}}`:                   "state a, on go: row[n]: index 2 is outside 0..1 (",
		`{set: {l: "append(append(l, 1), 2)"}}`:  "state a, on go: append(l, 1) is full with 1 elements (",
		`{set: {n: first(l)}}`:                   "state a, on go: l is empty (",
		`{set: {n: 1 / (n - 2)}}`:                "state a, on go: 1 / (n - 2): division by zero (",
	} {
		s := suiteSystem(t, `protocol: p
types: {Small: 0..2, Pair: {record: {x: Small}}, Few: {list: Small, max: 1}, Row: {array: 0..1, of: Small}}
messages: {A: }
roles: {peer: {vars: {n: {type: Small, init: 2}, r: Pair?, l: Few, row: Row}, commands: {go: }, initial: a, states: {a: {go: {do: [`+do+`]}, A: ignore}}}}
checks: {pair: {instances: {x: peer, y: peer}}}
`)
		r, err := s.Run(context.Background(), explore.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if text := r.Text(false); !strings.Contains(text, want) {
			t.Errorf("%s: no %q in\n%s", do, want, text)
		}
	}
}

func suiteSystem(t *testing.T, text string) *System {
	t.Helper()
	p, list := compile.Load("a.yaml", compile.Options{FS: fstest.MapFS{"a.yaml": {Data: []byte(text)}}})
	if p == nil {
		t.Fatal(list)
	}
	s, err := New(p, p.Checks[0])
	if err != nil {
		t.Fatal(err)
	}
	return s
}
