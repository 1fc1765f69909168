//go:build linux && (amd64 || arm64)

package mmsg

import (
	"bytes"
	"testing"
)

// What the kernel does not cut is sent one by one, and from then on not given to it in one piece.
func TestRefused(t *testing.T) {
	src, to := newEnd(t, "127.0.0.1:0", Options{Peers: 1, Offload: true}),
		newEnd(t, "127.0.0.1:0", Options{MaxFrame: 2000})
	if !src.c.Offload() {
		t.Skip("this kernel does not cut datagrams")
	}
	for turn := range 2 {
		for n := range 60 {
			b := bytes.Repeat([]byte{byte(n)}, 1400)
			src.c.Put(0, b, to.addr())
			to.want = append(to.want, b)
			if turn == 0 {
				src.c.runs[0].bytes = 0 // it becomes larger than any datagram, which the kernel refuses
			}
		}
		if got, want := len(src.c.runs), 1+59*turn; got != want {
			t.Fatalf("turn %d: %d runs, want %d", turn, got, want)
		}
		if lost := src.c.Flush(); lost > 0 {
			t.Errorf("turn %d: %d lost", turn, lost)
		}
		to.expect(t, src.addr())
	}
	src.c.Put(0, []byte("a"), to.addr())
	src.c.Put(0, []byte("b"), to.addr())
	if len(src.c.runs) != 1 {
		t.Error("small ones are no longer given in one piece")
	}
}
