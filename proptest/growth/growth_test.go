package growth

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/parley-go/parley/proptest/race"
)

const (
	root    = "../.."
	data    = root + "/docs/growth.json"
	page    = root + "/docs/CHECKER.md"
	drawing = root + "/docs/growth.svg"
)

const command = "PARLEY_BIG=1 go test ./proptest/growth -run Page -measure"

var (
	measure = flag.Bool("measure", false, "measure anew what docs/growth.json has, without PARLEY_BIG=1 only what is small, and write all that is made from it")
	update  = flag.Bool("update", false, "write the table and the chart again from docs/growth.json")
)

// pointEnv makes a test binary measure one point and print it.
const pointEnv = "PARLEY_GROWTH_POINT"

// small is how many configurations a search may have that the ordinary tests repeat.
const small = 30000

func TestMain(m *testing.M) {
	text := os.Getenv(pointEnv)
	if text == "" {
		os.Exit(m.Run())
	}
	var want Point
	err := json.Unmarshal([]byte(text), &want)
	if err == nil {
		want, err = series(want.Series).Run(root, want.Size, want.Reduced)
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(want)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
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
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), pointEnv+"="+string(text))
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s, %d: %v", p.Series, p.Size, err)
		}
		var got Point
		if err := json.Unmarshal(out, &got); err != nil {
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

// machine is what the measurements were made on.
func machine() string {
	name := runtime.GOOS + "/" + runtime.GOARCH
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if m := regexp.MustCompile(`model name\s*: (.*)`).FindSubmatch(text); m != nil {
			name = string(m[1])
		}
	}
	return fmt.Sprintf("%d processors (%s, %s)", runtime.NumCPU(), name, runtime.Version())
}

// TestPage: the page and the chart say what the file of measurements says, which has all points that there should be.
func TestPage(t *testing.T) {
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
			if old, ok := d.find(p.Series, p.Size, p.Reduced); ok && old.Configurations > small && os.Getenv("PARLEY_BIG") == "" {
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
		t.Errorf("%s is not what %s says (%v); go test ./proptest/growth -update", path, data, err)
	}
}

// TestCounts searches all that is small again: the counts must be those of the file.
func TestCounts(t *testing.T) {
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
			t.Errorf("%s, %d (reduced: %v): %d configurations and %d steps, the file has %d and %d", p.Series, p.Size, p.Reduced,
				got.Configurations, got.Steps, p.Configurations, p.Steps)
		}
		done++
	}
	if done < 30 {
		t.Errorf("only %d points are small", done)
	}
}

// BenchmarkGrowth has one benchmark for each point; those that take minutes and gigabytes only with PARLEY_BIG=1.
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
var runs = Series{Group: "runs", Name: "setup, 2 properties", Spec: "proptest/growth/testdata/liveness.yaml", Vary: "values", Fixed: map[string]int64{"properties": 2}}

// TestRuns: what is claimed about runs does not change what is searched, and its graph is in the memory that is reported.
func TestRuns(t *testing.T) {
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
		if plain := points[0]; p.Configurations != 28520 || p.Steps != plain.Steps || p != plain && p.Kept < plain.Kept+28520*30 {
			t.Errorf("%+v; the search alone: %+v", p, plain)
		}
	}
}

// BenchmarkRuns is how much a claim about runs costs: 28,520 configurations, or with PARLEY_BIG=1 millions.
func BenchmarkRuns(b *testing.B) {
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
