package explore

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// instance is one instance of testdata/confirm-update.pml.
type instance struct {
	values, props int
	own           bool
	unsent        int
	want          uint64 // configurations, as Spin counts them
}

func (x instance) String() string {
	s := fmt.Sprintf("D=%d,P=%d,K=%d", x.values, x.props, x.unsent)
	if x.own {
		s += ",OWN"
	}
	return s
}

func (x instance) system() *System { return confirmUpdate(x.values, x.props, x.own, x.unsent) }

// small are the instances of ordinary tests; large and largest those of
// benchmarks with PARLEY_BIG set.
var (
	small = []instance{
		{2, 1, true, 1, 1724}, {2, 1, false, 1, 8708}, {3, 1, true, 1, 5271}, {2, 2, true, 1, 28520},
		{3, 2, true, 1, 272988},
	}
	large   = instance{3, 3, true, 1, 19027683}
	largest = instance{3, 2, false, 1, 0}
)

// spin compiles an instance with Spin and the C compiler into dir.
func (x instance) spin(dir string, flags ...string) (pan string, err error) {
	model, err := filepath.Abs("testdata/confirm-update.pml")
	if err != nil {
		return "", err
	}
	defs := []string{"-a", fmt.Sprintf("-DD=%d", x.values), fmt.Sprintf("-DP=%d", x.props),
		fmt.Sprintf("-DK=%d", x.unsent)}
	if x.own {
		defs = append(defs, "-DOWN")
	}
	cmd := exec.Command("spin", append(defs, model)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("spin: %v\n%s", err, out)
	}
	cmd = exec.Command("cc", append([]string{"-O3", "-w", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c"}, flags...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cc: %v\n%s", err, out)
	}
	return filepath.Join(dir, "pan"), nil
}

var stored = regexp.MustCompile(`([0-9.e+]+) states, stored`)

// states runs pan and returns how many states it stored, its processor time and
// its greatest memory in bytes.
func states(pan string, args ...string) (n uint64, used time.Duration, rss int64, err error) {
	cmd := exec.Command(pan, args...)
	cmd.Dir = filepath.Dir(pan)
	out, err := cmd.CombinedOutput()
	m := stored.FindSubmatch(out)
	if err != nil || m == nil || !strings.Contains(string(out), "errors: 0") {
		return 0, 0, 0, fmt.Errorf("pan: %v\n%s", err, out)
	}
	f, err := strconv.ParseFloat(string(m[1]), 64)
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		rss = u.Maxrss << 10
	}
	return uint64(f), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), rss, err
}

func needSpin(t testing.TB) {
	for _, tool := range []string{"spin", "cc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed: the counts are compared with recorded ones only", tool)
		}
	}
}

func TestConfirmUpdateCounts(t *testing.T) {
	for _, x := range small {
		for _, opt := range []Options{{Workers: 1}, {Workers: 2}, {Workers: 2, Tune: wide(nil, 2)}} {
			r := mustRun(t, x.system(), opt)
			if r.Verdict != Holds || r.Configurations != x.want || len(r.Vacuous) > 0 {
				t.Errorf("%v with %+v: %v (%s), %d configurations, want %d; vacuous %v", x, opt, r.Verdict,
					r.Why, r.Configurations, x.want, r.Vacuous)
			}
		}
	}
}

func TestCountsAreThoseOfSpin(t *testing.T) {
	needSpin(t)
	if testing.Short() {
		t.Skip("compiles C")
	}
	for _, x := range []instance{small[3]} {
		pan, err := x.spin(t.TempDir(), "-O1") // compiling takes longer than searching
		if err != nil {
			t.Fatal(err)
		}
		n, _, _, err := states(pan, "-m100000")
		if err != nil {
			t.Fatal(err)
		}
		if r := mustRun(t, x.system(), Options{}); r.Configurations != n {
			t.Errorf("%v: %d configurations, Spin has %d", x, r.Configurations, n)
		}
	}
}

