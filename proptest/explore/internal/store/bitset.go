package store

import "sync/atomic"

// Bitset has one bit for each slot of the visited set.
type Bitset []uint64

func (b Bitset) Has(i uint64) bool    { return b.Word(i)>>(i&63)&1 != 0 }
func (b Bitset) Set(i uint64)         { atomic.OrUint64(&b[i>>6], 1<<(i&63)) }
func (b Bitset) Word(i uint64) uint64 { return atomic.LoadUint64(&b[i>>6]) }
