// Command lockstep lets settlers walk over an island that every program simulates for itself: a server relays what the
// players want and paces them, over TCP, and everybody sees the same. Players may come late and watch; a game is
// recorded in a file, and played again from it.
//
// It parses flags and prints. The game is in island.go, all that has to do with lockstep in package frames, and the
// protocol in the generated machines. Start from [run]. Try it:
//
//	go run ./examples/lockstep -listen 127.0.0.1:3665 -players 2 -record game.replay
//	go run ./examples/lockstep -connect 127.0.0.1:3665
//	go run ./examples/lockstep -connect 127.0.0.1:3665
//	go run ./examples/lockstep -connect 127.0.0.1:3665 -slot -1
//	go run ./examples/lockstep -replay game.replay
//
// Exit codes: 0 done or interrupted; 1 it could not go on, or the game was not recorded to its end; 2 wrong usage, or
// an address cannot be listened on, or a file cannot be opened.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/parley-go/parley/examples/internal/usage"
	"github.com/parley-go/parley/examples/lockstep/frames"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/internal/interrupt"
	"github.com/parley-go/parley/machines/lockstep"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

func main() {
	ctx, stop := interrupt.Context(context.Background())
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// options are the flags.
type options struct {
	listen, connect, replay, record string
	players, slot, spacing          int
	perAddress                      int
	length                          time.Duration
	seed, key, steps                uint64
	paced, anywhere                 bool // anywhere: in whatever slot is free
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("lockstep", flag.ContinueOnError)
	var o options
	flags.StringVar(&o.listen, "listen", "", "be the server at this `address`")
	flags.IntVar(&o.players, "players", 2, "`number` of players with whom the server begins")
	flags.IntVar(&o.spacing, "spacing", 4, "`number` of game frames between command frames, 1 to 20")
	flags.DurationVar(&o.length, "length", 50*time.Millisecond, "`time` of a game frame, 10 ms to 80 ms")
	flags.Uint64Var(&o.seed, "seed", 1, "`number` that decides the island's chance")
	flags.IntVar(&o.perAddress, "per-address", 16, "the most connections of one address")
	flags.StringVar(&o.connect, "connect", "", "play at the server with this `address`")
	flags.IntVar(&o.slot, "slot", 0, "the `slot` to play in, 0 to 7, or -1 to watch; without it the first that is free")
	flags.Uint64Var(&o.key, "key", 0, "`secret` for the slot after a lost link; 0 takes one by chance")
	flags.Uint64Var(&o.steps, "steps", 0, "`number` of game frames after which the player leaves, 0 for never")
	flags.StringVar(&o.record, "record", "", "`file` that the game is recorded in; one that is there is kept")
	flags.StringVar(&o.replay, "replay", "", "play this `file` again")
	flags.BoolVar(&o.paced, "paced", false, "play the file as slowly as it was recorded")
	if code, done := usage.Parse(flags, args, stdout, stderr); done {
		return code
	}
	o.anywhere = !slices.Contains(usage.Given(flags), "slot")
	modes := 0
	for _, s := range []string{o.listen, o.connect, o.replay} {
		if s != "" {
			modes++
		}
	}
	switch {
	case modes != 1:
		return usage.Wrong(flags, stderr, errors.New("give one of -listen, -connect and -replay"))
	case o.slot < -1 || o.slot >= frames.Slots:
		return usage.Wrong(flags, stderr,
			fmt.Errorf("-slot %d: there are 0 to %d, and -1 watches", o.slot, frames.Slots-1))
	case o.players < 1 || o.players > frames.Slots:
		return usage.Wrong(flags, stderr, fmt.Errorf("-players %d: 1 to %d can play", o.players, frames.Slots))
	case o.seed > math.MaxUint32:
		return usage.Wrong(flags, stderr, fmt.Errorf("-seed %d: a number of 32 bits", o.seed))
	case o.perAddress < 1:
		return usage.Wrong(flags, stderr, fmt.Errorf("-per-address %d: at least 1", o.perAddress))
	}
	err := frames.CheckPace(o.length, o.spacing)
	switch {
	case err != nil:
	case o.replay != "":
		err = usage.Only(flags, "-replay", "replay", "paced")
	case o.connect != "":
		err = usage.Only(flags, "-connect", "connect", "slot", "key", "steps", "record")
	default:
		err = usage.Only(flags, "-listen", "listen", "players", "spacing", "length", "seed", "per-address", "record")
	}
	if err != nil {
		return usage.Wrong(flags, stderr, err)
	}
	log := slog.New(slog.NewTextHandler(stderr, nil))
	rec, err := o.recorder(log)
	if err != nil {
		return usage.Wrong(flags, stderr, err)
	}
	switch {
	case o.replay != "":
		err = o.again(ctx, stdout)
	case o.connect != "":
		err = o.join(ctx, rec.Recorder, stdout, log)
	default:
		var listener *tcp.Listener
		if listener, err = tcp.Listen("tcp", o.listen, tcp.Config{MaxLinks: 32, PerAddress: o.perAddress,
			Logger: log}); err != nil {
			rec.close()
			return usage.Wrong(flags, stderr, err)
		}
		fmt.Fprintln(stdout, "listening on", listener.Addr())
		err = o.serve(ctx, listener, rec.Recorder, stdout, log)
	}
	whole := rec.close()
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(stderr, "lockstep: %v\n", err)
		return 1
	}
	if !whole {
		return 1 // and that has been said
	}
	return 0
}

