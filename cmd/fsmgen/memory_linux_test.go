package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/parley-go/parley/proptest/race"
)

// TestCached reads what a control group has of files.
func TestCached(t *testing.T) {
	for stat, want := range map[string]uint64{
		"":                             0,
		"anon 7\nfile 100\nnot a line": 0,
		"anon 7\ninactive_file 30\nactive_file 12\nslab 5\n": 42,
	} {
		if got := cached(stat); got != want {
			t.Errorf("%q: %d, want %d", stat, got, want)
		}
	}
}

// TestFewAddresses: a process that has too few addresses for a search says so; with a few more than
// that it does its work.
func TestFewAddresses(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector reserves terabytes of addresses")
	}
	check := func(kilobytes string) (string, error) {
		out, err := exec.Command("sh", "-c", "ulimit -v "+kilobytes+
			"; exec fsmgen check --quiet --table ../../specs/confirm/spec.yaml").CombinedOutput()
		return string(out), err
	}
	if out, err := check("3000000"); err != nil || !strings.Contains(out, "holds") {
		t.Errorf("with 3 GB: %v\n%s", err, out)
	}
	said := false
	for _, kilobytes := range []string{"1350000", "1400000", "1450000", "1500000", "1550000", "1600000",
		"1650000", "1700000"} {
		out, err := check(kilobytes)
		if strings.Contains(out, "ulimit -v") {
			said = true
			if err == nil || err.Error() != "exit status 2" || !strings.Contains(out, "too little for a search") {
				t.Errorf("with %s KB: %v\n%s", kilobytes, err, out)
			}
		}
	}
	if !said {
		t.Skip("the Go runtime has other needs here: none of the limits left it just too little")
	}
}
