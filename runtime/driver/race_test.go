//go:build race

package driver_test

// raceEnabled: the race detector allocates by itself.
const raceEnabled = true
