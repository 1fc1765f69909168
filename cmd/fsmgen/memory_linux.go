package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// memoryLeft is how much more memory the system lets this process have, in bytes: by its limits
// (ulimit -v) and those of its control group. It is math.MaxUint64 where nothing is known.
func memoryLeft() uint64 {
	left := addressesLeft()
	group := func(name string) (uint64, bool) {
		text, err := os.ReadFile("/sys/fs/cgroup/" + name)
		n, wrong := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 63)
		return n, err == nil && wrong == nil
	}
	if most, ok := group("memory.max"); ok {
		used, _ := group("memory.current")
		stat, _ := os.ReadFile("/sys/fs/cgroup/memory.stat") // not there: nothing is known of files
		left = min(left, most-min(most, used-min(used, cached(string(stat)))))
	}
	return left
}

// cached is how many bytes of a group's memory hold files, by its memory.stat; the system takes
// those back when memory is wanted.
func cached(stat string) uint64 {
	sum := uint64(0)
	for line := range strings.Lines(stat) {
		var name string
		var n uint64
		if _, err := fmt.Sscan(line, &name, &n); err == nil && (name == "inactive_file" || name == "active_file") {
			sum += n
		}
	}
	return sum
}

// addressesLeft is how many more addresses a limit (ulimit -v) leaves to this process;
// math.MaxUint64 if there is none.
func addressesLeft() uint64 {
	var as syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &as) != nil || as.Cur >= math.MaxInt64 {
		return math.MaxUint64
	}
	var pages uint64
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		_, _ = fmt.Sscan(string(text), &pages) // of an unknown form: 0
	}
	return as.Cur - min(as.Cur, pages*uint64(os.Getpagesize()))
}
