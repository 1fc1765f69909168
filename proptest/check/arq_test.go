package check

import (
	"strings"
	"testing"
)

// TestFairMessages: protocols that send again until they are answered are live over channels that
// lose without a budget, if each message that is sent again and again arrives; those that do not
// send again are not, nor is Go-Back-N if it is only each channel that delivers again and again.
func TestFairMessages(t *testing.T) {
	const assumed = ": runs in which whatever is possible again and again happens, and each message that " +
		"can arrive again and again does, however many are lost; commands need not be given\n"
	for _, c := range []struct {
		file, check string
		want        []string
	}{
		{"alternating", "pair", []string{"✓ arrives, leadsTo: holds", "✓ whole, leadsTo: holds",
			"- arrives, whole" + assumed}},
		{"gobackn", "pair", []string{"✓ slides, leadsTo: holds", "✓ second, leadsTo: holds",
			"- slides, second" + assumed}},
		{"gobackn", "channels", []string{"✗ slides: a run may repeat the last part for ever",
			"✗ second: a run may repeat the last part for ever",
			"each channel that can deliver again and again does"}},
		{"once", "pair", []string{"✗ arrives: a run may repeat the last part for ever", "✗ whole: a run may"}},
		{"never", "pair", []string{"✗ slides: a run may repeat the last part for ever", "✗ second: a run may"}},
	} {
		r := suite(t, "testdata/arq/"+c.file+".yaml", c.check)
		text := r.Text(false)
		if !r.Passes {
			t.Errorf("%s", text)
		}
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s, %s: the report does not say %q\n%s", c.file, c.check, want, text)
			}
		}
	}
}
