//go:build !linux

package main

import "math"

// memoryLeft is not known on this system.
func memoryLeft() uint64 { return math.MaxUint64 }

// addressesLeft is not known on this system.
func addressesLeft() uint64 { return math.MaxUint64 }
