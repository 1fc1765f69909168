package main

import (
	"testing"

	"github.com/parley-go/parley/examples/cluster/machines/tenure"
	"github.com/parley-go/parley/proptest"
)

// The machines are those of the specification, and keep to it. The whole search is that of fsmgen check, in .ci/run.
func TestTenure(t *testing.T) {
	t.Parallel()
	c := proptest.Config{Configurations: 2000, Compared: 200, Seeds: 20}
	c.Verify(t, "specs/tenure/spec.yaml", tenure.NewSessionRunner, tenure.NewClaimRunner, tenure.NewServerRunner,
		tenure.NewPlayerRunner, tenure.NewStoreRunner)
}
