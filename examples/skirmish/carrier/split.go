package carrier

import (
	"context"
	"sync"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// strangers is how many may hesitate at a time: more than one address may have connections, so that nobody shuts the
// door alone.
const strangers = 4 * perAddress

// Split makes several doors of one: whoever calls says in the first byte which of them is meant. So a host with two
// protocols has one address. It ends with ctx, and closes the door then.
func Split(ctx context.Context, d Door, doors int) []*Part {
	parts := make([]*Part, doors)
	for i := range parts {
		parts[i] = &Part{queue: make(chan transport.Link)}
	}
	over := make(chan struct{})
	for i := range parts {
		parts[i].over = over
	}
	go func() {
		var all sync.WaitGroup
		defer func() { d.Close(); all.Wait(); close(over) }()
		for places := make(chan struct{}, strangers); ; {
			l, err := d.Accept(ctx)
			if err != nil {
				return
			}
			select {
			case places <- struct{}{}:
			default:
				l.Abort()
				continue
			}
			all.Go(func() {
				defer func() { <-places }()
				admit(ctx, l, parts)
			})
		}
	}()
	return parts
}

// hesitation is how long somebody may take for the first byte.
const hesitation = 10 * time.Second

func admit(ctx context.Context, l transport.Link, parts []*Part) {
	stop := context.AfterFunc(ctx, func() { l.Abort() })
	l.Interrupt(time.Now().Add(hesitation))
	var b [1]byte
	got, err := l.Receive(b[:])
	if !stop() || err != nil || got.N != 1 || int(b[0]) >= len(parts) {
		l.Abort()
		return
	}
	l.Interrupt(time.Time{})
	select {
	case parts[b[0]].queue <- l:
	case <-ctx.Done():
		l.Abort()
	}
}

// Part is one of the doors that Split makes.
type Part struct {
	queue chan transport.Link
	over  chan struct{}
}

// Accept waits for somebody who means this door.
func (p *Part) Accept(ctx context.Context) (transport.Link, error) {
	select {
	case l := <-p.queue:
		return l, nil
	case <-p.over:
		return nil, errClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// DialPart calls one of the doors behind an address.
func DialPart(ctx context.Context, network, address string, cfg Config, door byte) (transport.Link, error) {
	l, err := Dial(ctx, network, address, cfg)
	if err != nil {
		return nil, err
	}
	return Enter(l, door)
}

// Enter says which of the doors is meant that Split has made of the one that was called.
func Enter(l transport.Link, door byte) (transport.Link, error) {
	err := l.Send(0, []byte{door})
	if err == nil {
		err = l.Flush()
	}
	if err != nil {
		l.Abort()
		return nil, err
	}
	return l, nil
}
