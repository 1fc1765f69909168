package oracle

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/race"
	"github.com/parley-go/parley/proptest/second"
)

// known is a row of SOURCES.md. A number that nobody has published is -1.
type known struct {
	file, check                 string
	distinct, generated, levels int
	begun                       bool
}

// table reads SOURCES.md.
func table(t *testing.T) (out []known) {
	t.Helper()
	text, err := os.ReadFile("SOURCES.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 9 || !strings.HasPrefix(line, "| `") {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		out = append(out, known{file: strings.Trim(cells[1], "`"), check: cells[2], distinct: sum(t, cells[3]),
			generated: sum(t, cells[4]), levels: sum(t, cells[5]), begun: cells[6] == "yes"})
	}
	return out
}

// sum is a number, or what is taken off and put to one: "1842 - 32 + 1".
func sum(t *testing.T, text string) int {
	t.Helper()
	total, sign := 0, 1
	if text == "" {
		return -1
	}
	for word := range strings.FieldsSeq(text) {
		switch word {
		case "+":
			sign = 1
		case "-":
			sign = -1
		default:
			n, err := strconv.Atoi(word)
			if err != nil {
				t.Fatalf("%q is no number", text)
			}
			total += sign * n
		}
	}
	return total
}

// TestPublished: both checkers count what others have published.
func TestPublished(t *testing.T) {
	race.Skip(t)
	rows := table(t)
	if len(rows) < 18 {
		t.Fatalf("SOURCES.md has %d rows", len(rows))
	}
	for _, k := range rows {
		r, list, err := check.Suite(t.Context(), "testdata/"+k.file, check.Config{Only: []string{k.check}})
		if r == nil || err != nil || len(r.Checks) != 1 {
			t.Fatal(k.file, list, err)
		}
		first := r.Checks[0]
		if !first.Passes {
			t.Errorf("%s, %s does not pass: %v", k.file, k.check, first.Why)
		}
		more := 0 // the configuration before anything is chosen
		if k.begun {
			more = 1
		}
		if n := int(first.Configurations) - more; n != k.distinct {
			t.Errorf("%s, %s: %d states, and %d are published", k.file, k.check, n, k.distinct)
		}
		if n := int(first.Steps) + 1 - more; k.generated >= 0 && n != k.generated {
			t.Errorf("%s, %s: %d states are generated, and %d are published", k.file, k.check, n, k.generated)
		}
		if n := first.Depth + 1 - more; k.levels >= 0 && n != k.levels {
			t.Errorf("%s, %s: %d levels, and %d are published", k.file, k.check, n, k.levels)
		}
		spec, err := second.Load("testdata/" + k.file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := spec.Run(k.check, second.Options{})
		if err != nil || got.Configurations-more != k.distinct {
			t.Errorf("%s, %s: the second checker: %+v, %v; %d states are published", k.file, k.check, got, err,
				k.distinct)
		}
		if k.file == "jugs.yaml" && (got.Violated["never"] != 6 || len(first.Claims[0].Counterexample.Steps) != 6) {
			t.Errorf("the answer takes %d steps, and is known to take 6", got.Violated["never"])
		}
	}
}
