package prove

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
)

// hoard keeps each value that it is given, once. The claims stop to hold with so many values.
const hoard = `protocol: hoard
types:
  Value: opaque u32
messages:
  KEEP: {fields: {value: Value}}
  KEPT:
channel: {capacity: 2}
roles:
  giver:
    commands: {give: {fields: {value: Value}}}
    initial: idle
    states:
      idle:
        give: {send: "KEEP{value}", goto: waiting}
      waiting:
        KEPT: {goto: idle}
  keeper:
    vars: {kept: {list: Value, max: 20}}
    initial: open
    states:
      open:
        KEEP:
          - {when: "!(value in kept)", set: {kept: "append(kept, value)"}, send: KEPT}
          - {send: KEPT}
checks:
  pair:
    instances: {g: giver, k: keeper}
    domains: {Value: 0..2}
    claims:
      few: {always: len(k.kept) < MANY}
      all: {sometimes: len(k.kept) == 3}
`

func hoarding(t *testing.T, many string, replace ...string) Loader {
	text := strings.NewReplacer(append(replace, "MANY", many)...).Replace(hoard)
	return func(name string) (*model.Protocol, error) {
		p, list := compile.Load("spec.yaml", compile.Options{Check: name,
			FS: fstest.MapFS{"spec.yaml": &fstest.MapFile{Data: []byte(text)}}})
		if p == nil {
			t.Fatal(list)
		}
		return p, nil
	}
}

// TestFirstViolatedValues: what is violated with more values of an opaque type than the check has
// is shown, with the least number that was seen to, though the search for any number of values would
// end at a limit, or though the search that finds it does.
func TestFirstViolatedValues(t *testing.T) {
	for many, most := range map[string]int{"5": 5000, "4": 380} {
		r, _ := proved(t, hoarding(t, many), "pair", Options{MaxConfigurations: most})
		c := claimOf(t, r, "few")
		if many == "4" && r.Configurations != 79 {
			t.Errorf("the search with 4 values was to end at its limit: %s", r.Text(false))
		}
		if r.Verdict != Violated || c.Result != Violated || c.Counterexample == nil ||
			!strings.Contains(r.Text(false), "few, always: violated (with "+many+" values of each opaque type)") {
			t.Errorf("%s values: %s", many, r.Text(false))
		}
	}
}

// TestProvedForSoManyValues: a result that was not established for any number of values says for
// how many it is, and why for no others.
func TestProvedForSoManyValues(t *testing.T) {
	for _, c := range []struct {
		load  Loader
		most  int
		words []string
	}{
		{hoarding(t, "30"), 5000, []string{"check pair: proved for 5 values of Value (",
			"with 6 values of each opaque type nothing is closed: the limit of 5000 configurations was reached"}},
		{hoarding(t, "30", "!(value in kept)", "!(value in kept) && len(kept) < 4"), 0,
			[]string{"check pair: proved (", "opaque types may have any number of values"}},
		{hoarding(t, "30", "opaque u32", "text 5"), 0, []string{"check pair: proved for 3 values of Value ("}},
	} {
		if text := first(proved(t, c.load, "pair", Options{MaxConfigurations: c.most})).Text(false); !all(text,
			c.words) {
			t.Errorf("%q not in %s", c.words, text)
		}
	}
}

func first[A, B any](a A, _ B) A { return a }

func all(text string, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

func claimOf(t *testing.T, r *Report, name string) Claim {
	t.Helper()
	i := slices.IndexFunc(r.Claims, func(c Claim) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("no claim %s", name)
	}
	return r.Claims[i]
}
