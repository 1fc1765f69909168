//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/cluster/internal/seek"
	"github.com/parley-go/parley/examples/cluster/internal/store"
	"github.com/parley-go/parley/examples/cluster/machines/tenure"
)

// A server that stands still has its lobby taken, and takes itself for the owner when it goes on. Nobody is let in
// there who knows better, it lets its players go, and then sends them to the new owner.
func TestStandsStill(t *testing.T) {
	t.Parallel()
	e, err := store.Embed(store.EmbedConfig{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Shutdown)
	tr := trial{nats: e.URL(), lease: time.Second, replicas: 1, lobbies: 10, stderr: &shared{w: os.Stderr}}
	defer tr.end()
	for range 2 {
		if err := tr.start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	enter := func(doors ...string) *holder {
		t.Helper()
		s, err := seek.New(doors, tenure.KindLobby, "L", "", 0)
		if err != nil {
			t.Fatal(err)
		}
		h := &holder{Seeker: s}
		if err := h.enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { h.conn.Close() })
		return h
	}
	first := enter(tr.doors[0])
	owner := 0
	if first.conn.RemoteAddr().String() == tr.doors[1] {
		owner = 1
	}
	still := tr.servers[owner].Process
	if err := still.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer still.Signal(syscall.SIGCONT) // or it would not end
	second := enter(tr.doors[1-owner])
	if second.Epoch() <= first.Epoch() || second.conn.RemoteAddr().String() != tr.doors[1-owner] {
		t.Fatalf("after epoch %d at %s came %d at %v", first.Epoch(), tr.doors[owner], second.Epoch(),
			second.conn.RemoteAddr())
	}
	if err := still.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	// Who has been at the new owner is not let in by the old one, however soon they ask.
	late := make(chan error, 1)
	go func() {
		s, err := seek.New(tr.doors[owner:owner+1], tenure.KindLobby, "L", "", 0)
		if err == nil {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			h := &holder{Seeker: s}
			if err = h.enter(ctx); err == nil {
				if h.Epoch() < second.Epoch() && stays(h) {
					err = errors.New("the old owner lets players in, and keeps them")
				}
				h.conn.Close()
			}
		}
		late <- err
	}()
	if err := <-late; err != nil {
		t.Error(err)
	}
	if stays(first) {
		t.Error("a player is still at the old owner")
	}
	if err := second.enter(t.Context()); err != nil { // it is where it was, or later
		t.Error(err)
	}
}

// stays reports whether a server keeps a player for longer than its session can be good.
func stays(h *holder) bool {
	_ = h.conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	_, err := h.conn.Read(make([]byte, 1))
	return errors.Is(err, os.ErrDeadlineExceeded)
}
