package store

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/parley-go/parley/examples/cluster/machines/tenure"
)

// Answer asks the store what a machine asks it. Where ok is false there is no answer: what was asked may have
// happened or not, as with a message that is lost. Messages about sessions are the one with the address, and those
// about a game are about this one.
func (s *Store) Answer(ctx context.Context, game Game, address string, m *tenure.Message) (a tenure.Message, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Patience)
	defer cancel()
	switch m.Kind {
	case tenure.MessageOpen:
		rev, err := s.sessions.Create(ctx, sessionKey(m.Open.Id), value(session{Address: address}))
		a.Kind = tenure.MessageOpened
		a.Opened = tenure.OpenedMessage{Id: m.Open.Id, Rev: tenure.Revision(rev)}
		return a, err == nil
	case tenure.MessageRenew:
		r := m.Renew
		rev, err := s.sessions.Update(ctx, sessionKey(r.Id), value(session{Address: address}), uint64(r.Was))
		switch {
		case err == nil:
			a.Kind = tenure.MessageRenewed
			a.Renewed = tenure.RenewedMessage{Id: r.Id, Was: r.Was, Rev: tenure.Revision(rev)}
		case otherRevision(err):
			a.Kind, a.Gone = tenure.MessageGone, tenure.GoneMessage(r)
		default:
			return a, false
		}
	case tenure.MessageLook:
		e, err := s.sessions.Get(ctx, sessionKey(m.Look.Id))
		var v session
		switch {
		case err == nil && json.Unmarshal(e.Value(), &v) == nil && !v.Broken:
			a.Kind = tenure.MessageFound
			a.Found = tenure.FoundMessage{Id: m.Look.Id, Rev: tenure.Revision(e.Revision())}
		case err == nil || errors.Is(err, jetstream.ErrKeyNotFound):
			a.Kind, a.Missing = tenure.MessageMissing, tenure.MissingMessage{Id: m.Look.Id}
		default:
			return a, false
		}
	case tenure.MessageBreak:
		return s.breakSession(ctx, m.Break.Id)
	case tenure.MessageRead:
		return s.read(ctx, game)
	case tenure.MessageTake:
		return s.take(ctx, game, &m.Take)
	default:
		return a, false
	}
	return a, true
}

// breakSession writes into a session's place that it is broken, if nothing is there. That is decided by the
// bucket's leader, in one order with the session's own renewals. It looks first: most sessions that are asked about are
// alive, and any server of NATS can say so.
func (s *Store) breakSession(ctx context.Context, id tenure.Id) (a tenure.Message, ok bool) {
	v, _, there := s.session(ctx, id)
	if !there {
		_, err := s.sessions.Create(ctx, sessionKey(id), value(session{Broken: true}))
		switch {
		case err == nil:
			v.Broken = true
		case !errors.Is(err, jetstream.ErrKeyExists):
			return a, false
		default:
			if v, _, there = s.session(ctx, id); !there {
				return a, false // gone meanwhile, or not to be read
			}
		}
	}
	if v.Broken {
		a.Kind, a.Broken = tenure.MessageBroken, tenure.BrokenMessage{Id: id}
	} else {
		a.Kind, a.Alive = tenure.MessageAlive, tenure.AliveMessage{Id: id}
	}
	return a, true
}

// epochs began at this time, in seconds.
const epochZero = 1735689600 // 2025

// read reads a game's entry. A game without one had its last owner an hour ago, or never. Its epoch is the time by
// NATS, so that it is later than all that it may have had: owners do not change once a second for long.
func (s *Store) read(ctx context.Context, game Game) (a tenure.Message, ok bool) {
	a.Kind = tenure.MessageEntry
	e, err := s.games.Get(ctx, game.key())
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		a.Entry.Epoch = tenure.Epoch(max(0, s.Now().Unix()-epochZero))
		return a, true
	}
	var v entry
	if err != nil || json.Unmarshal(e.Value(), &v) != nil {
		return a, false
	}
	a.Entry = tenure.EntryMessage{Owner: v.Owner, Epoch: v.Epoch, Rev: tenure.Revision(e.Revision())}
	return a, true
}

func (s *Store) take(ctx context.Context, game Game, t *tenure.TakeMessage) (a tenure.Message, ok bool) {
	v, ttl := value(entry{Owner: t.Owner, Epoch: t.Epoch}), GameTTL
	if t.Owner == 0 {
		ttl = FreeTTL
	}
	var rev uint64
	var err error
	if t.Was == 0 {
		rev, err = s.games.Create(ctx, game.key(), v, jetstream.KeyTTL(ttl))
	} else {
		rev, err = s.update(ctx, game, v, t.Was, ttl)
	}
	switch {
	case err == nil:
		a.Kind, a.Taken = tenure.MessageTaken, tenure.TakenMessage{Was: t.Was, Rev: tenure.Revision(rev)}
	case Late(err):
		a.Kind, a.Late = tenure.MessageLate, tenure.LateMessage{Was: t.Was}
	default:
		return a, false
	}
	return a, true
}

// update writes an entry over one of this revision, with a time of its own, which the bucket's Update has no
// argument for.
func (s *Store) update(
	ctx context.Context, game Game, v []byte, was tenure.Revision, ttl time.Duration,
) (uint64, error) {
	m := nats.NewMsg("$KV." + s.games.Bucket() + "." + game.key())
	m.Data = v
	m.Header.Set(jetstream.ExpectedLastSubjSeqHeader, strconv.FormatInt(int64(was), 10))
	m.Header.Set(jetstream.MsgTTLHeader, ttl.String())
	ack, err := s.js.PublishMsg(ctx, m)
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

// Late reports whether a write was refused since somebody else has written: the entry has another revision, or is
// there already.
func Late(err error) bool { return otherRevision(err) || errors.Is(err, jetstream.ErrKeyExists) }

// otherRevision reports whether the bucket has refused to write over another revision.
func otherRevision(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

func value(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain structs
	}
	return b
}
