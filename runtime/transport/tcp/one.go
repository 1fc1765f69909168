package tcp

import (
	"context"
	"errors"
	"sync"

	"github.com/parley-go/parley/runtime/transport"
)

// Enter lets a connection in, or returns an error and has closed it. It returns soon after ctx ends. The
// link it returns is the connection's or one around it. [transport.Opening].Await waits for a frame
// of the protocol; a handshake of TLS is another way.
type Enter func(ctx context.Context, l transport.Link) (transport.Link, error)

// Anyone is an [Enter] for the first who connects, whoever it is. A stranger who says nothing has the
// place then.
func Anyone(_ context.Context, l transport.Link) (transport.Link, error) { return l, nil }

// AcceptOne waits until enter has let one connection in, and then closes the listener and whoever
// else waits, so that nobody else can connect. Connections wait side by side, each for at most
// Config.Handshake: one that is silent or talks nonsense keeps nobody out. Those that are let go are
// counted in [ListenStats].
func (l *Listener) AcceptOne(ctx context.Context, enter Enter) (transport.Link, error) {
	waiting, found := context.WithCancel(ctx)
	defer found()
	defer l.Close()
	var atDoor sync.WaitGroup
	one := make(chan transport.Link, 1)
	for {
		link, err := l.Accept(waiting)
		if err != nil {
			found()
			atDoor.Wait()
			select {
			case link := <-one:
				return link, nil
			default:
				return nil, err
			}
		}
		l.guard(link)
		atDoor.Go(func() {
			in, err := l.enter(waiting, link, enter)
			if err != nil {
				return
			}
			select {
			case one <- in:
				l.open(link)
				found()
			default: // another one has just come in
				in.Abort()
			}
		})
	}
}

// enter gives a connection its time.
func (l *Listener) enter(ctx context.Context, link *Link, enter Enter) (transport.Link, error) {
	limited := ctx
	if l.cfg.Handshake > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, l.cfg.Handshake)
		defer cancel()
	}
	in, err := enter(limited, link)
	if err == nil || ctx.Err() != nil {
		return in, err // or nobody is waited for any more
	}
	switch {
	case errors.Is(err, transport.ErrYielded): // counted already
	case limited.Err() != nil:
		l.silent.Add(1)
	default:
		l.invalid.Add(1)
	}
	l.notes.Bite("Handshake", "connections that say nothing acceptable are let go", func() string {
		return originOf(link).String()
	})
	if l.cfg.OnTurnedAway != nil {
		l.cfg.OnTurnedAway(link.RemoteAddr(0), err)
	}
	return nil, err
}
