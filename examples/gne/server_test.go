package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/gne/internal/board"
	"github.com/parley-go/parley/examples/gne/internal/player"
	"github.com/parley-go/parley/machines/gne"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/impair"
)

// start runs a server until the test ends. It returns the server, its address, and a function that ends it.
func start(t *testing.T, s *server) (address string, stop func()) {
	t.Helper()
	s.log = slog.New(slog.DiscardHandler)
	s.game, s.edition = "Parley", 1
	if s.perAddress == 0 {
		s.perAddress = maxClients - 4
	}
	listener, err := s.open("127.0.0.1:0", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.serve(ctx, listener) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return listener.Addr().String(), stop
}

// one is a player, and what it was shown.
type one struct {
	*player.Player
	t     *testing.T
	lines chan string
	ended chan error
}

func join(t *testing.T, address string, o player.Options) *one {
	t.Helper()
	x := &one{t: t, lines: make(chan string, 4096), ended: make(chan error, 1)}
	o.Show = func(line string) { x.lines <- line }
	if o.Game == "" {
		o.Game, o.Edition = "Parley", 1
	}
	var err error
	if x.Player, err = player.Join(t.Context(), address, o); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { x.ended <- x.Run(ctx) }()
	t.Cleanup(cancel)
	return x
}

// until waits for a line.
func (x *one) until(want string) {
	x.t.Helper()
	stuck := time.After(time.Minute) // ends a test that would hang
	var heard []string
	for {
		select {
		case got := <-x.lines:
			if heard = append(heard, got); strings.Contains(got, want) {
				return
			}
		case <-stuck:
			x.t.Fatalf("never heard %q, but %q", want, heard)
		}
	}
}

func (x *one) say(lines ...string) {
	x.t.Helper()
	for _, line := range lines {
		if err := x.Type(x.t.Context(), line); err != nil {
			x.t.Fatal(err)
		}
	}
}

// repeat moves until it is seen: a datagram may be lost, and a player is seen once it has been heard over UDP.
func repeat(t *testing.T, mover, watcher *one, want string) {
	t.Helper()
	for range 600 {
		mover.say("/move 1 -2")
		watcher.say("/move 5 5")
		wait := time.After(100 * time.Millisecond)
		for waiting := true; waiting; {
			select {
			case got := <-watcher.lines:
				if got == want {
					return
				}
			case <-wait:
				waiting = false
			}
		}
	}
	t.Fatalf("never heard %q", want)
}

// TestPlay: two players of one name, a board with objects, places over UDP and over TCP, and a newcomer.
func TestPlay(t *testing.T) {
	t.Parallel()
	address, _ := start(t, &server{})
	a := join(t, address, player.Options{Name: "Jason"})
	a.until("you are in the game")
	a.say("/set door open", "/add count 3", "/add count 4")
	a.until("count is 7")
	b := join(t, address, player.Options{Name: "Jason"})
	b.until("the server calls you Jason2")
	b.until("you are in the game")
	a.until("Jason2 is in the game")
	c := join(t, address, player.Options{Name: "a \x1b[2Jname\x00", NoUDP: true})
	c.until("the server calls you a ?[2Jname?")
	c.until("you are in the game")
	b.say("/board")
	b.until("=count 7; =door open; >1 Jason; >2 Jason2;")
	b.say("hello")
	a.until("Jason2: hello")
	b.say("/remove door")
	a.until("door is gone")
	repeat(t, a, b, "Jason is at 1 -2")
	repeat(t, b, a, "Jason2 is at 1 -2")
	repeat(t, a, c, "Jason is at 1 -2")
	repeat(t, c, a, "a ?[2Jname? is at 1 -2")
	a.say("/quit")
	if err := <-a.ended; err != nil {
		t.Error(err)
	}
	b.until("player 1 has left")
	b.Break()
	if err := <-b.ended; err == nil {
		t.Error("a connection that breaks is said to have been left")
	}
	c.until("player 2 has left")
	other := join(t, address, player.Options{Name: "x", Game: "Another"})
	if err := <-other.ended; err == nil || !strings.Contains(err.Error(), "otherGame") {
		t.Error("another game:", err)
	}
	newer := join(t, address, player.Options{Name: "x", Game: "Parley", Edition: 2})
	if err := <-newer.ended; err == nil || !strings.Contains(err.Error(), "otherEdition") {
		t.Error("another edition:", err)
	}
}

// TestFull: beyond the places there are a newcomer is told that the server is full.
func TestFull(t *testing.T) {
	address, _ := start(t, &server{})
	for range gne.Places {
		join(t, address, player.Options{Name: "x", NoUDP: true}).until("you are in the game")
	}
	late := join(t, address, player.Options{Name: "late", NoUDP: true})
	if err := <-late.ended; err == nil || !strings.Contains(err.Error(), "full") {
		t.Error(err)
	}
}

// TestHalfOpen: who connects and says nothing, or half a request, is closed, and what is too many at once; then
// there is room for a player.
func TestHalfOpen(t *testing.T) {
	t.Parallel()
	address, _ := start(t, &server{perAddress: 4, often: -1, handshake: 50 * time.Millisecond})
	for n := range 10 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			continue // is turned away at once
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(time.Minute)) // ends a test that would hang
		if n%2 == 0 {
			conn.Write([]byte{'N', 'L', 48, 0, 'G', 'N'})
		}
		if n%5 == 4 { // the four before are half-open
			if _, err := io.Copy(io.Discard, conn); os.IsTimeout(err) {
				t.Fatalf("connection %d is not closed", n)
			}
		}
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); runtime.Gosched() {
		p, err := player.Join(t.Context(), address, player.Options{Name: "x", Game: "Parley", Edition: 1, NoUDP: true})
		if err != nil {
			continue // too many just now
		}
		done := make(chan error, 1)
		go func() { done <- p.Run(t.Context()) }()
		select {
		case <-p.Joined():
			p.Type(t.Context(), "/quit")
			<-done
			return
		case <-done:
		}
	}
	t.Error("half-open connections keep a player out")
}

