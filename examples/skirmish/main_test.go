package main

import (
	"bytes"
	"context"
	"image/gif"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/runtime/transport/ipx"
)

// Bots play a match over each network, with losses where there are any, and it can be seen again.
func TestHeadless(t *testing.T) {
	server, err := ipx.Listen("udp", "127.0.0.1:0", ipx.ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { server.Serve(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	for _, x := range []struct{ name, flags string }{
		{"tcp", "-link tcp -bots 4"},
		{"udp", "-link udp -bots 4 -loss 0.1"},
		{"ipx", "-link ipx -bots 4 -loss 0.05 -tunnel " + server.Addr().String()},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "match")
			var out, errs bytes.Buffer
			args := append(strings.Fields("-headless -rounds 1 -arena 3 -rate 100 -record "+file),
				strings.Fields(x.flags)...)
			if code := run(args, &out, &errs); code != 0 || !strings.Contains(out.String(), " 0 wrong\n") {
				t.Fatalf("exit code %d\n%s%s", code, &out, &errs)
			}
			moving := filepath.Join(t.TempDir(), "match.gif")
			if code := run([]string{"-replay", file, "-film", moving}, &out, &errs); code != 0 {
				t.Fatalf("exit code %d\n%s", code, &errs)
			}
			b, err := os.ReadFile(moving)
			if err != nil {
				t.Fatal(err)
			}
			if g, err := gif.DecodeAll(bytes.NewReader(b)); err != nil || len(g.Image) < 100 {
				t.Errorf("%v, and no film of the match", err)
			}
		})
	}
}

// seen waits until a session shows a text, looking as often as a terminal would.
func seen(t *testing.T, s session, want string) {
	t.Helper()
	tick := time.NewTicker(time.Second / game.Rate)
	defer tick.Stop()
	for all := ""; ; <-tick.C {
		select {
		case <-s.Over():
			t.Fatalf("it is over, and %q was not shown but\n%s", want, all)
		case <-t.Context().Done():
			t.Fatal("the test is over")
		default:
		}
		all = ""
		for _, row := range s.Frame(0) {
			for _, c := range row {
				all += string(c.Rune)
			}
			all += "\n"
		}
		if strings.Contains(all, want) {
			return
		}
	}
}

// A player plays at once; who joins meanwhile waits, and who looks on sees it.
func TestSessions(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	parsed := func(args string) *settings {
		s := new(settings)
		f := s.flags()
		if err := f.Parse(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		if err := s.check(f); err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := parsed("-listen 127.0.0.1:0 -name Ann -rounds 2 -rate 100")
	host, err := s.session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	seen(t, host, "▸Ann")
	at := strings.TrimPrefix(host.(*online).title, "others join with -join ")
	watcher, err := parsed("-watch " + at).session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	seen(t, watcher, "you look on")
	guest, err := parsed("-name Bob -join " + at).session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	seen(t, guest, "A match is on.")
	seen(t, guest, "Enter: play") // once it is over
	guest.Type(ctx, '1')
	seen(t, host, "Enter: play")
	seen(t, host, "The Ford")
	host.Type(ctx, '\r')
	seen(t, host, "You agree")
	guest.Type(ctx, '\r')
	seen(t, host, "Bob 0")
	seen(t, guest, "▸Bob")
	cancel()
	<-host.Over()
	<-guest.Over()
	<-watcher.Over()
}

// Wrong flags and files that are none are told in a line.
func TestUsage(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	if err := os.WriteFile(none, []byte("this is no recording"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		args string
		want string
	}{
		{"-arena 9", "-arena 9: it is a number from 0 to 3"},
		{"-rounds 0", "-rounds 0: it is a number from 1 to 20"},
		{"-bots 8", "-bots 8: it is a number from 0 to 7"},
		{"-link wire", "-link wire: it is tcp, udp or ipx"},
		{"-loss 2", "-loss 2: it is a number from 0 to 0.5"},
		{"-rate 200", "-rate 200: it is a number from 13 to 100"},
		{"-name 12345678901234567", "it has more than 16 bytes"},
		{"-headless -listen nowhere", "nowhere"},
		{"-replay " + none + " -film " + none + ".gif", "replay"},
	} {
		var out, errs bytes.Buffer
		if code := run(strings.Fields(x.args), &out, &errs); code != 2 || !strings.Contains(errs.String(), x.want) {
			t.Errorf("%s: exit code %d, %q", x.args, code, errs.String())
		}
	}
}
