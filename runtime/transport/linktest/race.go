//go:build race

package linktest

// raceEnabled: the race detector allocates by itself.
const raceEnabled = true
