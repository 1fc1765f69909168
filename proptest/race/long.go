package race

import (
	"os"
	"testing"
)

// Long reports whether tests have all the time they want: PARLEY_LONG is set, as in .ci/run.
// Without it the tests of the whole module end within about two minutes on two processors.
func Long() bool { return os.Getenv("PARLEY_LONG") != "" }

// Nightly reports whether tests may take hours: PARLEY_LONG is "all", as in .ci/nightly.
func Nightly() bool { return os.Getenv("PARLEY_LONG") == "all" }

// Draws returns how much a random test tries: few, or all if tests have all the time they want.
func Draws(few, all int) int {
	if Long() {
		return all
	}
	return few
}

// Some reports whether a test takes the i-th of many cases: one of so many, three times as many if tests
// have all the time they want, and each if they may take hours.
func Some(i, of int) bool {
	switch {
	case Nightly():
		return true
	case Long():
		of = max(1, of/3)
	}
	return i%of == 0
}

// SkipShort skips a test that is for when tests have all the time they want; why names what
// covers the same ground meanwhile.
func SkipShort(tb testing.TB, why string) {
	tb.Helper()
	if !Long() {
		tb.Skip("with PARLEY_LONG=1 alone: " + why)
	}
}