// recording is the file that the game is recorded in, if there is one.
type recording struct {
	*frames.Recorder
	file *os.File
	tell func(error) // says once that not all is in it
	lost bool
}

// brief is a file that is written to, and which may be a pipe: who reads it does not hold the game up for long.
type brief struct{ *os.File }

// Write implements io.Writer.
func (b brief) Write(p []byte) (int, error) {
	b.SetWriteDeadline(time.Now().Add(time.Second)) // a file of bytes has none, and needs none
	return b.File.Write(p)
}

// recorder opens the file of -record. One that holds something is kept: it may be the last game's.
func (o *options) recorder(log *slog.Logger) (*recording, error) {
	r := &recording{}
	if o.record == "" {
		return r, nil
	}
	f, err := files.Stream(o.record, 0o644)
	if err != nil {
		return nil, fmt.Errorf("-record: %w", err)
	}
	if info, err := f.Stat(); err != nil || info.Mode().IsRegular() && info.Size() > 0 {
		f.Close()
		return nil, errors.Join(err, fmt.Errorf("-record: %s holds something already, which is kept: "+
			"take another name, or remove it", o.record))
	}
	r.file = f
	r.tell = func(err error) {
		if !r.lost {
			log.Error("the game goes on, and is not recorded any more", "file", o.record, "error", err)
		}
		r.lost = true
	}
	if r.Recorder, err = frames.NewRecorder(brief{f}); err != nil {
		r.tell(err)
	}
	r.OnError = r.tell
	return r, nil
}

// close reports whether all is in the file that should be.
func (r *recording) close() (whole bool) {
	if r.file != nil {
		if err := r.file.Close(); err != nil {
			r.tell(err)
		}
	}
	return !r.lost
}

// serve lets players in until there are enough, and then runs the game until nobody plays any more.
func (o *options) serve(ctx context.Context, listener *tcp.Listener, record *frames.Recorder, stdout io.Writer,
	log *slog.Logger) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	came := make(chan struct{}, 1)
	s, err := frames.NewServer(frames.ServerConfig{
		Length: o.length, Spacing: o.spacing, Seed: uint32(o.seed), Record: record, Logger: log,
		OnCame: func(name string, slot int) {
			if slot < 0 {
				fmt.Fprintf(stdout, "%q looks on\n", name)
			} else {
				fmt.Fprintf(stdout, "%q comes, slot %d\n", name, slot)
			}
			select {
			case came <- struct{}{}:
			default:
			}
		},
		OnSat: func(name string, slot int) { fmt.Fprintf(stdout, "%q plays in slot %d from now on\n", name, slot) },
		OnWent: func(slot int, why lockstep.Reason) {
			fmt.Fprintf(stdout, "slot %d has %s\n", slot, went(why))
		},
		OnOver: cancel,
	})
	if err != nil {
		listener.Close()
		return err
	}
	var all sync.WaitGroup
	var accepting error
	all.Go(func() {
		accepting = s.Serve(ctx, listener)
		cancel()
	})
	all.Go(func() {
		for {
			select {
			case <-came:
			case <-ctx.Done():
				return
			}
			// Who has come may have gone again.
			if there, err := s.Keys(ctx); err != nil || len(there) < o.players {
				continue
			}
			err := s.Begin(ctx)
			if err == nil || ctx.Err() != nil {
				return
			}
			log.Error("the game does not begin", "error", err)
		}
	})
	err = s.Run(ctx)
	cancel()
	all.Wait()
	return errors.Join(err, accepting)
}

