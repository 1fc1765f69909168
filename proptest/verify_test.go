package proptest_test

import (
	"testing"

	"github.com/parley-go/parley/machines/confirm"
	"github.com/parley-go/parley/proptest"
)

// TestVerify: a specification and its machines that are right pass.
func TestVerify(t *testing.T) {
	proptest.Verify(t, "../specs/confirm/spec.yaml", confirm.NewPeerRunner)
}
