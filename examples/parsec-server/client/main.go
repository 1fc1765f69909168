// Command client is a player at a gameserver of Parsec: it flies a ship, sees others, shoots, drops and collects things
// and talks. At a terminal it has a radar and single keys, otherwise lines are typed and printed. It keeps a session in
// a file, and shows it again.
//
// It types and prints; view.go is the whole screen. The connection is the business of package pilot, what is seen that
// of package scene, what can be collected that of the generated machine. Start from [run].
//
//	go run ./examples/parsec-server -mode game
//	go run ./examples/parsec-server/client -connect 127.0.0.1:6581 -name sid
//
// Exit codes: 0 it has left, or all was shown; 1 the server does not let it in or is gone, or the recording is damaged;
// 2 wrong usage.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/parley-go/parley/examples/internal/terminal/raw"
	"github.com/parley-go/parley/examples/internal/usage"
	"github.com/parley-go/parley/examples/remote"
	"github.com/parley-go/parley/examples/remote/pilot"
	"github.com/parley-go/parley/examples/remote/scene"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/internal/interrupt"
)

func main() {
	ctx, stop := interrupt.Context(context.Background())
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("client", flag.ContinueOnError)
	var o pilot.Options
	flags.StringVar(&o.Lines, "connect", "127.0.0.1:6581", "`address` of the gameserver")
	flags.StringVar(&o.Game, "udp", "", "`address` of its packets of the game (default port 6522 of the same host)")
	flags.StringVar(&o.Name, "name", "", "`name` of the player, without blanks (default that of the user)")
	rate := flags.Int("rate", 20, "`times` a second that the ship is sent, 1 to 100")
	record := flags.String("record", "", "`file` to keep the session in, which must not be there yet")
	play := flags.String("play", "", "`file` to show a session of, and end; of a gameserver's -record as well")
	plain := flags.Bool("plain", false,
		"print lines and read commands, as into a pipe, instead of a view of the whole terminal")
	speed := flags.Float64("speed", 1, "with -play: how many `times` as fast, 0 for at once")
	if code, done := usage.Parse(flags, args, stdout, stderr); done {
		return code
	}
	var err error
	switch {
	case *play != "":
		err = usage.Only(flags, "-play", "play", "speed")
		if err == nil && !(*speed >= 0) {
			err = errors.New("-speed: it is not negative")
		}
	case *rate < 1 || *rate > 100:
		err = fmt.Errorf("-rate %d: 1 to 100", *rate)
	default:
		err = usage.Without(flags, "no -play", "speed")
	}
	if err != nil {
		return usage.Wrong(flags, stderr, err)
	}
	if *play != "" {
		return ended(show(ctx, *play, *speed, stdout), stderr)
	}
	o.Name, o.System = cmp.Or(o.Name, os.Getenv("USER"), "player"), runtime.GOOS
	g := &session{out: stdout}
	if *record != "" {
		file, err := os.OpenFile(*record, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return usage.Wrong(flags, stderr, fmt.Errorf("-record: %w", err))
		}
		defer file.Close()
		if g.record, err = remote.NewRecorder(file); err != nil {
			os.Remove(*record)
			return usage.Wrong(flags, stderr, fmt.Errorf("-record: %w", err))
		}
	}
	in, typed := stdin.(*os.File)
	out, shown := stdout.(*os.File)
	if *plain || !typed || !shown || !raw.Is(in, out) {
		return ended(g.fly(ctx, o, *rate, read(ctx, stdin), nil), stderr)
	}
	return ended(whole(ctx, g, o, *rate, in, out), stderr)
}

func ended(err error, stderr io.Writer) int {
	if err != nil {
		fmt.Fprintln(stderr, "client:", err)
		return 1
	}
	return 0
}

// whole plays on a whole terminal, and gives it back.
func whole(ctx context.Context, g *session, o pilot.Options, rate int, in, out *os.File) error {
	t, err := raw.Open(ctx, in, out)
	if err != nil {
		return err
	}
	defer t.Close()
	g.view = newView(out, t.Size)
	if err := g.view.w.Begin(); err != nil {
		return err
	}
	defer g.view.w.End()
	return g.fly(ctx, o, rate, nil, t.Typed)
}

// read returns the lines that are typed. It is closed at their end.
func read(ctx context.Context, in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(in); s.Scan(); {
			select {
			case lines <- s.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

// show shows a session at its own pace, or faster.
func show(ctx context.Context, name string, speed float64, out io.Writer) error {
	file, err := files.Open(name)
	if err != nil {
		return fmt.Errorf("-play: %w", err)
	}
	defer file.Close()
	defer context.AfterFunc(ctx, func() { file.Close() })() // who waits for a pipe is woken
	p, err := remote.NewPlayback(file)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("-play: %w", err)
	}
	var s scene.Scene
	var last remote.Record
	for {
		r, err := p.Next()
		if err == io.EOF || ctx.Err() != nil {
			break
		}
		if err != nil {
			return fmt.Errorf("-play: %w", err)
		}
		if speed > 0 && r.At > last.At {
			select {
			case <-time.After(time.Duration(float64(r.At-last.At) / speed)):
			case <-ctx.Done():
				return nil
			}
		}
		last = r
		for _, line := range s.Apply(r) {
			fmt.Fprintf(out, "%8.3f s  %s\n", r.At.Seconds(), line)
		}
	}
	fmt.Fprintf(out, "at the end, after %.3f s:\n%s\n", last.At.Seconds(), s.Map(scene.Place{}, last.At))
	return nil
}
