package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/internal/interrupt"
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

// interruptible is a context that ends at the first interrupt, so that what was found is still
// told. Before it ends it says so on the terminal, if told is one; from then on a second interrupt
// ends the program at once.
func interruptible(cmd *cobra.Command, told *os.File) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(cmd.Context())
	notified, stop := interrupt.Context(cmd.Context())
	leave := context.AfterFunc(notified, func() {
		stop() // first: who reads the line may interrupt again
		if told != nil {
			fmt.Fprintln(told, "interrupted: what was found until now follows; another interrupt ends at once")
		}
		cancel(context.Cause(notified))
	})
	return ctx, func() {
		leave()
		stop()
		cancel(nil)
	}
}

// terminal is w if somebody looks at it, otherwise nil.
func terminal(w io.Writer) *os.File {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return f
}

// leastAddresses is the address space that a search needs besides what the Go runtime has reserved
// when it begins. With less, the runtime sooner or later fails to start a thread or to find room
// for its heap, and the process ends without a word of what was found.
const leastAddresses = 192 << 20

// withinProcess is a limit of memory, 0 for none, that the process can keep: a search that the
// system refuses memory would be lost with all that it has found. It is an error if there is too
// little to begin with.
func withinProcess(limit uint64) (uint64, error) {
	if left := addressesLeft(); left < leastAddresses {
		return 0, fmt.Errorf("the limit on addresses (ulimit -v) leaves this process %d MB, which is too "+
			"little for a search: a program in Go takes more than a gigabyte of them, without using it; "+
			"allow at least 2000000 KB, or set no limit and give --max-memory", left>>20)
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
