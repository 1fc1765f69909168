//go:build !race

package golang_test

// again is how often every package is generated once more.
const again = 2
