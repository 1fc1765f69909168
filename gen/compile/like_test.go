package compile

import (
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// TestLike: a check that is like another one, also one that the file removes or that is like a third one, is the check that
// one would have written out.
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
		p, found := Load("spec.yaml", Options{FS: fstest.MapFS{"spec.yaml": {Data: []byte(text)}, "base.yaml": {Data: []byte(base)}}})
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
		return regexp.MustCompile(` at \d+:\d+`).ReplaceAllString(d.String(), "") + strings.Join(expected, "\n")
	}
	if got, want := read(over), read(long); got != want || !strings.Contains(got, "again: both") {
		t.Errorf("got\n%swanted\n%s", got, want)
	}
}
