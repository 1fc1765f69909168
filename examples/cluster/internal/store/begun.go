package store

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/parley-go/parley/examples/internal/doors"
)

// spent is the value of an address's entry: at this time, in milliseconds since 1970, all that it has begun is
// forgotten. Each game makes it later by a refill, and no later than a whole burst from now.
type spent struct {
	Whole int64 `json:"whole"`
}

// whole is in what time an address that has spent all has all of it again.
func (s *Store) whole() time.Duration { return time.Duration(s.cfg.Burst) * s.cfg.Refill }

// Burst returns how many games one address may begin at once.
func (s *Store) Burst() int { return s.cfg.Burst }

// Spend takes up to n games from what an address may begin, and returns how many it got. For 0 it says for how long
// there are none. All servers take from one entry, so an address gets no more by asking several. It writes once where
// the address is new, and else reads and writes. An error is that NATS does not answer, and nothing may be begun.
func (s *Store) Spend(ctx context.Context, of netip.Addr, n int) (got int, wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Patience)
	defer cancel()
	n = min(n, s.cfg.Burst)
	key := "address." + strings.ReplaceAll(doors.Customer(of).String(), ":", "-")
	refill, now := s.cfg.Refill.Milliseconds(), s.Now().UnixMilli()
	_, err = s.begun.Create(ctx, key, value(spent{now + int64(n)*refill}))
	for Late(err) {
		e, there := s.begun.Get(ctx, key)
		if errors.Is(there, jetstream.ErrKeyNotFound) { // it has expired just now
			_, err = s.begun.Create(ctx, key, value(spent{now + int64(n)*refill}))
			continue
		}
		var v spent
		if there != nil || json.Unmarshal(e.Value(), &v) != nil {
			return 0, 0, errors.Join(there, errors.New("what an address has begun cannot be read"))
		}
		full := s.whole().Milliseconds()
		whole := max(v.Whole, now)
		if whole > now+full+refill { // a clock was ahead, and is not any more
			if _, err = s.begun.Update(ctx, key, value(spent{now + full}), e.Revision()); err != nil {
				continue
			}
			return 0, s.cfg.Refill, nil
		}
		room := (now + full - whole) / refill
		if n = min(n, int(room)); n < 1 {
			return 0, time.Duration(whole+refill-now-full) * time.Millisecond, nil
		}
		_, err = s.begun.Update(ctx, key, value(spent{whole + int64(n)*refill}), e.Revision())
	}
	if err != nil {
		return 0, 0, err
	}
	return n, 0, nil
}
