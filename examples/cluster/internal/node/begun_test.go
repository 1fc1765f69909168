package node_test

import (
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/cluster/internal/node"
	"github.com/parley-go/parley/examples/cluster/machines/tenure"
)

// from says one thing to a server from an address of this computer, and returns the answer; ok is false where the
// connection is closed without one.
func from(t *testing.T, ip, address string, kind tenure.Kind, game string) (m tenure.Message, ok bool) {
	t.Helper()
	name, _ := tenure.NewName(game)
	conn, m, err := knock(address, net.ParseIP(ip), tenure.JoinMessage{Kind: kind, Game: name, Seats: 2})
	if conn == nil {
		t.Error(err)
		return m, false
	}
	conn.Close()
	return m, err == nil
}

// One address that makes one lobby or match after another, and leaves each, at all servers at once, begins as many as
// it may in the whole cluster, and is told later for the rest. It is still let in where others are; they begin what
// they like.
func TestFillsTheCluster(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.lease = calm
	c.burst = 40
	cfg := node.Config{GamesPerAddress: 1000}
	servers := []*running{c.server(c.url, cfg), c.server(c.url, cfg), c.server(c.url, cfg)}
	const attacker, other = "127.0.0.2", "127.0.0.3"
	if m, ok := from(t, other, servers[0].address, tenure.KindLobby, "home"); !ok || m.Kind != tenure.MessageHere {
		t.Fatalf("the first lobby: %v %v", m.Kind, ok)
	}
	before := [2]int64{}
	sum := func() (taken, limited int64) {
		for _, s := range servers {
			taken += s.Taken.Load()
			limited += s.Limited.Load()
		}
		return taken, limited
	}
	before[0], _ = sum()
	var coming sync.WaitGroup
	for i, s := range servers {
		for j, kind := range []tenure.Kind{tenure.KindLobby, tenure.KindMatch} {
			coming.Go(func() {
				for k := range 40 {
					from(t, attacker, s.address, kind, fmt.Sprint("g", i, j, k))
				}
			})
		}
	}
	coming.Wait()
	taken, limited := sum()
	if taken -= before[0]; taken != 40 {
		t.Errorf("one address began %d games of 40", taken)
	}
	if limited == 0 {
		t.Error("nothing was refused")
	}
	home := 0
	for _, s := range servers {
		m, ok := from(t, attacker, s.address, tenure.KindLobby, "home")
		if ok && (m.Kind == tenure.MessageHere || m.Kind == tenure.MessageMoved) {
			home++
		}
		for _, kind := range []tenure.Kind{tenure.KindLobby, tenure.KindMatch} {
			m, ok = from(t, other, s.address, kind, fmt.Sprint(s.address, kind))
			if !ok || m.Kind != tenure.MessageHere && m.Kind != tenure.MessageMoved {
				t.Errorf("another one who wants a %v is told %v", kind, m.Kind)
			}
		}
	}
	if home != len(servers) {
		t.Errorf("%d of %d servers let the address into the lobby of another one", home, len(servers))
	}
}

// A server has places left for others, however long one address stays in all that it has begun there; and what is over
// is given back to it.
func TestFillsAServer(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.lease = calm
	a := c.server(c.url, node.Config{Lobbies: 8, Idle: 200 * time.Millisecond})
	const attacker, other = "127.0.0.2", "127.0.0.3"
	name := func(s string) tenure.Name { n, _ := tenure.NewName(s); return n }
	var open []net.Conn
	in := 0
	for i := range 8 {
		conn, m, err := knock(a.address, net.ParseIP(attacker), tenure.JoinMessage{Game: name(fmt.Sprint(i))})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		open = append(open, conn)
		if m.Kind == tenure.MessageHere {
			in++
		}
	}
	if in != 2 {
		t.Errorf("one address has %d of 8 lobbies, and not a quarter", in)
	}
	if m, ok := from(t, other, a.address, tenure.KindLobby, "mine"); !ok || m.Kind != tenure.MessageHere {
		t.Errorf("another one is told %v", m.Kind)
	}
	for _, conn := range open {
		conn.Close()
	}
	c.eventually("what it had is given back", func() bool { l, _ := a.Games(); return l == 0 })
	if m, ok := from(t, attacker, a.address, tenure.KindLobby, "again"); !ok || m.Kind != tenure.MessageHere {
		t.Errorf("the address is told %v after all is over", m.Kind)
	}
}
