package refgame

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"
)

// Two copies play a whole match with each other: edits, a confirmation taken
// back, deaths of either ship and of both, game over, and a second match.
func TestItself(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// Both sides have the same battles, seen from either side.
	battles := []Battle{{OwnDies: true, After: 20, Lag: 3}, {OtherDies: true, After: 9},
		{OwnDies: true, OtherDies: true, After: 3}, {OwnDies: true, After: 40}}
	a := Plan{Server: true, Fleet: []byte{1, 2, 3}, Name: "A", Seed: 5, Delay: 2, Battles: battles, Waver: true,
		Before: []Edit{{Own: false, Slot: 2, Ship: 9}}}
	b := Plan{Fleet: []byte{4, 5}, Name: "B side", Delay: 1, Before: []Edit{{Own: true, Slot: 2, Ship: 7}}}
	for _, x := range battles {
		b.Battles = append(b.Battles, Battle{OwnDies: x.OtherDies, OtherDies: x.OwnDies, After: x.After})
	}
	var ra, rb Report
	var ea, eb error
	var wg sync.WaitGroup
	wg.Go(func() {
		conn, err := l.Accept()
		if err != nil {
			ea = err
			return
		}
		ra, ea = Play(ctx, conn, a)
	})
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	rb, eb = Play(ctx, conn, b)
	wg.Wait()
	if ea != nil || eb != nil {
		t.Fatalf("%v\n%v\n%+v\n%+v", ea, eb, ra, rb)
	}
	if ra.Ended != 1 || rb.Ended != 1 || ra.Battles != 4 || ra.Frames != rb.Frames || ra.Frames < 70 {
		t.Errorf("\n%+v\n%+v", ra, rb)
	}
	if ra.OwnFleet != rb.OtherFleet || ra.OtherFleet != rb.OwnFleet || ra.OtherName != "B side" ||
		rb.Seed != 5 || rb.Delay != 2 {
		t.Errorf("\n%+v\n%+v", ra, rb)
	}
}
