package driver

import "github.com/parley-go/parley/runtime/transport"

// guard has a link let nobody in without a frame that begins as one of the protocol does. What is
// returned is told of peers whose message the machine has accepted; it does nothing for a link on
// which strangers do not become peers.
func guard(size func([]byte) (int, error), link transport.Link) (confirm func(peer int)) {
	g, ok := link.(transport.Guarded)
	if !ok {
		return func(int) {}
	}
	g.Guard(func(frame []byte) bool {
		n, err := size(frame)
		return err == nil && 0 < n && n <= len(frame)
	})
	return g.Confirm
}
