package diag

import "testing"

func TestCounted(t *testing.T) {
	for n, want := range map[int]string{0: "0 steps", 1: "1 step", 2: "2 steps"} {
		if got := Counted(n, "step"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}
