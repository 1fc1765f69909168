package tcp

import (
	"sync"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// Send implements [transport.Link].
func (p *pooled) Send(peer int, frame []byte) (err error) {
	if p.closed.Load() {
		return transport.ErrClosed
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if peer != transport.All {
		if peer < 0 || peer >= len(p.peers) || p.peers[peer] == nil || p.peers[peer].dropped.Load() {
			return transport.ErrNoPeer
		}
		return p.queue(p.peers[peer], frame)
	}
	for _, c := range p.peers {
		if c != nil && !c.dropped.Load() {
			if e := p.queue(c, frame); e == transport.ErrQueueFull {
				err = e
			}
		}
	}
	return err
}

func (p *pooled) queue(c *pooledPeer, frame []byte) error {
	err := c.link.Send(0, frame)
	// many answers to little: only what the peer does not take counts
	if err == transport.ErrQueueFull && c.link.Flush() == nil {
		err = c.link.Send(0, frame)
	}
	if err == transport.ErrQueueFull {
		p.stats.Full++
		sendFull(&p.ln.notes, c.from)
	}
	if err == nil && !c.dirty {
		c.dirty = true
		p.dirty = append(p.dirty, c)
	}
	return err
}

// Flush implements [transport.Link]. A peer on which sending fails is lost by itself.
func (p *pooled) Flush() error {
	if p.closed.Load() {
		return transport.ErrClosed
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, c := range p.dirty {
		c.link.Flush()
		c.dirty, p.dirty[i] = false, nil
	}
	p.dirty = p.dirty[:0]
	return nil
}

// Drop implements engine.
func (p *pooled) Drop(peer int) {
	if c := p.peer(peer); c != nil && !c.dropped.Swap(true) {
		c.link.Interrupt(time.Unix(1, 0))
		select {
		case c.stirred <- struct{}{}:
		default:
		}
	}
}

// Pause implements engine.
func (p *pooled) Pause(peer int, d time.Duration) {
	if c := p.peer(peer); c != nil {
		p.count(&p.stats.Throttled)
		throttled(&p.ln.notes, c.from)
		c.paused.Store(int64(time.Since(p.epoch) + d))
		c.link.Interrupt(time.Unix(1, 0))
	}
}

// Close implements [transport.Link].
func (p *pooled) Close() error { return p.shut((*Link).Close) }

// Abort implements [transport.Link].
func (p *pooled) Abort() error { return p.shut((*Link).Abort) }

// shut ends all connections, side by side.
func (p *pooled) shut(f func(*Link) error) error {
	first := !p.closed.Swap(true)
	p.ln.Close()
	p.stir()
	var closing sync.WaitGroup
	p.mu.Lock()
	for _, c := range p.peers {
		if c != nil {
			closing.Go(func() { f(c.link) })
		}
	}
	p.mu.Unlock()
	closing.Wait()
	if first {
		close(p.done)
	}
	p.waiting.Wait()
	return nil
}
