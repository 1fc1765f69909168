package peer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/machines/startup"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/book"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// connect is an original peer's CONNECT with the requests of some nodes.
func connect(from ...mem.Address) []byte {
	b := make([]byte, 532)
	copy(b, "PP2\x00\x00\x01\x00\x04")
	for _, c := range startup.Shape.Constants {
		c.Number.Put(b, c.Value)
	}
	b[26], b[140], b[526] = 0xfe, 0x0b, byte(len(from))
	for i, a := range from {
		nodes.Put(b[140+258+16*i:140+264+16*i], a)
	}
	binary.LittleEndian.PutUint32(b[8:], crc32.ChecksumIEEE(b))
	return b
}

// stranger is a node of the network without a peer. What it sends is what somebody who forges its
// address would send; what it gets is what the victim would get.
type stranger struct {
	t    *testing.T
	link *mem.NodeLink
	got  atomic.Int64 // bytes
	sent int64
}

func newStranger(t *testing.T, n *mem.Network, a mem.Address) *stranger {
	l, err := n.Join(a, mem.NodeLimits{MaxPeers: Parties})
	if err != nil {
		t.Fatal(err)
	}
	s := &stranger{t: t, link: l}
	go func() {
		buf := make([]byte, 2000)
		for {
			got, err := l.Receive(buf)
			if err != nil {
				return
			}
			if got.Kind == transport.Data {
				s.got.Add(int64(got.N))
			}
		}
	}()
	return s
}

func (s *stranger) send(frame []byte) {
	if err := s.link.Send(transport.All, frame); err != nil && !errors.Is(err, transport.ErrClosed) {
		s.t.Fatal(err)
	}
	s.link.Flush()
	s.sent += int64(len(frame))
}

// town is a network in memory with peers on it whose links can be looked at.
type town struct {
	*table
	net   mem.Network
	next  mem.Address
	place Place
	inner []*mem.NodeLink
	books []*book.Link[mem.Address]
}

func newTown(t *testing.T) *town {
	w := &town{next: 1000}
	w.table = newTable(t, func() (Link, error) {
		w.next += 1000
		l, err := w.net.Join(w.next, mem.NodeLimits{Silence: Silence, MaxPeers: Parties})
		if err != nil {
			return nil, err
		}
		b, err := book.New(l, w.next, nodes, numbers(w.place))
		w.inner, w.books = append(w.inner, l), append(w.books, b)
		return b, err
	})
	return w
}

// dead counts the places, in tables of links and of games, that others than living peers have.
func (w *town) dead(peers ...*Peer) (places, slots int) {
	for _, l := range w.inner {
		places += l.Stats().Peers - (len(peers) - 1)
	}
	living := map[string]bool{}
	for _, p := range peers {
		living[p.View(w.t.Context()).Address] = true
	}
	for _, p := range peers {
		for _, q := range p.View(w.t.Context()).Players {
			if q.Taken && !living[q.Address] {
				slots++
			}
		}
	}
	return places, slots
}

// Whatever strangers send, from whatever addresses, a newcomer gets into the game, and who plays is
// not disturbed; a minute later nobody has a place who is not there.
func TestFloods(t *testing.T) {
	t.Parallel()
	for name, frame := range map[string]func(own mem.Address) []byte{
		"junk":     func(mem.Address) []byte { return []byte{7} },
		"half":     func(own mem.Address) []byte { return connect(own)[:300] },
		"requests": func(own mem.Address) []byte { return connect(own) },
		"for others": func(own mem.Address) []byte {
			return connect(own+1<<20, own+2<<20, own+3<<20, own+4<<20, own+5<<20, own+6<<20, own+7<<20, own+8<<20)
		},
		"players": func(mem.Address) []byte {
			b := make([]byte, 144)
			copy(b, connect()[:140])
			b[16], b[26], b[27] = 8, 1, 0
			clear(b[8:12])
			binary.LittleEndian.PutUint32(b[8:], crc32.ChecksumIEEE(b))
			return b
		},
		"greetings": func(mem.Address) []byte { return append([]byte("parley\x01"), make([]byte, 17)...) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTown(t)
				a, b := w.start(), w.start()
				w.until("a game of two", func() bool { return together(a, b) }, a, b)
				flood := func(n int) {
					for i := range n {
						own := mem.Address(2001 + i*37%2998) // between those who play and the newcomer
						if own%1000 == 0 {
							continue
						}
						s := newStranger(t, &w.net, own)
						s.send(frame(own))
						time.Sleep(time.Second / 43) // virtual
						s.link.Close()
					}
				}
				flood(43 * 10)
				c := w.start()
				flood(43 * 10)
				// Requests that look like those of original peers may take the free slots for a while.
				if !strings.Contains(name, "for") && name != "requests" && !together(a, b, c) {
					t.Errorf("the newcomer is not in the game: %v", c.View(t.Context()))
				}
				time.Sleep(time.Minute)
				time.Sleep(time.Minute)
				if places, slots := w.dead(a, b, c); places > 0 || slots > 0 {
					t.Errorf("a minute later strangers have %d places and %d slots", places, slots)
				}
				if !together(a, b) && !together(a, b, c) {
					t.Error("who played is disturbed")
				}
				if v := c.View(t.Context()); v.State == "refused" || v.State == "failed" {
					c.give((*startup.PeerRunner).Connect)
				}
				w.until("a game of three", func() bool { return together(a, b, c) }, a, b, c)
				var counts []transport.Count
				for _, k := range w.books[0].Counts() {
					if k.Value > 0 {
						counts = append(counts, k)
					}
				}
				t.Logf("%v", counts)
				for _, p := range []*Peer{a, b, c} {
					w.leave(p)
				}
			})
		})
	}
}

