package node_test

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"sync"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/cluster/internal/node"
	"github.com/parley-go/parley/examples/cluster/internal/seek"
	"github.com/parley-go/parley/examples/cluster/internal/store"
	"github.com/parley-go/parley/examples/cluster/machines/tenure"
	"github.com/parley-go/parley/examples/lockstep/frames"
)

// world is a simulation that differs for good after the least difference in what it is told.
type world struct {
	mu     sync.Mutex
	state  uint64
	frame  uint32
	sums   map[uint32]uint32 // by frame, before each turn
	resume []uint32          // the frames at which it went on alone
}

func (w *world) mix(n uint64) {
	w.state = (w.state ^ n) * 0x9E3779B97F4A7C15
	w.state ^= w.state >> 29
}

func (w *world) Start(seed uint32, players []int) { w.begin(uint64(seed)) }

func (w *world) begin(state uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state, w.sums = state, map[uint32]uint32{}
}

func (w *world) Resume(slot int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.resume = append(w.resume, w.frame)
	w.mix(uint64(slot) + 3000)
}

func (w *world) Snapshot() []byte {
	b := binary.BigEndian.AppendUint64(nil, w.state)
	return binary.BigEndian.AppendUint32(b, w.frame)
}

func (w *world) Restore(b []byte) error {
	if len(b) != 12 {
		return errors.New("no snapshot")
	}
	w.begin(binary.BigEndian.Uint64(b))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.frame = binary.BigEndian.Uint32(b[8:])
	return nil
}

func (w *world) Sum() uint32 { return crc32.ChecksumIEEE(w.Snapshot()) }

func (w *world) Turn(t *frames.Turn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sums[w.frame] = w.Sum()
	for _, s := range t.Joined {
		w.mix(uint64(s) + 1000)
	}
	for _, s := range t.Left {
		w.mix(uint64(s) + 2000)
	}
	for _, o := range t.Orders {
		for _, c := range o.Commands {
			w.mix(uint64(o.Slot)<<16 | uint64(c.Keys.Value))
		}
	}
}

func (w *world) Step() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mix(1)
	w.frame++
}

func (w *world) Frame() uint32 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.frame
}

// fighter is somebody in a match.
type fighter struct {
	*seek.Match
	world  world
	mu     sync.Mutex
	epochs []uint32
	frames []uint32 // that it had when it found the match
	seated int
	done   chan error
}

func (f *fighter) epoch() uint32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.epochs) == 0 {
		return 0
	}
	return f.epochs[len(f.epochs)-1]
}

func (f *fighter) plays(epoch uint32) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.epochs) > 0 && f.epochs[len(f.epochs)-1] > epoch && f.seated == len(f.epochs)
}

func (c *cluster) fight(ctx context.Context, match string, slot, seats int, key uint64, doors []string) *fighter {
	c.t.Helper()
	f := &fighter{done: make(chan error, 1)}
	var err error
	f.Match, err = seek.NewMatch(seek.MatchConfig{
		Doors: doors, Match: match, Seats: seats, Game: &f.world, Logger: c.log,
		Client: frames.ClientConfig{Slot: slot, Key: key, Name: string(rune('A' + slot)), Logger: c.log,
			OnEvent: func(e frames.Event) {
				f.mu.Lock()
				defer f.mu.Unlock()
				if e.Kind == frames.Began || e.Kind == frames.Seated && e.Slot == slot {
					f.seated = len(f.epochs)
				}
			}},
		OnFound: func(epoch uint32, leads bool) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.epochs = append(f.epochs, epoch)
			f.frames = append(f.frames, f.world.Frame())
		}})
	if err != nil {
		c.t.Fatal(err)
	}
	go func() { f.done <- f.Run(ctx) }()
	return f
}

