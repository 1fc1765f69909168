package book_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/machines/startup"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/book"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// nodes is how nodes of a network in memory stand in packets.
var nodes = book.Form[mem.Address]{
	Size: 6,
	Put:  func(dst []byte, a mem.Address) { binary.BigEndian.PutUint32(dst, uint32(a)); dst[5] = 1 },
	Get: func(src []byte) (mem.Address, bool) {
		return mem.Address(binary.BigEndian.Uint32(src)), src[5] == 1
	},
}

// silence is after how long the book's link forgets the node.
const silence = 20 * time.Second

// proof is a book and a node beside it that does by hand what a link would.
type proof struct {
	t    *testing.T
	book *book.Link[mem.Address]
	by   *mem.NodeLink
	log  bytes.Buffer
}

func newProof(t *testing.T) *proof {
	x := &proof{t: t}
	var n mem.Network
	l, err := n.Join(50, mem.NodeLimits{Silence: silence})
	if err != nil {
		t.Fatal(err)
	}
	cfg := book.Config{Shape: startup.Shape, Parties: parties, Prove: true,
		Logger: slog.New(slog.NewTextHandler(&x.log, nil))}
	if x.book, err = book.New(l, 50, nodes, cfg); err != nil {
		t.Fatal(err)
	}
	if x.by, err = n.Join(70, mem.NodeLimits{}); err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *proof) send(frame []byte) {
	x.t.Helper()
	if err := x.by.Send(transport.All, frame); err != nil {
		x.t.Fatal(err)
	}
}

// hears returns the datagrams that have come to the node.
func (x *proof) hears() (list [][]byte) {
	buf := make([]byte, 2000)
	for {
		got, err := interrupted(x.by, buf)
		if err != nil {
			return list
		}
		if got.Kind == transport.Data {
			list = append(list, bytes.Clone(buf[:got.N]))
		}
	}
}

// takes returns how many frames the book hands on, and the sender of the last.
func (x *proof) takes() (frames, peer int) {
	buf := make([]byte, 2000)
	for {
		got, err := interrupted(x.book, buf)
		if err != nil {
			return frames, peer
		}
		if got.Kind == transport.Data {
			frames++
		}
		peer = got.Peer
	}
}

// interrupted receives what is there when everybody waits.
func interrupted(l transport.Link, buf []byte) (got transport.Arrival, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		got, err = l.Receive(buf)
	}()
	synctest.Wait()
	select {
	case <-done:
	default:
		l.Interrupt(time.Unix(0, 0))
		<-done
		l.Interrupt(time.Time{})
	}
	return got, err
}

// request is a CONNECT from node 70.
func request() []byte {
	b := make([]byte, 532)
	copy(b, "PP2\x00\x00\x01\x00\x04")
	for _, c := range startup.Shape.Constants {
		c.Number.Put(b, c.Value)
	}
	b[26], b[140], b[526] = 0xfe, 0x0b, 1
	nodes.Put(b[140+258:140+264], 70)
	binary.LittleEndian.PutUint32(b[8:], crc32.ChecksumIEEE(b))
	return b
}

func greeting(seen byte, number, echo []byte) []byte {
	b := append([]byte("parley\x01"), seen)
	return append(append(b, number...), echo...)
}

