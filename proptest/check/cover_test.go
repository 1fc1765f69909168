package check

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/proptest/check/report"
	"github.com/parley-go/parley/proptest/explore"
)

// follow counts for each place how many steps of a naive search used it.
func (n *naive) follow(trail []interp.Mark) {
	var done []report.Mark
	for _, x := range trail {
		if k := report.MarkOf(x); !slices.Contains(done, k) {
			done = append(done, k)
			n.used[k] = report.Count{Taken: n.used[k].Taken + 1}
		}
	}
}

// TestCoverAgainstNaive: what lines are counted for is what a naive search counts, parts and all,
// and counting changes nothing else.
func TestCoverAgainstNaive(t *testing.T) {
	for _, c := range [][2]string{{"ready", "pair"}, {"confirm", "pair"}, {"update", "duel"}, {"setup", "all"}} {
		p, check := load(t, "../../specs/"+c[0]+"/spec.yaml", c[1])
		n := naive{p: p, check: check, used: report.Uses{}}
		n.run(t)
		plain := outcomes(t, c, false)
		covered := outcomes(t, c, true)
		if diff := cmp.Diff(n.used, covered.Uses); diff != "" {
			t.Errorf("%s: -naive +search\n%s", c[0], diff)
		}
		if plain.Uses != nil {
			t.Errorf("%s: lines are counted without being asked for", c[0])
		}
		if a, b := plain.Text(false), covered.Text(false); a != b {
			t.Errorf("%s: counting changes the report\n%s", c[0], cmp.Diff(a, b))
		}
	}
}

func outcomes(t *testing.T, c [2]string, cover bool) *Report {
	t.Helper()
	p, check := load(t, "../../specs/"+c[0]+"/spec.yaml", c[1])
	s, err := New(p, check)
	if err != nil {
		t.Fatal(err)
	}
	if cover {
		s.Cover()
	}
	r, err := s.Run(context.Background(), explore.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const covered = `
protocol: covered
messages: {PING: , PONG: , LATE: }
channel: {capacity: 2}
roles:
  peer:
    vars: {n: 0..1}
    commands: {ping: {}, late: {}}
    initial: idle
    states:
      idle:
        ping: {send: PING, goto: waiting}
        late: {send: LATE}
        PING:
          - {when: n == 0, send: PONG, set: {n: 1}}
          - {when: n == 1, send: PONG, set: {n: n + 1}}
        LATE: ignore
      waiting:
        entry: [{set: {n: 0}}]
        PONG: {goto: idle}
        PING: {send: PONG}
        LATE: defer
checks:
  pair:
    instances: {a: peer, b: peer}
    environment: {ping: {when: "len(out) == 0 && len(in) == 0", times: 2}, late: {when: len(out) == 0, times: 1}}
    expect: [fault]
    quiet: "true"
`

// TestCoveragePlaces: every kind of place is counted, and so are errors.
func TestCoveragePlaces(t *testing.T) {
	file := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(file, []byte(covered), 0o666); err != nil {
		t.Fatal(err)
	}
	r, list, err := Suite(context.Background(), file, Config{Coverage: true})
	if err != nil || r == nil {
		t.Fatal(err, list)
	}
	got := map[string]string{}
	for _, u := range r.Coverage.Files[0].Places {
		got[fmt.Sprint(u.Names)] = fmt.Sprintf("%d %s %t %t", u.Line, u.Kind, u.Taken > 0, u.Faults > 0)
	}
	want := map[string]string{
		"[peer: idle ping]": "12 transition true false", "[peer: idle late]": "13 transition true false",
		"[peer: idle PING/1]": "15 transition true false", "[peer: idle PING/2]": "16 transition false true",
		"[peer: idle LATE]": "17 ignore true false", "[peer: entry of waiting]": "19 entry true false",
		"[peer: waiting PONG]": "20 transition true false", "[peer: waiting PING]": "21 transition false false",
		"[peer: waiting LATE]": "22 defer true false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if r.Coverage.Used != 8 || r.Coverage.Total != 9 {
		t.Errorf("%d of %d", r.Coverage.Used, r.Coverage.Total)
	}
}
