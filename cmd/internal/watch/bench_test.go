package watch

import (
	"context"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/lint"
	"github.com/parley-go/parley/proptest/check"
)

// BenchmarkSave is the time from a save to a verdict in a process that runs already: the
// specification is read, compiled with all that vet says, and checked. 100 ms are the aim.
func BenchmarkSave(b *testing.B) {
	cfg := check.Config{Compile: compile.Options{More: lint.Protocol}}
	for b.Loop() {
		v := Judge(context.Background(), "../../../specs/confirm/spec.yaml", cfg)
		if !v.Checked || len(v.Checks) == 0 || !v.Checks[0].Passes {
			b.Fatalf("%+v", v)
		}
	}
}
