package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/lockstep/frames"
	"github.com/parley-go/parley/internal/doctest"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// start runs the program, and returns its output as lines.
func start(t *testing.T, ctx context.Context, all *sync.WaitGroup, args ...string) *output {
	o := &output{said: make(chan struct{}, 1)}
	all.Go(func() {
		var errs bytes.Buffer
		if code := run(ctx, args, o, &errs); code != 0 {
			t.Errorf("%v: exit code %d\n%s", args, code, errs.String())
		}
	})
	return o
}

// output is what a program has printed so far.
type output struct {
	mu   sync.Mutex
	text strings.Builder
	said chan struct{}
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.said <- struct{}{}:
	default:
	}
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// await waits for a text, and returns what the expression's group matches.
func (o *output) await(t *testing.T, ctx context.Context, expression string) string {
	t.Helper()
	re := regexp.MustCompile(expression)
	for {
		if m := re.FindStringSubmatch(o.String()); m != nil {
			return m[len(m)-1]
		}
		select {
		case <-o.said:
		case <-ctx.Done():
			t.Fatalf("%q does not come; there is:\n%s", expression, o)
		}
	}
}

// TestPrograms plays a game of two over TCP, to whom a third one comes, and plays the recording again.
func TestPrograms(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	file, own := filepath.Join(t.TempDir(), "game.replay"), filepath.Join(t.TempDir(), "own.replay")
	server := start(t, ctx, &all, "-listen", "127.0.0.1:0", "-length", "10ms", "-spacing", "3", "-record", file)
	address := server.await(t, ctx, `listening on (\S+)`)
	join := func(slot int, more ...string) (*output, context.CancelFunc) {
		ctx, leave := context.WithCancel(ctx)
		t.Cleanup(leave)
		return start(t, ctx, &all, append([]string{"-connect", address, "-slot", fmt.Sprint(slot)}, more...)...), leave
	}
	first, leave := join(0)
	second, leaveToo := join(1, "-record", own)
	second.await(t, ctx, "begins")
	third, _ := join(2, "-steps", "20")
	server.await(t, ctx, "slot 2 has left")
	leave()
	server.await(t, ctx, "slot 0 has left")
	leaveToo()
	all.Wait()
	for _, o := range []*output{first, second, third} {
		o.await(t, ctx, `(game frame \d+, checksum [0-9a-f]+)\n$`)
	}
	for _, s := range []string{"slot 0 has left\n", "slot 1 has left\n", "slot 2 has left\n",
		`"player 2" plays in slot 2`} {
		if !strings.Contains(server.String(), s) {
			t.Errorf("%q is missing in:\n%s", s, server)
		}
	}
	// A player's file has the checksums that the game had, and the server's has the same turns.
	var errs bytes.Buffer
	for _, file := range []string{file, own} {
		var out bytes.Buffer
		code := run(ctx, []string{"-replay", file}, &out, &errs)
		if code != 0 || !strings.Contains(out.String(), "checksum") {
			t.Errorf("%s: %s; exit code %d, %s", file, &out, code, &errs)
		}
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, whole[:len(whole)-3], 0o600); err != nil {
		t.Fatal(err)
	}
	errs.Reset()
	code := run(ctx, []string{"-replay", file}, io.Discard, &errs)
	if code != 1 || !strings.Contains(errs.String(), "cut short") {
		t.Errorf("a file that was cut: exit code %d, %s", code, &errs)
	}
}

// TestNames: a name cannot say anything to the server's terminal.
func TestNames(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	server := start(t, ctx, &all, "-listen", "127.0.0.1:0")
	link, err := tcp.Dial(ctx, "tcp", server.await(t, ctx, `listening on (\S+)`), tcp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	c := frames.NewClient(frames.ClientConfig{Slot: frames.Watch, Name: "\x1b[2J\n", Game: new(island)})
	all.Go(func() { c.Run(ctx, link) })
	server.await(t, ctx, `looks on`)
	if s := server.String(); strings.Contains(s, "\x1b") || strings.Count(s, "\n") != 2 {
		t.Errorf("%q", s)
	}
	cancel()
	all.Wait()
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		{}, {"-listen", ":0", "-connect", ":1"}, {"-connect", ":1", "-slot", "8"}, {"-listen", ":0", "-players", "9"},
		{"-listen", "nowhere:0"}, {"-connect", ":1", "more"}, {"-listen", "127.0.0.1:0", "-length", "1s"},
		{"-listen", "127.0.0.1:0", "-spacing", "21"}, {"-listen", "127.0.0.1:0", "-slot", "1"},
		{"-connect", ":1", "-players", "2"}, {"-replay", "x", "-record", "y"},
		{"-listen", "127.0.0.1:0", "-seed", "4294967296"}, {"-listen", "127.0.0.1:0", "-per-address", "0"},
		{"-listen", "127.0.0.1:0", "-record", filepath.Join(t.TempDir(), "no", "folder")},
		{"-listen", "127.0.0.1:0", "-record", "main.go"},
	} {
		var errs bytes.Buffer
		if code := run(t.Context(), args, io.Discard, &errs); code != 2 || errs.Len() == 0 {
			t.Errorf("%v: exit code %d, %s", args, code, &errs)
		}
	}
}

