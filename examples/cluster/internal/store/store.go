// Package store is what the servers of a cluster share, in buckets of NATS JetStream: sessions, whose game is whose,
// who is there, and game servers that have registered. It answers the questions of machines/tenure; what they mean
// is said there, and only there.
//
// It must not know what a lobby or a match does. Start from [Connect], [Open] and [Store.Answer].
package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/parley-go/parley/examples/cluster/machines/tenure"
)

// Config says how the buckets are kept.
type Config struct {
	// Prefix begins the names of the buckets and subjects, "parley" if it is empty.
	Prefix string
	// Lease is after how long a session that is not renewed is forgotten: 0 for three seconds, at least 300 ms.
	Lease time.Duration
	// Replicas is on how many NATS servers a bucket is, 0 for one.
	Replicas int
	// Patience is how long an answer may take, 0 for a second.
	Patience time.Duration
	// Burst is how many lobbies and matches one address may begin at once anywhere in the cluster, 0 for 512, and
	// Refill in what time it may begin another one, 0 for a second.
	Burst  int
	Refill time.Duration
	// Now is the time by this computer's clock; nil for [time.Now]. Only its steps count: see [Store.Now].
	Now func() time.Time
}

// Limits of what is kept. A bucket that is full refuses what comes, and keeps what it has.
const (
	GameTTL     = 24 * time.Hour // of an entry; who has one gives it back before half of that
	FreeTTL     = time.Hour      // of an entry that is nobody's
	PresenceTTL = 30 * time.Second
	ServerTTL   = 1000 * time.Second // of a registration, as the document has it
	bucketBytes = 1 << 30
	valueBytes  = 4096
)

// Store is a connection to the buckets. Any goroutine may use it.
type Store struct {
	cfg      Config
	nc       *nats.Conn
	js       jetstream.JetStream
	buckets  []jetstream.KeyValueConfig
	sessions jetstream.KeyValue
	games    jetstream.KeyValue
	begun    jetstream.KeyValue // what addresses have begun: see [Store.Spend]
	Presence jetstream.KeyValue // of players: player.NAME
	Servers  jetstream.KeyValue // game servers that have registered, by address
	clock    clock
	mending  atomic.Bool

	mu    sync.Mutex
	where map[tenure.Id]string // of sessions that have been looked at
}

// Connect connects to NATS by URL. The connection comes back by itself, for ever.
func Connect(url, name string) (*nats.Conn, error) {
	nc, err := nats.Connect(url, nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectWait(200*time.Millisecond),
		nats.ReconnectBufSize(-1), // what cannot be sent now is not sent later: it would be old
		nats.Timeout(5*time.Second),
		// One that stands still keeps its connections. It is left for another one soon: the session does not wait.
		nats.PingInterval(time.Second), nats.MaxPingsOutstanding(2))
	if err != nil {
		return nil, fmt.Errorf("nats at %s: %w", url, err)
	}
	return nc, nil
}

// Open opens the buckets, and makes those that are not there.
func Open(ctx context.Context, nc *nats.Conn, cfg Config) (*Store, error) {
	if cfg.Prefix == "" {
		cfg.Prefix = "parley"
	}
	if cfg.Lease == 0 {
		cfg.Lease = 3 * time.Second
	}
	if cfg.Patience == 0 {
		cfg.Patience = time.Second
	}
	if cfg.Lease < 300*time.Millisecond || cfg.Lease > 5*time.Minute {
		return nil, fmt.Errorf("a lease of %v: 300 ms to 5 minutes", cfg.Lease)
	}
	if cfg.Burst == 0 {
		cfg.Burst = 512
	}
	if cfg.Refill == 0 {
		cfg.Refill = time.Second
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Burst < 1 || cfg.Refill < time.Millisecond || time.Duration(cfg.Burst) > 7*24*time.Hour/cfg.Refill {
		return nil, fmt.Errorf("%d games at once and one more each %v: it has to be whole again within a week",
			cfg.Burst, cfg.Refill)
	}
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(cfg.Patience))
	if err != nil {
		return nil, err
	}
	s := &Store{cfg: cfg, nc: nc, js: js, clock: clock{now: cfg.Now},
		where: map[tenure.Id]string{}}
	// Sessions are on disk, since a bucket in memory counts its revisions from the beginning when NATS does: a server
	// could renew a session over an entry that says that it is broken. A disk has to have room for what its buckets may
	// come to, even if it is never needed.
	const memory, inMemory, onDisk = jetstream.MemoryStorage, bucketBytes / 4, bucketBytes / 8
	for _, b := range []struct {
		kv *jetstream.KeyValue
		jetstream.KeyValueConfig
	}{
		{&s.sessions, jetstream.KeyValueConfig{Bucket: "sessions", TTL: cfg.Lease, MaxBytes: onDisk}},
		{&s.games, jetstream.KeyValueConfig{Bucket: "games", MaxBytes: bucketBytes,
			LimitMarkerTTL: time.Second}}, // so that single entries may have a time of their own
		{&s.begun, jetstream.KeyValueConfig{Bucket: "begun", TTL: s.whole(), Storage: memory, MaxBytes: inMemory}},
		{&s.Presence, jetstream.KeyValueConfig{Bucket: "presence", TTL: PresenceTTL, Storage: memory,
			MaxBytes: inMemory}},
		{&s.Servers, jetstream.KeyValueConfig{Bucket: "registered", TTL: ServerTTL, MaxBytes: onDisk,
			MaxValueSize: 4 * valueBytes}}, // sixteen lines
	} {
		c := b.KeyValueConfig
		c.Bucket, c.History, c.Replicas = cfg.Prefix+"-"+c.Bucket, 1, cfg.Replicas
		c.MaxValueSize = cmp.Or(c.MaxValueSize, valueBytes)
		if *b.kv, err = makeBucket(ctx, js, c); err != nil {
			return nil, fmt.Errorf("bucket %s: %w", c.Bucket, err)
		}
		s.buckets = append(s.buckets, c)
	}
	nc.SetReconnectHandler(func(*nats.Conn) { s.Mend() })
	return s, nil
}

