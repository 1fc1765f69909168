package frames_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/examples/lockstep/frames"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// world is a simulation that differs for good after the least difference in what it is told.
type world struct {
	state   uint64
	playing [frames.Slots]bool
	steps   uint32 // game frames
	turn    uint32 // the next
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
	return &table{t, ctx, s}
}

// sit has somebody take part; the channel gets what Run returns.
func (tb *table) sit(cfg frames.ClientConfig) (*frames.Client, chan error) {
	here, there := mem.Pair(mem.Config{Stream: true})
	if err := tb.server.Attach(tb.ctx, there); err != nil {
		tb.t.Fatal(err)
	}
	c := frames.NewClient(cfg)
	done := make(chan error, 1)
	go func() { done <- c.Run(tb.ctx, here) }()
	return c, done
}

func TestMatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var file bytes.Buffer
		w, err := frames.NewRecorder(&file)
		if err != nil {
			t.Fatal(err)
		}
		came := make(chan int, 8)
		tb := newTable(t, frames.ServerConfig{Seed: 7, Record: w, OnCame: func(_ string, slot int) { came <- slot }})
		worlds := make([]*world, 4)
		clients := make([]*frames.Client, 4)
		done := make([]chan error, 4)
		add := func(i int) {
			worlds[i] = &world{each: func(w *world) { clients[i].Submit(frames.Keys(uint16(w.turn) ^ uint16(i)<<8)) }}
			clients[i], done[i] = tb.sit(frames.ClientConfig{Slot: i, Key: uint64(i), Name: "x", Game: worlds[i]})
			<-came
		}
		for i := range 3 {
			add(i)
		}
		if err := tb.server.Begin(tb.ctx); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		if err := clients[2].Leave(tb.ctx); err != nil {
			t.Fatal(err)
		}
		if err := <-done[2]; err != nil {
			t.Fatal(err)
		}
		add(3)
		time.Sleep(20 * time.Second)
		for i, w := range worlds {
			if len(w.sums) < 90 {
				t.Errorf("%d had %d turns", i, len(w.sums))
			}
			if turn, ok := agree(worlds[0], w); !ok {
				t.Errorf("0 and %d differ before turn %d", i, turn)
			}
		}
		if !worlds[0].playing[3] || worlds[0].playing[2] {
			t.Errorf("%v play", worlds[0].playing)
		}
		again := &world{}
		if _, err := frames.Play(bytes.NewReader(file.Bytes()), again, nil); err != nil {
			t.Fatal(err)
		}
		if turn, ok := agree(worlds[0], again); !ok || len(again.sums) < 190 {
			t.Errorf("the replay has %d turns and differs before turn %d", len(again.sums), turn)
		}
	})
}
