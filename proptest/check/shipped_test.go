package check_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
)

// checkedPage has a table with a row for each shipped protocol.
const checkedPage = "../../docs/CHECKED.md"

// checkedRow is what the specification decides of a row of it. The other cells are measured: configurations,
// seconds, seeds, failing ones and seconds.
type checkedRow struct {
	protocol, faults string
	checks, claims   int
}

// static are the cells that the specification alone decides.
func (r checkedRow) static() string {
	return fmt.Sprintf("| `%s` | %s | %d | %d |", r.protocol, r.faults, r.checks, r.claims)
}

var checkedLine = regexp.MustCompile("(?m)^(\\| `([a-z-]+)` \\|[^|]*\\|[^|]*\\|[^|]*\\|)(.*)\\|$")

// TestCheckedPage holds the page against the specifications: the faults that some check of a protocol
// has, how many checks and claims. With PARLEY_CHECKS, the output of `fsmgen check --table` for all
// specifications, it compares the configurations, too. The seconds are what they were.
func TestCheckedPage(t *testing.T) {
	page, err := os.ReadFile(checkedPage)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../specs/*/spec.yaml")
	if err != nil || len(files) < 10 {
		t.Fatal(len(files), err)
	}
	found := configurations(t, os.Getenv("PARLEY_CHECKS"))
	rows := map[string][]string{}
	for _, m := range checkedLine.FindAllStringSubmatch(string(page), -1) {
		rows[m[2]] = m
	}
	text := string(page)
	for _, file := range files {
		p, list := compile.Load(file, compile.Options{})
		if p == nil {
			t.Fatal(list)
		}
		want := rowFor(filepath.Base(filepath.Dir(file)), p)
		have := rows[want.protocol]
		switch {
		case have == nil:
			t.Errorf("%s has no row:\n%s", checkedPage, want.static())
			continue
		case *update:
			text = strings.Replace(text, have[1], want.static(), 1)
		case have[1] != want.static():
			t.Errorf("%s has the row\n%s and the specification says (-update writes it)\n%s", checkedPage, have[1],
				want.static())
		}
		cells := strings.Split(have[3], "|")
		n := strings.ReplaceAll(strings.TrimSpace(cells[0]), ",", "")
		if found != nil && n != fmt.Sprint(found[want.protocol]) {
			t.Errorf("%s: %s says %s configurations, and the checks have %d", want.protocol, checkedPage, n,
				found[want.protocol])
		}
		if len(cells) != 5 || strings.TrimSpace(cells[3]) != "0" {
			t.Errorf("%s: five numbers follow, and the fourth is how many seeds fail:%s", want.protocol, have[3])
		}
		delete(rows, want.protocol)
	}
	for name := range rows {
		t.Errorf("%s has a row for %s, which is not in specs", checkedPage, name)
	}
	if *update {
		if err := os.WriteFile(checkedPage, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func rowFor(name string, p *model.Protocol) checkedRow {
	r := checkedRow{protocol: name, checks: len(p.Checks)}
	seen := map[string]bool{}
	for _, c := range p.Checks {
		r.claims += len(c.Claims)
		for _, f := range faultsOf(c) {
			seen[f] = true
		}
	}
	var list []string
	for _, f := range faultNames {
		if seen[f] {
			list = append(list, f)
		}
	}
	r.faults = strings.Join(list, ", ")
	return r
}

// faultNames are what may go wrong, in the order in which the page has them.
var faultNames = []string{"loss", "duplicates", "disorder", "crash", "restart", "break", "return", "partition",
	"drift", "hostile", "malformed"}

// faultsOf names what may go wrong in a check.
func faultsOf(c *model.Check) (list []string) {
	add := func(name string, may bool) {
		if may {
			list = append(list, name)
		}
	}
	f := c.Faults
	if f == nil {
		f = &model.Faults{Lose: -1, Duplicate: -1, Overtake: -1}
	}
	some := func(n []int) bool { return slices.ContainsFunc(n, func(i int) bool { return i > 0 }) }
	may := func(does func(model.Channel) bool) bool { return slices.ContainsFunc(c.Channels(), does) }
	add("loss", f.Lose > 0 || f.Lose != 0 && may(func(ch model.Channel) bool { return ch.Lossy }))
	add("duplicates", f.Duplicate > 0 || f.Duplicate != 0 && may(func(ch model.Channel) bool { return ch.Duplicates }))
	add("disorder", f.Overtake > 0 || f.Overtake != 0 && may(func(ch model.Channel) bool { return !ch.Ordered }))
	add("crash", some(f.Crash) || f.CrashAll > 0)
	add("restart", some(f.Restart))
	add("break", f.Break > 0)
	add("return", f.Return > 0)
	add("partition", f.Partition > 0)
	add("drift", c.Time != nil && some(c.Time.Drift))
	for _, i := range c.Instances {
		add("hostile", i.Hostile == model.WellFormed)
		add("malformed", i.Hostile == model.Malformed)
	}
	return list
}

// configurations adds up the configurations of each protocol's checks, as `fsmgen check --table` prints
// them; nil without a file.
func configurations(t *testing.T, file string) map[string]int {
	t.Helper()
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^\S+ +specs/([a-z-]+)/spec\.yaml +\S+ +holds +([0-9]+) `).
		FindAllStringSubmatch(string(text), -1) {
		n, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		found[m[1]] += n
	}
	if len(found) < 10 {
		t.Fatalf("%s has the checks of %d protocols", file, len(found))
	}
	return found
}
