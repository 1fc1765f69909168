package frames_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/examples/lockstep/frames"
	"github.com/parley-go/parley/machines/lockstep"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/impair"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// world is a simulation that differs for good after the least difference in what it is told.
type world struct {
	state   uint64
	playing [frames.Slots]bool
	steps   uint32 // game frames
	turn    uint32 // the next
	went    int    // how many have left
	each    func(w *world)

	sums []uint32 // before each turn, from the first one that this world had
	from uint32
}

func (w *world) mix(n uint64) {
	w.state = (w.state ^ n) * 0x9E3779B97F4A7C15
	w.state ^= w.state >> 29
}

func (w *world) Start(seed uint32, players []int) {
	w.state = uint64(seed)
	for _, p := range players {
		w.playing[p] = true
	}
}

func (w *world) Snapshot() []byte {
	b := binary.BigEndian.AppendUint64(nil, w.state)
	b = binary.BigEndian.AppendUint32(b, w.steps)
	b = binary.BigEndian.AppendUint32(b, w.turn)
	for _, p := range w.playing {
		if p {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	return append(b, make([]byte, 5000)...)
}

func (w *world) Restore(b []byte) error {
	if len(b) != 5016+frames.Slots {
		return errors.New("no snapshot")
	}
	w.state = binary.BigEndian.Uint64(b)
	w.steps, w.turn = binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:])
	for i := range w.playing {
		w.playing[i] = b[16+i] == 1
	}
	w.sums, w.from = nil, w.turn
	return nil
}

func (w *world) Sum() uint32 { return crc32.ChecksumIEEE(w.Snapshot()) }

func (w *world) Turn(t *frames.Turn) {
	if t.Frame != w.turn || t.Due != w.steps {
		panic("a turn is missing")
	}
	w.sums = append(w.sums, w.Sum())
	for _, s := range t.Joined {
		w.mix(uint64(s) + 1000)
		w.playing[s] = true
	}
	for _, s := range t.Left {
		w.mix(uint64(s) + 2000)
		w.went++
		w.playing[s] = false
	}
	for _, o := range t.Orders {
		if !w.playing[o.Slot] {
			panic("an order of nobody")
		}
		for _, c := range o.Commands {
			w.mix(uint64(o.Slot)<<16 | uint64(c.Keys.Value))
		}
	}
	w.mix(uint64(t.Length))
	w.turn++
	if w.each != nil {
		w.each(w)
	}
}

func (w *world) Step() { w.mix(1); w.steps++ }

// agree reports the first turn before which two worlds differed, of those that both had.
func agree(a, b *world) (turn uint32, ok bool) {
	for t := max(a.from, b.from); int(t-a.from) < len(a.sums) && int(t-b.from) < len(b.sums); t++ {
		if a.sums[t-a.from] != b.sums[t-b.from] {
			return t, false
		}
	}
	return 0, true
}

// table is a server and those who play, with links in memory.
type table struct {
	t      *testing.T
	ctx    context.Context
	server *frames.Server
	faults *impair.Faults
	links  []transport.Link // of those who have come, in their order
}

func newTable(t *testing.T, cfg frames.ServerConfig) *table {
	s, err := frames.NewServer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return &table{t: t, ctx: ctx, server: s}
}

// link returns the ends of a link, which may be bad.
func (tb *table) link() (here, there transport.Link) {
	here, there = mem.Pair(mem.Config{Stream: true})
	if tb.faults != nil {
		seed := uint64(len(tb.links))
		here = tb.bad(here, seed)
		there = tb.bad(there, seed+100)
	}
	tb.links = append(tb.links, here)
	return here, there
}

func (tb *table) bad(l transport.Link, seed uint64) transport.Link {
	bad, err := impair.New(l, impair.Config{Seed: seed, Faults: *tb.faults})
	if err != nil {
		tb.t.Fatal(err)
	}
	return bad
}

// run has somebody take part; the channel gets what Run returns.
func (tb *table) run(c *frames.Client) chan error {
	here, there := tb.link()
	if err := tb.server.Attach(tb.ctx, there); err != nil {
		tb.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- c.Run(tb.ctx, here) }()
	return done
}

// meet begins a game with players of these slots, each of whom gives an order in every turn.
func (tb *table) meet(came chan int, slots ...int) (list []*guest) {
	for _, slot := range slots {
		list = append(list, tb.invite(frames.ClientConfig{Slot: slot, Key: uint64(slot)}))
		<-came
	}
	if err := tb.server.Begin(tb.ctx); err != nil {
		tb.t.Fatal(err)
	}
	return list
}

// guest is somebody who plays or watches with a world.
type guest struct {
	*world
	*frames.Client
	done chan error
}

