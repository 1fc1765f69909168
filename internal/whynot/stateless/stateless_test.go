// Package stateless_test reproduces what the README says about
// qmuntal/stateless; see the package above.
package stateless_test

import (
	"context"
	"errors"
	"testing"

	"github.com/qmuntal/stateless"
)

// An entry function fails, the error is returned, and the state has changed all the same.
func TestEntryErrorLeavesTheNewState(t *testing.T) {
	m := stateless.NewStateMachine("closed")
	m.Configure("closed").Permit("open", "open")
	m.Configure("open").OnEntry(func(context.Context, ...any) error { return errors.New("jammed") })
	if err := m.Fire("open"); err == nil {
		t.Fatal("the error of an entry function is not returned")
	}
	if m.MustState() != "open" {
		t.Error("an error of an entry function keeps the old state now")
	}
}

// A transition to a state that nobody declared is taken.
func TestUndeclaredState(t *testing.T) {
	m := stateless.NewStateMachine("closed")
	m.Configure("closed").Permit("open", "opne")
	if err := m.Fire("open"); err != nil || m.MustState() != "opne" {
		t.Errorf("undeclared states are noticed now: %v", err)
	}
}

// Two transitions without guards for one event: a panic, when the event comes.
func TestTwoPermitsPanicLate(t *testing.T) {
	m := stateless.NewStateMachine("closed")
	m.Configure("closed").Permit("open", "open").Permit("open", "ajar")
	defer func() {
		if recover() == nil {
			t.Error("two permits do not panic any more")
		}
	}()
	_ = m.Fire("open")
}
