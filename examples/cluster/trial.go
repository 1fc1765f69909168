package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/examples/cluster/internal/seek"
	"github.com/parley-go/parley/examples/cluster/machines/tenure"
	"github.com/parley-go/parley/examples/lockstep/frames"
	"github.com/parley-go/parley/machines/lobby"
)

// trial has players use servers that are processes of their own.
type trial struct {
	nodes, lobbies, joins, matches, workers int
	kill                                    bool

	nats     string
	lease    time.Duration
	replicas int
	stderr   io.Writer
	traffic  func() (messages, bytes int64) // of the NATS in this process; nil if it is elsewhere

	servers []*exec.Cmd
	doors   []string
	holders []*holder
	bots    []*bot
}

func (t *trial) check() error {
	switch {
	case t.nodes < 1 || t.nodes > 64:
		return fmt.Errorf("-nodes %d: 1 to 64", t.nodes)
	case t.lobbies < 1 || t.lobbies > 100000 || t.matches > 1000 || t.joins > 10000000:
		return errors.New("-lobbies are 1 to 100,000, -matches at most 1,000, -joins at most 10,000,000")
	case t.workers < 1 || t.workers > 1024:
		return fmt.Errorf("-players %d: 1 to 1024", t.workers)
	case t.kill && t.nodes < 2:
		return errors.New("-kill: another server has to be there, so -nodes is 2 or more")
	}
	return nil
}

// holder is a player who makes a lobby and stays in it.
type holder struct {
	*seek.Seeker
	conn *net.TCPConn
}

func (t *trial) run(ctx context.Context, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer t.end()
	for range t.nodes {
		if err := t.start(ctx); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%d servers at %s\n", t.nodes, strings.Join(t.doors, ", "))
	before, cost := t.memory(), t.cost()
	t.holders = make([]*holder, t.lobbies)
	took, err := t.each(ctx, t.lobbies, func(ctx context.Context, i int) (err error) {
		t.holders[i] = &holder{}
		h := t.holders[i]
		if h.Seeker, err = t.seeker(i); err != nil {
			return err
		}
		return h.enter(ctx)
	})
	if err != nil {
		return err
	}
	t.report(out, "lobbies made, with a player in each", took)
	t.since(out, cost, t.lobbies)
	if after := t.memory(); before > 0 && after > before {
		fmt.Fprintf(out, "  the servers took %d kB each before, and %d kB more for each lobby\n", before/t.nodes,
			(after-before)/t.lobbies)
	}
	var hops atomic.Int64
	cost = t.cost()
	took, err = t.each(ctx, t.joins, func(ctx context.Context, i int) error {
		s, err := t.seeker(i * 7919 % t.lobbies)
		if err != nil {
			return err
		}
		h := holder{Seeker: s}
		if err := h.enter(ctx); err != nil {
			return err
		}
		hops.Add(int64(s.Hops))
		return h.conn.Close()
	})
	if err != nil {
		return err
	}
	t.report(out, "players joined and left", took)
	t.since(out, cost, t.joins)
	if t.joins > 0 {
		fmt.Fprintf(out, "  each asked %.2f servers\n", float64(hops.Load())/float64(t.joins))
	}
	if err := t.play(ctx, out); err != nil || !t.kill {
		return err
	}
	return t.killOne(ctx, out)
}

// start starts a server as a process of its own.
func (t *trial) start(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.Command(self, "-serve", "-nats", t.nats, "-lease", t.lease.String(), "-replicas", fmt.Sprint(t.replicas),
		"-max-lobbies", fmt.Sprint(t.lobbies+1), "-per-address", "1000000000", // all have one address here
		"-games-per-address", fmt.Sprint(t.lobbies+1), "-burst", "604800")
	c.Stderr = t.stderr
	stdout, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return fmt.Errorf("a server: %w", err)
	}
	t.servers = append(t.servers, c)
	stop := context.AfterFunc(ctx, func() { _ = c.Process.Kill() })
	defer stop()
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if address, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
			t.doors = append(t.doors, address)
			return nil
		}
	}
	return errors.New("a server did not start")
}

// shared is a writer for several processes.
type shared struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *shared) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(b)
}

// cost is what something has taken: messages and bytes of NATS, and processor time of the servers.
type cost struct {
	messages, bytes int64
	processor       time.Duration
}

