package compile

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/diag"
)

// TestThen: errors come in stages, and what is written behind them says which stages are still to come, once.
func TestThen(t *testing.T) {
	for old, want := range map[string]string{
		"idle: {bid: {report: sold, goto: over}": "",
		"idle: {bid: {rport: sold, goto: over}":  "names, types, states and checks are looked at once this is mended\n",
		"idle: {bid: {report: sould, goto: ovr}": "warnings, and errors in checks with constants or domains of " +
			"their own, come once this is mended\n",
	} {
		text := strings.Replace(remedyLot, "idle: {bid: {report: sold, goto: over}", old, 1)
		_, list := Load("spec.yaml", Options{FS: fstest.MapFS{"spec.yaml": {Data: []byte(text)}}})
		var b strings.Builder
		if err := list.WriteText(&b, diag.Render{Excerpt: true}); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(b.String(), want) || strings.Count(b.String(), "once this is mended") > 1 ||
			want == "" && b.Len() > 0 {
			t.Errorf("%s:\n%s", old, b.String())
		}
	}
}