// BenchmarkConfirmUpdate is the smaller cousin of the benchmark with Spin, for
// every day.
func BenchmarkConfirmUpdate(b *testing.B) {
	x := small[4]
	for b.Loop() {
		r := mustRun(b, x.system(), Options{})
		if r.Configurations != x.want {
			b.Fatalf("%d configurations, want %d", r.Configurations, x.want)
		}
		b.ReportMetric(float64(r.TableBytes)/float64(r.Configurations), "B/conf")
	}
}

func needBig(b *testing.B) {
	if os.Getenv("PARLEY_BIG") == "" || testing.Short() {
		b.Skip("set PARLEY_BIG=1 to run benchmarks of minutes and gigabytes")
	}
}

// processorTime of this process so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkAgainstSpin runs the large instance with one and two workers and
// with Spin on one and two cores, in turn, and reports ratios. Ratios of
// processor time are also given: they suffer less from other work on the
// machine.
func BenchmarkAgainstSpin(b *testing.B) {
	needBig(b)
	needSpin(b)
	for b.Loop() {
		one, oneCPU := timeRun(b, 1)
		two, twoCPU := timeRun(b, 2)
		spin1, spin1CPU := timeSpin(b, "1 core")
		spin2, spin2CPU := timeSpin(b, "2 cores", "-DNCORE=2", "-DMEMLIM=12000")
		best, bestCPU := min(spin1, spin2), min(spin1CPU, spin2CPU)
		b.ReportMetric(best.Seconds()/two.Seconds(), "times-Spin")
		b.ReportMetric(bestCPU.Seconds()/min(oneCPU, twoCPU).Seconds(), "times-Spin-cpu")
		b.ReportMetric(one.Seconds()/two.Seconds(), "1to2-cores")
	}
}

func timeRun(b *testing.B, workers int) (wall, used time.Duration) {
	start, before := time.Now(), processorTime()
	r := mustRun(b, large.system(), Options{Workers: workers})
	wall, used = time.Since(start), processorTime()-before
	if r.Verdict != Holds || r.Configurations != large.want || r.Depth != 32 {
		b.Fatalf("%v, %d configurations, depth %d; want %d and 32", r.Verdict, r.Configurations, r.Depth, large.want)
	}
	per := float64(r.TableBytes) / float64(r.Configurations)
	b.Logf("%d workers: %.2f s, %.2f s of processor, %.1f bytes/configuration, peak %d MB", workers,
		wall.Seconds(), used.Seconds(), per, r.PeakBytes>>20)
	b.ReportMetric(per, "B/conf")
	if per > 16 {
		b.Errorf("%.1f bytes a configuration, want at most 16", per)
	}
	return wall, used
}

func timeSpin(b *testing.B, name string, flags ...string) (wall, used time.Duration) {
	start := time.Now()
	pan, err := large.spin(b.TempDir(), flags...)
	if err != nil {
		b.Fatal(err)
	}
	n, used, rss, err := states(pan, "-m9000000", "-w25")
	if err != nil || n != large.want {
		b.Fatalf("Spin on %s: %d states, %v", name, n, err)
	}
	wall = time.Since(start)
	b.Logf("Spin on %s: %.2f s with compilation, %.2f s of processor, %d MB", name, wall.Seconds(),
		used.Seconds(), rss>>20)
	return wall, used
}

// BenchmarkLargest must complete in 8 GB.
func BenchmarkLargest(b *testing.B) {
	needBig(b)
	for b.Loop() {
		r := mustRun(b, largest.system(), Options{MaxBytes: 8 << 30})
		b.Logf("%v %s: %d configurations, %d steps, depth %d, %.1f s, %.1f bytes/configuration, peak %d MB",
			r.Verdict, r.Why,
			r.Configurations, r.Steps, r.Depth, r.Seconds, float64(r.TableBytes)/
				float64(r.Configurations), r.PeakBytes>>20)
		if !r.Complete {
			b.Fatal("not complete within 8 GB")
		}
	}
}
