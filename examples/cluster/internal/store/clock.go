package store

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// clock is how far this computer's clock is from that of NATS. Both are read once for each session; between, only the
// steps of this one count, which Go takes from a clock that nobody sets.
type clock struct {
	now func() time.Time

	mu    sync.Mutex
	read  time.Time // here
	there time.Time // what NATS had then; zero: not known
}

// Now is the time, by the clock of NATS as far as that is known. So a server whose clock is wrong, or is set while it
// runs, is not ahead of the others, nor behind them.
func (s *Store) Now() time.Time {
	c := &s.clock
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.there.IsZero() {
		return now
	}
	return c.there.Add(now.Sub(c.read))
}

// setClock asks NATS for the time, which stands beside each entry: that of the last number of a session.
func (s *Store) setClock(ctx context.Context) error {
	e, err := s.games.Get(ctx, "ids")
	if err != nil {
		return fmt.Errorf("the time of NATS: %w", err)
	}
	c := &s.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read, c.there = c.now(), e.Created()
	return nil
}