// TestLobby: who leaves before the game does not count, and the game begins when there are enough again.
func TestLobby(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	server := start(t, ctx, &all, "-listen", "127.0.0.1:0", "-length", "10ms")
	address := server.await(t, ctx, `listening on (\S+)`)
	first, leave := context.WithCancel(ctx)
	start(t, first, &all, "-connect", address, "-slot", "0")
	server.await(t, ctx, "slot 0")
	leave()
	all.Go(func() { // the slot is taken until the server has heard that the first one is gone
		for run(ctx, []string{"-connect", address, "-slot", "0", "-steps", "20"}, io.Discard, io.Discard) == 1 {
		}
	})
	server.await(t, ctx, `(?s)slot 0.*slot 0`)
	third := start(t, ctx, &all, "-connect", address, "-slot", "2", "-steps", "20")
	third.await(t, ctx, "game frame 20, checksum")
	all.Wait()
	if s := third.String(); !strings.Contains(s, "the game begins") {
		t.Errorf("the game began with who had left:\n%s", s)
	}
}

// TestFullDisk: a game whose recordings have no room goes on, and each program says so once.
func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	say := func(args ...string) (*output, *bytes.Buffer) {
		o, errs := &output{said: make(chan struct{}, 1)}, &bytes.Buffer{}
		all.Go(func() {
			if code := run(ctx, args, o, errs); code != 1 {
				t.Errorf("%v: exit code %d", args, code)
			}
		})
		return o, errs
	}
	server, errs := say("-listen", "127.0.0.1:0", "-players", "1", "-length", "10ms", "-record", "/dev/full")
	address := server.await(t, ctx, `listening on (\S+)`)
	player, errs2 := say("-connect", address, "-steps", "50", "-record", "/dev/full")
	player.await(t, ctx, "game frame 50, checksum")
	all.Wait()
	for _, s := range []string{errs.String(), errs2.String()} {
		if strings.Count(s, "is not recorded any more") != 1 || !strings.Contains(s, "no space left") {
			t.Errorf("it is not said once: %s", s)
		}
	}
}

// TestAnywhere: who asks for no slot plays in the first that is free, before the game and in it.
func TestAnywhere(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	server := start(t, ctx, &all, "-listen", "127.0.0.1:0", "-length", "10ms", "-spacing", "3")
	address := server.await(t, ctx, `listening on (\S+)`)
	join := func(more ...string) *output {
		return start(t, ctx, &all, append([]string{"-connect", address}, more...)...)
	}
	first, second := join("-steps", "400"), join("-steps", "400")
	first.await(t, ctx, "begins")
	second.await(t, ctx, "begins")
	server.await(t, ctx, "slot 0")
	server.await(t, ctx, "slot 1")
	join("-steps", "20")
	server.await(t, ctx, `"player 2" plays in slot 2`)
	cancel()
	all.Wait()
}

// TestPage does what docs/LOCKSTEP.md shows, on a port that is free. What a player had computed in the end is what the
// recording gives.
func TestPage(t *testing.T) {
	blocks := doctest.Page(t, "../../docs/LOCKSTEP.md")
	file := filepath.Join(t.TempDir(), "game.replay")
	var commands [][]string
	for _, b := range blocks {
		for line := range strings.Lines(b.Text) {
			args, ok := strings.CutPrefix(strings.TrimSpace(line), "go run ./examples/lockstep ")
			if ok && b.Lang == "sh" {
				commands = append(commands, strings.Fields(strings.Replace(args, "game.replay", file, 1)))
			}
		}
	}
	if len(commands) != 5 {
		t.Fatalf("the page has other commands: %q", commands)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	commands[0][1] = "127.0.0.1:0"
	server := start(t, ctx, &all, commands[0]...)
	address := server.await(t, ctx, `listening on (\S+)`)
	for _, c := range commands[1:4] {
		c[1] = address
	}
	playing, leave := context.WithCancel(ctx)
	defer leave()
	first, second := start(t, playing, &all, commands[1]...), start(t, ctx, &all, commands[2]...)
	first.await(t, ctx, "begins")
	watcher := start(t, ctx, &all, commands[3]...)
	watcher.await(t, ctx, "watching")
	second.await(t, ctx, `game frame 100, checksum [0-9a-f]{8}\n$`)
	leave()
	all.Wait()
	watcher.await(t, ctx, `checksum [0-9a-f]{8}\nnobody plays any more\n$`)
	again := start(t, ctx, &all, commands[4]...)
	all.Wait()
	again.await(t, ctx, `command frames; game frame \d+, checksum [0-9a-f]{8}\n$`)
}

// Neither a pipe that nobody reads nor one that nobody fills holds the program up.
func TestPipes(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		t.Skip(err)
	}
	var errs bytes.Buffer
	code := run(t.Context(), []string{"-listen", "127.0.0.1:0", "-record", pipe}, io.Discard, &errs)
	if code != 2 || !strings.Contains(errs.String(), "start the reader first") {
		t.Errorf("exit code %d, %s", code, &errs)
	}
	end, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer end.Close()
	full, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int)
	go func() { done <- run(ctx, []string{"-replay", pipe}, io.Discard, io.Discard) }()
	cancel()
	if code := <-done; code != 0 {
		t.Errorf("interrupted: exit code %d", code)
	}
	if _, err := (brief{full}).Write(make([]byte, 1<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v: more than a pipe holds was written to it, and nobody reads", err)
	}
}