func (tb *table) invite(cfg frames.ClientConfig) *guest {
	g := &guest{world: &world{}}
	g.each = func(w *world) { g.Submit(frames.Keys(uint16(w.turn*7) ^ uint16(cfg.Slot+1)<<8)) }
	cfg.Game = g.world
	g.Client = frames.NewClient(cfg) // before anything runs: a turn looks at it
	g.done = tb.run(g.Client)
	return g
}

// same reports where any two of the worlds differ, and fails if they have too few turns in common.
func same(t *testing.T, least int, worlds ...*world) {
	t.Helper()
	for i, w := range worlds {
		if len(w.sums) < least {
			t.Errorf("world %d has had %d turns, not %d", i, len(w.sums), least)
		}
		if turn, ok := agree(worlds[0], w); !ok {
			t.Errorf("worlds 0 and %d differ before turn %d", i, turn)
		}
	}
}

// TestMatch plays 100,000 game frames over links with jitter, while one player leaves, somebody else takes the slot,
// one loses the link and comes again, one watches, and the game is stopped and becomes faster. Everybody sees the
// same, and so does who plays the replays.
func TestMatch(t *testing.T) {
	spacing := 20
	if os.Getenv("PARLEY_LONG") != "" {
		spacing = 4 // 25,000 command frames
	}
	synctest.Test(t, func(t *testing.T) { match(t, 100_000, spacing) })
}

func match(t *testing.T, steps, spacing int) {
	var byServer, byPlayer, byLost bytes.Buffer
	came, left := make(chan int, 8), make(chan int, 8)
	tb := newTable(t, frames.ServerConfig{
		Seed: 7, Spacing: spacing, Length: 40 * time.Millisecond, Record: recorder(t, &byServer),
		OnCame: func(_ string, slot int) { came <- slot },
		OnWent: func(slot int, _ lockstep.Reason) { left <- slot },
	})
	tb.faults = &impair.Faults{Delay: 20 * time.Millisecond, Jitter: 60 * time.Millisecond}
	first := tb.invite(frames.ClientConfig{Slot: 0, Record: recorder(t, &byPlayer)})
	<-came
	lost := frames.ClientConfig{Slot: 1, Key: 1, Record: recorder(t, &byLost)}
	others := []*guest{tb.invite(lost)}
	<-came
	others = append(others, tb.meet(came, 2, 5)...)
	tenth := time.Duration(steps/10) * 40 * time.Millisecond
	time.Sleep(tenth)
	watcher := tb.invite(frames.ClientConfig{Slot: frames.Watch})
	<-came
	time.Sleep(tenth)
	if err := others[1].Leave(tb.ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-others[1].done; err != nil {
		t.Fatal(err)
	}
	<-left
	time.Sleep(tenth)
	late := tb.invite(frames.ClientConfig{Slot: 2, Key: 99})
	<-came
	time.Sleep(tenth)
	tb.links[1].Abort() // of slot 1
	if err := <-others[0].done; !errors.Is(err, frames.ErrLost) {
		t.Fatal(err)
	}
	<-left
	again := tb.invite(lost)
	<-came
	time.Sleep(tenth)
	for _, on := range []bool{true, false} {
		if err := first.Pause(tb.ctx, on); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
	}
	if err := first.Speed(tb.ctx, 20*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	time.Sleep(tenth * 3)
	synctest.Wait()
	if first.steps < uint32(steps) {
		t.Errorf("%d game frames", first.steps)
	}
	if first.went != 2 {
		t.Errorf("%d have left", first.went)
	}
	least := steps / spacing / 10
	same(t, least, first.world, others[0].world, others[1].world, others[2].world, watcher.world, late.world,
		again.world)
	for i, w := range []*world{first.world, watcher.world, late.world, again.world} {
		if want := [frames.Slots]bool{0: true, 1: true, 2: true, 5: true}; w.playing != want {
			t.Errorf("in world %d these play: %v", i, w.playing)
		}
		if d := int32(first.turn - w.turn); d < -lockstep.M || d > 2*lockstep.M {
			t.Errorf("world %d is %d turns behind", i, d)
		}
	}
	for file, least := range map[*bytes.Buffer]int{
		&byServer: len(first.sums) - 2*lockstep.M, &byPlayer: len(first.sums) - 2*lockstep.M, &byLost: least} {
		w := &world{}
		p, err := frames.Play(file, w, nil)
		if err != nil {
			t.Error(err)
		}
		same(t, least, first.world, w)
		if file == &byLost && p.Turns < uint32(len(others[0].sums)+len(w.sums)) {
			t.Errorf("of who was away %d turns are recorded, not %d and %d", p.Turns, len(others[0].sums), len(w.sums))
		}
	}
}

func recorder(t *testing.T, w io.Writer) *frames.Recorder {
	r, err := frames.NewRecorder(w)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
