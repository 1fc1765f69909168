package impair

import (
	"math"
	"time"
)

// Faults say what a network does to frames. The zero value is a perfect one.
type Faults struct {
	// Loss, Duplicate and Reorder are probabilities, 0 to 1, for each frame.
	Loss, Duplicate, Reorder float64
	// Late is how much longer than usual a reordered frame and the second
	// copy of a doubled one take at most, 0 for 10 ms.
	Late time.Duration
	// Delay is what every frame takes, Jitter what it takes in addition at
	// most. Jitter alone does not reorder: a frame waits for those before it.
	Delay, Jitter time.Duration
	// Rate is the most bytes a second, 0 for no limit. What cannot leave at once waits.
	Rate int
	// Queue is the most bytes that wait for Rate, 0 for 64 KiB. Beyond it a
	// frame is lost; on a reliable medium it waits nevertheless.
	Queue int
}

// weakens reports whether frames may be lost, doubled or reordered.
func (f *Faults) weakens() bool { return f.Loss > 0 || f.Duplicate > 0 || f.Reorder > 0 }

// Fate is the fate of one frame.
type Fate struct {
	// Copies is how many times it arrives, 0 to 2, and At when.
	Copies int
	At     [2]time.Duration
}

// Stats count what a medium has done to frames.
type Stats struct {
	Frames     uint64 // frames given
	Lost       uint64 // lost by chance; on a reliable medium, sent again
	Duplicated uint64
	Reordered  uint64 // held back for others to overtake
	Delayed    uint64 // arrived later than they were given, for whatever reason
	Dropped    uint64 // lost because too much waited
	Cut        uint64 // lost to a partition, or held back by it
}

// Medium is one direction between two ends. It decides by its seed and the
// number of the frame alone: whether frame 17 is lost does not depend on what
// befell the 16 before it. A Medium is a plain value without pointers.
type Medium struct {
	Stats Stats

	faults      Faults
	loss, twice uint64 // probabilities as thresholds
	reorder     uint64
	seed        uint64
	free        time.Duration // when the last byte given has left
	last        time.Duration // when the last frame that keeps the order arrives
}

// NewMedium returns a medium.
func NewMedium(seed uint64, f Faults) Medium {
	m := Medium{seed: mix(seed)}
	m.SetFaults(f)
	return m
}

// SetFaults changes the faults for frames given from then on.
func (m *Medium) SetFaults(f Faults) {
	if f.Late <= 0 {
		f.Late = 10 * time.Millisecond
	}
	if f.Queue <= 0 {
		f.Queue = 64 << 10
	}
	m.faults = f
	m.loss, m.twice, m.reorder = threshold(f.Loss), threshold(f.Duplicate), threshold(f.Reorder)
}

func threshold(p float64) uint64 {
	switch {
	case !(p > 0): // also not a number
		return 0
	case p >= 1:
		return math.MaxUint64
	}
	return uint64(p * (1 << 53) * (1 << 11))
}

// mix is the finalizer of splitmix64: every bit of x changes half of the result's.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

const golden = 0x9e3779b97f4a7c15

// draw returns number k of the random numbers that belong to the present frame.
func (m *Medium) draw(k uint64) uint64 {
	return mix(m.seed + (m.Stats.Frames*16+k)*golden)
}

// chance reports whether draw k falls below a threshold. A probability of 1 always does.
func (m *Medium) chance(k, below uint64) bool {
	return below > 0 && (m.draw(k) < below || below == math.MaxUint64)
}

// span returns a length up to d.
func (m *Medium) span(k uint64, d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(m.draw(k) % (uint64(d) + 1))
}

const (
	drawLoss = iota
	drawTwice
	drawReorder
	drawJitter
	drawLate
	drawSecond
	drawAgain // and all after it: losses of what is sent again
)

// Pass decides the fate of a frame of size bytes that is given at now. Times
// must not go back.
func (m *Medium) Pass(now time.Duration, size int) (fate Fate) {
	m.Stats.Frames++
	f := &m.faults
	if m.chance(drawLoss, m.loss) {
		m.Stats.Lost++
		return fate
	}
	if f.Rate > 0 && m.free > now && (m.free-now).Seconds()*float64(f.Rate) > float64(f.Queue) {
		m.Stats.Dropped++
		return fate
	}
	at := m.leave(now, size) + f.Delay + m.span(drawJitter, f.Jitter)
	if m.chance(drawReorder, m.reorder) {
		m.Stats.Reordered++
		at = max(at, m.last) + 1 + m.span(drawLate, f.Late)
	} else {
		at = max(at, m.last)
		m.last = at
	}
	fate.At[0], fate.Copies = at, 1
	if m.chance(drawTwice, m.twice) {
		m.Stats.Duplicated++
		fate.At[1], fate.Copies = at+m.span(drawSecond, f.Late), 2
		if m.reorder == 0 {
			m.last = fate.At[1] // order binds copies, too
		}
	}
	if at > now {
		m.Stats.Delayed++
	}
	return fate
}

// maxAgain is how often a frame is lost in a row at most on a reliable medium.
const maxAgain = 8

// PassReliable is Pass for a medium that keeps every frame and their order, as
// TCP does: a frame that is lost is sent again after a while, and those behind
// it wait. Duplicates and reordering have no effect.
func (m *Medium) PassReliable(now time.Duration, size int) time.Duration {
	m.Stats.Frames++
	f := &m.faults
	at := m.leave(now, size) + f.Delay + m.span(drawJitter, f.Jitter)
	for k := uint64(0); k < maxAgain && m.chance(drawAgain+k, m.loss); k++ {
		m.Stats.Lost++
		at += 2*f.Delay + f.Jitter + f.Late<<k
	}
	m.last = max(at, m.last)
	if m.last > now {
		m.Stats.Delayed++
	}
	return m.last
}

// Hold makes all frames given from then on arrive at a given time at the
// earliest, as behind one that was held back until then.
func (m *Medium) Hold(until time.Duration) { m.last = max(m.last, until) }

// leave returns when the last byte of a frame has left.
func (m *Medium) leave(now time.Duration, size int) time.Duration {
	if m.faults.Rate <= 0 {
		return now
	}
	m.free = max(m.free, now) + time.Duration(float64(size)/float64(m.faults.Rate)*float64(time.Second))
	return m.free
}
