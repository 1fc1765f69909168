// Package waits is for tests that wait for a network most of their time: timers that a protocol
// prescribes, or a game at its pace. It knows nothing of what they wait for. Start from [Main].
package waits

import (
	"flag"
	"testing"
)

// Main is for TestMain of such packages. Eight of their parallel tests run at once, however few
// processors there are, unless the command line says how many.
func Main(m *testing.M) int {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("8")
	}
	return m.Run()
}
