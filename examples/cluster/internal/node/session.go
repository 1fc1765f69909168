package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/examples/cluster/internal/store"
	"github.com/parley-go/parley/examples/cluster/machines/tenure"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// session is a server's session in the store, kept by the machine of that name.
type session struct {
	id     tenure.Id
	alive  atomic.Bool
	began  time.Time
	asked  time.Duration // after it began: the last question that the machine has given a new end for
	until  atomic.Int64  // as a duration after it began: it is good before
	opened chan struct{}
	over   chan struct{}
	ended  chan struct{} // its machine runs no more, which is soon after over
	once   sync.Once
}

// The times of a session, as parts of the store's lease. The limit leaves a third for clocks that go wrong.
func limitOf(lease time.Duration) time.Duration    { return lease * 2 / 3 }
func renewalOf(lease time.Duration) time.Duration  { return lease / 5 }
func patienceOf(lease time.Duration) time.Duration { return lease / 6 }

func ticks(d time.Duration) uint32 { return uint32(max(1, d/time.Millisecond)) }

var errNoSession = errors.New("the session could not be opened in time")

// openSession opens a session and keeps it until ctx ends or the session is over: over is closed then, and alive is
// false from then on.
func openSession(ctx context.Context, st *store.Store, address string, cfg Config) (*session, error) {
	id, err := st.NewID(ctx)
	if err != nil {
		return nil, err
	}
	lease := st.Lease()
	patience := min(st.Patience(), patienceOf(lease))
	limit := limitOf(lease)
	// The machine is patient a little longer than the store's answers take.
	r, err := tenure.NewSessionRunner(int64(id), ticks(limit), ticks(renewalOf(lease)),
		ticks(patience+patience/4))
	if err != nil {
		return nil, fmt.Errorf("session %d: %w", id, err)
	}
	s := &session{id: id, began: time.Now(), opened: make(chan struct{}), over: make(chan struct{}),
		ended: make(chan struct{})}
	var sinks []trace.Sink
	if sink := cfg.sink(store.Game{}); sink != nil {
		sinks = append(sinks, sink)
	}
	d := driver.New(r, driver.Options[*tenure.SessionRunner]{Logger: cfg.Logger, Instance: "session", Trace: sinks,
		Steady: true, // who has stood still hears first that the time is over, and then what has come
		OnState: func(_ *tenure.SessionRunner, from, to uint16) {
			s.moved(tenure.SessionState(from), tenure.SessionState(to), limit)
		},
		OnReport: func(r *tenure.SessionRunner, i int) {
			switch r.Report(i).Kind {
			case tenure.SessionReportOpened:
				s.until.Store(int64(s.asked + limit)) // before anybody asks
				s.alive.Store(true)
				close(s.opened)
			case tenure.SessionReportOver:
				s.end()
			}
		}})
	near, far := mem.Pair(mem.Config{})
	if err := d.Attach(tenure.StoreConst, near); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer close(s.ended)
		defer cancel()
		_ = d.Run(ctx) // what ends it ends the session
		s.end()
	}()
	go answer(ctx, st, far, address, patience)
	if _, err := d.Do(ctx, func(r *tenure.SessionRunner) fsm.Result { return r.Open() }); err != nil {
		cancel()
		<-s.ended
		return nil, err
	}
	go func() {
		select {
		case <-s.over:
		case <-ctx.Done():
		}
		d.Stop()
		cancel()
	}()
	select {
	case <-s.opened:
		return s, nil
	case <-s.over:
		<-s.ended
		return nil, errNoSession
	}
}

// moved keeps the time until which the session is good, as the machine's timer has it.
func (s *session) moved(from, to tenure.SessionState, limit time.Duration) {
	switch to {
	case tenure.SessionStateOpening, tenure.SessionStateRenewing:
		s.asked = time.Since(s.began)
	case tenure.SessionStateHeld:
		if from != tenure.SessionStateLooking { // that makes it no longer
			s.until.Store(int64(s.asked + limit))
		}
	}
}

// good reports whether the server may serve. It looks at the clock: a process that has stood still may run for a moment
// before its timers do, and others may have its games.
func (s *session) good() bool {
	return s.alive.Load() && int64(time.Since(s.began)) < s.until.Load()
}

// end ends the session for this server. It is called by the driver's goroutine, and by who wants no session any more.
func (s *session) end() {
	s.alive.Store(false)
	s.once.Do(func() { close(s.over) })
}

// answer is the store at the other end of the session's link. A question without an answer is like a message that is
// lost: the machine asks again.
func answer(ctx context.Context, st *store.Store, far transport.Link, address string, patience time.Duration) {
	defer far.Abort()
	stop := context.AfterFunc(ctx, func() { far.Abort() })
	defer stop()
	buf := make([]byte, 1024)
	var m tenure.Message
	for {
		got, err := far.Receive(buf)
		if errors.Is(err, transport.ErrInterrupted) {
			continue
		}
		if err != nil || tenure.DecodeMessage(buf[:got.N], &m) != nil {
			return
		}
		c, cancel := context.WithTimeout(ctx, patience)
		a, ok := st.Answer(c, store.Game{}, address, &m)
		cancel()
		if !ok {
			continue
		}
		frame, err := tenure.AppendMessage(nil, &a)
		if err != nil || far.Send(0, frame) != nil || far.Flush() != nil {
			return
		}
	}
}
