package player_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/netplay/internal/refgame"
	"github.com/parley-go/parley/examples/netplay/player"
)

// wrong is a way in which a peer may misbehave, and the error that must follow.
var wrong = map[string]struct {
	do   refgame.Instead
	want string
}{
	"closes":        {refgame.Instead{Close: true}, "the connection"},
	"half a frame":  {refgame.Instead{Say: []byte{0, 12, 0, 15, 0, 0}, Close: true}, "the connection"},
	"goes silent":   {refgame.Instead{Silent: true}, "nothing heard from peer 0"},
	"unknown type":  {refgame.Instead{Say: []byte{0, 4, 0, 18}}, "malformed frame"},
	"too long":      {refgame.Instead{Say: []byte{8, 1, 0, 1}}, "malformed frame"},
	"too short":     {refgame.Instead{Say: []byte{0, 3, 0, 3}}, "malformed frame"},
	"no body":       {refgame.Instead{Say: []byte{0, 4, 0, 15}}, "malformed frame"},
	"text":          {refgame.Instead{Say: []byte("GET / HTTP/1.1\r\n\r\n")}, "malformed frame"},
	"second INIT":   {refgame.Instead{Say: []byte{0, 12, 0, 0, 0, 4, 0, 0, 0, 7, 0, 0, 0, 4, 0, 0}}, "is refused"},
	"wrong version": {refgame.Instead{Say: []byte{0, 12, 0, 0, 0, 3, 0, 0, 0, 7, 0, 0}}, "is refused"},
	"slot 14":       {refgame.Instead{Say: []byte{0, 12, 0, 4, 1, 0, 0, 1, 14, 0, 0, 0}}, "malformed frame"},
	"many entries":  {refgame.Instead{Say: []byte{0, 12, 0, 4, 1, 0, 0xff, 0xff, 1, 0, 0, 0}}, "malformed frame"},
}

// A peer that does wrong, anywhere in a match, is reported with state and
// reason, the connection is closed, and nothing hangs.
func TestDoesWrong(t *testing.T) {
	for name, w := range wrong {
		for _, point := range refgame.Points {
			t.Run(name+" in "+point, func(t *testing.T) {
				t.Parallel()
				reached := false
				// Who connects and does wrong at once comes nowhere: see TestStrangers.
				plan := refgame.Plan{Server: len(name)%2 == 0 || point == "init", Fleet: []byte{orz}, Name: "The game",
					Battles: []refgame.Battle{{OwnDies: true, After: 6}},
					At: func(m refgame.Moment) refgame.Instead {
						if m.Point != point {
							return refgame.Instead{}
						}
						reached = true
						return w.do
					}}
				cfg := player.Config{Name: "Parley", Matches: 1, Checksums: player.Echo,
					Script: script(t, "died other")}
				if w.do.Silent {
					cfg.Silence = 300 * time.Millisecond
				}
				a, _, err := against(t, cfg, plan)
				for w.do.Silent && !reached && cfg.Silence < time.Minute { // the game was that slow even before
					cfg.Silence *= 4
					a, _, err = against(t, cfg, plan)
				}
				if err != nil {
					t.Fatal(err)
				}
				f, want := new(player.Failure), w.want
				if name == "wrong version" && point == "init" {
					want = "aborted"
				}
				if name == "second INIT" && point == "init" {
					return // the first one there, and silence
				}
				if !errors.As(a.err, &f) || !strings.Contains(f.Error(), want) || f.State == "" {
					t.Fatalf("%v", a.err)
				}
				if !a.has("error netplay.peer in state " + f.State) {
					t.Errorf("no line about it in %s", f.State)
				}
				if a.lines[len(a.lines)-2] == "left in good order" {
					t.Error("left in good order")
				}
			})
		}
	}
}

// TestStrangers: who connects before the game and says nothing, or what is no INIT, takes no place and
// ends nothing; the game that comes last plays its match.
func TestStrangers(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	a, addr, ended := new(account), make(chan net.Addr, 1), make(chan struct{})
	cfg := player.Config{Listen: "127.0.0.1:0", OnListen: func(a net.Addr) { addr <- a },
		Name: "Parley", Matches: 1, Checksums: player.Echo, Script: script(t, "died other")}
	go func() { a.play(ctx, cfg); close(ended) }()
	at := (<-addr).String()
	var strangers []net.Conn
	dial := func(said []byte) net.Conn {
		c, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write(said); err != nil {
			t.Fatal(err)
		}
		return c
	}
	abort := []byte{0, 8, 0, 16, 0, 0, 0, 0}
	for _, said := range [][]byte{nil, {0, 12, 0, 0, 0, 4}, abort, []byte("GET / HTTP/1.1\r\n\r\n"), {0, 4, 0, 18}} {
		strangers = append(strangers, dial(said))
	}
	_, err := refgame.Play(ctx, dial(nil), refgame.Plan{Fleet: []byte{orz}, Name: "The game",
		Battles: []refgame.Battle{{OwnDies: true, After: 6}}})
	<-ended
	if err != nil || a.err != nil || a.res.Ended != 1 {
		t.Errorf("%v, %v, %+v\n%s", err, a.err, a.res, strings.Join(a.lines, "\n"))
	}
	for _, c := range strangers {
		if n, _ := c.Read(make([]byte, 1)); n > 0 {
			t.Error("a stranger got an answer")
		}
		c.Close()
	}
}

// FuzzPeer gives a whole player a stream of bytes as its peer, each piece when
// it has nothing more to do: it comes to an end, whatever they are, and does not say that all was well.
func FuzzPeer(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, server bool, in []byte) { fuzzPeer(t, server, in, 200*time.Microsecond) })
}

// FuzzBytes gives it the stream all at once, which is faster and does not lead as far.
func FuzzBytes(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, server bool, in []byte) { fuzzPeer(t, server, in, 0) })
}

func seeds(f *testing.F) {
	plan := refgame.Plan{Fleet: []byte{orz}, Name: "The game", Ping: true,
		Battles: []refgame.Battle{{OwnDies: true, After: 3}}}
	f.Add(true, game(f, plan))
	plan.At = func(m refgame.Moment) refgame.Instead { return refgame.Instead{Leave: m.Frame == 2} }
	f.Add(true, game(f, plan))
	plan.Before, plan.At = []refgame.Edit{{Own: false, Slot: 0, Ship: spathi}, {Own: true, Slot: 0, Ship: spathi}}, nil
	f.Add(false, game(f, plan))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 4 {
		b := []byte{12, 0, 12, 0, 0, 0, 4, 0, 0, 0, 7, 0, 0}
		for range r.IntN(60) {
			b = append(b, 4, 0, byte(4+4*r.IntN(3)), 0, byte(r.IntN(19)))
		}
		f.Add(i%2 == 0, b)
	}
}

// What the fuzzing begins with leads through whole matches.
func TestFuzzSeeds(t *testing.T) {
	plan := refgame.Plan{Fleet: []byte{orz}, Name: "The game", Battles: []refgame.Battle{{OwnDies: true, After: 3}}}
	in := game(t, plan)
	for pause := time.Millisecond; ; pause *= 4 { // on a computer that has much to do, giving a command takes long
		res := fuzzPeer(t, true, in, pause)
		if res.Ended == 1 && res.Frames >= 4 {
			return
		}
		if pause > time.Second {
			t.Fatalf("%+v", res)
		}
	}
}
