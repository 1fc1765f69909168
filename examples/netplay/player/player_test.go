package player_test

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/netplay/player"
	"github.com/parley-go/parley/machines/netplay"
	"github.com/parley-go/parley/runtime/trace"
)

// account is one side's reports and records.
type account struct {
	res   player.Result
	err   error
	lines []string
	json  bytes.Buffer
}

func (a *account) has(line string) bool {
	for _, l := range a.lines {
		if strings.Contains(l, line) {
			return true
		}
	}
	return false
}

// pair plays two sides against each other over TCP: server accepts, client connects.
func pair(t *testing.T, server, client player.Config) (s, c *account) {
	t.Helper()
	addr := make(chan net.Addr, 1)
	server.Listen, server.OnListen = "127.0.0.1:0", func(a net.Addr) { addr <- a }
	s, c = new(account), new(account)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() { s.play(ctx, server) })
	client.Connect = (<-addr).String()
	wg.Go(func() { c.play(ctx, client) })
	wg.Wait()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("server: %v\n%s", s.err, strings.Join(s.lines, "\n"))
			t.Logf("client: %v\n%s", c.err, strings.Join(c.lines, "\n"))
		}
	})
	return s, c
}

func (a *account) play(ctx context.Context, cfg player.Config) {
	cfg.OnLine = func(l string) { a.lines = append(a.lines, l) }
	cfg.Sinks = []trace.Sink{trace.NewWriter(&a.json)}
	cfg.Calm = time.Millisecond
	a.res, a.err = player.Play(ctx, cfg)
}

func TestMatch(t *testing.T) {
	s, c := pair(t,
		player.Config{Name: "Server", Delay: 2, Seed: 4711, Matches: 1, Checksums: player.Own,
			Fleet: []netplay.Ship{netplay.ShipOrz, netplay.ShipVacant, netplay.ShipVux}},
		player.Config{Name: "Client", Delay: 3, Matches: 1, Checksums: player.Own})
	if s.err != nil || c.err != nil {
		t.Fatalf("%v, %v", s.err, c.err)
	}
	if s.res.Ended != 1 || c.res.Ended != 1 || s.res.Checked == 0 || s.res.Checked != c.res.Checked {
		t.Errorf("%+v, %+v", s.res, c.res)
	}
}
