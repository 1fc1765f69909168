package interrupt

import (
	"context"
	"os"
	"syscall"
	"testing"
)

// Each request ends the context, and without one it ends with its parent or with stop.
func TestContext(t *testing.T) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for _, request := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		ctx, stop := Context(t.Context())
		if ctx.Err() != nil {
			t.Fatal("it has ended before anybody asked")
		}
		if err := self.Signal(request); err != nil {
			t.Skip(err) // Windows has no way to ask oneself
		}
		<-ctx.Done()
		stop()
	}
	parent, cancel := context.WithCancel(t.Context())
	ctx, stop := Context(parent)
	defer stop()
	cancel()
	<-ctx.Done()
}
