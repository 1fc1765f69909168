package binding

import (
	"context"
	"errors"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
)

// Machine is a machine and its driver as a System. Most Init functions return one, or build upon
// one.
type Machine[R fsm.Runner] struct {
	*driver.Driver[R]
	connected func(R) bool
	ended     chan struct{}
	err       error // of Run, once ended is closed
}

// Start runs a machine. Before that it calls attach, which gives the driver its links and may be
// nil. connected reports by the machine's state whether there is a session. If attach fails, the
// machine never runs and Start returns that error.
func Start[R fsm.Runner](r R, o driver.Options[R], connected func(R) bool,
	attach func(*driver.Driver[R]) error) (*Machine[R], error) {
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

// Connected reports whether the machine has a session. A machine that has ended has none. A handler
// of the driver must not call it.
func (m *Machine[R]) Connected(ctx context.Context) (yes bool, err error) {
	err = m.Read(ctx, func(r R) { yes = m.connected(r) })
	if errors.Is(err, driver.ErrStopped) {
		return false, nil
	}
	return yes, err
}

// Kill stops the driver, which closes its links in good order, and waits until it has ended or ctx
// ends. The driver cannot end before a handler that calls Kill has returned, so such a call waits
// for ctx.
func (m *Machine[R]) Kill(ctx context.Context) error {
	m.Stop()
	select {
	case <-m.ended:
		return m.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
