package opinions

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/check/report"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/proptest/race"
	"github.com/parley-go/parley/proptest/second"
)

const (
	specs = "../../specs/"
	where = "../../docs/OPINIONS.md"
)

func specFiles(t *testing.T) (out []string) {
	t.Helper()
	for _, pattern := range []string{"*/*.yaml", "library/*/*.yaml"} {
		found, err := filepath.Glob(specs + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			out = append(out, strings.TrimPrefix(filepath.ToSlash(file), specs))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func page(t *testing.T) Page {
	t.Helper()
	text, err := os.ReadFile(where)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if p.String() != string(text) {
		t.Errorf("%s is not what its own rows say; run the campaign, which writes it: see .ci/nightly", where)
	}
	return p
}

// TestPage: the page has a row for each check of each file, and for nothing else, and nobody differs. Rows for what
// is new or has changed since the last campaign are told, and missing only when tests have all the time they want.
func TestPage(t *testing.T) {
	race.Skip(t)
	p, there, stale := page(t), map[string]bool{}, 0
	for _, file := range specFiles(t) {
		whole, _ := compile.Load(specs+file, compile.Options{})
		if whole == nil {
			continue // some files are there to be refused
		}
		for _, c := range whole.Checks {
			there[file+" "+c.Name] = true
			if r := p.Of(file + " " + c.Name); r == nil || r.Hash != Short(whole.Text) {
				stale++
			}
		}
	}
	for _, r := range p {
		if !there[r.Key()] {
			stale++
		}
		for who, said := range r.Said {
			if strings.HasPrefix(said, "DIFFERS") {
				t.Errorf("%s: %s: %s", r.Key(), who, said)
			}
		}
	}
	switch {
	case stale > 0 && race.Nightly():
		t.Errorf("%d rows of %s are of older versions, or missing: run the campaign (see docs/HACKING.md)", stale,
			where)
	case stale > 0:
		t.Logf("%d rows of %s are of older versions, or missing", stale, where)
	}
}

// bound is how many configurations a check may have to be in the sample.
func bound() int {
	switch {
	case race.Nightly():
		return 200_000
	case race.Long():
		return 10_000
	}
	return 1_000
}

// reports are those of the first checker for a file, of whole searches without reductions.
func reports(t *testing.T, file string, most uint64, only ...string) (out []*report.Report) {
	t.Helper()
	r, _, err := check.Suite(t.Context(), specs+file,
		check.Config{Only: only, Explore: explore.Options{MaxConfigurations: most}})
	if err != nil || r == nil {
		return nil // it has no checks
	}
	for _, c := range r.Checks {
		if c.Ended == "" {
			out = append(out, c)
		}
	}
	return out
}

// TestSecond: of a sample of the shipped checks both checkers find the same, and the page says so.
func TestSecond(t *testing.T) {
	race.Skip(t)
	p, most, same := page(t), bound(), 0
	for n, file := range specFiles(t) {
		if !race.Some(n, 6) || !slices.ContainsFunc(p, func(r *Row) bool {
			return r.File == file && r.Configurations <= uint64(most)
		}) {
			continue
		}
		spec, err := second.Load(specs + file)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, r := range p {
			if r.File != file || r.Configurations > uint64(most) || r.Said[SecondChecker] == "" {
				continue
			}
			for _, c := range reports(t, file, uint64(most), r.Check) {
				if Short(c.Hash) != r.Hash {
					continue // the page is about an older version
				}
				o, again := Second(spec, c, 2*most), &Row{Said: map[string]string{}}
				again.Say(SecondChecker, o)
				if again.Said[SecondChecker] != r.Said[SecondChecker] || c.Configurations != r.Configurations ||
					!slices.Equal(violated(c), r.Violated) {
					t.Errorf("%s: %d configurations, violated: %v, second checker: %s; the page has %d, %v, %s",
						r.Key(), c.Configurations, violated(c), again.Said[SecondChecker], r.Configurations, r.Violated,
						r.Said[SecondChecker])
				}
				if o.Waiting > 0 {
					t.Errorf("%s: %d configurations are dead if no fault comes any more: the check needs a `quiet`",
						r.Key(), o.Waiting)
				}
				if o.Agrees {
					same++
				}
			}
		}
	}
	t.Logf("%d checks of at most %d configurations are the same", same, most)
	if same < 12 || race.Long() && same < 100 {
		t.Errorf("only %d checks were compared", same)
	}
}

func violated(r *report.Report) (out []string) {
	for _, c := range r.Claims {
		if c.Result == "violated" {
			out = append(out, c.Name)
		}
	}
	return out
}

// TestCampaign asks about all checks of at most PARLEY_OPINIONS configurations, the small ones first, and puts each
// answer into the page at once. With PARLEY_OPINIONS_NEW it asks only those who have not been asked.
// PARLEY_OPINIONS_OF names who is asked, with commas; without it everybody but TLC. PARLEY_OPINIONS_ABOUT is what
// the checks have in their names that are asked about, PARLEY_OPINIONS_FROM how many configurations they have at
// least, and PARLEY_OPINIONS_WITHIN how long one may take, with Spin or the evaluator. PARLEY_OPINIONS_ALSO names
// further pages, whose answers are put into this one: that alone with PARLEY_OPINIONS=0.
func TestCampaign(t *testing.T) {
	most, err := strconv.ParseUint(os.Getenv("PARLEY_OPINIONS"), 10, 64)
	if err != nil {
		t.Skip("with PARLEY_OPINIONS=NUMBER alone: it takes hours")
	}
	debug.SetGCPercent(400)
	ask := []string{SecondChecker, SpinItself, TLAText}
	if of := os.Getenv("PARLEY_OPINIONS_OF"); of != "" {
		ask = strings.Split(of, ",")
	}
	if _, err := exec.LookPath("spin"); err != nil {
		ask = slices.DeleteFunc(ask, func(who string) bool { return who == SpinItself })
	}
	least, _ := strconv.ParseUint(os.Getenv("PARLEY_OPINIONS_FROM"), 10, 64)
	p, now := blank(t)
	bySize := slices.Clone(p)
	slices.SortStableFunc(bySize, func(a, b *Row) int { return cmp.Compare(a.Configurations, b.Configurations) })
	for _, r := range bySize {
		if most == 0 || r.Configurations < least ||
			!strings.Contains(r.Key(), os.Getenv("PARLEY_OPINIONS_ABOUT")) || !campaign(t, r, now[r.File], most, ask) {
			continue
		}
		if err := files.Write(where, []byte(p.String())); err != nil {
			t.Fatal(err)
		}
	}
	if err := files.Write(where, []byte(p.String())); err != nil {
		t.Fatal(err)
	}
	agreed, said := 0, map[string]int{}
	for _, r := range p {
		if r.Agreed() {
			agreed++
		}
		for _, who := range ask {
			if r.Said[who] == "agrees" {
				said[who]++
			}
		}
	}
	t.Logf("%d of %d checks have somebody who agrees; %s", agreed, len(p), fmt.Sprint(said))
}

// blank is the page with a row for each check that there is, old ones with what they say, also in other pages; and
// the hash of each file.
func blank(t *testing.T) (p Page, now map[string]string) {
	t.Helper()
	now = map[string]string{}
	var old []Page
	for _, file := range append([]string{where}, strings.Fields(os.Getenv("PARLEY_OPINIONS_ALSO"))...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		page, err := Parse(string(text))
		if err != nil {
			t.Fatal(err)
		}
		old = append(old, page)
	}
	for _, file := range specFiles(t) {
		whole, _ := compile.Load(specs+file, compile.Options{})
		if whole == nil {
			continue // some files are there to be refused
		}
		now[file] = Short(whole.Text)
		for _, c := range whole.Checks {
			var r *Row
			for _, page := range old {
				r = page.Of(file+" "+c.Name).With(r, now[file])
			}
			if r == nil {
				r = &Row{File: file, Check: c.Name, Said: map[string]string{}}
			}
			p = append(p, r)
		}
	}
	return p, now
}

// mostText is how many configurations a check may have for the evaluator of TLA+, which is slow.
const mostText = 20_000

// campaign asks about one check, and reports whether its row is another one now.
func campaign(t *testing.T, r *Row, hash string, most uint64, ask []string) bool {
	fresh := os.Getenv("PARLEY_OPINIONS_NEW") == ""
	wanted := slices.DeleteFunc(slices.Clone(ask), func(who string) bool {
		return !fresh && r.Said[who] != "" || who == TLAText && r.Configurations > mostText
	})
	if r.Hash == hash && (r.Configurations > most || len(wanted) == 0) {
		return false
	}
	found := reports(t, r.File, 0, r.Check)
	if len(found) != 1 {
		t.Errorf("%s: the first checker does not come to its end", r.Key())
		return false
	}
	first := found[0]
	if r.Hash != hash {
		clear(r.Said)
		wanted = ask
	}
	r.Hash, r.Configurations, r.Violated = hash, first.Configurations, violated(first)
	if r.Configurations > most {
		return true
	}
	for _, who := range wanted {
		if who == TLAText && r.Configurations > mostText {
			continue
		}
		start := time.Now()
		o := about(t, who, r.File, first)
		r.Say(who, o)
		t.Logf("%s: %d configurations, %s: %s (%v)", r.Key(), r.Configurations, who, r.Said[who],
			time.Since(start).Round(time.Millisecond))
		if len(o.Differs) > 0 {
			t.Errorf("%s: %s: %v", r.Key(), who, o.Differs)
		}
		if o.Waiting > 0 {
			t.Errorf("%s: %d configurations are dead if no fault comes any more: the check needs a `quiet`", r.Key(),
				o.Waiting)
		}
		debug.FreeOSMemory()
	}
	return true
}

// patience is how long somebody may think about one check who may be slow: PARLEY_OPINIONS_WITHIN, or 20 minutes.
func patience(t *testing.T) time.Duration {
	t.Helper()
	text := cmp.Or(os.Getenv("PARLEY_OPINIONS_WITHIN"), "20m")
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// about asks somebody about the check of a report.
func about(t *testing.T, who, file string, first *report.Report) Opinion {
	t.Helper()
	switch who {
	case SecondChecker:
		spec, err := second.Load(specs + file)
		if err != nil {
			t.Fatal(err)
		}
		return Second(spec, first, 0)
	case SpinItself:
		ctx, cancel := context.WithTimeout(t.Context(), patience(t))
		defer cancel()
		return Spin(ctx, specs+file, first, 4000)
	case TLAText:
		ctx, cancel := context.WithTimeout(t.Context(), patience(t))
		defer cancel()
		return TLA(ctx, specs+file, first)
	}
	t.Fatalf("PARLEY_OPINIONS_OF: nobody can ask %s", who)
	return Opinion{}
}

// TestPageParses: what is written is read again, with its reasons.
func TestPageParses(t *testing.T) {
	p := Page{
		{File: "a/spec.yaml", Check: "one", Configurations: 1234,
			Said: map[string]string{SecondChecker: "agrees", SpinItself: "no: time"}},
		{File: "a/spec.yaml", Check: "two", Violated: []string{"x", "y"},
			Said: map[string]string{SecondChecker: "no: a reason", SpinItself: "DIFFERS: 3"}},
		{File: "b/spec.yaml", Check: "one", Configurations: 7, Said: map[string]string{}},
	}
	got, err := Parse(p.String())
	if err != nil || got.String() != p.String() || len(got) != 3 {
		t.Fatalf("%v\n%s\n%s", err, got, p)
	}
	if !maps.Equal(got[1].Said, p[1].Said) || got[0].Agreed() == got[1].Agreed() {
		t.Errorf("%v", got[1])
	}
	some := only(&report.Report{Assumptions: []string{"other",
		"of all values, b sends INIT with major only 0 1 255, minor only -3 4"}})
	if fmt.Sprint(some) != "map[INIT.major:[0 1 255] INIT.minor:[-3 4]]" {
		t.Error(some)
	}
}

// TestCorners: both checkers agree about small specifications that are there for what the shipped ones seldom do.
// Nothing of them is refused.
func TestCorners(t *testing.T) {
	race.Skip(t)
	found, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(found) < 4 {
		t.Fatal(found, err)
	}
	n := 0
	for _, file := range found {
		spec, err := second.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		r, list, err := check.Suite(t.Context(), file,
			check.Config{Explore: explore.Options{MaxConfigurations: 100_000}})
		if r == nil || err != nil {
			t.Fatal(list, err)
		}
		for _, c := range r.Checks {
			n++
			if o := Second(spec, c, 200_000); !o.Agrees {
				t.Errorf("%s, check %s, %d configurations: %v %s", file, c.Check, c.Configurations, o.Differs,
					o.Refused)
			}
		}
	}
	t.Logf("%d checks", n)
}

// TestWaiting: two that wait for each other are no deadlock while one may crash, and the second checker counts where.
func TestWaiting(t *testing.T) {
	spec, err := second.Load("testdata/waiting.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"crash": 3, "strict": 0, "still": 0} {
		got, err := spec.Run(name, second.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, dead := got.Violated["deadlock"]; got.Waiting != want || dead != (name != "crash") {
			t.Errorf("%s: %d configurations wait for a fault, deadlock: %v", name, got.Waiting, dead)
		}
	}
}

// TestSpinMedia: Spin counts the same of channels that keep no order, lose and copy, with bounds and without.
func TestSpinMedia(t *testing.T) {
	race.Skip(t)
	if _, err := exec.LookPath("spin"); err != nil {
		t.Skip("spin is not installed")
	}
	const file = "testdata/media.yaml"
	r, list, err := check.Suite(t.Context(), file, check.Config{Only: []string{"bag", "bound", "wild", "line"}})
	if r == nil || err != nil {
		t.Fatal(list, err)
	}
	for n, c := range r.Checks {
		if n > 0 && !race.Long() {
			break
		}
		if o := Spin(t.Context(), file, c, 1000); !o.Agrees {
			t.Errorf("%s: %v %s", c.Check, o.Differs, o.Refused)
		}
	}
}