// Mend makes buckets again that are not there any more: those in memory are gone when NATS has begun again. It does so
// by itself, and once at a time.
func (s *Store) Mend() {
	if s.mending.Swap(true) {
		return
	}
	go func() {
		defer s.mending.Store(false)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		for _, c := range s.buckets {
			if _, err := makeBucket(ctx, s.js, c); err != nil {
				return // whoever misses it has it tried again
			}
		}
	}()
}

// noRoom is what JetStream answers where a bucket may become larger than what is left of its disk.
const noRoom jetstream.ErrorCode = 10047

// makeBucket tries for as long as ctx lasts: a cluster that has just begun has no leader yet.
func makeBucket(ctx context.Context, js jetstream.JetStream, c jetstream.KeyValueConfig) (jetstream.KeyValue, error) {
	for {
		once, cancel := context.WithTimeout(ctx, 2*time.Second) // a question without a leader is never answered
		kv, err := js.CreateKeyValue(once, c)
		cancel()
		if err == nil || ctx.Err() != nil {
			return kv, err
		}
		var api *jetstream.APIError
		if errors.As(err, &api) && api.ErrorCode == noRoom {
			return nil, fmt.Errorf("NATS has no room on its disk for the %d MiB that it may come to: %w",
				c.MaxBytes>>20, err)
		}
		if errors.As(err, &api) && api.Code != 503 && api.Code != 500 {
			return nil, err
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// Conn returns the connection to NATS.
func (s *Store) Conn() *nats.Conn { return s.nc }

// Lease returns after how long a session that is not renewed is forgotten.
func (s *Store) Lease() time.Duration { return s.cfg.Lease }

// Patience returns how long an answer may take.
func (s *Store) Patience() time.Duration { return s.cfg.Patience }

// Subject returns a subject of the cluster.
func (s *Store) Subject(name string) string { return s.cfg.Prefix + "." + name }

// NewID returns a number for a session that was never given before: the revision of an entry on disk, which is
// written for it. What is in memory would count from the beginning when NATS does.
func (s *Store) NewID(ctx context.Context) (tenure.Id, error) {
	rev, err := s.games.Put(ctx, "ids", nil)
	if err != nil {
		return 0, fmt.Errorf("a number for the session: %w", err)
	}
	if err := s.setClock(ctx); err != nil {
		return 0, err
	}
	return tenure.Id(rev), nil
}

// session is the value of a session's entry.
type session struct {
	Address string `json:"address,omitempty"` // where players connect
	Broken  bool   `json:"broken,omitempty"`
}

// entry is the value of a game's entry.
type entry struct {
	Owner tenure.Id    `json:"owner"`
	Epoch tenure.Epoch `json:"epoch"`
}

func sessionKey(id tenure.Id) string { return fmt.Sprintf("session.%d", id) }

// Where returns where players connect to the server that has, or had, the session; false if that is not known.
func (s *Store) Where(ctx context.Context, id tenure.Id) (address string, ok bool) {
	s.mu.Lock()
	address, ok = s.where[id]
	s.mu.Unlock()
	if ok {
		return address, true
	}
	v, _, ok := s.session(ctx, id)
	return v.Address, ok && !v.Broken
}

// maxWhere is of how many sessions the addresses are remembered.
const maxWhere = 1 << 14

func (s *Store) session(ctx context.Context, id tenure.Id) (v session, rev tenure.Revision, ok bool) {
	e, err := s.sessions.Get(ctx, sessionKey(id))
	if err != nil || json.Unmarshal(e.Value(), &v) != nil {
		return v, 0, false
	}
	if !v.Broken {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.where) >= maxWhere {
			clear(s.where)
		}
		s.where[id] = v.Address // a session has one address for ever
	}
	return v, tenure.Revision(e.Revision()), true
}

// Sessions returns how many sessions there are.
func (s *Store) Sessions(ctx context.Context) (int, error) {
	l, err := s.sessions.ListKeys(ctx)
	if err != nil {
		return 0, err
	}
	n := 0
	for range l.Keys() {
		n++
	}
	return n, nil
}
