package check_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/proptest/race"
)

// How checks grow with what is in them: values, properties, instances, capacity. What was measured
// lies in docs/growth.json; the table in docs/CHECKER.md and docs/growth.svg are made from that,
// and a test compares all three.

// Series is one check in several sizes.
type Series struct {
	// Group names what grows, and Name the check in words.
	Group, Name string
	// Spec is relative to the repository.
	Spec, Check string
	// Vary is the constant that has the Sizes; Fixed are others.
	Vary  string
	Fixed map[string]int64
	Sizes []int64
	// Reduced are the sizes that are searched with reductions.
	Reduced []int64
}

// All are the series that are measured, in the order of the page.
var All = []Series{
	{"values", "setup, 1 property", "specs/setup/big.yaml", "big", "values", map[string]int64{"properties": 1},
		[]int64{2, 3, 4, 6, 8}, []int64{2, 3, 4, 6, 8}},
	{"values", "setup, 2 properties", "specs/setup/big.yaml", "big", "values",
		map[string]int64{"properties": 2}, []int64{2, 3, 4, 5}, []int64{2, 3, 4, 5}},
	{"properties", "setup, 2 values", "specs/setup/big.yaml", "big", "properties",
		map[string]int64{"values": 2}, []int64{1, 2, 3}, []int64{1, 2, 3}},
	{"properties", "setup, 3 values", "specs/setup/big.yaml", "big", "properties",
		map[string]int64{"values": 3}, []int64{1, 2, 3}, []int64{1, 2, 3}},
	{"instances", "lockstep, clients", "specs/lockstep/documented.yaml", "three", "clients", nil, []int64{1, 2, 3},
		[]int64{1, 2, 3}},
	{"instances", "startup, starters", "proptest/check/testdata/growth/specs/startup.yaml", "three", "n", nil,
		[]int64{1, 2, 3}, []int64{1, 2, 3}},
	{"capacity", "confirm, messages", "proptest/check/testdata/growth/specs/capacity.yaml", "pair", "C", nil,
		[]int64{5, 6, 8, 10, 12, 16}, []int64{5, 6, 8, 10, 12, 16}},
}

// Point is the cost of one search.
type Point struct {
	Series  string `json:"series"`
	Size    int64  `json:"size"`
	Reduced bool   `json:"reduced"`
	// Configurations, Steps are exact and the same everywhere.
	Configurations uint64 `json:"configurations"`
	Steps          uint64 `json:"steps"`
	// Seconds of processor time of the whole process, from the text of the specification to the
	// verdict.
	Seconds float64 `json:"seconds"`
	// Kept is the most memory that the search had for configurations and tables, Resident that of
	// the whole process, in bytes.
	Kept     uint64 `json:"kept"`
	Resident uint64 `json:"resident"`
}

// Data has the measurements, and where they were made.
type Data struct {
	Machine string  `json:"machine"`
	Command string  `json:"command"`
	Points  []Point `json:"points"`
}

// points lists what a series measures, in order, without any measured value.
func (s *Series) points() []Point {
	var out []Point
	for _, n := range s.Sizes {
		out = append(out, Point{Series: s.key(), Size: n})
		if slices.Contains(s.Reduced, n) {
			out = append(out, Point{Series: s.key(), Size: n, Reduced: true})
		}
	}
	return out
}

func (s *Series) key() string { return s.Group + ": " + s.Name }

// find gives what was measured for a point of a series.
func (d *Data) find(series string, size int64, reduced bool) (Point, bool) {
	i := slices.IndexFunc(d.Points, func(p Point) bool {
		return p.Series == series && p.Size == size && p.Reduced == reduced
	})
	if i < 0 {
		return Point{}, false
	}
	return d.Points[i], true
}

// Run searches one size of a series with one worker; root is the repository. It fills in all but
// Resident; the processor time is that of the process since it began, so each point is measured in
// a process of its own.
func (s *Series) Run(root string, size int64, reduced bool) (Point, error) {
	p := Point{Series: s.key(), Size: size, Reduced: reduced}
	consts := maps.Clone(s.Fixed)
	if consts == nil {
		consts = map[string]int64{}
	}
	consts[s.Vary] = size
	m, list := compile.Load(filepath.Join(root, filepath.FromSlash(s.Spec)),
		compile.Options{Check: s.Check, Consts: consts})
	if m == nil {
		return p, fmt.Errorf("%s: %v", s.Spec, list)
	}
	i := slices.IndexFunc(m.Checks, func(c *model.Check) bool { return c.Name == s.Check })
	if i < 0 {
		return p, fmt.Errorf("%s has no check %s", s.Spec, s.Check)
	}
	sys, err := check.New(m, m.Checks[i])
	if err != nil {
		return p, err
	}
	o := explore.Options{Workers: 1}
	if reduced {
		o.Reduce = explore.ReduceSymmetry | explore.ReduceDead
	}
	r, err := sys.Run(context.Background(), o, nil)
	if err != nil {
		return p, err
	}
	if r.Open {
		return p, fmt.Errorf("%s: the search is incomplete", s.Spec)
	}
	p.Configurations, p.Steps, p.Kept, p.Seconds = r.Configurations, r.Steps, r.PeakBytes, used().Seconds()
	return p, nil
}

