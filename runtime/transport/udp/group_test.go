package udp_test

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/linktest"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// freePort returns a port that nobody is given on 127.0.0.1 until the test ends: no other test
// hears its broadcasts.
func freePort(t *testing.T) int {
	t.Helper()
	held, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { held.Close() })
	return held.LocalAddr().(*net.UDPAddr).Port
}

// localSix returns a network interface that takes part in multicasts and its local IPv6 address.
func localSix() (zone, ip string) {
	all, _ := net.Interfaces()
	for _, ifi := range all {
		addrs, _ := ifi.Addrs()
		for _, a := range addrs {
			if n, ok := a.(*net.IPNet); ok && n.IP.To4() == nil && n.IP.IsLinkLocalUnicast() &&
				ifi.Flags&net.FlagMulticast != 0 && ifi.Flags&net.FlagUp != 0 {
				return ifi.Name, n.IP.String()
			}
		}
	}
	return "", ""
}

// Programs of one computer hear each other's multicasts on one port, and can answer.
func TestMulticast(t *testing.T) {
	for name, network := range map[string]string{"IPv4": "udp4", "IPv6": "udp6"} {
		t.Run(name, func(t *testing.T) {
			own, group := "127.0.0.1:0", fmt.Sprint("239.255.77.99:", freePort(t))
			if network == "udp6" {
				zone, ip := localSix()
				if zone == "" {
					t.Skip("no network interface here takes part in IPv6 multicasts")
				}
				own, group = fmt.Sprintf("[%s%%%s]:0", ip, zone), fmt.Sprintf("[ff01::7799%%%s]:%d", zone, freePort(t))
			}
			var l [3]*udp.Link
			for i := range l {
				var err error
				if l[i], err = udp.Open(network, own, udp.Config{Broadcast: []string{group}, Hear: group}); err != nil {
					t.Skipf("multicasts cannot be heard here: %v", err)
				}
				watch := time.AfterFunc(time.Minute, func() { l[i].Abort() }) // ends a test that would hang
				defer func() { watch.Stop(); l[i].Abort() }()
			}
			say(t, l[0], transport.All, "who is there")
			if l[0].Stats().Unsent > 0 {
				t.Skip("this computer sends no multicasts")
			}
			for n, other := range l[1:] {
				expect(t, other, "up 0", "0: who is there")
				say(t, other, 0, "I am")
				expect(t, l[0], fmt.Sprint("up ", n), fmt.Sprint(n, ": I am"))
			}
			if s := l[0].Stats(); s.Own > 1 || s.Strangers > 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// A search for games by broadcast, without a cookie: whoever asks is answered with no more than it
// has sent.
func TestDiscovery(t *testing.T) {
	port := freePort(t)
	log, logger := linktest.NewLog()
	defer log.Once(t, "Even")
	game, err := udp.Open("udp4", "127.0.0.1:0",
		udp.Config{Hear: fmt.Sprint("127.255.255.255:", port), Limits: udp.Limits{Even: true, Logger: logger}})
	if err != nil {
		t.Skip(err)
	}
	defer game.Abort()
	seeker := open(t, "127.0.0.1:0", udp.Config{Broadcast: []string{fmt.Sprint("127.255.255.255:", port)}})
	request := fmt.Sprintf("%-40s", "games?") // as long as the answer may be
	say(t, seeker, transport.All, request)
	expect(t, game, "up 0", "0: "+request)
	if game.Send(0, make([]byte, 41)) == nil {
		t.Error("an answer that is longer than the request was sent")
	}
	answer := fmt.Sprintf("%-30s", "a game of ping-pong")
	say(t, game, 0, answer)
	if game.Send(0, make([]byte, 11)) == nil || game.Send(transport.All, make([]byte, 11)) != nil {
		t.Error("a second answer was sent that is too long in all")
	}
	say(t, game, 0, "0123456789")
	expect(t, seeker, "up 0", "0: "+answer, "0: 0123456789")
	if s := game.Stats(); s.Withheld != 3 {
		t.Errorf("%+v", s)
	}
	// A peer that was configured is known, and gets what there is to say.
	if _, err := game.AddPeer(seeker.LocalAddr().String()); err != nil {
		t.Fatal(err)
	}
	say(t, game, 0, request+answer)
	expect(t, seeker, "0: "+request+answer)
}

// With a cookie, a broadcast of somebody who has not shown its address is neither heard nor answered.
func TestDiscoveryWithCookie(t *testing.T) {
	port := freePort(t)
	game, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{Hear: fmt.Sprint("127.255.255.255:", port), Cookie: true})
	if err != nil {
		t.Skip(err)
	}
	defer game.Abort()
	stranger := open(t, "127.0.0.1:0", udp.Config{Broadcast: []string{fmt.Sprint("127.255.255.255:", port)}})
	friend := open(t, "127.0.0.1:0", udp.Config{Cookie: true, Peers: []string{game.LocalAddr().String()}})
	say(t, stranger, transport.All, "games?")
	arrivals := pump(friend)
	expect(t, game, "up 0") // the friend, though it came later
	<-arrivals
	for n := 0; game.Stats().Strangers == 0 && n < 10000; n++ { // broadcasts come by another way, and may be late
		say(t, friend, 0, "more")
		expect(t, game, "0: more")
	}
	if s := game.Stats(); s.Strangers != 1 {
		t.Errorf("%+v", s)
	}
}
