package main

import (
	"bytes"
	"context"
	"image/gif"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
			args := append(strings.Fields("-headless -rounds 1 -arena 3 -rate 100 -record "+file), strings.Fields(x.flags)...)
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
