package dtlslink

import (
	"fmt"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/internal/door"
)

// One peer that fills the queue loses its own frames; those of another come soon, and in order with
// the news of it.
func TestInboxIsFair(t *testing.T) {
	var b inbox
	b.init(64, new(door.Notes))
	for range 1000 {
		b.put(transport.Arrival{Peer: 0, N: 5}, []byte("noise"))
	}
	b.put(transport.Arrival{Kind: transport.PeerUp, Peer: 1}, nil)
	want := []string{"1 up"}
	for n := range 10 {
		word := fmt.Sprint("word ", n)
		b.put(transport.Arrival{Peer: 1, N: len(word)}, []byte(word))
		want = append(want, "1 "+word)
	}
	b.put(transport.Arrival{Kind: transport.PeerLost, Peer: 1}, nil)
	want = append(want, "1 lost")
	b.interrupt(time.Now().Add(time.Minute))
	var got []string
	buf := make([]byte, 100)
	for range 2 * len(want) {
		a, err := b.take(buf)
		switch {
		case err != nil:
			t.Fatal(err)
		case a.Peer == 0:
		case a.Kind == transport.PeerUp:
			got = append(got, "1 up")
		case a.Kind == transport.PeerLost:
			got = append(got, "1 lost")
		default:
			got = append(got, "1 "+string(buf[:a.N]))
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || b.dropped() != 1000-64+10 {
		t.Errorf("got %v\nwant %v; %d lost", got, want, b.dropped())
	}
}
