package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-go/parley/examples/cluster/internal/store"
	"github.com/parley-go/parley/examples/cluster/machines/tenure"
	"github.com/parley-go/parley/runtime/fsm"
)

func open(t testing.TB, lease time.Duration) *store.Store {
	t.Helper()
	return opened(t, store.Config{Lease: lease})[0]
}

// pair asks NATS and the specification's store the same.
type pair struct {
	s    *store.Store
	r    *tenure.StoreRunner
	game store.Game
	rev  map[tenure.Revision]tenure.Revision // those of the specification, as NATS counts
	// ofGame are those that the game's entry has had.
	ofGame map[tenure.Revision]bool
	epoch  tenure.Epoch // NATS begins with this one
	ids    [3]tenure.Id // of the parties, as NATS has them
}

// same tells what the specification's answer would be in the numbers of NATS. News of a revision is taken from there.
func (p *pair) same(t *rapid.T, want, got *tenure.Message) {
	meet := func(w, g tenure.Revision) {
		if old, ok := p.rev[w]; ok && old != g {
			t.Fatalf("revision %d is %d, and was %d", w, g, old)
		}
		p.rev[w] = g
	}
	if want.Kind != got.Kind {
		t.Fatalf("NATS says %v, the specification %v", got.Kind, want.Kind)
	}
	switch want.Kind {
	case tenure.MessageOpened:
		meet(want.Opened.Rev, got.Opened.Rev)
	case tenure.MessageRenewed:
		meet(want.Renewed.Rev, got.Renewed.Rev)
	case tenure.MessageFound:
		meet(want.Found.Rev, got.Found.Rev)
	case tenure.MessageTaken:
		meet(want.Taken.Rev, got.Taken.Rev)
		p.ofGame[want.Taken.Rev] = true
	case tenure.MessageEntry:
		meet(want.Entry.Rev, got.Entry.Rev)
		if p.epoch == 0 {
			p.epoch = got.Entry.Epoch
		}
		owner := tenure.Id(0)
		if want.Entry.Owner != 0 {
			owner = p.ids[want.Entry.Owner]
		}
		if got.Entry.Owner != owner || want.Entry.Rev != 0 && got.Entry.Epoch != want.Entry.Epoch {
			t.Fatalf("NATS says %+v, the specification %+v", got.Entry, want.Entry)
		}
	}
}

// questions are what a server asks the store.
var questions = []tenure.MessageKind{tenure.MessageOpen, tenure.MessageRenew, tenure.MessageLook, tenure.MessageBreak,
	tenure.MessageRead, tenure.MessageTake}

// What the specification says of the store is what NATS does: the same questions, in any order, have the same
// answers.
func TestStoreAsSpecified(t *testing.T) {
	s := open(t, time.Minute)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		r, err := tenure.NewStoreRunner(600000, 0)
		if err != nil {
			t.Fatal(err)
		}
		r.Start()
		n++
		p := &pair{s: s, r: r, game: store.Game{Kind: tenure.KindMatch, Name: fmt.Sprint(n)},
			rev: map[tenure.Revision]tenure.Revision{0: 0}, ofGame: map[tenure.Revision]bool{}}
		for i := 1; i <= 2; i++ {
			if p.ids[i], err = s.NewID(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		opened := [3]bool{}
		for range rapid.IntRange(1, 25).Draw(t, "questions") {
			who := rapid.IntRange(1, 2).Draw(t, "who")
			id := rapid.IntRange(1, 2).Draw(t, "id")
			var m tenure.Message
			m.Kind = rapid.SampledFrom(questions).Draw(t, "what")
			// Sessions and games are counted apart in NATS, and a machine never takes the one for the other.
			revs := []tenure.Revision{0}
			for w := tenure.Revision(1); int(w) <= int(r.Machine.Count); w++ {
				if _, ok := p.rev[w]; ok && p.ofGame[w] == (m.Kind == tenure.MessageTake) {
					revs = append(revs, w)
				}
			}
			was := rapid.SampledFrom(revs).Draw(t, "was")
			switch m.Kind {
			case tenure.MessageOpen:
				if opened[who] {
					continue // a session is opened once, by its own server
				}
				opened[who] = true
				m.Open.Id = tenure.Id(who)
			case tenure.MessageRenew:
				if !opened[who] || was == 0 {
					continue
				}
				m.Renew = tenure.RenewMessage{Id: tenure.Id(who), Was: was}
			case tenure.MessageLook:
				m.Look.Id = tenure.Id(who)
			case tenure.MessageBreak:
				m.Break.Id = tenure.Id(id)
			case tenure.MessageTake:
				m.Take = tenure.TakeMessage{Was: was, Owner: tenure.Id(who), Epoch: tenure.Epoch(r.Machine.Epoch) + 1}
			}
			kind := tenure.StoreReceiveOpen + tenure.StoreEventKind(m.Kind)
			ev := tenure.StoreEvent{Kind: kind, From: fsm.Peer(who), Message: m}
			r.Step(&ev)
			var want *tenure.Message
			for i := range r.Effects() {
				if r.Effect(i).Kind == fsm.Send {
					want = r.Message(i)
				}
			}
			m.Open.Id, m.Look.Id, m.Break.Id, m.Renew.Id = p.ids[who], p.ids[who], p.ids[id], p.ids[who]
			m.Renew.Was, m.Take.Was, m.Take.Owner = p.rev[was], p.rev[was], p.ids[who]
			got, ok := s.Answer(context.Background(), p.game, "127.0.0.1:1", &m)
			if want == nil {
				if ok {
					t.Fatalf("NATS answers %v by %v, the specification not at all", m.Kind, got.Kind)
				}
				continue
			}
			if !ok {
				t.Fatalf("NATS does not answer %v; the specification says %v", m.Kind, want.Kind)
			}
			p.same(t, want, &got)
		}
	})
}

