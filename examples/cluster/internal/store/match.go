package store

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/parley-go/parley/examples/cluster/machines/tenure"
)

// Match is what a relay writes down of a match, for the one after it: who plays. The state is with the players.
type Match struct {
	Epoch tenure.Epoch   `json:"epoch"`
	Seed  uint32         `json:"seed"`
	Keys  map[int]uint64 `json:"keys"` // by slot: who knows it is that player
}

// ErrEpoch is that a later owner has written already.
var ErrEpoch = errors.New("the match is another relay's by now")

func matchKey(name string) string { return "players." + Encode(name) }

// SaveMatch writes down who plays a match, unless a relay of a later epoch has done so.
func (s *Store) SaveMatch(ctx context.Context, name string, m Match) error {
	return s.changeMatch(ctx, name, m.Epoch, func(rev uint64) error {
		var err error
		if rev == 0 {
			_, err = s.games.Create(ctx, matchKey(name), value(m), jetstream.KeyTTL(GameTTL))
		} else {
			_, err = s.games.Update(ctx, matchKey(name), value(m), rev)
		}
		return err
	})
}

// DropMatch forgets a match that is over, unless a relay of a later epoch has it.
func (s *Store) DropMatch(ctx context.Context, name string, epoch tenure.Epoch) error {
	return s.changeMatch(ctx, name, epoch, func(rev uint64) error {
		if rev == 0 {
			return nil
		}
		return s.games.Purge(ctx, matchKey(name), jetstream.LastRevision(rev))
	})
}

// changeMatch calls f with the revision of the match's entry, 0 where there is none, and again if that has changed.
func (s *Store) changeMatch(ctx context.Context, name string, epoch tenure.Epoch, f func(rev uint64) error) error {
	for {
		c, cancel := context.WithTimeout(ctx, s.cfg.Patience)
		old, rev, err := s.match(c, name)
		switch {
		case err != nil:
		case old.Epoch > epoch:
			err = ErrEpoch
		default:
			err = f(rev)
		}
		cancel()
		if Late(err) {
			continue // epochs grow, so this ends
		}
		return err
	}
}

// LoadMatch returns who plays a match; false if nobody has written that down.
func (s *Store) LoadMatch(ctx context.Context, name string) (m Match, there bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Patience)
	defer cancel()
	m, rev, err := s.match(ctx, name)
	return m, rev != 0, err
}

func (s *Store) match(ctx context.Context, name string) (m Match, rev uint64, err error) {
	e, err := s.games.Get(ctx, matchKey(name))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return m, 0, nil
	}
	if err != nil {
		return m, 0, err
	}
	return m, e.Revision(), json.Unmarshal(e.Value(), &m)
}
