package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/race"
)

const root = "../.."

// light is how many configurations the checks of a race may have, as its page says, to be searched
// where tests are to be quick.
const light = 200_000

// TestPages runs the checks that show each race and those that do not have it, and holds the pages
// against what they find: in the literal specification the claim is violated by a shortest run of
// the length that RACES.md says, in the sound one it holds. To write the pages anew run
// `go generate ./...`.
func TestPages(t *testing.T) {
	race.Skip(t)
	list, err := read(root)
	if err != nil {
		t.Fatal(err)
	}
	m := &maker{ctx: context.Background(), root: root, known: map[search]*check.Report{}}
	if race.Long() {
		made, err := m.all(list)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, made)
		have, err := os.ReadDir(filepath.Join(root, pages))
		if err != nil || len(have) != len(made) {
			t.Errorf("%s has %d files, of which %d are made (%v)", pages, len(have), len(made), err)
		}
		return
	}
	ran := 0
	for _, s := range list {
		for _, r := range s.races {
			if r.reason != "" || size(r) > light {
				continue
			}
			made, err := m.race(s, r)
			if err != nil {
				t.Errorf("%s: %s: %v", r.where, r.name, err)
				continue
			}
			compare(t, made)
			ran++
		}
	}
	if ran < 10 {
		t.Errorf("only %d races were looked at", ran)
	}
}

// compare holds what was made against the files.
func compare(t *testing.T, made map[string]string) {
	t.Helper()
	for name, text := range made {
		have, err := os.ReadFile(filepath.Join(root, pages, name))
		if err != nil || timeless(string(have)) != timeless(text) {
			t.Errorf("%s/%s is not what the specifications say (%v): run `go generate ./...`", pages, name, err)
		}
	}
}

var costs = regexp.MustCompile(`(?m)\| ([0-9,]+) \| [0-9,]+ \| [0-9.]+ s \|$`)

// size adds up the configurations that a page says the checks of its race have; 0 without a page.
func size(r *entry) (n int) {
	text, err := os.ReadFile(filepath.Join(root, pages, r.name+".md"))
	if err != nil {
		return 0
	}
	for _, m := range costs.FindAllStringSubmatch(string(text), -1) {
		k, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
		if err != nil {
			panic(err)
		}
		n += k
	}
	return n
}

// TestNames holds the races that are told against those that are known: none is forgotten, and each
// has a check or a reason. The index has a line for each.
func TestNames(t *testing.T) {
	list, err := read(root)
	if err != nil {
		t.Fatal(err)
	}
	var want, have []string
	for i := range 14 {
		want = append(want, fmt.Sprintf("R%d", i+1), fmt.Sprintf("S%d", i+1))
	}
	want = append(want, "I2", "I6", "I7", "I9", "I11", "I12", "G1", "G2", "G3", "G4")
	index, err := os.ReadFile(filepath.Join(root, pages, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		for _, r := range s.races {
			have = append(have, r.name)
			line := fmt.Sprintf("[%s %s](%s.md)", r.name, r.title, r.name)
			if r.reason != "" {
				line = fmt.Sprintf("**%s %s** has no check. %s", r.name, r.title, r.reason)
			}
			if !strings.Contains(string(index), line) {
				t.Errorf("%s/README.md does not have %s", pages, line)
			}
			for _, c := range r.shown {
				if _, err := os.Stat(filepath.Join(root, expected(c))); err != nil {
					t.Errorf("%s: the page names a file that is not there: %v", r.name, err)
				}
			}
		}
	}
	slices.Sort(want)
	slices.Sort(have)
	if !slices.Equal(want, have) {
		t.Errorf("these races are known:\n%s\nand these are told:\n%s", want, have)
	}
}

// TestWrongText: what RACES.md leaves out or gets wrong is said with file and line.
func TestWrongText(t *testing.T) {
	whole := "# A game\n\n## R1 Two in one slot\n\n- shown: coded.yaml two once 5\n- holds: spec.yaml two once\n" +
		"- before: coded.yaml states game\n- after: spec.yaml states game\n\nYou lose.\n\nRule: one slot each.\n"
	if _, err := parse("specs/x", whole); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"- shown: coded.yaml two once 5\n", "", "RACES.md:3: R1 has neither a check"},
		{"two once 5", "two once", "RACES.md:5: shown needs"},
		{"two once 5", "two once five", "no number of steps"},
		{"- holds: spec.yaml two once\n", "", "no rule that repairs it"},
		{"Rule: one slot each.\n", "", "no rule that repairs it"},
		{"You lose.\n", "", "what happens to the players"},
		{"- holds", "- held", "held is none of shown"},
		{"- after", "- reason: none\n- after", "both a check and a reason"},
		{"- after", "- open: none\n- after", "repaired and open"},
		{"## R1 Two", "## Two", "a heading is a race"},
		{"- after: spec.yaml states game", "- after: spec.yaml", "after needs a file and the keys"},
		{"# A game\n", "# A game\ntext\n", "text before the first race"},
	} {
		_, err := parse("specs/x", strings.Replace(whole, c.old, c.new, 1))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q: %v", c.new, c.old, err)
		}
	}
}

// TestQuote: keys lead to lines, each within the block of the one before.
func TestQuote(t *testing.T) {
	dir := t.TempDir()
	text := "messages:\n  GO: {}\nroles:\n  peer:\n    states:\n      a:\n        GO: {goto: b}\n" +
		"      b:\n        GO:\n          - {when: x}\n          - {goto: a}\n" +
		"    common:\n      - in: [a]\n        on: {lost: {goto: b}}\n"
	if err := os.WriteFile(filepath.Join(dir, "s.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path  string
		first int
		want  string
	}{
		{"states b GO", 9, "GO:\n  - {when: x}\n  - {goto: a}"},
		{"states GO", 7, "GO: {goto: b}"},
		{"common lost", 14, "on: {lost: {goto: b}}"},
	} {
		lines, first, err := quote(dir, place{"s.yaml", strings.Fields(c.path)})
		if err != nil || first != c.first || strings.Join(lines, "\n") != c.want {
			t.Errorf("%s: line %d, %q (%v)", c.path, first, lines, err)
		}
	}
	if _, _, err := quote(dir, place{"s.yaml", []string{"states", "c"}}); err == nil {
		t.Error("keys that lead nowhere were not noticed")
	}
}

// TestClaims: a claim that is not violated, or in another number of steps, shows no race; one that is
// violated repairs none.
func TestClaims(t *testing.T) {
	m := &maker{ctx: context.Background(), root: root, known: map[search]*check.Report{}}
	coded, sound := search{"specs/confirm/coded.yaml", "pair"}, search{"specs/confirm/spec.yaml", "pair"}
	for _, c := range []struct {
		c    claim
		want string
	}{
		{claim{coded, "can-end", 4}, "has 5 steps"},
		{claim{sound, "can-end", 5}, "is to be violated: holds"},
		{claim{coded, "none", 5}, "has no claim none"},
		{claim{search{"specs/confirm/coded.yaml", "none"}, "can-end", 5}, "has no check none"},
	} {
		if _, _, err := m.shown(c.c); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.c, err)
		}
	}
	if _, err := m.holds(claim{coded, "can-end", 0}); err == nil {
		t.Error("a violated claim holds")
	}
	if _, err := m.holds(claim{coded, "deadlock", 0}); err == nil {
		t.Error("a claim holds of a check in which others are violated")
	}
	if _, err := m.holds(claim{sound, "can-end", 0}); err != nil {
		t.Error(err)
	}
}
