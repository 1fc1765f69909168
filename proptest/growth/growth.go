// Package growth measures how checks grow with what is in them: values,
// properties, instances, capacity. It must not know how a search works, only what it
// reports. What was measured lies in docs/growth.json; the table in docs/CHECKER.md and docs/growth.svg are made from
// that, and a test compares all three. Start from [Series] and [Data].
package growth

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/explore"
)

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
	{"values", "setup, 1 property", "specs/setup/big.yaml", "big", "values", map[string]int64{"properties": 1}, []int64{2, 3, 4, 6, 8}, []int64{2, 3, 4, 6, 8}},
	{"values", "setup, 2 properties", "specs/setup/big.yaml", "big", "values", map[string]int64{"properties": 2}, []int64{2, 3, 4, 5}, []int64{2, 3, 4, 5}},
	{"properties", "setup, 2 values", "specs/setup/big.yaml", "big", "properties", map[string]int64{"values": 2}, []int64{1, 2, 3}, []int64{1, 2, 3}},
	{"properties", "setup, 3 values", "specs/setup/big.yaml", "big", "properties", map[string]int64{"values": 3}, []int64{1, 2, 3}, []int64{1, 2, 3}},
	{"instances", "lockstep, clients", "specs/lockstep/spec.yaml", "three", "clients", nil, []int64{1, 2, 3}, []int64{1, 2, 3}},
	{"instances", "startup, starters", "proptest/growth/testdata/startup.yaml", "three", "n", nil, []int64{1, 2, 3}, []int64{1, 2, 3}},
	{"capacity", "confirm, messages", "proptest/growth/testdata/capacity.yaml", "pair", "C", nil, []int64{5, 6, 8, 10, 12, 16}, []int64{5, 6, 8, 10, 12, 16}},
}

// Point is what one search took.
type Point struct {
	Series  string `json:"series"`
	Size    int64  `json:"size"`
	Reduced bool   `json:"reduced"`
	// Configurations, Steps are exact and the same everywhere.
	Configurations uint64 `json:"configurations"`
	Steps          uint64 `json:"steps"`
	// Seconds of processor time of the whole process, from the text of the specification to the verdict.
	Seconds float64 `json:"seconds"`
	// Kept is the most memory that the search had for configurations and tables, Resident that of the whole process, in bytes.
	Kept     uint64 `json:"kept"`
	Resident uint64 `json:"resident"`
}

// Data is what was measured, and where.
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
	i := slices.IndexFunc(d.Points, func(p Point) bool { return p.Series == series && p.Size == size && p.Reduced == reduced })
	if i < 0 {
		return Point{}, false
	}
	return d.Points[i], true
}

// Run searches one size of a series with one worker; root is the repository. It fills in
// all but Resident; the processor time is that of the process since it began, so each point is measured in a process of its own.
func (s *Series) Run(root string, size int64, reduced bool) (Point, error) {
	p := Point{Series: s.key(), Size: size, Reduced: reduced}
	consts := maps.Clone(s.Fixed)
	if consts == nil {
		consts = map[string]int64{}
	}
	consts[s.Vary] = size
	m, list := compile.Load(filepath.Join(root, filepath.FromSlash(s.Spec)), compile.Options{Check: s.Check, Consts: consts})
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