// A match whose relay is killed goes on at another, with all that anybody has seen, the same for all.
func TestMatchMoves(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	var all []string
	var servers []*running
	for range 3 {
		s := c.server(c.url, node.Config{Gather: 20 * time.Second})
		servers, all = append(servers, s), append(all, s.address)
	}
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	var players []*fighter
	for slot := range 3 {
		players = append(players, c.fight(ctx, "the cup / final", slot, 3, uint64(slot)+77, all))
	}
	relay := func() *running {
		for _, s := range servers {
			if _, matches := s.Games(); matches > 0 {
				return s
			}
		}
		return nil
	}
	after := uint32(0)
	for round := range 2 {
		for _, p := range players {
			c.eventually("all play", func() bool { return p.plays(after) && p.world.Frame() > uint32(round+1)*20 })
			p.Submit(frames.Keys(uint16(round)))
		}
		c.eventually("who plays is written down", func() bool {
			m, there, err := servers[2].st.LoadMatch(c.ctx, "the cup / final")
			return err == nil && there && len(m.Keys) == 3 && uint32(m.Epoch) == players[0].epoch()
		})
		if round == 1 {
			break
		}
		after = players[0].epoch()
		first := relay()
		if first == servers[2] {
			servers[2] = servers[0] // the one that is asked lives
		}
		first.kill()
	}
	// Somebody who is not one of them gets no slot, and is no reason to stop.
	thief := c.fight(ctx, "the cup / final", 1, 3, 666, all)
	c.eventually("the stranger watches", func() bool { return thief.world.Frame() > 60 })
	thief.mu.Lock()
	if thief.seated != 0 {
		t.Error("a stranger has a slot of somebody else")
	}
	thief.mu.Unlock()
	for _, p := range players {
		target := p.world.Frame() + 20
		c.eventually("the match goes on", func() bool { return p.world.Frame() > target })
	}
	cancel()
	resumed := 0
	for _, p := range append(players, thief) {
		<-p.done
		resumed += len(p.world.resume)
	}
	for _, p := range players {
		for _, q := range players {
			if len(p.world.resume) > 0 && p.world.resume[0] < q.frames[1] {
				t.Errorf("it goes on at frame %d, and somebody has seen %d", p.world.resume[0], q.frames[1])
			}
		}
	}
	if resumed < 1 { // more, where a busy computer loses a session meanwhile
		t.Error("nobody went on with their own state")
	}
	for _, p := range players[1:] {
		same := 0
		for f, sum := range p.world.sums {
			if other, ok := players[0].world.sums[f]; ok {
				same++
				if other != sum {
					t.Fatalf("before frame %d the worlds differ", f)
				}
			}
		}
		if same < 10 {
			t.Errorf("only %d frames in common", same)
		}
	}
}

// Who is not one of the players does not lead a match that goes on elsewhere, whatever they say that they have seen.
func TestMatchStranger(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.lease = calm
	s := c.server(c.url, node.Config{Gather: 100 * time.Millisecond})
	if err := s.st.SaveMatch(c.ctx, "m", store.Match{Epoch: 1, Keys: map[int]uint64{0: 5, 3: 6}}); err != nil {
		t.Fatal(err)
	}
	name, _ := tenure.NewName("m")
	secret, _ := tenure.NewSecret("7")
	join := tenure.JoinMessage{Kind: tenure.KindMatch, Game: name, Seats: 2, Frame: 1 << 30, Secret: secret}
	answer := make(chan tenure.Message)
	go func() { answer <- say(t, s.address, join) }()
	c.eventually("the stranger waits", func() bool { return s.Joins.Load() == 1 })
	f := c.fight(c.ctx, "m", 3, 2, 6, []string{s.address})
	if m := <-answer; m.Kind != tenure.MessageHere || m.Here.Leads {
		t.Errorf("the stranger is told %+v", m)
	}
	c.eventually("the player plays", func() bool { return f.plays(1) })
}

// A match that all have left is over, and its name is free for another.
func TestMatchOver(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.lease = calm
	s := c.server(c.url, node.Config{})
	for range 2 {
		f := c.fight(c.ctx, "m", 0, 1, 5, []string{s.address})
		c.eventually("it plays", func() bool { return f.world.Frame() > 10 })
		if err := f.Leave(c.ctx); err != nil {
			t.Fatal(err)
		}
		if err := <-f.done; err != nil {
			t.Fatal(err)
		}
		if f.world.Frame() > 2000 {
			t.Error("it is the match before")
		}
		c.eventually("the match is gone", func() bool {
			_, there, err := s.st.LoadMatch(c.ctx, "m")
			_, matches := s.Games()
			return err == nil && !there && matches == 0
		})
	}
}

// What a relay of the past writes about a match is refused.
func TestMatchFence(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	st := c.store(c.url)
	save := func(epoch int64) error {
		return st.SaveMatch(c.ctx, "m", store.Match{Epoch: tenure.Epoch(epoch), Keys: map[int]uint64{0: 1}})
	}
	if err := errors.Join(save(4), save(4), save(6)); err != nil {
		t.Fatal(err)
	}
	if err := save(5); !errors.Is(err, store.ErrEpoch) {
		t.Errorf("saved in epoch 5 after 6: %v", err)
	}
	if err := st.DropMatch(c.ctx, "m", 5); !errors.Is(err, store.ErrEpoch) {
		t.Errorf("dropped in epoch 5 after 6: %v", err)
	}
	if m, there, err := st.LoadMatch(c.ctx, "m"); err != nil || !there || m.Epoch != 6 {
		t.Errorf("%+v, %t, %v", m, there, err)
	}
	if err := st.DropMatch(c.ctx, "m", 6); err != nil {
		t.Error(err)
	}
	if _, there, err := st.LoadMatch(c.ctx, "m"); err != nil || there {
		t.Errorf("%t, %v", there, err)
	}
}
