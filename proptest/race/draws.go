package race

import (
	"flag"
	"testing"
)

// Main is for TestMain of packages whose random tests search much: under the
// race detector, which is there for the workers and not for the draws, they
// draw a tenth as often, unless the command line says how often.
func Main(m *testing.M) int {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "rapid.checks" })
	if f := flag.Lookup("rapid.checks"); Enabled && !said && f != nil {
		_ = f.Value.Set("10")
	}
	return m.Run()
}

// Skip skips a test under the race detector, for searches that have no
// concurrency of their own and would take minutes.
func Skip(tb testing.TB) {
	tb.Helper()
	if Enabled {
		tb.Skip("one goroutine, and minutes under the race detector; runs without it")
	}
}
