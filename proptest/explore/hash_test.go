package explore

import (
	"testing"

	"github.com/parley-go/parley/proptest/explore/internal/store"
)

// TestHash: a visited set of fingerprints is smaller, says how sure it is, and
// takes two configurations with one fingerprint for one.
func TestHash(t *testing.T) {
	x := small[3]
	exact := mustRun(t, x.system(), Options{Tune: wide(nil, 2)})
	r := mustRun(t, x.system(), Options{Tune: wide(nil, 2), Reduce: ReduceHash})
	if r.Configurations != x.want || r.Verdict != Holds || len(r.Reductions) != 1 {
		t.Errorf("%v, %d configurations, %q", r.Verdict, r.Configurations, r.Reductions)
	}
	if want := float64(x.want) * float64(x.want) / (1 << 32) / (1 << 32); r.Overlooked < 0.99*want ||
		r.Overlooked > 1.01*want {
		t.Errorf("the chance of an error is given as %g, not %g", r.Overlooked, want)
	}
	if r.TableBytes*2 != exact.TableBytes {
		t.Errorf("%d bytes, exact %d", r.TableBytes, exact.TableBytes)
	}
	if r := mustRun(t, x.system(), Options{Reduce: ReduceHash}); r.Overlooked != 0 || len(r.Refused) != 1 {
		t.Errorf("one word: chance of error %g, refused %q", r.Overlooked, r.Refused)
	}
}

func TestFingerprintsDiffer(t *testing.T) {
	seen := map[uint64][2]uint64{}
	for a := range uint64(300) {
		for b := range uint64(300) {
			c := []uint64{a << 7, b << 31}
			f := store.Fingerprint(c)
			if old, ok := seen[f]; ok || f >= 1<<63 {
				t.Fatalf("%x has the fingerprint %x of %x", c, f, old)
			}
			seen[f] = [2]uint64(c)
		}
	}
}