func TestProof(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newProof(t)
		none, mine := make([]byte, 8), []byte("my proof")
		x.send(greeting(0, none, none))
		if n, _ := x.takes(); n != 0 {
			t.Error("a greeting is handed on")
		}
		got := x.hears()
		if len(got) != 1 || !book.IsGreeting(got[0]) || bytes.Equal(got[0][8:16], none) || got[0][7] != 0 {
			t.Fatalf("the answer to a greeting is %q", got)
		}
		number := got[0][8:16]
		x.send(request())
		if n, _ := x.takes(); n != 0 {
			t.Error("who greets is heard without a proof")
		}
		if got := x.hears(); len(got) != 1 || !bytes.Equal(got[0][8:16], number) {
			t.Errorf("who greets is asked by %q", got)
		}
		wrong := bytes.Clone(number)
		wrong[7] ^= 1
		x.send(greeting(0, mine, wrong))
		x.send(request())
		if n, _ := x.takes(); n != 0 {
			t.Error("a wrong proof is one")
		}
		x.hears()
		x.send(greeting(0, mine, number))
		x.send(request())
		n, peer := x.takes()
		if got := x.hears(); n != 1 || len(got) != 1 || got[0][7] != 1 || !bytes.Equal(got[0][16:], mine) {
			t.Errorf("%d frames are heard after the proof, and it is answered by %q", n, got)
		}
		x.send(greeting(1, mine, number))
		x.takes()
		if got := x.hears(); len(got) != 0 {
			t.Errorf("when both have seen the proof, it goes on with %q", got)
		}
		for range 9 { // as much as it likes
			if err := x.book.Send(peer, request()); err != nil {
				t.Error(err)
			}
		}
		if got := x.hears(); len(got) != 9 {
			t.Errorf("%d frames of 9 come", len(got))
		}
		if s := x.book.Stats(); s.Unproved != 2 || s.Withheld != 0 || s.Greetings != 4 {
			t.Errorf("%+v", s)
		}
		x.book.Close()
		x.by.Close()
	})
}

// Who does not greet is sent at most twice what came from there, and asked three times.
func TestCredit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newProof(t)
		x.send(request())
		n, peer := x.takes()
		if n != 1 {
			t.Fatal("a request is not heard")
		}
		long := append(request(), make([]byte, 400)...)
		if err := x.book.Send(peer, append(request(), make([]byte, 600)...)); err != nil {
			t.Error(err)
		}
		for _, b := range x.hears() {
			if !book.IsGreeting(b) {
				t.Errorf("%d bytes come for 532", len(b))
			}
			x.send(request()) // what the question has cost
			x.takes()
		}
		for range 5 {
			if err := x.book.Send(peer, long); err != nil {
				t.Error(err)
			}
		}
		bytes := 0
		for _, b := range x.hears() {
			bytes += len(b)
		}
		if bytes > 2*2*532 || bytes < len(long) {
			t.Errorf("%d bytes for 532", bytes)
		}
		frames, asked := 0, 1
		for range 9 {
			x.send(request())
			x.takes()
			x.book.Send(peer, request()[:200])
			for _, b := range x.hears() {
				if bytes += len(b); book.IsGreeting(b) {
					asked++
				} else {
					frames++
				}
			}
		}
		if frames != 9 || bytes > 2*532*11 || asked > 3 {
			t.Errorf("%d of 9 answers, %d bytes for 5852, %d questions", frames, bytes, asked)
		}
		if s := x.book.Stats(); s.Withheld < 4 {
			t.Errorf("%+v", s)
		}
		if text := x.log.String(); strings.Count(text, "limit=Prove") != 1 || !strings.Contains(text, "first=") {
			t.Errorf("the log says %s", text)
		}
		x.book.Close()
		x.by.Close()
	})
}

// forged is a greeting that anybody can send in the name of another: it has seen nothing.
var forged = greeting(0, make([]byte, 8), make([]byte, 8))

// Greetings forged in the name of one who is heard already change nothing for it.
func TestForgedGreeting(t *testing.T) {
	for name, after := range map[string]time.Duration{"at once": 0, "when its place is kept": 3 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newProof(t)
				_, peer := x.original(0)
				time.Sleep(after)
				x.original(peer)
				x.hears()
				for i := range 30 {
					x.send(forged)
					if n, _ := x.original(peer); n != 1 {
						t.Fatalf("after %d forged greetings it is not heard", i+1)
					}
					long := append(request(), make([]byte, 436)...) // an answer of 968 bytes for 532
					if err := x.book.Send(peer, long); err != nil {
						t.Fatal(err)
					}
					answers, bytes := 0, 0
					for _, b := range x.hears() {
						if bytes += len(b); !book.IsGreeting(b) {
							answers++
						}
					}
					if answers != 1 || bytes > 2*(len(request())+len(forged)) {
						t.Fatalf("after %d forged greetings %d answers and %d bytes come", i+1, answers, bytes)
					}
					time.Sleep(100 * time.Millisecond)
				}
				if s := x.book.Stats(); s.Unproved != 0 || s.Greetings != 30 {
					t.Errorf("%+v", s)
				}
				x.book.Close()
				x.by.Close()
			})
		})
	}
}

