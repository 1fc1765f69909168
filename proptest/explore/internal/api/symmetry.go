package api

// Symmetry is a group of renamings under which a system behaves the same: if
// a configuration can take a step, the renamed configuration can take the
// renamed step (with the same faults, guards and spontaneity), and every
// claim says the same of both. The initial configuration need not be renamed
// to itself. The engine believes it; [CheckSymmetry] tries it out.
//
// With [ReduceSymmetry], of all configurations that are renamings of each
// other only one is kept. Distances from the start, and so the lengths of shortest
// traces, stay the same; traces are rebuilt as runs of the system itself.
//
// There are two kinds of renaming. The values of each domain may be permuted
// in every way, each domain on its own; and each of the shuffles may be applied, which
// must be, together with the identity, a group (up to renaming of values).
type Symmetry struct {
	// Names say in words what is interchangeable, for Result.Reductions.
	Names []string
	// Domains are the sets of interchangeable values, at most 255.
	Domains []Domain
	// Local calls use for every place in a local value that holds a value of a
	// domain, always in the same order of places; Msg does so for a message.
	Local func(proc int, v []byte, use func(domain, value int))
	Msg   func(ch int, msg []byte, use func(domain, value int))
	// RenameLocal returns v with each value x of domain d replaced by to[d][x];
	// RenameMsg does so for a message. The result must not alias v.
	RenameLocal func(proc int, v []byte, to [][]uint8) []byte
	RenameMsg   func(ch int, msg []byte, to [][]uint8) []byte
	// Shuffles are renamings of machines, of indices, of anything.
	Shuffles []Shuffle
}

const maxDomains = 255

// Domain is a set of values 0 to Size-1 that are only copied and compared with
// each other. Size is at most 64.
type Domain struct {
	Name string
	Size int
}

// Shuffle renames machines and what they hold.
type Shuffle struct {
	Name string
	// Procs[i] is the place that machine i takes, Chans[k] that of channel k;
	// nil: all stay. Channel k's receiver must take the place of channel
	// Chans[k]'s, and both must be channels of one kind.
	Procs, Chans []int
	// Local renames a local value of machine proc for its new place, Msg a
	// message of channel ch; nil: it stays as it is.
	Local func(proc int, v []byte) []byte
	Msg   func(ch int, msg []byte) []byte
	// Try: the engine does not believe that machines behave the same, but sees for each step that it
	// takes whether the renamed machine has the renamed step. If one has not, it searches again without
	// the shuffles to be tried, and Result.Refused says why.
	Try bool
}

// Moves reports whether a machine changes place.
func (f *Shuffle) Moves() bool {
	for i, p := range f.Procs {
		if p != i {
			return true
		}
	}
	return false
}

// Reduction is a set of reductions.
type Reduction uint8

const (
	// ReduceSymmetry uses System.Symmetry. It is refused for claims about the
	// future of runs (LeadsTo, Eventually), since fairness tells renamed steps
	// apart, and shuffles that move machines are refused for Confluent.
	// Counts of configurations, steps and labels are those of the reduced graph.
	ReduceSymmetry Reduction = 1 << iota
	// ReduceHash keeps, where a configuration takes several words, only a
	// fingerprint of 63 bits of it in the visited set. Of two configurations with
	// one fingerprint the second is overlooked; Result.Overlooked bounds the chance.
	ReduceHash
	// ReduceDead is for those who build a System: local values that differ only in
	// what will not be looked at are to be one. The engine itself does nothing about it.
	ReduceDead
	// ReduceLocal looks, where a machine that takes no message can take a step that no claim sees,
	// at that step only; ReducePartialOrder does the same for receptions that send nothing. Both
	// are refused for claims about the order of steps and about fair runs. Traces need not be
	// shortest. See ample.
	ReduceLocal
	ReducePartialOrder
)

// Believed is the symmetry without the shuffles to be tried; nil if nothing is left.
func (y *Symmetry) Believed() *Symmetry {
	less := *y
	less.Shuffles = nil
	for _, f := range y.Shuffles {
		if !f.Try {
			less.Shuffles = append(less.Shuffles, f)
		}
	}
	if len(less.Domains) == 0 && len(less.Shuffles) == 0 {
		return nil
	}
	return &less
}
