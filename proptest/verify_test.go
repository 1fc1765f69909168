package proptest_test

import (
	"testing"

	"github.com/parley-go/parley/machines/confirm"
	"github.com/parley-go/parley/machines/socks5"
	"github.com/parley-go/parley/proptest"
)

// TestVerify: a specification and its machines that are right pass.
func TestVerify(t *testing.T) {
	proptest.Verify(t, "../specs/confirm/spec.yaml", confirm.NewPeerRunner)
}

// TestVerifyPhases: so do those of streams with phases.
func TestVerifyPhases(t *testing.T) {
	proptest.Verify(t, "../specs/library/socks5/spec.yaml", socks5.NewClientRunner, socks5.NewProxyRunner)
}
