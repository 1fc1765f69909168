package explore

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

func TestMicro(t *testing.T) {
	const N = 19000000
	for _, slots := range []uint64{31000000} {
		for _, B := range []int{128, 512, 2048} {
			tb, _ := newTable(slots, 1)
			for i := range tb.slots[:] {
				if i&511 == 0 {
					tb.slots[i] = 1
					tb.slots[i] = 0
				}
			}
			homes := make([]uint64, B)
			keys := make([]uint64, B)
			x := uint64(1)
			var tg, tt, ti time.Duration
			ins := 0
			for n := 0; n < 100000000; n += B {
				t0 := time.Now()
				for i := range keys {
					x = x*6364136223846793005 + 1442695040888963407
					keys[i] = (x >> 33) * N >> 31
				}
				t1 := time.Now()
				sum := uint64(0)
				for i, c := range keys {
					h := tb.home(hash1(c))
					homes[i] = h
					sum += atomic.LoadUint64(&tb.slots[h])
				}
				homes[0] += sum & 0
				t2 := time.Now()
				for i, c := range keys {
					if tb.insert1(c, homes[i]) {
						ins++
					}
				}
				t3 := time.Now()
				tg += t1.Sub(t0)
				tt += t2.Sub(t1)
				ti += t3.Sub(t2)
			}
			fmt.Println(slots, B, "gen", tg, "touch", tt, "insert", ti, ins)
			tb.free()
		}
	}
}