// original sends a frame that the machine accepts; it returns how many are handed on, and the sender.
func (x *proof) original(peer int) (frames, by int) {
	x.send(request())
	if frames, by = x.takes(); frames > 0 {
		x.book.Confirm(by)
		return frames, by
	}
	return 0, peer
}

// Who forges greetings for a newcomer keeps it out for a second, not for ever. No more bytes go there
// meanwhile than came, and as soon as it has kept its place, what goes to any original. When it has been
// lost and comes back, all begins anew.
func TestForgedNewcomer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newProof(t)
		for visit := range 2 {
			sent, brought, peer, answers, greetings := 0, 0, 0, 0, 0 // since it is heard
			for i := range 60 {
				time.Sleep(100 * time.Millisecond)
				since := time.Duration(i) * 100 * time.Millisecond
				x.send(forged)
				n, by := x.original(peer)
				if want := since >= time.Second; (n == 1) != want {
					t.Fatalf("visit %d: %v after the first greeting %d frames are heard", visit, since, n)
				}
				got := x.hears()
				if peer = by; n == 0 {
					if len(got) != 2 { // an answer to the greeting, and a question for the frame
						t.Fatalf("visit %d: %v after the first greeting %q comes", visit, since, got)
					}
					continue
				}
				if err := x.book.Send(peer, append(request(), make([]byte, 436)...)); err != nil {
					t.Fatal(err)
				}
				sent += len(forged) + len(request())
				for _, b := range append(got, x.hears()...) {
					if brought += len(b); book.IsGreeting(b) {
						greetings++
					} else if since >= 3*time.Second {
						answers++
					}
				}
				if since < 2*time.Second && brought > sent+1400 { // and what had come before
					t.Fatalf("visit %d: %d bytes bring %d within %v", visit, sent, brought, since)
				}
			}
			if brought > 2*sent || answers != 30 || greetings != 50 {
				t.Errorf("visit %d: %d bytes bring %d; of 30 late answers %d come, and %d greetings", visit, sent,
					brought, answers, greetings)
			}
			for range 40 {
				time.Sleep(time.Second)
				x.takes() // which also looks for who is silent
			}
		}
		x.book.Close()
		x.by.Close()
	})
}

// A right answer is a proof at any time, also of one who has been heard without.
func TestLateProof(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newProof(t)
		_, peer := x.original(0)
		x.send(forged)
		x.takes()
		got := x.hears()
		if len(got) != 1 || !book.IsGreeting(got[0]) {
			t.Fatalf("the answer to a greeting is %q", got)
		}
		x.send(greeting(1, make([]byte, 8), got[0][8:16]))
		x.takes()
		for range 9 { // as much as it likes
			if err := x.book.Send(peer, request()); err != nil {
				t.Error(err)
			}
		}
		if got := x.hears(); len(got) != 9 {
			t.Errorf("%d frames of 9 come", len(got))
		}
		x.book.Close()
		x.by.Close()
	})
}

func TestConstants(t *testing.T) {
	l, err := new(mem.Network).Join(50, mem.NodeLimits{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for want, set := range map[string]map[string]uint64{
		"no constant nothing at one place": {"nothing": 1},
		"universe is 256, and has 8 bits":  {"universe": 256},
	} {
		_, err := book.New(l, 50, nodes, book.Config{Shape: startup.Shape, Parties: parties, Constants: set})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; expected %s", err, want)
		}
	}
}
