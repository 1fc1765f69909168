// Package interrupt is how a program of this module learns that it is to end: by Ctrl-C in a terminal, and by the
// request of a service manager, a container or kill. All programs are told in this one way, so that none of them is
// cut off by a request that another one follows.
//
// It does not know what a program does then. Start from [Context].
package interrupt

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Context returns a context that ends with parent, and when the program is asked to end. From then on, and after stop,
// the next request ends the program at once: whoever asks twice does not wait for the rest of the work.
func Context(parent context.Context) (ctx context.Context, stop context.CancelFunc) {
	ctx, stop = signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
