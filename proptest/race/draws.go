package race

import (
	"flag"
	"os"
	"runtime/debug"
	"strings"
	"testing"
)

// Main is for TestMain of packages whose random tests search much. Under the race detector, which
// is there for the workers and not for the draws, they draw a tenth as often as rapid does by
// itself, and three tenths unless tests have all the time they want; see Long. The command line
// may say how often. Specifications that tests share are much that is alive; the garbage of searches
// is collected less often, which spares a fifth of the time.
func Main(m *testing.M) int {
	debug.SetGCPercent(400)
	flag.Parse()
	switch {
	case Enabled:
		unlessSaid("rapid.checks", "10")
	case !Long():
		unlessSaid("rapid.checks", "30")
	}
	if !Nightly() {
		unlessSaid("rapid.seed", "1")
	}
	return m.Run()
}

// unlessSaid sets a flag, if the tests have it and neither the command line nor the environment sets it.
func unlessSaid(name, value string) {
	_, said := os.LookupEnv(strings.ToUpper(strings.ReplaceAll(name, ".", "_")))
	said = said || flag.Lookup(name) == nil
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == name })
	if !said {
		_ = flag.Set(name, value)
	}
}

// Skip skips a test under the race detector, for searches that have no
// concurrency of their own and would take minutes.
func Skip(tb testing.TB) {
	tb.Helper()
	if Enabled {
		tb.Skip("one goroutine, and minutes under the race detector; runs without it")
	}
}
