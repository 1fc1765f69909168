package wire

import "math"

// F32 is the bits of a float32. Machines carry and compare bits, so that a value is always equal to
// itself, and 0 and -0 differ.
type F32 uint32

// MakeF32 returns the bits of a number.
func MakeF32(v float32) F32 { return F32(math.Float32bits(v)) }

// Float returns the number.
func (f F32) Float() float32 { return math.Float32frombits(uint32(f)) }

// F64 is the bits of a float64; see [F32].
type F64 uint64

// MakeF64 returns the bits of a number.
func MakeF64(v float64) F64 { return F64(math.Float64bits(v)) }

// Float returns the number.
func (f F64) Float() float64 { return math.Float64frombits(uint64(f)) }
