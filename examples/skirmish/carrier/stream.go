package carrier

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/parley-go/parley/machines/stream"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// window is how many pieces may be under way: Out of the machine.
const window = len(stream.PieceList{}.Items)

// token is a new one.
func token() stream.Token {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return stream.Token(binary.LittleEndian.Uint64(b[:]))
}

// connection is one stream: a machine that somebody else runs, and a pair of queues to the program, of which this
// has the far end.
type connection struct {
	far   *mem.Link
	give  func(func(*stream.EndRunner) fsm.Result) error
	room  chan struct{} // a token for each piece that may be written
	over  chan struct{} // closed when the machine says that it is over
	once  sync.Once
	freed stream.Number // pieces whose token was given back
}

// near is the program's end, with the addresses of the datagrams.
type near struct {
	*mem.Link
	local, remote net.Addr
}

func (n near) LocalAddr() net.Addr     { return n.local }
func (n near) RemoteAddr(int) net.Addr { return n.remote }

func newConnection(local, remote net.Addr, give func(func(*stream.EndRunner) fsm.Result) error) (*connection, near) {
	a, b := mem.Pair(mem.Config{Stream: true})
	c := &connection{far: b, give: give, room: make(chan struct{}, window), over: make(chan struct{})}
	for range window {
		c.room <- struct{}{}
	}
	return c, near{a, local, remote}
}

// carry brings what the program writes to the machine, piece by piece, until one of them ends.
func (c *connection) carry() {
	buf := make([]byte, len(stream.Piece{}.Data))
	for {
		got, err := c.far.Receive(buf)
		switch {
		case errors.Is(err, io.EOF):
			c.give((*stream.EndRunner).Finish)
			return
		case err != nil:
			c.give((*stream.EndRunner).Abort)
			return
		}
		select {
		case <-c.room:
		case <-c.over:
			return
		}
		p, _ := stream.NewPiece(string(buf[:got.N]))
		if c.give(func(r *stream.EndRunner) fsm.Result { return r.Write(p) }) != nil {
			c.end(false)
			return
		}
	}
}

// report takes what the machine says, in the goroutine that runs it.
func (c *connection) report(r *stream.EndRunner, i int) {
	switch rep := r.Report(i); rep.Kind {
	case stream.ReportRead:
		p := &rep.Read.Piece
		err := c.far.Send(0, p.Data[:p.Len])
		if err == nil {
			err = c.far.Flush()
		}
		if errors.Is(err, transport.ErrQueueFull) { // the program does not read; one that has closed need not
			go c.give((*stream.EndRunner).Abort)
		}
	case stream.ReportRoom:
		for ; c.freed < r.Machine.Confirmed; c.freed++ {
			select {
			case c.room <- struct{}{}:
			default:
			}
		}
	case stream.ReportEnded, stream.ReportShut:
		c.end(true)
	case stream.ReportLost:
		c.end(false)
	}
}

// end ends the program's end, in good order or not.
func (c *connection) end(orderly bool) {
	c.once.Do(func() {
		close(c.over)
		if orderly {
			go c.far.Close() // which may wait for the program
		} else {
			c.far.Abort()
		}
	})
}

// Call opens a stream to peer 0 of a link over datagrams, which belongs to it from then on. It fails if nobody answers
// before ctx ends, or for ten seconds.
func Call(ctx context.Context, link transport.Link) (transport.Link, error) {
	return stretch(ctx, link, true)
}

// Answer waits for a call by peer 0 of a link over datagrams, which belongs to it from then on, no longer than ten
// seconds.
func Answer(ctx context.Context, link transport.Link) (transport.Link, error) {
	ctx, cancel := context.WithTimeout(ctx, hesitation)
	defer cancel()
	return stretch(ctx, link, false)
}

