package gomc

import (
	"context"
	"encoding/json"
	"net"
	"testing"
	"time"

	"github.com/Tnze/go-mc/bot"
	"github.com/Tnze/go-mc/chat"
	mcnet "github.com/Tnze/go-mc/net"
	"github.com/Tnze/go-mc/server"

	ours "github.com/parley-go/parley/examples/interop/minecraft"
	"github.com/parley-go/parley/machines/minecraft"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// limit is how long a test waits for anything at all.
const limit = 60 * time.Second

// status is what a server says.
type status struct {
	Version struct {
		Name     string
		Protocol int
	}
	Players     struct{ Max, Online int }
	Description any
}

// TestServer: our client asks a server of go-mc.
func TestServer(t *testing.T) {
	l, err := mcnet.ListenMC("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	players := server.NewPlayerList(20)
	info := server.NewPingInfo("go-mc", 762, chat.Text("A server of others"), nil)
	s := server.Server{ListPingHandler: struct {
		*server.PlayerList
		*server.PingInfo
	}{players, info}}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // closed
			}
			go s.AcceptConn(&c)
		}
	}()
	ctx, stop := context.WithTimeout(t.Context(), limit)
	defer stop()
	for range 3 {
		got, err := ours.Ask(ctx, l.Addr().String(), "localhost", 25565, 762)
		if err != nil {
			t.Fatal(err)
		}
		var said status
		if err := json.Unmarshal([]byte(got.JSON), &said); err != nil || said.Version.Name != "go-mc" ||
			said.Version.Protocol != 762 || said.Players.Max != 20 {
			t.Errorf("%q, %v", got.JSON, err)
		}
	}
}

// TestClient: the client of go-mc asks our server.
func TestClient(t *testing.T) {
	link, err := tcp.Serve("tcp4", "127.0.0.1:0", tcp.ServeConfig{})
	if err != nil {
		t.Fatal(err)
	}
	const text = `{"version":{"name":"ours","protocol":762},"players":{"max":4,"online":1},"description":"A server of ours"}`
	heard := make(chan minecraft.ServerAskedReport, 1)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- ours.Serve(ctx, link, func(r minecraft.ServerAskedReport) string {
			heard <- r
			return text
		})
	}()
	got, delay, err := bot.PingAndListTimeout(link.LocalAddr().String(), limit)
	if err != nil || string(got) != text || delay <= 0 {
		t.Errorf("%q, %v, %v", got, delay, err)
	} else if r := <-heard; r.Address.String() != "127.0.0.1" || int(r.Port) != link.LocalAddr().(*net.TCPAddr).Port {
		t.Errorf("it has asked for %s, port %d", r.Address, r.Port)
	}
	stop()
	<-ended
}
