package rules

import (
	"regexp"
	"strings"
	"testing"
)

// listens finds what a program listens to until it is told to end. A name before the list is the channel or the
// context.
var listens = regexp.MustCompile(`signal\.NotifyContext\([^,\n]*, ([^\n]*)\)\n`)

// deaf returns what a program listens to, if SIGTERM is not part of it.
func deaf(src string) (list []string) {
	for _, m := range listens.FindAllStringSubmatch(src, -1) {
		if !strings.Contains(m[1], "os.Interrupt") || !strings.Contains(m[1], "syscall.SIGTERM") {
			list = append(list, m[1])
		}
	}
	return list
}

// TestSignals: a program that ends in order on Ctrl-C does so, too, when a service manager ends it.
func TestSignals(t *testing.T) {
	n := 0
	forEachFile(t, func(name string, data []byte) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return
		}
		n += len(listens.FindAll(data, -1))
		for _, d := range deaf(string(data)) {
			t.Errorf("%s listens to %s; let it listen to os.Interrupt and syscall.SIGTERM", name, d)
		}
	})
	if n < 15 {
		t.Errorf("only %d programs listen to signals: the pattern finds too few", n)
	}
}

// TestSignalsNotice: a program that does not hear SIGTERM is found.
func TestSignalsNotice(t *testing.T) {
	if d := deaf("signal.NotifyContext(context.Background(), os.Interrupt)\n"); len(d) != 1 {
		t.Errorf("found %q", d)
	}
}
