package check

import (
	"strings"
	"testing"
)

// TestWhen: `always` and `reachable` are asked where their condition holds, and nowhere else; a command that no check gives needs no domain.
func TestWhen(t *testing.T) {
	r := suite(t, "testdata/when/spec.yaml", "claims")
	if !r.Passes {
		t.Errorf("%s", r.Text(false))
	}
	for _, want := range []string{"✓ high, always: holds\n", "✓ back, reachable: holds\n", "✗ lost: from here it can no longer be reached that a.n == 2\n"} {
		if !strings.Contains(r.Text(false), want) {
			t.Errorf("the report does not say %q", want)
		}
	}
}

// TestCrashOverflow: the news of a crash may find no room, which is told as every other error.
func TestCrashOverflow(t *testing.T) {
	r := suite(t, "testdata/when/spec.yaml", "crash")
	if text := r.Text(true); !r.Passes || !strings.Contains(text, "l crashes") || !strings.Contains(text, "has no room for (lost)") {
		t.Errorf("%s", text)
	}
}
