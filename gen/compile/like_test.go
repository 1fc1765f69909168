package compile

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/model"
)

// TestLikeBelow: `like` is written out file by file. What a variant says of a check does not reach
// those that are like it in the file below; they follow where the variant says so of them, too.
func TestLikeBelow(t *testing.T) {
	const base = `protocol: small
messages: {A: }
roles:
  peer: {commands: {go: }, initial: off, states: {off: {go: {send: A, goto: lit}, A: ignore}, lit: {A: ignore}}}
checks:
  two:
    doc: both
    instances: {a: peer, b: peer}
    claims: {lit: {sometimes: a.lit}, off: {sometimes: a.off}}
    quiet: a.lit
  few: {like: two, doc: fewer, claims: {off: null}}
`
	const two = "protocol: small\nextends: base.yaml\nchecks:\n  two: {quiet: b.lit, claims: {third: " +
		"{sometimes: b.lit}}}\n"
	for over, want := range map[string]string{
		two: "two both b.lit: lit off third; few fewer a.lit: lit; ",
		two + "  few: {like: two, doc: fewer, claims: {off: null}}\n": "two both b.lit: lit off third; " +
			"few fewer b.lit: lit third; ",
		two + "  few: {like: two}\n": "two both b.lit: lit off third; " +
			"few both b.lit: lit off third; ",
		two + "  few: {claims: {fourth: {sometimes: b.off}}}\n": "two both b.lit: lit off third; " +
			"few fewer a.lit: lit fourth; ",
		two + "  new: {like: few, claims: {fifth: {sometimes: b.off}}}\n": "two both b.lit: lit off third; " +
			"few fewer a.lit: lit; new fewer a.lit: lit fifth; ",
	} {
		p, found := Load("spec.yaml", Options{FS: fstest.MapFS{"spec.yaml": {Data: []byte(over)},
			"base.yaml": {Data: []byte(base)}}})
		if p == nil {
			t.Fatal(found)
		}
		var got strings.Builder
		for _, c := range p.Checks {
			fmt.Fprintf(&got, "%s %s %s:", c.Name, c.Doc, model.ExprString(c.Quiet))
			for _, claim := range c.Claims {
				got.WriteString(" " + claim.Name)
			}
			got.WriteString("; ")
		}
		if got.String() != want {
			t.Errorf("%s gives\n%s, not\n%s", over, got.String(), want)
		}
	}
}

// TestLike: a check that is like another one, also one that the file removes or that is like a
// third one, is the check that one would have written out.
func TestLike(t *testing.T) {
	const base = `protocol: small
messages: {A: }
consts: {n: 1}
roles:
  peer: {params: {me: 0..9}, commands: {go: , no: }, initial: off, states: {off: {go: {send: A, to: all, goto: lit}, no: {goto: lit}, A: ignore}, lit: {A: ignore}}}
checks:
  two:
    doc: both
    instances: {a: "peer(me: n)", b: "peer(me: 0)"}
    environment: {go: {times: 1}, no: false}
    claims: {lit: {sometimes: a.lit}, off: {sometimes: "a.off && a.me == n"}}
    expect: [deadlock]
    quiet: a.lit
  few: {like: two, doc: fewer, claims: {off: null}}
`
	const over = `protocol: small
extends: base.yaml
checks:
  two: null
  few: {expect: []}
  more:
    like: few
    consts: {n: 3}
    instances: {a: "peer(me: n)", b: "peer(me: n)", c: "peer(me: 1)"}
    environment: {no: null}
    claims: {c: {sometimes: c.lit && a.me == n}}
  again: {like: two, environment: {no: {times: 2}}}
`
	const long = `protocol: small
extends: base.yaml
checks:
  two: null
  few: {expect: []}
  more:
    doc: fewer
    consts: {n: 3}
    instances: {a: "peer(me: n)", b: "peer(me: n)", c: "peer(me: 1)"}
    environment: {go: {times: 1}}
    claims: {lit: {sometimes: a.lit}, c: {sometimes: c.lit && a.me == n}}
    quiet: a.lit
  again:
    doc: both
    instances: {a: "peer(me: n)", b: "peer(me: 0)"}
    environment: {go: {times: 1}, no: {times: 2}}
    claims: {lit: {sometimes: a.lit}, off: {sometimes: a.off && a.me == n}}
    expect: [deadlock]
    quiet: a.lit
`
	read := func(text string) string {
		p, found := Load("spec.yaml", Options{FS: fstest.MapFS{"spec.yaml": {Data: []byte(text)},
			"base.yaml": {Data: []byte(base)}}})
		if len(found) > 0 {
			t.Fatal(found)
		}
		d := &dumper{}
		d.protocol(p)
		var expected []string
		for _, c := range p.Checks {
			expected = append(expected, c.Name+": "+c.Doc)
			for _, e := range c.Expect {
				expected = append(expected, e.Name)
			}
		}
		// Where the file says it is what may differ.
		return regexp.MustCompile(` at \d+:\d+`).ReplaceAllString(d.String(),
			"") + strings.Join(expected, "\n")
	}
	if got, want := read(over), read(long); got != want || !strings.Contains(got, "again: both") {
		t.Errorf("got\n%swanted\n%s", got, want)
	}
}