func (t *trial) cost() (c cost) {
	if t.traffic != nil {
		c.messages, c.bytes = t.traffic()
	}
	for _, p := range t.servers {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Process.Pid))
		if err != nil {
			return c
		}
		_, after, _ := strings.Cut(string(b), ") ") // the name of a program may have blanks
		if f := strings.Fields(after); len(f) > 12 {
			user, _ := strconv.Atoi(f[11])
			system, _ := strconv.Atoi(f[12])
			c.processor += time.Duration(user+system) * 10 * time.Millisecond // as Linux counts for programs
		}
	}
	return c
}

// since says what each of n things has taken. NATS is also used by sessions meanwhile, a message now and then.
func (t *trial) since(out io.Writer, before cost, n int) {
	now := t.cost()
	if n == 0 {
		return
	}
	if t.traffic != nil {
		fmt.Fprintf(out, "  each took %.1f messages of NATS with %d bytes in all\n",
			float64(now.messages-before.messages)/float64(n), (now.bytes-before.bytes)/int64(n))
	}
	if used := now.processor - before.processor; used > 0 {
		fmt.Fprintf(out, "  each took %v of the servers' processors\n",
			(used / time.Duration(n)).Round(time.Microsecond))
	}
}

// memory returns how many kB the servers have in memory, 0 where the system does not say.
func (t *trial) memory() (sum int) {
	for _, c := range t.servers {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid))
		if err != nil {
			return 0
		}
		for line := range strings.Lines(string(b)) {
			if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				n := 0
				if _, err := fmt.Sscan(rest, &n); err != nil {
					return 0
				}
				sum += n
			}
		}
	}
	return sum
}

// end ends the servers that are left.
func (t *trial) end() {
	for _, h := range t.holders {
		if h != nil && h.conn != nil {
			h.conn.Close()
		}
	}
	for _, c := range t.servers {
		_ = c.Process.Signal(os.Interrupt)
	}
	for _, c := range t.servers {
		_ = c.Wait() // one has been killed
	}
}

func (t *trial) seeker(i int) (*seek.Seeker, error) {
	return seek.New(t.doors, tenure.KindLobby, fmt.Sprintf("lobby %d", i), "", 0)
}

// enter finds the lobby and sees that it answers.
func (h *holder) enter(ctx context.Context) error {
	for {
		conn, _, err := h.Find(ctx, 0)
		if err != nil {
			return err
		}
		if err = lookAround(conn); err == nil {
			h.conn = conn
			return nil
		}
		conn.Close() // it has moved meanwhile
		if ctx.Err() != nil {
			return err
		}
	}
}

// lookAround asks a lobby which games there are.
func lookAround(conn *net.TCPConn) error {
	frame, err := lobby.AppendMessage(nil, &lobby.Message{Kind: lobby.MessageGameInfo})
	if err != nil {
		return err
	}
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	defer conn.SetDeadline(time.Time{})
	if _, err := conn.Write(frame); err != nil {
		return err
	}
	// There are no games in a trial, so the answer has always this size.
	if frame, err = lobby.AppendMessage(frame[:0], &lobby.Message{Kind: lobby.MessageGames}); err != nil {
		return err
	}
	if _, err := io.ReadFull(conn, frame); err != nil {
		return err
	}
	var m lobby.Message
	if err := lobby.DecodeMessage(frame, &m); err != nil || m.Kind != lobby.MessageGames {
		return fmt.Errorf("a lobby answers by %x", frame)
	}
	return nil
}

// each does something n times, some at a time, and returns how long each took.
func (t *trial) each(ctx context.Context, n int, f func(context.Context, int) error) (took times, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	took.each = make([]time.Duration, n)
	began := time.Now()
	var next atomic.Int64
	var busy sync.WaitGroup
	for range min(n, t.workers) {
		busy.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				start := time.Now()
				if err := f(ctx, i); err != nil {
					cancel(err)
					return
				}
				took.each[i] = time.Since(start)
			}
		})
	}
	busy.Wait()
	took.all = time.Since(began)
	return took, context.Cause(ctx)
}

// times are how long something took.
type times struct {
	each []time.Duration
	all  time.Duration
}

func (t *trial) report(out io.Writer, what string, took times) {
	n := len(took.each)
	if n == 0 {
		return
	}
	slices.Sort(took.each)
	round := func(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }
	fmt.Fprintf(out, "%d %s in %v, %.0f a second; half within %v, 99%% within %v, all within %v\n", n, what,
		round(took.all), float64(n)/took.all.Seconds(), round(took.each[n/2]), round(took.each[n*99/100]),
		round(took.each[n-1]))
}