// visitor is an island whose player leaves after some game frames.
type visitor struct {
	island
	frames uint64
	leave  func()
}

// Step implements frames.Game.
func (v *visitor) Step() {
	v.island.Step()
	if v.frames > 0 {
		if v.frames--; v.frames == 0 {
			v.leave()
		}
	}
}

// went says how a player has left, after "has".
func went(why lockstep.Reason) string {
	switch why {
	case lockstep.ReasonConnectionLost:
		return "lost the connection"
	case lockstep.ReasonPingTimeout:
		return "been silent for too long, and is removed"
	case lockstep.ReasonAsync:
		return "another game than the others, and is removed"
	}
	return "left"
}

// called is the name of whoever is in a slot, or of a watcher.
func called(slot int) string {
	if slot < 0 {
		return "a watcher"
	}
	return fmt.Sprintf("player %d", slot)
}

// join plays, or watches, until the game is over or the player has had enough. Who has lost the link comes again.
func (o *options) join(ctx context.Context, record *frames.Recorder, stdout io.Writer, log *slog.Logger) error {
	if o.key == 0 {
		o.key = rand.Uint64()
	}
	v := &visitor{frames: o.steps}
	taken := false // the slot, and there may be another one
	for {
		link, err := tcp.Dial(ctx, "tcp", o.connect, tcp.Config{Attempts: 5, OnRetry: func(_ int, err error) {
			log.Warn("no server; trying again", "error", err)
		}})
		if err != nil {
			return err
		}
		c := frames.NewClient(frames.ClientConfig{
			Slot: o.slot, Key: o.key, Name: called(o.slot), Game: v, Record: record, Logger: log,
			OnEvent: func(e frames.Event) {
				fmt.Fprintln(stdout, e)
				if e.Kind == frames.Refused && o.anywhere {
					taken = true
					go v.leave()
				}
			},
		})
		if o.slot >= 0 {
			at := lockstep.Point{X: side / 2, Y: side / 2}
			c.Submit(lockstep.Command{Kind: lockstep.KindOrder, Order: lockstep.Optional[lockstep.Order]{
				Present: true, Value: lockstep.Order{At: at}}}) // all meet in the middle first
		}
		playing := context.WithoutCancel(ctx) // who is interrupted leaves, and does not just vanish
		v.leave = sync.OnceFunc(func() { c.Leave(playing) })
		interrupted := context.AfterFunc(ctx, v.leave)
		err = c.Run(playing, link)
		interrupted()
		if o.anywhere && ctx.Err() == nil && (taken || errors.Is(err, frames.ErrTaken)) {
			if o.slot++; o.slot == frames.Slots {
				return frames.ErrTaken
			}
			taken = false
			continue
		}
		fmt.Fprintf(stdout, "game frame %d, checksum %08x\n", v.step, v.Sum())
		if errors.Is(err, frames.ErrOver) {
			fmt.Fprintln(stdout, "nobody plays any more")
			return nil
		}
		if !errors.Is(err, frames.ErrLost) || ctx.Err() != nil {
			return err
		}
		log.Warn("the link is lost; coming again")
	}
}

// again plays a file.
func (o *options) again(ctx context.Context, stdout io.Writer) error {
	f, err := files.Open(o.replay)
	if err != nil {
		return err
	}
	defer f.Close()
	defer context.AfterFunc(ctx, func() { f.Close() })() // who waits for a pipe is woken
	w := &island{}
	wait := func(length time.Duration) {
		if o.paced {
			select {
			case <-time.After(length):
			case <-ctx.Done():
			}
		}
	}
	p, err := frames.Play(bufio.NewReader(f), w, wait)
	fmt.Fprintf(stdout, "%d command frames; game frame %d, checksum %08x\n", p.Turns, w.step, w.Sum())
	return err
}