// TestNoFrame: a whole frame that is no message ends the connection, which nobody else can have sent.
func TestNoFrame(t *testing.T) {
	address, _ := start(t, &server{handshake: time.Hour})
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute)) // ends a test that would hang
	conn.Write(append([]byte{'N', 'L', 48, 0}, make([]byte, 48)...))
	if b, err := io.ReadAll(conn); err != nil || len(b) > 0 {
		t.Errorf("%q, %v", b, err)
	}
}

// TestFlood: who asks for too much is sent away, and the others play on.
func TestFlood(t *testing.T) {
	address, _ := start(t, &server{})
	a := join(t, address, player.Options{Name: "a"})
	a.until("you are in the game")
	b := join(t, address, player.Options{Name: "b"})
	b.until("you are in the game")
	var err error
	for end := time.Now().Add(time.Minute); err == nil && time.Now().Before(end); {
		err = b.Type(t.Context(), "/add count 1")
	}
	if err == nil {
		t.Error("nobody was sent away")
	}
	a.until("player 2 has left")
	a.say("/set door open")
	a.until("door is open")
}

// TestNames: no name and no value looks like something else where it is shown.
func TestNames(t *testing.T) {
	address, _ := start(t, &server{})
	a := join(t, address, player.Options{Name: "a"})
	a.until("you are in the game")
	b := join(t, address, player.Options{Name: "a: hello; >7 x"})
	b.until("the server calls you a? hello? >7 x")
	b.until("you are in the game")
	a.until("a? hello? >7 x is in the game")
	b.say("hi")
	a.until("a? hello? >7 x: hi")
	for _, line := range []string{"/set a: x", "/set x;y 1", "/set x 1; >3 Bob", "/add a: 1"} {
		if err := b.Type(t.Context(), line); err == nil {
			t.Errorf("%q is done", line)
		}
	}
}

// raw is a connection that has become a player over TCP, and then does what it likes.
func raw(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute)) // ends a test that would hang
	settings, _ := player.Settings("Parley", 1, 0)
	name, _ := gne.NewName("raw")
	for _, m := range []gne.Message{
		{Kind: gne.MessageRequest, Request: gne.RequestMessage{
			Version: settings.Version, Game: settings.Game, Edition: settings.Edition}},
		{Kind: gne.MessagePlayer, Player: gne.PlayerMessage{Name: name}},
	} {
		conn.Write(frame(t, m))
	}
	joined := frame(t, gne.Message{Kind: gne.MessageJoined})
	var got []byte
	for buf := make([]byte, 512); !bytes.Contains(got, joined); {
		n, err := conn.Read(buf)
		if err != nil {
			t.Fatalf("% x: %v", got, err)
		}
		got = append(got, buf[:n]...)
	}
	return conn
}

