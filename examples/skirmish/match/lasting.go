package match

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// The link of a player in a duel outlives what carries it. Either end keeps all that it has said, which in a duel is a
// few hundred bytes a second. Whoever calls the door shows the key of its slot and says how many bytes it has; the host
// answers how many it has of that slot; and each goes on with the next byte. So the machines in a duel have one channel
// that loses nothing, as their specification has it, and notice nothing of a carrier that broke.

// comeBack is how long a player of a duel may take to be there again, and mostSaid how many bytes one says in a duel.
const (
	comeBack   = 10 * time.Second
	mostMisses = 5 // of the door, one after the other
	mostSaid   = 16 << 20
)

// errRefused says that the door has not answered a key.
var errRefused = errors.New("the host does not know the key")

// speech is what somebody has said so far.
type speech struct {
	mu    sync.Mutex
	bytes []byte
	ended bool          // there is nothing more
	more  chan struct{} // closed when there is
}

func newSpeech() *speech { return &speech{more: make(chan struct{})} }

// add adds bytes, for the only one that does. It reports whether that is not more than anybody says.
func (s *speech) add(b []byte) bool {
	if s.len()+len(b) > mostSaid {
		return false
	}
	s.Write(b)
	return true
}

// Write implements io.Writer. It never fails, and knows no bound.
func (s *speech) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes = append(s.bytes, b...)
	s.wake()
	return len(b), nil
}

func (s *speech) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended = true
		s.wake()
	}
}

func (s *speech) wake() {
	close(s.more)
	s.more = make(chan struct{})
}

func (s *speech) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

func (s *speech) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.bytes)
}

// say says it over a link from a byte on, to its end, when the link is closed, or until ctx ends.
func (s *speech) say(ctx context.Context, to transport.Link, from int) error {
	for {
		s.mu.Lock()
		b, ended, more := s.bytes[from:], s.ended, s.more
		s.mu.Unlock()
		switch {
		case len(b) > 0:
			b = b[:min(len(b), 1<<12)]
			if err := errors.Join(to.Send(0, b), to.Flush()); err != nil {
				return err
			}
			from += len(b)
		case ended:
			return to.Close()
		default:
			select {
			case <-more:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
}

// number reads a number of eight bytes, for which somebody has ten seconds.
func number(l transport.Link) (n uint64, err error) {
	l.Interrupt(time.Now().Add(10 * time.Second))
	var b [8]byte
	for n := 0; n < len(b); {
		got, err := l.Receive(b[n:])
		if n += got.N; err != nil {
			return 0, err
		}
	}
	l.Interrupt(time.Time{})
	return binary.BigEndian.Uint64(b[:]), nil
}

// lasting is the player's end.
type lasting struct {
	dial func(context.Context) (transport.Link, error)
	key  uint64
	lost func(bool) // is told that the carrier is lost, and that it is there again
	far  *mem.Link
	said *speech
	got  uint64 // bytes of the other one
}

// newLasting returns a link that is carried by first, and by what dial brings when that is lost. It ends when ctx does,
// when the other one has ended it, or when nothing carries it for as long as the host waits.
func newLasting(
	ctx context.Context, first transport.Link, key uint64, dial func(context.Context) (transport.Link, error),
	lost func(bool),
) transport.Link {
	near, far := mem.Pair(mem.Config{Stream: true})
	l := &lasting{dial: dial, key: key, lost: lost, far: far, said: newSpeech()}
	go l.listen()
	go l.run(ctx, first)
	return near
}

// listen hears what the program says.
func (l *lasting) listen() {
	defer l.said.end()
	buf := make([]byte, 4096)
	for {
		got, err := l.far.Receive(buf)
		if err != nil || !l.said.add(buf[:got.N]) {
			return
		}
	}
}

func (l *lasting) run(ctx context.Context, link transport.Link) {
	defer l.far.Abort()
	for misses := 0; misses < mostMisses; {
		over, err := l.carry(ctx, link)
		if over {
			l.far.Close()
		}
		if over || ctx.Err() != nil {
			return
		}
		if misses++; !errors.Is(err, errRefused) {
			misses = 0
		}
		l.lost(true)
		if link = l.again(ctx); link == nil {
			return
		}
	}
}

// again calls the door until somebody answers.
func (l *lasting) again(ctx context.Context) transport.Link {
	ctx, cancel := context.WithTimeout(ctx, comeBack)
	defer cancel()
	for {
		t := time.NewTimer(200 * time.Millisecond)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil
		}
		if link, err := l.dial(ctx); err == nil {
			return link
		}
	}
}

// carry carries the link over another one. over says that one of the two ends has ended it.
func (l *lasting) carry(ctx context.Context, link transport.Link) (over bool, err error) {
	defer context.AfterFunc(ctx, func() { link.Abort() })()
	b := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, l.key), l.got)
	if err := errors.Join(link.Send(0, b), link.Flush()); err != nil {
		link.Abort()
		return false, err
	}
	has, err := number(link)
	if err != nil || has > uint64(l.said.len()) {
		link.Abort()
		return false, errors.Join(errRefused, err)
	}
	l.lost(false)
	ended := make(chan bool, 1)
	here, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		err := l.said.say(here, link, int(has))
		if err != nil {
			link.Abort() // and the other direction hears of it
		}
		ended <- err == nil
	}()
	over, err = l.receive(link) // ends when said is said, too: then the link is closed
	cancel()
	return <-ended || over, err
}

// receive gives the program what comes. over says that there is nothing more.
func (l *lasting) receive(link transport.Link) (over bool, err error) {
	buf := make([]byte, 4096)
	for {
		got, err := link.Receive(buf)
		if got.N > 0 {
			l.got += uint64(got.N)
			if errors.Join(l.far.Send(0, buf[:got.N]), l.far.Flush()) != nil {
				link.Abort() // the program reads nothing
				return true, nil
			}
		}
		if err != nil {
			return endOf(err), err
		}
	}
}

// endOf reports whether an error of Receive is the other end's orderly close.
func endOf(err error) bool { return errors.Is(err, io.EOF) }
