package check

import (
	"strings"
	"testing"
)

// TestFairRules: what the environment says of programs decides claims of what must come, and is
// named among what is assumed.
func TestFairRules(t *testing.T) {
	for _, c := range []struct {
		check string
		want  []string
	}{
		{"bare", []string{"✗ answered: a run may stop here"}},
		{"decides", []string{"✓ answered, leadsTo: holds", "✓ strongly, leadsTo: holds",
			"    - in these runs the program of j gives accept or refuse in the end, where it may for ever\n"}},
		{"looks", []string{"✗ answered: a run may repeat the last part for ever", "j: look",
			"gives accept, refuse or look in the end"}},
		{"blinks", []string{"✗ answered: a run may repeat the last part for ever", "j: blink"}},
		{"again", []string{"✗ answered: a run may stop here",
			"gives accept or refuse in the end, where it may again and again\n"}},
		{"seen", []string{"✓ answered, leadsTo: holds",
			"    - in these runs the program of j gives blink in the end, where it may for ever\n"}},
		{"used-up", []string{"✗ answered: a run may stop here", "j: look"}},
		{"away", []string{"✗ answered: a run may stop here", "j: later",
			"lost: from here no run can come to a.done", "back, reachable: "}},
	} {
		r := suite(t, "testdata/fair/spec.yaml", c.check)
		text := r.Text(false)
		if !r.Passes {
			t.Errorf("%s", text)
		}
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the report does not say %q\n%s", c.check, want, text)
			}
		}
	}
}