// A session that has run out cannot be renewed, and can be broken; one that has not cannot be broken.
func TestExpiry(t *testing.T) {
	t.Parallel()
	s := open(t, 400*time.Millisecond)
	ask := func(m tenure.Message) tenure.MessageKind {
		a, ok := s.Answer(t.Context(), store.Game{}, "127.0.0.1:1", &m)
		if !ok {
			t.Fatalf("no answer to %v", m.Kind)
		}
		return a.Kind
	}
	id, err := s.NewID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	open := tenure.Message{Kind: tenure.MessageOpen, Open: tenure.OpenMessage{Id: id}}
	a, ok := s.Answer(t.Context(), store.Game{}, "127.0.0.1:1", &open)
	if !ok {
		t.Fatal("not opened")
	}
	look := tenure.Message{Kind: tenure.MessageLook, Look: tenure.LookMessage{Id: id}}
	for ask(look) == tenure.MessageFound {
		if _, there := s.Where(t.Context(), id); t.Context().Err() != nil {
			t.Fatal("it does not expire", there)
		}
	}
	renew := tenure.Message{Kind: tenure.MessageRenew, Renew: tenure.RenewMessage{Id: id, Was: a.Opened.Rev}}
	if k := ask(renew); k != tenure.MessageGone {
		t.Errorf("renewed after its end: %v", k)
	}
	broken := tenure.Message{Kind: tenure.MessageBreak, Break: tenure.BreakMessage{Id: id}}
	if k := ask(broken); k != tenure.MessageBroken {
		t.Errorf("broken after its end: %v", k)
	}
	if k := ask(renew); k != tenure.MessageGone {
		t.Errorf("renewed when it was broken: %v", k)
	}
	if k := ask(look); k != tenure.MessageMissing {
		t.Errorf("looked at: %v", k)
	}
}

func TestNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		if (store.Encode(a) == store.Encode(b)) != (a == b) {
			t.Fatalf("%q and %q have one code", a, b)
		}
		name, ok := store.Decode(store.Encode(a))
		if good := store.CheckName(a) == nil; ok != good || ok && name != a {
			t.Fatalf("%q comes back as %q, %t", a, name, ok)
		}
	})
	for _, bad := range []string{"", "a\n", string(make([]byte, 65)), "\xff", "\x7f", "a\u0085"} {
		if err := store.CheckName(bad); !errors.Is(err, store.ErrName) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, bad := range []string{"=", "=4", "=zz", "=41", "a.b", "a*"} {
		if _, ok := store.Decode(bad); ok {
			t.Errorf("%q is taken for a code", bad)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{"a", "=2E", "=", "%", "=C3=BC"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, token string) {
		if name, ok := store.Decode(token); ok && store.Encode(name) != token {
			t.Errorf("%q is %q, which is %q", token, name, store.Encode(name))
		}
	})
}

// BenchmarkRenew is the session of one server after another; each is a write to a bucket in memory.
func BenchmarkRenew(b *testing.B) { bench(b, tenure.MessageOpen) }

// BenchmarkTake is a game that nobody had; each is a read and a write to a bucket on disk.
func BenchmarkTake(b *testing.B) { bench(b, tenure.MessageTake) }

func bench(b *testing.B, kind tenure.MessageKind) {
	s := open(b, time.Minute)
	var n atomic.Int64
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			i := n.Add(1)
			game := store.Game{Name: fmt.Sprint(i)}
			m := tenure.Message{Kind: kind, Open: tenure.OpenMessage{Id: tenure.Id(i)},
				Take: tenure.TakeMessage{Owner: 1, Epoch: 1}}
			if kind == tenure.MessageTake {
				read := tenure.Message{Kind: tenure.MessageRead}
				if _, ok := s.Answer(b.Context(), game, "", &read); !ok {
					b.Error("no answer")
				}
			}
			if _, ok := s.Answer(b.Context(), game, "127.0.0.1:1", &m); !ok {
				b.Error("no answer")
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "per-second")
}
