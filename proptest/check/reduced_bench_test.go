package check

import (
	"context"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/proptest/explore"
)

// BenchmarkReduced is the big setup from text to verdict, reduced. The plain search
// of the same model is compared with Spin in proptest/explore.
func BenchmarkReduced(b *testing.B) {
	for b.Loop() {
		p, list := compile.Load("../../specs/setup/big.yaml", compile.Options{Check: "big"})
		if p == nil {
			b.Fatal(list)
		}
		for _, c := range p.Checks {
			if c.Name != "big" {
				continue
			}
			s, err := New(p, c)
			if err != nil {
				b.Fatal(err)
			}
			r, err := s.Run(context.Background(), explore.Options{Workers: 1, Reduce: explore.ReduceSymmetry}, nil)
			if err != nil || r.Verdict != Holds || r.Configurations != 69135 {
				b.Fatal(err, r.Verdict, r.Configurations)
			}
		}
	}
}
