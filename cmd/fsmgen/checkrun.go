package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// commandLine is how the command was called, as a shell would take it.
func commandLine() string {
	out := []string{"fsmgen"}
	for _, a := range os.Args[1:] {
		if strings.ContainsAny(a, " \t\n\"'$&|;<>()*?#~`\\") || a == "" {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		out = append(out, a)
	}
	return strings.Join(out, " ")
}

// interruptible is a context that ends at the first interrupt, so that what was found is still told; a second one ends the
// program at once.
func interruptible(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	context.AfterFunc(ctx, stop) // from then on an interrupt does what it usually does
	return ctx, stop
}

// leastAddresses is what a search needs besides what the Go runtime has reserved when it begins. With less, the runtime sooner or later fails to start a thread or
// to find room for its heap, which ends the process without a word of what was found.
const leastAddresses = 192 << 20

// withinProcess is a limit of memory, 0 for none, that the process can keep: a search that the system refuses memory would be lost
// with all that it has found. It is an error if there is too little to begin with.
func withinProcess(limit uint64) (uint64, error) {
	if left := addressesLeft(); left < leastAddresses {
		return 0, fmt.Errorf("the limit on addresses (ulimit -v) leaves this process %d MB, which is too little for a search: a program in Go takes more than a gigabyte of them, without using it; allow at least 2000000 KB, or set no limit and give --max-memory", left>>20)
	}
	left := memoryLeft()
	if left == math.MaxUint64 {
		return limit, nil
	}
	debug.SetMemoryLimit(int64(left / 2)) // collect garbage before memory runs out
	if most := max(left/4, 1<<20); limit == 0 || limit > most {
		return most, nil
	}
	return limit, nil
}
