package dgram

import (
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// Send implements [transport.Link]. A socket that is no Batch takes the frame at once.
func (l *Link[A]) Send(peer int, frame []byte) error {
	switch {
	case l.closed.Load():
		return transport.ErrClosed
	case peer < transport.All || peer >= l.cfg.MaxPeers:
		return transport.ErrNoPeer
	case len(frame) > l.cfg.MaxFrame:
		return transport.ErrFrameTooLong
	case peer == transport.All:
		return l.sendAll(frame)
	}
	l.mu.Lock()
	p := &l.table.peers[peer]
	to, ok := p.addr, p.state == up
	even := !l.cfg.Even || p.pay(len(frame))
	if ok && !even {
		l.stats.Withheld++
		l.bite("Even", "frames are held back beyond what came from the peer", to)
	}
	l.mu.Unlock()
	if !ok {
		return transport.ErrNoPeer
	}
	if !even {
		return transport.ErrUneven
	}
	return l.write(peer, frame, to)
}

func (l *Link[A]) sendAll(frame []byte) (err error) {
	for _, to := range l.cfg.All {
		if e := l.write(-1, frame, to); e != nil {
			err = e
		}
	}
	if len(l.cfg.All) > 0 {
		return err
	}
	for i := range l.cfg.MaxPeers {
		e := l.Send(i, frame)
		if e != nil && e != transport.ErrNoPeer && e != transport.ErrUneven {
			err = e
		}
	}
	return err
}

func (l *Link[A]) write(peer int, frame []byte, to A) error {
	lost, err := 0, error(nil)
	if l.batch != nil {
		lost, err = l.batch.Put(peer, frame, to)
	} else if err = l.sock.Write(frame, to); err != nil {
		lost = 1
	}
	if lost == 0 {
		return nil
	}
	if l.closed.Load() {
		return transport.ErrClosed
	}
	l.unsent(lost)
	return err
}

// writeNow sends what is not a user's frame.
func (l *Link[A]) writeNow(frame []byte, to A) {
	l.sock.Write(frame, to)
	if l.batch != nil {
		l.unsent(l.batch.Flush())
	}
}

func (l *Link[A]) unsent(n int) {
	if n > 0 {
		l.mu.Lock()
		l.stats.Unsent += uint64(n)
		l.mu.Unlock()
	}
}

// Flush implements [transport.Link]. With Config.Gather, what waits leaves when its time has come.
func (l *Link[A]) Flush() error {
	switch {
	case l.closed.Load():
		return transport.ErrClosed
	case l.batch == nil:
	case l.cfg.Gather <= 0:
		l.unsent(l.batch.Flush())
	case !l.gathering.Swap(true):
		l.dl.Lock()
		l.leave = time.Now().Add(l.cfg.Gather)
		l.arm()
		l.dl.Unlock()
	}
	return nil
}
