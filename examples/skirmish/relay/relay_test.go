package relay

import (
	"testing"

	"github.com/parley-go/parley/machines/gameserver"
	"github.com/parley-go/parley/runtime/transport"
)

// What a player sends may come before the line that names it, and then it is not gone when somebody else is. Nor is who
// was said to be gone for a moment, since others have its address. Who has gone ends its lines, whoever has the slot.
func TestNamedLate(t *testing.T) {
	n := &Node{over: make(chan struct{}), lines: map[line]wire{}, wake: make(chan struct{}, 1), own: 1}
	n.door = make(chan transport.Link, callers)
	list := func(names ...string) {
		m := &gameserver.Client{}
		for slot, name := range names {
			if name != "" {
				m.Others[slot].Present = true
				m.Others[slot].Value.Name, _ = gameserver.NewName(name)
			}
		}
		n.changed(m)
	}
	call := func(slot uint8, port uint16) (transport.Link, line) {
		l := line{slot: slot, far: port}
		n.mu.Lock()
		n.deliver(l, []byte{1})
		n.mu.Unlock()
		near := <-n.door
		t.Cleanup(func() { near.Abort() })
		return near, l
	}
	there := func(link transport.Link, l line, want bool) {
		t.Helper()
		n.gone()
		n.mu.Lock()
		n.deliver(l, []byte{2})
		n.mu.Unlock()
		var err error
		for b := make([]byte, 8); b[0] != 2 && err == nil; {
			_, err = link.Receive(b)
		}
		if (err == nil) != want {
			t.Errorf("%v: it ends with %v", l, err)
		}
	}
	early, first := call(2, 1)
	list("", "", "Ann")
	there(early, first, true)
	list("", "", "")
	again, second := call(2, 2)
	list("", "", "Ann")
	there(early, first, true)
	there(again, second, true)
	list("", "", "Eve")
	there(again, second, false)
}
