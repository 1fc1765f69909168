//go:build !race

// Package race tells tests whether the race detector is on, which makes long
// searches ten times as long and allocates by itself. It knows nothing else.
package race

// Enabled is true if the race detector is on.
const Enabled = false
