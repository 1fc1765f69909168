package driver

import (
	"testing"

	"github.com/parley-go/parley/runtime/transport"
)

type pollable struct{ transport.Polled }

// Of several links that one leads which has brought much in a row, until others have, or it is closed.
func TestLead(t *testing.T) {
	var l lead
	a, b := &slot{open: true, polled: pollable{}}, &slot{open: true, polled: pollable{}}
	stream := &slot{open: true}
	bring := func(s *slot, times int) (led bool) {
		for range times {
			led = l.follow(s)
		}
		return led
	}
	if l.alone(stream); l.slot != nil {
		t.Error("a link leads that cannot be polled")
	}
	if bring(stream, 2*toLead) || bring(a, toLead-1) || bring(b, 1) || bring(a, toLead-1) {
		t.Error("a link leads that has brought less in a row")
	}
	if !bring(a, 1) || l.slot != a {
		t.Fatal("a link does not lead that has brought enough")
	}
	if bring(b, toFollow-1); l.slot != a {
		t.Error("it has to follow too early")
	}
	l.brought()
	if bring(b, toFollow-1); l.slot != a {
		t.Error("it has to follow although it has brought something")
	}
	if bring(b, 1) || l.slot != nil {
		t.Error("it leads on while others bring everything")
	}
	if !bring(b, toLead) {
		t.Error("the other one does not lead")
	}
	b.open = false
	if l.tidy(); l.slot != nil {
		t.Error("a link leads that is closed")
	}
	if l.alone(a); l.slot != a {
		t.Error("a single link does not lead")
	}
}
