//go:build race

// Package race tells the runtime's tests whether the race detector is on, which allocates
// by itself. It knows nothing else. Start from [Enabled].
package race

// Enabled is true if the race detector is on.
const Enabled = true
