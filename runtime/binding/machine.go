package binding

import (
	"context"
	"errors"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
)

// Machine is a machine and its driver as a System: what most Init functions
// return, or build upon.
type Machine[R fsm.Runner] struct {
	*driver.Driver[R]
	connected func(R) bool
	ended     chan struct{}
	err       error // of Run, once ended is closed
}

// Start runs a machine. attach gives its driver the links, before it runs, and
// may be nil; connected says by the machine's state whether there is a session. If attach fails
// the machine never runs, and the error is attach's.
func Start[R fsm.Runner](r R, o driver.Options[R], connected func(R) bool, attach func(*driver.Driver[R]) error) (*Machine[R], error) {
	m := &Machine[R]{Driver: driver.New(r, o), connected: connected, ended: make(chan struct{})}
	if attach != nil {
		if err := attach(m.Driver); err != nil {
			return nil, err
		}
	}
	go func() {
		defer close(m.ended)
		m.err = m.Run(context.Background())
	}()
	return m, nil
}

// Connected asks the machine; a machine that has ended is not connected. A handler of the driver
// must not call it.
func (m *Machine[R]) Connected(ctx context.Context) (yes bool, err error) {
	err = m.Read(ctx, func(r R) { yes = m.connected(r) })
	if errors.Is(err, driver.ErrStopped) {
		return false, nil
	}
	return yes, err
}

// Kill stops the driver, which closes its links in good order. Called by a handler of
// the driver it only does so when the handler has returned, and ends with ctx.
func (m *Machine[R]) Kill(ctx context.Context) error {
	m.Stop()
	select {
	case <-m.ended:
		return m.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
