package api

import (
	"cmp"
	"time"
)

// Options are the options of a run. The zero value is a complete exact search.
type Options struct {
	// Workers is the number of goroutines; 0 is GOMAXPROCS. It never changes
	// the result.
	Workers int
	// Checks selects built-in checks; 0 means DefaultChecks.
	Checks Checks
	// KeepGoing collects one shortest violation for each kind, label and claim
	// instead of stopping after the first level that has one.
	KeepGoing bool
	// MaxConfigurations, MaxDepth (steps), MaxBytes (engine memory) and
	// MaxTime stop the search with the verdict Incomplete; 0 is no limit.
	MaxConfigurations uint64
	MaxDepth          int
	MaxBytes          uint64
	MaxTime           time.Duration
	// MaxFlooded ends a breadth-first search that has found a full channel with the level in which it has found so
	// many configurations: what is sent without end multiplies all else. 0 is no limit.
	MaxFlooded uint64
	// Reduce selects reductions. They keep verdicts and which claims and kinds of error are
	// violated; all but ReduceLocal and ReducePartialOrder also the lengths of shortest traces.
	Reduce Reduction
	// Mode, Seed, Walks and WalkLength choose another search.
	Mode  Mode
	Seed  uint64
	Walks int
	// Target is for Guided: 1 is the first claim, 0 is any error.
	Target     int
	WalkLength int
	// Progress, if set, is called after each level, from one goroutine.
	Progress func(Progress)

	// tune is for tests; nil: the usual sizes.
	Tune *Tuning
}

// Tuning has the sizes that decide how often the workers stop for a round to end; 0 is the usual
// size. Only tests choose others, to provoke rare cases.
type Tuning struct {
	Slots     uint64 // of the first visited set
	Quota     int64  // insertions reserved at a time
	Batch     int    // configurations in a task
	Misses    int    // words of missed configurations after which a round ends
	Share     uint64 // slots of the visited set that are worth moving by several workers
	Piece     uint64 // below this slot growth moves all that is left at once
	MinStride int    // at least so many words a configuration
	// passes: decide Possible claims by passes over the whole set, see reach
	Passes bool
	// yield, if set, is called where another worker's step would matter most.
	Yield func()
}

func (t *Tuning) Complete() Tuning {
	if t == nil {
		t = &Tuning{}
	}
	return Tuning{
		Slots: cmp.Or(t.Slots, 1<<12), Quota: cmp.Or(t.Quota, 1<<13), Batch: cmp.Or(t.Batch, 256),
		Misses: cmp.Or(t.Misses, 1<<12),
		Share:  cmp.Or(t.Share, 1<<14), Piece: cmp.Or(t.Piece, 1<<10), MinStride: t.MinStride, Passes: t.Passes,
		Yield: t.Yield,
	}
}
