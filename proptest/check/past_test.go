package check

import "testing"

// TestPast: claims see what programs have seen and done, over crashes too; a report of a step that a crash
// cuts short nobody has seen, and with the program ends what is pending.
func TestPast(t *testing.T) {
	for _, name := range []string{"pair", "crash", "gone", "watched"} {
		r := suite(t, "testdata/past/spec.yaml", name)
		if !r.Passes || (r.Verdict == Violated) == (name == "gone") {
			t.Errorf("%s: passes %v, %s\n%s", name, r.Passes, r.Verdict, r.Text(false))
		}
	}
}
