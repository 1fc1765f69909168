package proptest_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/parley-go/parley/machines/confirm"
	"github.com/parley-go/parley/machines/reset"
	"github.com/parley-go/parley/proptest"
)

// verified runs a test and prints whether it passed.
func verified(test func(t *testing.T)) {
	verbose := flag.Lookup("test.v").Value.String()
	defer flag.Set("test.v", verbose)
	flag.Set("test.v", "false") // what a test prints with -v is not the example's
	all := func(_, _ string) (bool, error) { return true, nil }
	fmt.Println(testing.RunTests(all, []testing.InternalTest{{Name: "Test", F: test}}))
}

// One role at both ends. The test of a program is the function in the middle.
func ExampleVerify() {
	verified(func(t *testing.T) {
		proptest.Verify(t, "../specs/confirm/spec.yaml", confirm.NewPeerRunner)
	})
	// Output: true
}

// More random runs than usual, and smaller searches.
func ExampleConfig_Verify() {
	verified(func(t *testing.T) {
		more := proptest.Config{Seeds: 2000, Configurations: 100_000}
		more.Verify(t, "../specs/reset/spec.yaml", reset.NewPeerRunner)
	})
	// Output: true
}
