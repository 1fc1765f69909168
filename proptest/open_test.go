package proptest

import (
	"strings"
	"testing"

	"github.com/parley-go/parley/machines/confirm"
	"github.com/parley-go/parley/machines/ready"
)

// TestOpen: what is no runner of the specification is refused in words.
func TestOpen(t *testing.T) {
	const spec = "../specs/confirm/spec.yaml"
	for _, c := range []struct {
		spec    string
		runners []any
		want    string
	}{
		{spec, []any{ready.NewPeerRunner}, "has no role peer of a protocol ready"},
		{"../specs/confirm/coded.yaml", []any{confirm.NewPeerRunner}, "was generated from another text of"},
		{spec, []any{confirm.NewPeerRunner, confirm.NewPeerRunner}, "two runners of peer"},
		{spec, []any{confirm.NewPeerRunner()}, "a runner is the function that makes it"},
		{spec, []any{nil}, "a runner is the function that makes it"},
		{spec, []any{strings.NewReader}, "makes no runner of a generated machine"},
		{"../specs/nothing.yaml", nil, "nothing.yaml"},
	} {
		_, err := Config{}.open(t, c.spec, c.runners)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %v: %v, want %s", c.spec, c.runners, err, c.want)
		}
	}
	v, err := Config{}.open(t, spec, nil)
	if err != nil || len(v.list) < 3 || v.Scenarios != "../specs/confirm/scenarios" {
		t.Errorf("%+v, %v", v, err)
	}
}