// used is the processor time of this process so far.
func used() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Read reads what was measured.
func Read(path string) (*Data, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d := &Data{}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

// Write writes it, a line for each point.
func (d *Data) Write(path string) error {
	var b strings.Builder
	quote := func(s string) string {
		text, _ := json.Marshal(s) // a string can always be written
		return string(text)
	}
	fmt.Fprintf(&b, "{\n\t\"machine\": %s,\n\t\"command\": %s,\n\t\"points\": [", quote(d.Machine), quote(d.Command))
	for i, p := range d.Points {
		line, err := json.Marshal(p)
		if err != nil {
			return err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n\t\t%s", line)
	}
	b.WriteString("\n\t]\n}\n")
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

const (
	root    = "../.."
	data    = root + "/docs/growth.json"
	page    = root + "/docs/CHECKER.md"
	drawing = root + "/docs/growth.svg"
)

const command = "PARLEY_BIG=1 go test ./proptest/check -run GrowthPage -measure"

var (
	measure = flag.Bool("measure", false, "measure anew what docs/growth.json has, without PARLEY_BIG=1 "+
		"only what is small, and write all that is made from it")
	update = flag.Bool("update", false, "write the table and the chart again from docs/growth.json")
)

// pointEnv tells TestGrowthPoint what to measure, and pointMark begins the line it prints.
const (
	pointEnv  = "PARLEY_GROWTH_POINT"
	pointMark = "point: "
)

// small is how many configurations a search may have that the ordinary tests repeat.
const small = 30000

// TestGrowthPoint measures one point in a process of its own and prints it.
func TestGrowthPoint(t *testing.T) {
	text := os.Getenv(pointEnv)
	if text == "" {
		t.Skip("for TestGrowthPage -measure")
	}
	var want Point
	err := json.Unmarshal([]byte(text), &want)
	if err == nil {
		want, err = series(want.Series).Run(root, want.Size, want.Reduced)
	}
	if err != nil {
		t.Fatal(err)
	}
	line, _ := json.Marshal(want) // numbers and a name
	fmt.Printf("%s%s\n", pointMark, line)
}

func series(key string) *Series {
	for i := range All {
		if All[i].key() == key {
			return &All[i]
		}
	}
	return &Series{}
}

// apart measures a point in a process of its own, the best of three where that is short.
func apart(t testing.TB, p Point) Point {
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var best Point
	for range 3 {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestGrowthPoint$")
		cmd.Env = append(os.Environ(), pointEnv+"="+string(text))
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s, %d: %v", p.Series, p.Size, err)
		}
		var got Point
		_, line, _ := bytes.Cut(out, []byte(pointMark))
		line, _, _ = bytes.Cut(line, []byte("\n"))
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatal(err)
		}
		got.Resident = uint64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) << 10
		if best.Configurations == 0 || got.Seconds < best.Seconds {
			best = got
		}
		if got.Seconds > 20 {
			break
		}
	}
	t.Logf("%+v", best)
	return best
}

// machine describes the computer of the measurements.
func machine() string {
	name := runtime.GOOS + "/" + runtime.GOARCH
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if m := regexp.MustCompile(`model name\s*: (.*)`).FindSubmatch(text); m != nil {
			name = string(m[1])
		}
	}
	return fmt.Sprintf("%d processors (%s, %s)", runtime.NumCPU(), name, runtime.Version())
}

