package check

import (
	"strings"
	"testing"
)

// TestWhen: `always` and `reachable` are asked where their condition holds, and nowhere else; a
// command that no check gives needs no domain.
func TestWhen(t *testing.T) {
	r := suite(t, "testdata/when/spec.yaml", "claims")
	if !r.Passes {
		t.Errorf("%s", r.Text(false))
	}
	for _, want := range []string{"✓ high, always: holds\n", "✓ back, reachable: holds\n",
		"✗ lost: from here no run can come to a.n == 2\n"} {
		if !strings.Contains(r.Text(false), want) {
			t.Errorf("the report does not say %q", want)
		}
	}
}

// TestNewsTakesNoRoom: the news of a crash finds its place in a channel that is full.
func TestNewsTakesNoRoom(t *testing.T) {
	r := suite(t, "testdata/when/spec.yaml", "crash")
	if text := r.Text(true); !r.Passes {
		t.Errorf("%s", text)
	}
}
