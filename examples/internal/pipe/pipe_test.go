package pipe_test

import (
	"testing"

	"github.com/parley-go/parley/examples/internal/pipe"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// TestSlowed: a slowed link brings what comes, and still says who is at the other end.
func TestSlowed(t *testing.T) {
	l, err := tcp.Listen("tcp", "127.0.0.1:0", tcp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	far, err := tcp.Dial(t.Context(), "tcp", l.Addr().String(), tcp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	behind, err := l.Accept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	near := pipe.Slowed(behind, 1<<20)
	defer near.Close()
	if got, want := near.RemoteAddr(0).String(), far.LocalAddr().String(); got != want {
		t.Errorf("the other end is at %s, and %s is said", want, got)
	}
	if got, want := near.LocalAddr().String(), l.Addr().String(); got != want {
		t.Errorf("this end is at %s, and %s is said", want, got)
	}
	if err := far.Send(0, []byte("hi")); err != nil {
		t.Fatal(err)
	}
	far.Flush()
	var text []byte
	for buf := make([]byte, 8); len(text) < 2; {
		got, err := near.Receive(buf)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, buf[:got.N]...)
	}
	if string(text) != "hi" {
		t.Errorf("%q comes", text)
	}
}