// killOne kills a server, and waits until everybody is somewhere else.
func (t *trial) killOne(ctx context.Context, out io.Writer) error {
	victim := rand.IntN(t.nodes)
	var lost []*holder
	for _, h := range t.holders {
		if h.conn.RemoteAddr().String() == t.doors[victim] {
			lost = append(lost, h)
		}
	}
	for _, b := range t.bots {
		b.mark()
	}
	began := time.Now()
	if err := t.servers[victim].Process.Kill(); err != nil {
		return err
	}
	took := times{each: make([]time.Duration, len(lost))}
	errs := make([]error, len(lost))
	var entering sync.WaitGroup
	for i, h := range lost {
		entering.Go(func() {
			h.conn.Close()
			errs[i] = h.enter(ctx)
			took.each[i] = time.Since(began)
		})
	}
	entering.Wait()
	took.all = time.Since(began)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	t.report(out, "lobbies of the server that was killed are elsewhere", took)
	return t.again(ctx, out, began)
}

// bot plays a match, badly.
type bot struct {
	*seek.Match
	epoch atomic.Uint32
	frame atomic.Uint32
	state uint64
	// from is the epoch in which the kill finds it, at the frame at, and since the time at which it went on after
	// that.
	from  atomic.Uint32
	at    uint32
	since atomic.Pointer[time.Time]
	ended chan error
}

func (b *bot) mark() { b.at = b.frame.Load(); b.from.Store(b.epoch.Load()) }

// Start and the others implement [seek.Game]: a game that counts.
func (b *bot) Start(seed uint32, _ []int) { b.state = uint64(seed) }
func (b *bot) Resume(slot int)            { b.state += uint64(slot) }
func (b *bot) Restore(s []byte) error     { _, err := fmt.Sscan(string(s), &b.state); return err }
func (b *bot) Snapshot() []byte           { return fmt.Append(nil, b.state) }
func (b *bot) Sum() uint32                { return uint32(b.state) }
func (b *bot) Frame() uint32              { return b.frame.Load() }

func (b *bot) Turn(t *frames.Turn) {
	b.state += uint64(len(t.Orders) + len(t.Left) + len(t.Joined))
	if from := b.from.Load(); from != 0 && b.epoch.Load() > from && b.since.Load() == nil {
		now := time.Now()
		b.since.Store(&now)
	}
}

func (b *bot) Step() {
	b.state = b.state*6364136223846793005 + 1
	b.frame.Add(1)
}

// play begins the matches.
func (t *trial) play(ctx context.Context, out io.Writer) error {
	began := time.Now()
	for i := range 2 * t.matches {
		b := &bot{ended: make(chan error, 1)}
		m, err := seek.NewMatch(seek.MatchConfig{Doors: t.doors, Match: fmt.Sprintf("match %d", i/2), Seats: 2, Game: b,
			Client:  frames.ClientConfig{Slot: i % 2, Key: rand.Uint64(), Name: fmt.Sprintf("bot %d", i%2)},
			OnFound: func(epoch uint32, _ bool) { b.epoch.Store(epoch) }})
		if err != nil {
			return err
		}
		b.Match = m
		go func() { b.ended <- b.Run(ctx) }()
		t.bots = append(t.bots, b)
	}
	err := t.until(ctx, func(b *bot) bool { return b.frame.Load() >= 20 })
	if err == nil && t.matches > 0 {
		fmt.Fprintf(out, "%d matches of two were a second old %v after the first was looked for\n", t.matches,
			time.Since(began).Round(time.Millisecond))
	}
	return err
}

// again waits until all matches that the kill has ended go on.
func (t *trial) again(ctx context.Context, out io.Writer, began time.Time) error {
	var took times
	err := t.until(ctx, func(b *bot) bool { return b.frame.Load() > b.at+40 })
	for _, b := range t.bots {
		if at := b.since.Load(); at != nil {
			took.each = append(took.each, at.Sub(began))
			took.all = max(took.all, at.Sub(began))
		}
	}
	t.report(out, "players of its matches go on", took)
	return err
}

// until waits for all bots, one after another.
func (t *trial) until(ctx context.Context, ok func(*bot) bool) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for _, b := range t.bots {
		for !ok(b) {
			select {
			case err := <-b.ended:
				return fmt.Errorf("a match has ended: %w", err)
			case <-tick.C:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}
