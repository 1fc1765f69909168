//go:build race

package golang_test

// again is how often every package is generated once more: one goroutine does it, and the race
// detector makes it ten times as long.
const again = 1
