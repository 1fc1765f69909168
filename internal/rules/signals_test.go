package rules

import (
	"regexp"
	"strings"
	"testing"
)

// listens finds a program that learns by itself that it is to end, beside package interrupt.
var listens = regexp.MustCompile(`signal\.Notify(Context)?\(|interrupt\.Context\(`)

// TestSignals: a program that ends in order on Ctrl-C does so, too, when a service manager ends it, since all are told
// by package interrupt. Those of modules of their own are no exception.
func TestSignals(t *testing.T) {
	n := 0
	forEachFile(t, func(name string, data []byte) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
			strings.HasPrefix(name, "internal/interrupt/") {
			return
		}
		for _, m := range listens.FindAllString(string(data), -1) {
			if n++; strings.HasPrefix(m, "signal.") {
				t.Errorf("%s has %s…: let it listen by interrupt.Context, which knows SIGTERM too", name, m)
			}
		}
	})
	if n < 15 {
		t.Errorf("only %d programs listen to signals: the pattern finds too few", n)
	}
}
