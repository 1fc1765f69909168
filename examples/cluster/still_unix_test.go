//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/parley-go/parley/examples/cluster/internal/node"
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
	waiting := waiters(t, tr.doors[owner])
	if err := still.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	// Who has asked meanwhile, and knows of no epoch, is answered by a server that has no session.
	for _, conn := range waiting {
		m, err := node.ReadFrame(conn)
		if err != nil || m.Kind == tenure.MessageHere && uint32(m.Here.Epoch) <= first.Epoch() {
			t.Errorf("a server that stood still for longer than its session says %v %+v, %v", m.Kind, m.Here, err)
		}
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

// waiters ask a server for the lobby that cannot answer now.
func waiters(t *testing.T, address string) (list []net.Conn) {
	t.Helper()
	name, _ := tenure.NewName("L")
	frame, err := tenure.AppendMessage(nil, &tenure.Message{Kind: tenure.MessageJoin,
		Join: tenure.JoinMessage{Kind: tenure.KindLobby, Game: name}})
	if err != nil {
		t.Fatal(err)
	}
	for range 16 {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_, err = conn.Write(frame)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
		list = append(list, conn)
	}
	return list
}

// natsNodes are NATS servers that are one cluster, each a process of its own, by name.
func natsNodes(t *testing.T, n int) (urls []string, nodes map[string]*os.Process) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	routes, err := store.Routes(n)
	if err != nil {
		t.Fatal(err)
	}
	nodes = map[string]*os.Process{}
	for i := range n {
		args := append([]string{"-nats-node", fmt.Sprint("n", i), t.TempDir(), routes[i]}, routes...)
		c := exec.Command(self, args...)
		c.Stderr = os.Stderr
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { in.Close(); _ = c.Process.Kill(); _ = c.Wait() })
		lines := bufio.NewScanner(out)
		if !lines.Scan() {
			t.Fatal("a NATS server does not begin")
		}
		urls = append(urls, lines.Text())
		nodes[fmt.Sprint("n", i)] = c.Process
	}
	return urls, nodes
}

// A NATS server of three stands still, as one that the others do not hear; its connections stay. The lobbies of the
// servers that are connected there go on, there or elsewhere, and nobody waits for it to come back. When it does, what
// it knows is old, and nobody is sent to an older epoch.
func TestNATSStandsStill(t *testing.T) {
	t.Parallel()
	urls, nodes := natsNodes(t, 3)
	tr := trial{nats: strings.Join(urls, ","), lease: 3 * time.Second, replicas: 3, lobbies: 10,
		stderr: &shared{w: os.Stderr}}
	defer tr.end()
	for range 2 {
		if err := tr.start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var in []*holder
	for i := range 6 {
		s, err := seek.New(tr.doors, tenure.KindLobby, fmt.Sprint("L", i), "", 0)
		if err != nil {
			t.Fatal(err)
		}
		h := &holder{Seeker: s}
		if err := h.enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		in = append(in, h)
	}
	again := func() {
		t.Helper()
		for i, h := range in {
			before := h.Epoch()
			h.conn.Close()
			if err := h.enter(t.Context()); err != nil || h.Epoch() < before {
				t.Fatalf("lobby %d: after epoch %d comes %d, %v", i, before, h.Epoch(), err)
			}
		}
	}
	// The one that leads the bucket of the sessions stands still, so all servers hear nothing.
	nc, err := store.Connect(tr.nats, t.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "KV_parley-sessions")
	if err != nil {
		t.Fatal(err)
	}
	still := nodes[stream.CachedInfo().Cluster.Leader]
	if err := still.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for _, h := range in { // a server that hears nothing lets its players go by itself
		if stays(h) {
			t.Error("a player is still there, and nobody knows whose the lobby is")
		}
	}
	again()
	if err := still.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	again()
	for _, h := range in {
		h.conn.Close()
	}
}

// stays reports whether a server keeps a player for longer than its session can be good.
func stays(h *holder) bool {
	_ = h.conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	_, err := h.conn.Read(make([]byte, 1))
	return errors.Is(err, os.ErrDeadlineExceeded)
}
