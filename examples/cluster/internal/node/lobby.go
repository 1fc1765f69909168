package node

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/examples/cluster/machines/tenure"
	"github.com/parley-go/parley/examples/internal/doors"
	"github.com/parley-go/parley/machines/lobby"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// seats is how many players a lobby's machine can tell apart.
const seats = 61

// room is a lobby.
type room struct {
	n      *Node
	d      *driver.Driver[*lobby.ServerRunner]
	peers  *doors.Numbers
	inside atomic.Int64
	cancel context.CancelFunc
	ended  chan struct{}
}

func newRoom(n *Node) service {
	l := &room{n: n, peers: doors.New(seats), ended: make(chan struct{})}
	r, err := lobby.NewServerRunner(0)
	if err != nil {
		panic(err) // the parameter is constant
	}
	began := time.Now()
	h := lobby.ServerHandlers{Clock: func(c lobby.ServerClockReport) {
		now := lobby.Time(time.Since(began) / time.Millisecond)
		l.d.Post(func(r *lobby.ServerRunner) fsm.Result { return r.Time(c.Player, now) })
	}}
	l.d = driver.New(r, driver.Options[*lobby.ServerRunner]{OnReport: h.OnReport, Logger: n.cfg.Logger,
		HandshakeLimit: n.cfg.Handshake, Mailbox: 64, ReceiveBuffer: 2048})
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	go func() {
		_ = l.d.Run(ctx) // it ends with ctx alone
		close(l.ended)
	}()
	return l
}

// join implements [service].
func (l *room) join(v visitor, epoch tenure.Epoch) {
	peer, ok := l.peers.Try("player") // a place that is not free now is not waited for: others wait for this answer
	if !ok {
		l.n.later(v)
		return
	}
	link, err := v.here(epoch, false)
	if err != nil {
		_ = l.peers.Door(peer, tcp.New(v.conn, tcp.Config{})).Abort() // frees the number
		v.done()
		return
	}
	l.inside.Add(1)
	g := &guest{link, sync.OnceFunc(func() { l.inside.Add(-1); v.done() })}
	_ = l.d.Attach(peer, l.peers.Door(peer, g)) // a driver that has stopped closes it
}

func (l *room) players() int { return int(l.inside.Load()) }
func (l *room) over() bool   { return false }

// stop implements [service].
func (l *room) stop() {
	l.cancel()
	<-l.ended
}
