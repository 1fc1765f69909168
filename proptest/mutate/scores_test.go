package mutate

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of scores in docs/CHECKED.md")

// score is what a SOURCES.md says of the mistakes in its specification that the checks notice.
type score struct {
	killed, of, held, heldOf int
	sample                   string
}

var (
	scored = regexp.MustCompile("`fsmgen mutate ([^`]*)specs/([a-z-]+)`: (?:all (\\d+)|(\\d+) of (\\d+)) are noticed" +
		"[^.]*?(?:(?:all|(\\d+) of) (\\d+) of the operators held back)")
	leasts = regexp.MustCompile(`(?m)^(\d+) specs/([a-z-]+)( .*)?$`)
)

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// scores reads what the specifications say.
func scores(t *testing.T) (names []string, list map[string]score) {
	t.Helper()
	files, err := filepath.Glob("../../specs/*/SOURCES.md")
	if err != nil {
		t.Fatal(err)
	}
	list = map[string]score{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		x := scored.FindStringSubmatch(strings.Join(strings.Fields(string(b)), " "))
		if x == nil {
			continue
		}
		name := filepath.Base(filepath.Dir(file))
		if x[2] != name {
			t.Errorf("%s: a score of %s", file, x[2])
		}
		s := score{killed: number(x[4]), of: number(x[5]), held: number(x[6]), heldOf: number(x[7])}
		if x[3] != "" {
			s.killed, s.of = number(x[3]), number(x[3])
		}
		if x[6] == "" {
			s.held = s.heldOf
		}
		if strings.Contains(x[1], "--sample") {
			s.sample = ", a sample"
		}
		if strings.Contains(x[1], "--timeout") {
			s.sample = ", as far as it came"
		}
		names = append(names, name)
		list[name] = s
	}
	return names, list
}

// TestScores: the page has the scores that the specifications state, and each of them has a least score in .ci/nightly
// that is not above it.
func TestScores(t *testing.T) {
	const begin, end = "<!-- scores -->\n", "<!-- end of scores -->"
	names, list := scores(t)
	if len(names) < 8 {
		t.Errorf("only %d specifications state a score", len(names))
	}
	var b strings.Builder
	b.WriteString("| protocol | noticed | score | of operators held back | score |\n|---|---|---|---|---|\n")
	percent := func(k, n int) int { return 100 * k / max(n, 1) }
	for _, name := range names {
		s := list[name]
		fmt.Fprintf(&b, "| specs/%s | %d of %d%s | %d %% | %d of %d | %d %% |\n", name, s.killed, s.of, s.sample,
			percent(s.killed, s.of), s.held, s.heldOf, percent(s.held, s.heldOf))
	}
	page, err := os.ReadFile("../../docs/CHECKED.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), begin)
	old, after, too := strings.Cut(rest, end)
	if !ok || !too {
		t.Fatal("docs/CHECKED.md has no place for the scores")
	}
	if *update {
		if err := os.WriteFile("../../docs/CHECKED.md", []byte(before+begin+b.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if old != b.String() {
		t.Errorf("docs/CHECKED.md has other scores than the SOURCES.md: run this test with -update\n%s", b.String())
	}
	nightly, err := os.ReadFile("../../.ci/nightly")
	if err != nil {
		t.Fatal(err)
	}
	least := map[string]int{}
	for _, x := range leasts.FindAllStringSubmatch(string(nightly), -1) {
		least[x[2]] = number(x[1])
	}
	for _, name := range names {
		if n, ok := least[name]; !ok {
			t.Errorf(".ci/nightly has no least score of specs/%s", name)
		} else if s := list[name]; n > percent(s.killed, s.of) {
			t.Errorf(".ci/nightly asks for %d %% of specs/%s, whose SOURCES.md says %d %%", n, name,
				percent(s.killed, s.of))
		}
	}
}
