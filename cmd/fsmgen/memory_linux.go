package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// memoryLeft is how much more memory the system lets this process have, in bytes: by its limits (ulimit -v) and those of its
// control group. It is math.MaxUint64 where nothing is known.
func memoryLeft() uint64 {
	left := uint64(math.MaxUint64)
	var as syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &as) == nil && as.Cur < math.MaxInt64 {
		var pages uint64
		if text, err := os.ReadFile("/proc/self/statm"); err == nil {
			fmt.Sscan(string(text), &pages) // of an unknown form: 0
		}
		left = as.Cur - min(as.Cur, pages*uint64(os.Getpagesize()))
	}
	group := func(name string) (uint64, bool) {
		text, err := os.ReadFile("/sys/fs/cgroup/" + name)
		n, wrong := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 63)
		return n, err == nil && wrong == nil
	}
	if most, ok := group("memory.max"); ok {
		used, _ := group("memory.current")
		left = min(left, most-min(most, used))
	}
	return left
}