func frame(t *testing.T, m gne.Message) []byte {
	t.Helper()
	b, err := gne.AppendMessage(nil, &m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestMovesWithoutEnd: who says over TCP that it is elsewhere, again and again, is sent away, and has used up next to
// nothing of the numbers that all places share; who says the same again and again is read slowly. Others move on.
func TestMovesWithoutEnd(t *testing.T) {
	s := &server{}
	address, _ := start(t, s)
	tcp := func(name string) *one { return join(t, address, player.Options{Name: name, NoUDP: true}) }
	a, b := tcp("a"), tcp("b")
	a.until("you are in the game")
	b.until("you are in the game")
	stands := func(moment int) []byte {
		return frame(t, gne.Message{Kind: gne.MessageStands, Stands: gne.StandsMessage{Moment: gne.Moment(moment)}})
	}
	flood := raw(t, address)
	go io.Copy(io.Discard, flood)
	for n := 1; ; n++ {
		if _, err := flood.Write(stands(n)); err != nil {
			if os.IsTimeout(err) {
				t.Fatal("who floods the server is not sent away")
			}
			break
		}
	}
	b.until("player 3 has left")
	var now gne.Moment
	if err := s.d.Read(t.Context(), func(r *gne.ServerRunner) { now = r.Machine.Now }); err != nil {
		t.Fatal(err)
	}
	if most := gne.Moment(2 * rate / len(stands(1))); now > most || s.flooded != 1 {
		t.Errorf("it had moved %d times, more than %d, and %d were sent away", now, most, s.flooded)
	}
	again := raw(t, address)
	again.Write(bytes.Repeat(stands(1), 4*rate/len(stands(1)))) // takes four seconds to read
	b.say("/move 1 2")
	a.until("b is at 1 2")
	b.say("hello")
	a.until("b: hello")
	if err := s.d.Read(t.Context(), func(r *gne.ServerRunner) { now = r.Machine.Now - now }); err != nil {
		t.Fatal(err)
	}
	if now > 20 { // it is two, unless the players say once more where they are
		t.Errorf("what was said again and again has %d numbers", now)
	}
}

// TestDatagramsAlone: who sends datagrams and has no connection is nobody, and takes nobody's place, however many.
func TestDatagramsAlone(t *testing.T) {
	s := &server{}
	address, _ := start(t, s)
	a, b := join(t, address, player.Options{Name: "a"}), join(t, address, player.Options{Name: "b"})
	a.until("you are in the game")
	b.until("you are in the game")
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		socket, err := net.Dial("udp", s.ports.LocalAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		socket.Write([]byte{255})
		for range 5 {
			b := []byte{27, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 255}
			for i := 1; i < 6; i++ {
				b[i] = byte(random.Uint32())
			}
			socket.Write(b)
			socket.Write(b[:random.IntN(len(b))])
		}
		socket.Close()
	}
	repeat(t, a, b, "a is at 1 -2")
	repeat(t, b, a, "b is at 1 -2")
	if s.flooded != 0 {
		t.Error("somebody was sent away")
	}
}

// strangers do what no player does.
func strangers(t *testing.T, s *server, address string, random *rand.Rand) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer conn.Close()
	settings, _ := player.Settings("Parley", 1, 0)
	request, err := gne.AppendMessage(nil, &gne.Message{Kind: gne.MessageRequest, Request: gne.RequestMessage{
		Version: settings.Version, Game: settings.Game, Edition: settings.Edition}})
	if err != nil {
		t.Error(err)
	}
	junk := make([]byte, 600)
	for i := range junk {
		junk[i] = byte(random.Uint32())
	}
	switch random.IntN(5) {
	case 0: // half a request, and nothing more
		conn.Write(request[:random.IntN(len(request))])
	case 1:
		conn.Write(junk)
	case 2: // a client, and then no frame, or a name that is too long
		conn.Write(request)
		conn.Write(append([]byte{'N', 'L', 100, 0, 16, 90}, junk[:98]...))
	case 3: // a player that acts before it is one
		conn.Write(request)
		frame, _ := gne.AppendMessage(nil, &gne.Message{Kind: gne.MessageAct})
		conn.Write(frame)
	case 4: // datagrams with keys that nobody has
		if socket, err := net.Dial("udp", s.ports.LocalAddr().String()); err == nil {
			for range 20 {
				junk[0] = 27
				socket.Write(junk[:1+random.IntN(40)])
			}
			socket.Close()
		}
	}
}

// TestJoinsAndLeaves: many players come under few names, act, and leave or break off at any moment, with datagrams that
// are lost, copied and reordered, among strangers. After every change each player has the board that the server had:
// so none is lost and none applied twice. No two players have one name. Whoever comes ends in the game or with a
// reason why not. What a player has asked for is done at most once, and once if it has heard of it.
func TestJoinsAndLeaves(t *testing.T) {
	t.Parallel()
	const crowd = 8
	joins := 60
	if os.Getenv("PARLEY_LONG") != "" {
		joins = 500
	}
	type made struct {
		after string
		times int
	}
	var mu sync.Mutex
	log := map[string]*made{}
	s := &server{often: -1, changed: func(change string, b *board.Board) {
		mu.Lock()
		defer mu.Unlock()
		if m := log[change]; m != nil {
			m.times++
		} else {
			log[change] = &made{b.String(), 1}
		}
		names := map[string]int{}
		for id, name := range b.Players {
			if other, ok := names[name]; ok {
				t.Errorf("players %d and %d are both %s", id, other, name)
			}
			names[name] = id
		}
	}}
	address, stop := start(t, s)
	var compared, ended, acts, places, inside int
	var all sync.WaitGroup
	for w := range crowd {
		all.Go(func() {
			random := rand.New(rand.NewPCG(7, uint64(w)))
			for n := range joins {
				if n%3 == 0 {
					strangers(t, s, address, random)
				}
				var mine []string
				heard := map[string]int{}
				var want string
				hears := make(chan struct{})
				o := player.Options{Name: []string{"Jason", "Ann", "Bo"}[random.IntN(3)], Game: "Parley", Edition: 1,
					NoUDP: random.IntN(4) == 0,
					Changed: func(change string, b *board.Board) {
						if !strings.HasPrefix(change, "+") {
							return
						}
						mu.Lock()
						defer mu.Unlock()
						compared++
						if heard[change]++; change == want && heard[change] == 1 {
							close(hears)
						}
						if m := log[change]; m == nil || m.after != b.String() {
							t.Errorf("after %s a player has %s, and the server had %+v", change, b, m)
						}
					},
					Datagram: func(l transport.Link) (transport.Link, error) {
						return impair.New(l, impair.Config{Seed: random.Uint64(), Weak: true, Faults: impair.Faults{
							Loss: 0.2, Duplicate: 0.2, Reorder: 0.2}})
					}}
				ctx := t.Context()
				var p *player.Player
				if random.IntN(4) == 0 { // breaks off when it has been shown so many lines
					rest := random.IntN(5)
					o.Show = func(string) {
						if rest--; rest < 0 {
							p.Break()
						}
					}
				}
				var err error
				if p, err = player.Join(ctx, address, o); err != nil {
					continue // the server is full of strangers just now
				}
				done := make(chan error, 1)
				go func() { done <- p.Run(ctx) }()
				in := false
				select {
				case <-p.Joined():
					in = true
					for i := range 4 {
						c := board.Change{Kind: board.Add, Name: "count", Value: fmt.Sprint(random.Uint32() >> 2)}
						mu.Lock()
						if mine = append(mine, c.String()); i == 3 {
							want = c.String()
						}
						mu.Unlock()
						p.Type(ctx, fmt.Sprintf("/add %s %s", c.Name, c.Value))
						p.Type(ctx, fmt.Sprintf("/move %d %d", n, w))
						p.Type(ctx, "hello")
					}
					if random.IntN(3) > 0 {
						select {
						case <-hears:
						case err = <-done:
							done <- err
						case <-time.After(time.Minute): // ends a test that would hang
							t.Errorf("%s was asked for and never heard of", want)
							return
						}
					}
					if seen := p.Seen(ctx); seen > 0 {
						mu.Lock()
						places += seen
						mu.Unlock()
					}
					if random.IntN(3) == 0 {
						p.Break()
					} else {
						p.Type(ctx, "/quit")
					}
					<-done
				case err = <-done:
					if err == nil {
						t.Error("a player was neither in the game nor told why")
					}
				case <-time.After(time.Minute): // ends a test that would hang
					t.Error("a player neither joined nor was refused")
					return
				}
				mu.Lock()
				ended++
				if in {
					inside++
				}
				acts += len(mine)
				for _, change := range mine {
					m := log[change]
					if heard[change] > 1 || heard[want] == 1 && (m == nil || m.times != 1 || heard[change] != 1) {
						t.Errorf("%s was heard %d times, and made as %v", change, heard[change], m)
					}
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	last := join(t, address, player.Options{Name: "last"})
	last.until("you are in the game")
	for { // until the server has heard of all who broke off
		var left int
		if err := s.d.Read(t.Context(), func(*gne.ServerRunner) { left = len(s.board.Players) }); err != nil {
			t.Fatal(err)
		}
		if left == 1 {
			break
		}
		runtime.Gosched()
	}
	stop()
	for change, m := range log {
		if change[0] == '+' && m.times > 1 {
			t.Errorf("%s was made %d times", change, m.times)
		}
	}
	if inside < crowd*joins/6 || compared < inside || places == 0 {
		t.Errorf("only %d of %d came into the game, with %d changes and %d places", inside, ended, compared, places)
	}
	t.Logf("%d came, %d joined and %d left; %d changes were asked for, and %d boards compared; %d places were seen",
		ended, s.joins, s.leaves, acts, compared, places)
}
