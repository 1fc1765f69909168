package drive

import (
	"net"
	"os"
	"strings"
	"testing"

	"github.com/parley-go/parley/proptest/conform/sample/gne"
	"github.com/parley-go/parley/runtime/capi"
	"github.com/parley-go/parley/runtime/fsm"
)

// The library for C with a protocol of two channels.

func init() {
	capi.Register("gne.client", func(*capi.Params) (fsm.Commander, error) { return gne.NewClientRunner(), nil })
	capi.Register("gne.server", func(*capi.Params) (fsm.Commander, error) { return gne.NewServerRunner(), nil })
}

// inC opens a machine as a program in C does.
func inC(t *testing.T, name string) *capi.Machine {
	t.Helper()
	m, err := capi.Open(name, ".handshake: 0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// polls waits for an event that has a text in it, and lets states pass.
func polls(t *testing.T, m *capi.Machine, kind capi.Kind, want string) {
	t.Helper()
	for {
		e, err := m.Poll(longest, 1<<16)
		if err != nil {
			t.Fatalf("waiting for %q: %v", want, err)
		}
		if e.Kind == capi.State {
			continue
		}
		if e.Kind != kind || !strings.Contains(e.Text, want) {
			t.Fatalf("event %d %q, not %d %q", e.Kind, e.Text, kind, want)
		}
		return
	}
}

// freePort is a port of UDP at an address of this computer that no other process is likely to use.
func freePort(t *testing.T) string {
	t.Helper()
	id := os.Getpid()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, byte(64+id>>16&63), byte(id>>8), byte(id))})
	if err != nil {
		t.Skip(err)
	}
	defer c.Close()
	return c.LocalAddr().String()
}

// TestChannelsInC: links name their channel, and each message goes over its own.
func TestChannelsInC(t *testing.T) {
	c, s := inC(t, "gne.client"), inC(t, "gne.server")
	here, there := freePort(t), freePort(t)
	at, err := s.Listen(0, `tcp:127.0.0.1:0 {channel: "events", opening: true}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		m    *capi.Machine
		link string
	}{
		{s, `udp:` + here + `>` + there + ` {channel: "places", peers: 1}`},
		{c, `udp:` + there + `>` + here + ` {channel: "places", peers: 1}`},
		{c, `tcp:` + at + ` {channel: "events"}`},
	} {
		if err := x.m.Connect(0, x.link); err != nil {
			t.Fatal(x.link, err)
		}
	}
	polls(t, c, capi.LinkUp, at) // the address is that of the connection, not of the socket
	do(t, c, "enter")
	polls(t, s, capi.LinkUp, "127.0.0.1:")
	polls(t, s, capi.Report, "entered")
	polls(t, c, capi.Report, "entered")
	do(t, c, "move{place: 7}")
	polls(t, s, capi.Report, "moved{place: 7}")
	do(t, s, "move{place: 9}")
	polls(t, c, capi.Report, "moved{place: 9}")

	second := `udp:127.0.0.1:0>` + here + ` {channel: "places", peers: 1}`
	if err := c.Connect(0, second); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a second link for a channel: %v", err)
	}
	if err := c.Disconnect(0); err != nil {
		t.Error(err)
	}
	polls(t, s, capi.Report, "gone")
}

func do(t *testing.T, m *capi.Machine, command string) {
	t.Helper()
	if err := m.Step(command); err != nil {
		t.Fatal(command, err)
	}
}

// TestWrongChannelsInC: what cannot work is refused in words.
func TestWrongChannelsInC(t *testing.T) {
	c := inC(t, "gne.client")
	port := freePort(t)
	for _, x := range []struct{ link, want string }{
		{`udp:` + port + ` {channel: "plaices"}`, `no channel "plaices"`},
		{`udp:` + port + ` {channel: places}`, "channel is places, not a text"},
		{`udp:` + port + ` {channel: "events", peers: 1}`, "promises too little"},
		{`own`, "several channels"},
	} {
		if err := c.Connect(0, x.link); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %s", x.link, err, x.want)
		}
	}
	if _, _, err := capi.OpenServer("gne.server", "", 4, "tcp:127.0.0.1:0"); err == nil ||
		!strings.Contains(err.Error(), "several channels") {
		t.Error(err)
	}
	if _, err := c.Poll(0, 100); err == nil {
		t.Errorf("an event although nothing happened: %v", err)
	}
}