// stretch makes a stream of a link with one peer, who is called or calls.
func stretch(ctx context.Context, link transport.Link, calls bool) (transport.Link, error) {
	r := stream.NewEndRunner(token())
	var d *driver.Driver[*stream.EndRunner]
	c, n := newConnection(link.LocalAddr(), link.RemoteAddr(0),
		func(f func(*stream.EndRunner) fsm.Result) error { return d.Post(f) })
	opened := make(chan struct{})
	d = driver.New(r, driver.Options[*stream.EndRunner]{KeepMalformed: true, KeepRefused: true, StopAtFinal: true,
		OnLink: func(_ *stream.EndRunner, _ fsm.Peer, up bool, _ error) {
			if !up { // what is below is gone
				d.Stop()
			}
		},
		OnReport: func(r *stream.EndRunner, i int) {
			if r.Report(i).Kind == stream.ReportOpened {
				close(opened)
			}
			c.report(r, i)
		}})
	if err := d.Attach(0, link); err != nil {
		return nil, errors.Join(err, link.Abort())
	}
	go func() {
		d.Run(context.Background())
		c.end(false)
	}()
	if calls {
		if _, err := d.Do(ctx, (*stream.EndRunner).Call); err != nil {
			d.Stop()
			return nil, err
		}
	}
	select {
	case <-opened:
		go c.carry()
		return n, nil
	case <-c.over:
		return nil, fmt.Errorf("nobody answers at %v", link.RemoteAddr(0))
	case <-ctx.Done():
		d.Stop()
		return nil, context.Cause(ctx)
	}
}

var errClosed = errors.New("the door is closed")

// streams is a door of streams over one link over datagrams.
type streams struct {
	link  transport.Link
	host  *driver.Host[*stream.EndRunner, stream.End]
	conns map[int]*connection // by peer; of the host's goroutine alone
	queue chan transport.Link
	over  chan struct{}
	err   error // why the host has ended, after over
}

// open makes a door of a link with several peers, which belongs to it from then on.
func open(link transport.Link) (*streams, error) {
	s := &streams{link: link, conns: map[int]*connection{}, queue: make(chan transport.Link, 32),
		over: make(chan struct{})}
	o := driver.Options[*stream.EndRunner]{KeepMalformed: true, KeepRefused: true, StopAtFinal: true,
		OnReport: s.report}
	o.OnLink = func(_ *stream.EndRunner, _ fsm.Peer, up bool, _ error) {
		if !up {
			s.lost(s.host.Peer())
		}
	}
	var err error
	s.host, err = driver.NewHost(stream.NewEndRunner(token()),
		func(r *stream.EndRunner) *stream.End { return &r.Machine },
		func(int) stream.End { return stream.NewEnd(token()) }, link, o)
	if err != nil {
		return nil, errors.Join(err, link.Abort())
	}
	go func() {
		s.err = s.host.Run(context.Background())
		for _, c := range s.conns {
			c.end(false)
		}
		close(s.over)
	}()
	return s, nil
}

// lost forgets the connection of a peer.
func (s *streams) lost(peer int) {
	if c := s.conns[peer]; c != nil {
		c.end(false)
		delete(s.conns, peer)
	}
}

func (s *streams) report(r *stream.EndRunner, i int) {
	peer := s.host.Peer()
	if r.Report(i).Kind == stream.ReportOpened {
		s.lost(peer) // the number was another's before
		own := r.Machine.Own
		c, n := newConnection(s.link.LocalAddr(), s.link.RemoteAddr(peer),
			func(f func(*stream.EndRunner) fsm.Result) error {
				return s.host.Post(peer, func(r *stream.EndRunner) fsm.Result {
					if r.Machine.Own != own { // somebody else's by now
						return fsm.Result{Code: fsm.NotRun, Transition: fsm.NoTransition}
					}
					return f(r)
				})
			})
		select {
		case s.queue <- n:
			s.conns[peer] = c
			go c.carry()
		default: // nobody lets anybody in
			c.end(false)
			go c.give((*stream.EndRunner).Abort)
		}
		return
	}
	if c := s.conns[peer]; c != nil {
		c.report(r, i)
	}
}

// Accept implements Door.
func (s *streams) Accept(ctx context.Context) (transport.Link, error) {
	select {
	case l := <-s.queue:
		return l, nil
	case <-s.over:
		return nil, errors.Join(errClosed, s.err)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Addr implements Door.
func (s *streams) Addr() net.Addr { return s.link.LocalAddr() }

// Close implements Door.
func (s *streams) Close() error {
	s.host.Stop()
	s.link.Interrupt(interrupted)
	<-s.over
	return nil
}