// Nobody brings more bytes on an address than the rule says: for an address that does not greet no
// more than twice what came from it, for one that greets no more than came, and for one that is only
// named a greeting in ten seconds, until its player has been silent for long enough.
func TestAmplification(t *testing.T) {
	for _, x := range []struct {
		name  string
		times int
		most  float64
		greet bool
		named bool
	}{
		{"an original peer", 6, 2, false, false},
		{"one who greets", 6, 1, true, false},
		{"one who greets for two seconds", 20, 1, true, false},
		{"one who greets for long", 60, 2, true, false},
		{"one who is named", 6, 0.02, false, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTown(t)
				w.announce = time.Hour // what everybody hears is not measured
				peers := []*Peer{w.start(), w.start(), w.start()}
				w.until("a game of three", func() bool { return together(peers...) }, peers...)
				victim := newStranger(t, &w.net, 7)
				forger := victim
				request := connect(7)
				if x.named {
					forger = newStranger(t, &w.net, 8)
					request = connect(7, 7, 7, 7, 7, 7, 7, 7)
				}
				defer victim.link.Close()
				defer forger.link.Close()
				time.Sleep(time.Second)
				before := victim.got.Load() // what everybody hears
				for range x.times {
					if x.greet {
						forger.send(append([]byte("parley\x01"), make([]byte, 17)...))
					}
					forger.send(request)
					time.Sleep(100 * time.Millisecond)
				}
				time.Sleep(time.Minute)
				// What is sent to everybody goes to each of the peers: each of them may answer.
				brought := victim.got.Load() - before
				if x.named {
					brought -= forger.sent // its broadcasts
				}
				ratio := float64(brought) / float64(forger.sent) / float64(len(peers))
				t.Logf("%d bytes bring %d, %.3f times for each peer that hears them", forger.sent, brought, ratio)
				if ratio > x.most {
					t.Errorf("%.2f times, not %.2f", ratio, x.most)
				}
				if places, slots := w.dead(peers...); places > 0 || slots > 0 {
					t.Errorf("a minute later strangers have %d places and %d slots", places, slots)
				}
				if !together(peers...) {
					t.Error("who played is disturbed")
				}
				for _, p := range peers {
					w.leave(p)
				}
			})
		})
	}
}

// Peers of different universes play different games, and each is told once that there are others.
func TestUniverses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		var log bytes.Buffer
		one, two := uint8(1), uint8(2)
		w.place = Place{Universe: &one, Logger: slog.New(slog.NewTextHandler(&log, nil))}
		a, b := w.start(), w.start()
		w.place = Place{Universe: &two}
		c := w.start()
		w.until("two games", func() bool { return together(a, b) && together(c) }, a, b, c)
		if s := w.books[0].Stats(); s.Foreign < 5 {
			t.Errorf("%+v", s)
		}
		for _, p := range []*Peer{a, b, c} {
			w.leave(p)
		}
		want := "frames with universe 2 are not heard; here it is 1"
		if text := log.String(); strings.Count(text, want) != 2 { // one for each peer
			t.Errorf("the log says %s", text)
		}
	})
}

// An original peer with four slots sends one list of players. Its reply is taken, from somebody who
// has said nothing before, too.
func TestFourSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		p := w.start()
		original := newStranger(t, &w.net, 7)
		defer original.link.Close()
		answer := make([]byte, 556)
		copy(answer, connect()[:140])
		answer[16], answer[25], answer[26], answer[27], answer[140] = 1, 2, 0, 1, 0x0a
		nodes.Put(answer[140+212:], 7)
		nodes.Put(answer[140+228:], 2000)
		answer[140+278], answer[140+279] = 1, 1
		clear(answer[8:12])
		sum := crc32.ChecksumIEEE(answer)
		binary.LittleEndian.PutUint32(answer[8:], sum+1)
		original.send(answer)
		time.Sleep(100 * time.Millisecond)
		if v := p.View(t.Context()); v.State != "connecting" {
			t.Errorf("a reply with a wrong checksum is taken: %v", v)
		}
		binary.LittleEndian.PutUint32(answer[8:], sum)
		original.send(answer)
		w.until("a game of two", func() bool {
			v := p.View(t.Context())
			return v.State == "game" && v.Slot == 1 && v.Taken() == 2
		}, p)
		w.leave(p)
	})
}