// TestGrowthPage: the page and the chart say what the file of measurements says, which has all
// points that there should be.
func TestGrowthPage(t *testing.T) {
	d := &Data{}
	if old, err := Read(data); err == nil {
		d = old
	} else if !*measure {
		t.Fatal(err)
	}
	if *measure {
		measureAll(t, d)
	}
	for _, s := range All {
		for _, p := range s.points() {
			if _, ok := d.find(p.Series, p.Size, p.Reduced); !ok {
				t.Errorf("%s has nothing on %s, %d (reduced: %v); %s", data, p.Series, p.Size, p.Reduced, command)
			}
		}
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want, ok := d.Page(string(text))
	if !ok {
		t.Fatalf("%s has no place for the table", page)
	}
	if !strings.Contains(want, command) {
		t.Errorf("%s does not say how the table is made: %s", page, command)
	}
	same(t, page, want)
	same(t, drawing, d.Chart())
}

// measureAll replaces all points, the big ones only if asked for.
func measureAll(t *testing.T, d *Data) {
	next := &Data{Machine: machine(), Command: command}
	for _, s := range All {
		for _, p := range s.points() {
			if old, ok := d.find(p.Series, p.Size, p.Reduced); ok && old.Configurations > small &&
				os.Getenv("PARLEY_BIG") == "" {
				next.Points = append(next.Points, old)
			} else {
				next.Points = append(next.Points, apart(t, p))
			}
		}
	}
	*d = *next
	if err := d.Write(data); err != nil {
		t.Fatal(err)
	}
}

// same compares a file with what it should hold, or writes it.
func same(t *testing.T, path, want string) {
	t.Helper()
	if *update || *measure {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s is not what %s says (%v); go test ./proptest/check -run GrowthPage -update", path, data, err)
	}
}

// TestGrowthCounts searches all that is small again: the counts must be those of the file.
func TestGrowthCounts(t *testing.T) {
	race.Skip(t)
	d, err := Read(data)
	if err != nil {
		t.Fatal(err)
	}
	done := 0
	for _, p := range d.Points {
		if p.Configurations > small {
			continue
		}
		got, err := series(p.Series).Run(root, p.Size, p.Reduced)
		if err != nil {
			t.Fatal(err)
		}
		if got.Configurations != p.Configurations || got.Steps != p.Steps {
			t.Errorf("%s, %d (reduced: %v): %d configurations and %d steps, the file has %d and %d", p.Series,
				p.Size, p.Reduced,
				got.Configurations, got.Steps, p.Configurations, p.Steps)
		}
		done++
	}
	if done < 30 {
		t.Errorf("only %d points are small", done)
	}
}

// BenchmarkGrowth has one benchmark for each point; those that take minutes and gigabytes only with
// PARLEY_BIG=1.
func BenchmarkGrowth(b *testing.B) {
	d, err := Read(data)
	if err != nil {
		b.Fatal(err)
	}
	for _, p := range d.Points {
		name := fmt.Sprintf("%s/%d", strings.NewReplacer(" ", "-", ",", "", ":", "").Replace(p.Series), p.Size)
		if p.Reduced {
			name += "/reduced"
		}
		b.Run(name, func(b *testing.B) {
			if p.Configurations > small && os.Getenv("PARLEY_BIG") == "" {
				b.Skip("set PARLEY_BIG=1")
			}
			for b.Loop() {
				before := used()
				got, err := series(p.Series).Run(root, p.Size, p.Reduced)
				if err != nil || got.Configurations != p.Configurations {
					b.Fatal(err, got.Configurations)
				}
				b.ReportMetric(float64(got.Configurations), "configurations")
				b.ReportMetric(float64(got.Steps), "steps")
				b.ReportMetric((used() - before).Seconds(), "processor-s")
				b.ReportMetric(float64(got.Kept)/float64(got.Configurations), "B/configuration")
				b.ReportMetric(float64(got.Kept)/(1<<20), "kept-MB")
			}
		})
	}
}

// runs has a claim about fair runs, and the search without it.
var runs = Series{Group: "runs", Name: "setup, 2 properties",
	Spec: "proptest/check/testdata/growth/specs/liveness.yaml", Vary: "values",
	Fixed: map[string]int64{"properties": 2}}

// TestGrowthRuns: what is claimed about runs does not change what is searched, and its graph is in
// the memory that is reported.
func TestGrowthRuns(t *testing.T) {
	race.Skip(t)
	var points []Point
	for _, runs.Check = range []string{"plain", "calms", "ends"} {
		p, err := runs.Run(root, 2, false)
		if err != nil {
			t.Fatal(err)
		}
		points = append(points, p)
	}
	for _, p := range points {
		if plain := points[0]; p.Configurations != 28520 || p.Steps != plain.Steps ||
			p != plain && p.Kept < plain.Kept+28520*30 {
			t.Errorf("%+v; the search alone: %+v", p, plain)
		}
	}
}

// BenchmarkGrowthRuns is how much a claim about runs costs: 28,520 configurations, or with
// PARLEY_BIG=1 millions.
func BenchmarkGrowthRuns(b *testing.B) {
	size := int64(2)
	if os.Getenv("PARLEY_BIG") != "" {
		size = 5
	}
	for _, runs.Check = range []string{"plain", "calms", "ends"} {
		b.Run(runs.Check, func(b *testing.B) {
			for b.Loop() {
				before := used()
				p, err := runs.Run(root, size, false)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric((used() - before).Seconds(), "processor-s")
				b.ReportMetric(float64(p.Kept)/float64(p.Configurations), "B/configuration")
			}
		})
	}
}
