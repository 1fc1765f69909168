package drive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport/mem"
	"github.com/parley-go/parley/runtime/world"
)

// setting is what a run takes place in: a world, and how its drivers are made.
type setting struct {
	*stage.Stage
	protocol *model.Protocol // with a wire format
	commands [][]string      // by instance: what it may be told to do
	stream   bool
	record   bool // the drivers record, and so step in another way
	// make makes a runner for instance i with its machine as the text says.
	make func(i int, machine string) (fsm.Runner, error)
	peer func(i, j int) fsm.Peer // what i calls j
}

// item is a frame, or news, under way between two drivers.
type item struct {
	frame  []byte
	news   world.News
	number uint8 // of a question or an answer; 1 of the reset of an open link
	heard  uint8 // of a question: how many resets of open links had been heard
}

// end is the test's end of the link of one driver to another.
type end struct {
	*mem.Link
	mu     sync.Mutex
	frames [][]byte
	closed bool // the driver has closed its own end
}

// seat is the place of one instance: a driver and the ends of its links.
type seat struct {
	d       *driver.Driver[fsm.Runner]
	inner   fsm.Runner
	ends    map[int]*end
	errs    []*driver.Error
	seen    []stage.Move // what its driver has told the machine by itself: up and expiries
	started bool
	down    bool
	crashes int
	number  uint8        // of its beginnings anew
	again   uint8        // how often a link was asked for once more
	asked   map[int]bool // since it has begun anew: links that were not answered yet
	had     map[int]bool // links that were there once
	// handled counts the messages that the machine was given in the world or that were set aside,
	// recorded those in the driver's record, deferred ones once more when they are handled.
	handled, recorded int
}

// play is drivers at work, the network between them, and the configuration of the world that they
// should be in.
type play struct {
	*setting
	c      *stage.Configuration
	seats  []*seat
	queues [][]item
	lost   map[[2]int]bool  // by who has lost it and from where: nobody attaches it before a restart
	breaks int              // how many links were taken for dead
	told   map[[2]int]uint8 // by who told whom: resets of open links
	heard  map[[2]int]uint8 // by who heard them from whom
	full   bool             // a message found its channel full
	over   bool             // the run cannot go on: a machine refused something, or the like
	seen   []stage.Move     // what drivers did by themselves in the last step
	log    []string
}

// errLeft says that a run leaves what drivers do; it is no difference.
var errLeft = errors.New("the drivers cannot follow")

func newPlay(s *setting) *play {
	r := &play{setting: s, c: s.World.Begin(s.Values()), queues: make([][]item, len(s.World.Rules.Channels)), lost: map[[2]int]bool{},
		told: map[[2]int]uint8{}, heard: map[[2]int]uint8{}}
	for range s.Parties {
		r.seats = append(r.seats, &seat{ends: map[int]*end{}})
	}
	return r
}

// watched is a runner that notes what its driver does by itself.
type watched struct {
	fsm.Runner
	up      func(p fsm.Peer)
	expired func(id uint16, key uint32)
	only    fsm.Peer // in a world of two: what the machine has to call the other
}

// Effect implements [fsm.Runner]. Of two, one may call the other by number or not, whatever its
// protocol is for.
func (w watched) Effect(i int) fsm.Effect {
	e := w.Runner.Effect(i)
	if w.only >= 0 && e.Peer >= 0 && (e.Kind == fsm.Send || e.Kind == fsm.Close) {
		e.Peer = w.only
	}
	return e
}

func (w watched) LinkUp(p fsm.Peer) fsm.Result {
	w.up(p)
	return w.Runner.LinkUp(p)
}

func (w watched) Timeout(id uint16, key uint32) fsm.Result {
	w.expired(id, key)
	return w.Runner.Timeout(id, key)
}

// streaming is one that takes frames together besides.
type streaming struct {
	watched
	stream func(from fsm.Peer, in, out []byte, limit int) fsm.Streamed
}

func (w streaming) Stream(from fsm.Peer, in, out []byte, limit int) fsm.Streamed {
	return w.stream(from, in, out, limit)
}

// tally is a record of which only the number of messages is kept.
type tally struct{ s *seat }

func (t tally) Begin(trace.Header) {}
func (t tally) Flush() error       { return nil }
func (t tally) Step(s *trace.Step) {
	if s.Kind == trace.Message {
		t.s.recorded++
	}
}

// place makes the driver of an instance, which does not run yet.
func (r *play) place(i int) error {
	s, p := r.seats[i], r.Parties[i]
	inner, err := r.make(i, string(interp.AppendMachine(nil, r.Strings, p.Machine, r.c.Values[i])))
	if err != nil {
		return err
	}
	w := watched{inner, func(peer fsm.Peer) {
		for j := range r.seats {
			if j != i && r.peer(i, j) == peer && !r.untold(i, j) {
				s.seen = append(s.seen, stage.Move{Kind: world.MoveUp, Who: i, Peer: j})
			}
		}
	}, func(id uint16, key uint32) {
		s.seen = append(s.seen, stage.Move{Kind: world.MoveExpire, Who: i, Timer: alarm(p.Alarms, inner.Info().Timers[id], key)})
	}, -1}
	if len(r.seats) == 2 {
		w.only = r.peer(i, 1-i)
	}
	var outer fsm.Runner = w
	if x, ok := inner.(fsm.Streamer); ok {
		outer = streaming{w, x.Stream}
	}
	o := driver.Options[fsm.Runner]{OnError: func(_ fsm.Runner, e *driver.Error) { s.errs = append(s.errs, e) }}
	if r.record {
		o.Trace = append(o.Trace, tally{s})
	}
	s.inner, s.d, s.ends, s.asked, s.had = inner, driver.New(outer, o), map[int]*end{}, map[int]bool{}, map[int]bool{}
	s.handled, s.recorded = 0, 0
	return nil
}

// attach gives instance i a link to j.
func (r *play) attach(i, j int) error {
	mine, theirs := mem.Pair(mem.Config{Stream: r.stream, Linger: time.Millisecond})
	e := &end{Link: theirs}
	if err := r.seats[i].d.Attach(r.peer(i, j), mine); err != nil {
		return err
	}
	r.seats[i].ends[j], r.seats[i].had[j] = e, true
	go e.collect(r.protocol)
	return nil
}

// collect receives what a driver sends.
func (e *end) collect(p *model.Protocol) {
	var rest []byte
	buf := make([]byte, p.Wire.Max+1)
	for {
		got, err := e.Receive(buf)
		e.mu.Lock()
		if err != nil {
			e.closed = e.closed || errors.Is(err, io.EOF)
			e.mu.Unlock()
			return
		}
		rest = append(rest, buf[:got.N]...)
		for e.Properties().Stream {
			n, err := interp.FrameSize(p, rest)
			if err.Problem != 0 || n == 0 || n > len(rest) {
				break
			}
			e.frames = append(e.frames, slices.Clone(rest[:n]))
			rest = rest[n:]
		}
		if !e.Properties().Stream {
			e.frames, rest = append(e.frames, slices.Clone(rest)), rest[:0]
		}
		e.mu.Unlock()
	}
}

func (r *play) channel(from, to int) int {
	return slices.IndexFunc(r.World.Rules.Channels, func(c world.Channel) bool { return c.From == from && c.To == to })
}

// gather puts what the drivers have sent meanwhile into the channels.
func (r *play) gather() {
	synctest.Wait()
	for i, s := range r.seats {
		for _, j := range slices.Sorted(maps.Keys(s.ends)) {
			e := s.ends[j]
			e.mu.Lock()
			frames, closed := e.frames, e.closed
			e.frames = nil
			e.mu.Unlock()
			k := r.channel(i, j)
			for _, f := range frames {
				n := 0
				for _, x := range r.queues[k] {
					if x.news == world.NoNews {
						n++
					}
				}
				if ch := &r.World.Rules.Channels[k]; n >= ch.Capacity {
					if ch.Full != world.FullLose {
						r.full = true
					}
					continue
				}
				r.queues[k] = append(r.queues[k], item{frame: f})
			}
			if closed {
				r.queues[k] = append(r.queues[k], item{news: world.Cut})
				r.hangUp(i, j)
				delete(s.asked, j)
			}
		}
	}
	synctest.Wait()
}

// hangUp closes the test's end of a link.
func (r *play) hangUp(i, j int) {
	if e := r.seats[i].ends[j]; e != nil {
		delete(r.seats[i].ends, j)
		go e.Close()
	}
}

// do takes a move of the world, and what follows of it at once: an instance handles what it holds
// and no longer defers.
func (r *play) do(mv stage.Move) (stage.Taken, error) {
	t, err := r.World.Do(r.c, mv)
	if err != nil {
		return t, fmt.Errorf("the drivers do %v, which is no move of the world: %w", mv, err)
	}
	for first := t; ; {
		if r.Wrong != "" {
			return first, errLeft
		}
		if t.Fault != world.NoFault {
			return first, r.faulted(t.Who, t.Fault, t.Why)
		}
		r.c = t.Next
		if t.Who >= 0 && t.Event.Kind == world.Message {
			r.seats[t.Who].handled++
		}
		if t.Who < 0 || mv.Kind == world.MoveBeat {
			return first, nil
		}
		again, err := r.World.Do(r.c, stage.Move{Kind: world.MoveOffer, Who: t.Who})
		if err != nil {
			return first, nil
		}
		t = again
	}
}

// faulted ends a run in which the world sees a fault: the driver has to see it, too.
func (r *play) faulted(i int, fault world.FaultKind, why string) error {
	r.over = true
	r.gather()
	want := map[world.FaultKind]driver.ErrorKind{world.Refusal: driver.Refused, world.DeferredOverflow: driver.DeferredFull, world.NoLink: driver.NoLink}
	if fault == world.Overflow {
		if !r.full {
			return fmt.Errorf("the world finds a channel full: %s", why)
		}
		return nil
	}
	for _, e := range r.seats[i].errs {
		if e.Kind == want[fault] {
			return nil
		}
	}
	return fmt.Errorf("the world says of instance %d: %s, %s; the errors of its driver are %v", i, fault, why, r.seats[i].errs)
}

// act carries out what happens to the drivers, takes the move of the world and those that the
// drivers have made by themselves meanwhile, and compares.
func (r *play) act(name string, physical func() error, moves ...stage.Move) (stage.Taken, error) {
	var first stage.Taken
	r.log = append(r.log, name)
	if physical != nil {
		if err := physical(); err != nil {
			return first, err
		}
	}
	r.gather()
	r.seen = nil
	for _, s := range r.seats {
		r.seen = append(r.seen, s.seen...)
		s.seen = nil
	}
	moves = append(moves, r.seen...)
	for n, mv := range moves {
		t, err := r.do(mv)
		if n == 0 {
			first = t
		}
		if err != nil || r.over {
			return first, err
		}
	}
	return first, r.compare()
}

// forget drops what a driver has made by itself: it stands for the move that is taken anyway.
func (r *play) forget(i int) {
	r.gather()
	r.seats[i].seen = nil
}

// link is the link between two instances, nil if there is none.
func (r *setting) link(i, j int) *world.Link {
	for k := range r.World.Rules.Links {
		if l := &r.World.Rules.Links[k]; l.A == i && l.B == j || l.A == j && l.B == i {
			return l
		}
	}
	return nil
}

// untold reports whether the machine of i is not told that the link to j comes up.
func (r *setting) untold(i, j int) bool {
	l := r.link(i, j)
	return l == nil || l.Untold[map[bool]int{true: 0, false: 1}[l.A == i]]
}

// ops lists what can happen to the drivers now. Deliveries stand there twice, for they are what
// runs are made of.
func (r *play) ops(sub int) []func() error {
	var ops []func() error
	add := func(f func() error) { ops = append(ops, f) }
	f := &r.World.Rules.Faults
	for i, s := range r.seats {
		switch {
		case s.down:
			if i < len(f.Restart) && int(s.number) < f.Restart[i] {
				add(func() error { return r.restart(i) })
			}
			continue
		case !s.started:
			add(func() error { return r.start(i) })
			add(func() error { return r.start(i) })
			continue
		}
		if list := r.commands[i]; len(list) > 0 {
			add(func() error { return r.command(i, list[sub%len(list)]) })
		}
		if i < len(f.Crash) && s.crashes < f.Crash[i] {
			add(func() error { return r.crash(i) })
		}
		for j := range r.seats {
			if r.waits(i, j) {
				add(func() error { return r.up(i, j) })
			}
			if l := r.link(i, j); l != nil && s.ends[j] != nil && r.c.Ends[i].Up>>j&1 != 0 && r.breaks < f.Break {
				add(func() error { return r.lose(i, j) })
			}
		}
	}
	if r.canWait() {
		add(r.wait)
	}
	for k := range r.queues {
		for _, op := range r.onChannel(k, sub) {
			add(op)
		}
	}
	return ops
}

// waits reports whether the program has still to give i its link to j.
func (r *play) waits(i, j int) bool {
	l := r.link(i, j)
	return l != nil && l.Late && !r.seats[i].had[j] && r.c.Ends[i].Waiting>>j&1 != 0
}

func (r *play) start(i int) error {
	_, err := r.act(fmt.Sprintf("start %d", i), func() error {
		s := r.seats[i]
		if s.d == nil {
			if err := r.place(i); err != nil {
				return err
			}
		}
		for j := range r.seats {
			if l := r.link(i, j); l != nil && !l.Late {
				if err := r.attach(i, j); err != nil {
					return err
				}
			}
		}
		s.started = true
		go s.d.Run(context.Background())
		return nil
	}, stage.Move{Kind: world.MoveStart, Who: i})
	return err
}

func (r *play) up(i, j int) error {
	_, err := r.act(fmt.Sprintf("up %d %d", i, j), func() error {
		if r.untold(i, j) {
			return errLeft
		}
		return r.attach(i, j)
	})
	return err
}

func (r *play) command(i int, text string) error {
	r.log = append(r.log, fmt.Sprintf("command %d %s", i, text))
	res, derr := r.seats[i].d.Do(context.Background(), func(fsm.Runner) fsm.Result {
		res, err := r.seats[i].inner.(fsm.Commander).Command(text)
		if err != nil {
			panic(err)
		}
		return res
	})
	ev, err := interp.ParseEvent(r.Parties[i].Machine, r.Strings, text)
	if err != nil {
		return err
	}
	mv := stage.Move{Kind: world.MoveCommand, Who: i, Message: r.Parties[i].Command(ev)}
	if _, err := r.World.Do(r.c, mv); err != nil {
		if res.Code != fsm.Refused {
			return fmt.Errorf("the driver says %v, the world %w", res, err)
		}
		return nil
	}
	if res.Code == fsm.Refused {
		return fmt.Errorf("the driver says %w, the world takes it", derr)
	}
	_, err = r.act("  it is taken", nil, mv)
	return err
}

// crash switches a driver off. The others hear of it as they do of a close.
func (r *play) crash(i int) error {
	_, err := r.act(fmt.Sprintf("crash %d", i), func() error {
		s := r.seats[i]
		r.gather()
		before := r.lengths()
		s.d.Stop()
		r.gather()
		for j := range r.seats {
			if r.waits(i, j) {
				k := r.channel(i, j)
				r.queues[k] = append(r.queues[k], item{news: world.Cut})
			}
			r.resets(i, j, before)
		}
		s.d, s.down, s.started, s.ends, s.asked = nil, true, false, map[int]*end{}, map[int]bool{}
		s.crashes++
		return nil
	}, stage.Move{Kind: world.MoveCrash, Who: i})
	return err
}

// lengths are those of all channels.
func (r *play) lengths() []int {
	var n []int
	for _, q := range r.queues {
		n = append(n, len(q))
	}
	return n
}

// resets turns what a crash of i has told j into a reset, as the world has it. Where there is no link,
// nobody hears of it but the world.
func (r *play) resets(i, j int, before []int) {
	k := r.channel(i, j)
	if k < 0 || !r.World.Rules.Faults.Torn {
		return
	}
	for n := before[k]; n < len(r.queues[k]); n++ {
		if r.queues[k][n].news == world.Cut {
			r.queues[k][n] = item{news: world.Reset, number: 1}
			r.told[[2]int{i, j}]++
		}
	}
	if ch := &r.World.Rules.Channels[k]; r.link(i, j) == nil && ch.Order == world.Fifo && !ch.Lossy {
		r.queues[k] = append(r.queues[k], item{news: world.Reset})
	} else if l := r.link(i, j); l != nil && !l.Datagrams && len(r.queues[k]) == before[k] && before[k] > 0 {
		r.queues[k] = append(r.queues[k], item{news: world.Reset}) // the link had ended before
	}
}

// restart begins a driver anew. Its links come up when the others have answered.
func (r *play) restart(i int) error {
	mv := stage.Move{Kind: world.MoveRestart, Who: i}
	t, err := r.World.Do(r.c, mv)
	if err != nil {
		return fmt.Errorf("an instance cannot begin anew: %w", err)
	}
	before := r.c
	_, err = r.act(fmt.Sprintf("restart %d", i), func() error {
		r.c = t.Next // for the value with which it begins
		err := r.place(i)
		r.c = before
		s := r.seats[i]
		s.down = false
		s.number++
		for j := range r.seats {
			if r.link(i, j) != nil {
				k := r.channel(i, j)
				r.queues[k] = append(r.queues[k], item{news: world.Ask, number: s.number + s.again, heard: r.heard[[2]int{i, j}]})
				s.asked[j] = true
			}
		}
		return err
	}, mv)
	return err
}

// lose has instance i take its link to j for dead.
func (r *play) lose(i, j int) error {
	r.breaks++
	_, err := r.act(fmt.Sprintf("lost %d %d", i, j), func() error {
		delete(r.seats[i].asked, j)
		r.lost[[2]int{i, j}] = true
		if l := r.link(i, j); !l.Datagrams {
			k := r.channel(i, j)
			r.queues[k] = append(r.queues[k], item{news: world.Reset, number: 1})
			r.told[[2]int{i, j}]++
		}
		if e := r.seats[i].ends[j]; e != nil {
			delete(r.seats[i].ends, j)
			return e.Abort()
		}
		return nil
	}, stage.Move{Kind: world.MoveLost, Who: i, Peer: j})
	return err
}

// snapshot takes a driver's.
func (r *play) snapshot(i int) *driver.Snapshot[int] {
	zero := 0
	s, err := driver.SaveDriver(context.Background(), r.seats[i].d, func(fsm.Runner) *int { return &zero })
	if err != nil {
		panic(err)
	}
	return s
}

// next is how long it takes until a timer expires.
func (r *play) next() (least time.Duration, ok bool) {
	for i, s := range r.seats {
		if !s.started || s.down {
			continue
		}
		for _, t := range r.snapshot(i).Timers {
			if !ok || t.Left < least {
				least, ok = t.Left, true
			}
		}
	}
	return least, ok
}

// canWait reports whether time may pass. Where it is counted, nothing is under way while it does.
func (r *play) canWait() bool {
	if r.World.Rules.Time == nil {
		_, ok := r.next()
		return ok
	}
	for _, q := range r.queues {
		if len(q) > 0 {
			return false
		}
	}
	return !slices.ContainsFunc(r.seats, func(s *seat) bool { return !s.started && !s.down })
}

// wait lets time pass until the next timer expires, or a beat.
func (r *play) wait() error {
	length := time.Duration(r.protocol.Tick)
	var moves []stage.Move
	if r.World.Rules.Time == nil {
		length, _ = r.next()
	} else {
		moves = append(moves, stage.Move{Kind: world.MoveTick})
		for i := range r.seats {
			moves = append(moves, stage.Move{Kind: world.MoveBeat, Who: i})
		}
	}
	_, err := r.act(fmt.Sprintf("wait %v", length), func() error { time.Sleep(length); return nil }, moves...)
	return err
}

// onChannel lists what can happen in a channel.
func (r *play) onChannel(k, sub int) (ops []func() error) {
	ch, q := &r.World.Rules.Channels[k], r.queues[k]
	s := r.seats[ch.To]
	if len(q) == 0 || !s.started && !s.down {
		return nil
	}
	if !s.down && r.waits(ch.To, ch.From) && !s.asked[ch.From] {
		return nil // nobody is there to receive
	}
	at := 0
	if ch.Order == world.Any && q[0].news == world.NoNews {
		most := slices.IndexFunc(q, func(x item) bool { return x.news != world.NoNews })
		if most < 0 {
			most = len(q)
		}
		at = sub % most
		at = slices.IndexFunc(q, func(x item) bool { return string(x.frame) == string(q[at].frame) })
	}
	ops = append(ops, func() error { return r.deliver(k, at, world.MoveDeliver) }, func() error { return r.deliver(k, at, world.MoveDeliver) })
	last := slices.IndexFunc(q, func(x item) bool { return x.news == world.Reset }) - 1
	for last >= 0 && q[last].news != world.NoNews {
		last--
	}
	if last >= 0 {
		ops = append(ops, func() error { return r.tail(k, last) })
	}
	if q[at].news != world.NoNews {
		return ops
	}
	if ch.Duplicates && r.World.Rules.Faults.Duplicate != 0 {
		ops = append(ops, func() error { return r.deliver(k, at, world.MoveCopy) })
	}
	if ch.Lossy && r.World.Rules.Faults.Lose != 0 {
		ops = append(ops, func() error { return r.drop(k, at) })
	}
	if len(q) > 1 && r.World.Rules.Faults.Overtake != 0 && ch.Overtakes && ch.Order == world.Fifo && q[1].news == world.NoNews && string(q[0].frame) != string(q[1].frame) {
		ops = append(ops, func() error { return r.overtake(k) })
	}
	return ops
}

// tail loses what went with a crash or a break.
func (r *play) tail(k, at int) error {
	_, err := r.act(fmt.Sprintf("tail of channel %d", k), func() error { r.take(k, at); return nil },
		stage.Move{Kind: world.MoveTail, Channel: k})
	return err
}

func (r *play) drop(k, at int) error {
	_, err := r.act(fmt.Sprintf("lose channel %d at %d", k, at), func() error { r.take(k, at); return nil },
		stage.Move{Kind: world.MoveLose, Channel: k, At: at})
	return err
}

func (r *play) overtake(k int) error {
	q := r.queues[k]
	if len(q) < 2 {
		return errors.New("nothing can overtake")
	}
	_, err := r.act(fmt.Sprintf("overtake channel %d", k), func() error { q[0], q[1] = q[1], q[0]; return nil },
		stage.Move{Kind: world.MoveOvertake, Channel: k})
	return err
}

func (r *play) take(k, at int) { r.queues[k] = slices.Delete(slices.Clone(r.queues[k]), at, at+1) }

// deliver hands over what lies in a channel.
func (r *play) deliver(k, at int, kind world.MoveKind) error {
	ch, x := &r.World.Rules.Channels[k], r.queues[k][at]
	s, from := r.seats[ch.To], ch.From
	heard := false
	t, err := r.act(fmt.Sprintf("%v %d>%d %s", kind, from, ch.To, r.text(from, x)), func() error {
		if kind == world.MoveDeliver {
			r.take(k, at)
		}
		e := s.ends[from]
		back := r.channel(ch.To, from)
		answer := func() {
			delete(s.asked, from)
			r.queues[back] = append(r.queues[back], item{news: world.Answer, number: x.number})
		}
		if x.news == world.Reset {
			r.heard[[2]int{ch.To, from}] += x.number
		}
		switch {
		case x.news == world.Ask && !s.down && x.heard != r.told[[2]int{ch.To, from}]:
		case x.news == world.Reset && !s.down && s.asked[from] && x.number > 0:
			if e == nil {
				s.again++
				r.queues[back] = append(r.queues[back], item{news: world.Ask, number: s.number + s.again, heard: r.heard[[2]int{ch.To, from}]})
				break
			}
			delete(s.asked, from)
			heard = true
			r.hangUp(ch.To, from)
		case s.down && x.news == world.Ask:
			answer()
			r.queues[back] = append(r.queues[back], item{news: world.Cut})
		case s.asked[from] && x.news == world.Ask:
			answer()
		case s.asked[from] && x.news == world.Answer && x.number == s.number+s.again:
			delete(s.asked, from)
		case s.down || s.asked[from]:
		case x.news == world.NoNews && e != nil:
			heard = true
			if err := e.Send(0, x.frame); err != nil {
				return err
			}
			return e.Flush()
		case (x.news == world.Cut || x.news == world.Reset && x.number > 0) && e != nil:
			heard = true
			r.hangUp(ch.To, from)
		case x.news == world.Ask:
			if e == nil {
				heard = true
				if err := r.attach(ch.To, from); err != nil {
					return err
				}
			}
			answer()
			r.forget(ch.To)
		}
		return nil
	}, stage.Move{Kind: kind, Channel: k, At: at})
	if err == nil && !r.over && heard == (t.What == world.Dropped) {
		return fmt.Errorf("the driver heard it: %v; the world: %v", heard, t.What)
	}
	return err
}

// text tells an item.
func (r *play) text(from int, x item) string {
	if x.news != world.NoNews {
		return x.news.String()
	}
	m, slots, err := interp.DecodeFrame(r.protocol, r.Strings, x.frame)
	if err.Problem != 0 {
		return fmt.Sprintf("% x: %v", x.frame, err)
	}
	return r.Tell(m, slots)
}

// compare holds drivers and network against the configuration of the world.
func (r *play) compare() error {
	if r.full {
		if slices.ContainsFunc(r.World.Rules.Channels, func(c world.Channel) bool { return c.Full == world.FullWait }) {
			return errLeft
		}
		return errors.New("a channel is full, and the world goes on")
	}
	for k, q := range r.queues {
		var got, want []string
		for _, x := range q {
			got = append(got, r.text(r.World.Rules.Channels[k].From, x))
		}
		for _, x := range r.c.Queues[k] {
			if x.News != world.NoNews {
				want = append(want, x.News.String())
			} else {
				want = append(want, x.Message)
			}
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("from %d to %d %q are under way, in the world %q", r.World.Rules.Channels[k].From, r.World.Rules.Channels[k].To, got, want)
		}
	}
	for i, s := range r.seats {
		if !s.started || s.down {
			continue
		}
		// Who has lost a link may still send there. That is reported, and nothing else comes of it.
		s.errs = slices.DeleteFunc(s.errs, func(e *driver.Error) bool {
			return e.Kind == driver.NoLink && slices.ContainsFunc(slices.Collect(maps.Keys(r.lost)), func(k [2]int) bool { return k[0] == i && r.peer(i, k[1]) == e.Peer })
		})
		if len(s.errs) > 0 {
			return fmt.Errorf("instance %d: %v; the world goes on", i, s.errs[0])
		}
		if err := r.compareSeat(i); err != nil {
			return fmt.Errorf("instance %d: %w", i, err)
		}
	}
	return nil
}

func (r *play) compareSeat(i int) error {
	s, p, e := r.seats[i], r.Parties[i], &r.c.Ends[i]
	var machine string
	if err := s.d.Read(context.Background(), func(f fsm.Runner) { machine = string(f.AppendMachine(nil)) }); err != nil {
		return err
	}
	if want := string(interp.AppendMachine(nil, r.Strings, p.Machine, r.c.Values[i])); machine != want {
		return fmt.Errorf("the machine is %s, in the world %s", machine, want)
	}
	if r.record && s.recorded != s.handled {
		return fmt.Errorf("%d messages are recorded, in the world there were %d", s.recorded, s.handled)
	}
	saved := r.snapshot(i)
	var got, want []string
	for _, d := range saved.Deferred {
		for j := range r.seats {
			if j != i && r.peer(i, j) == d.Peer {
				got = append(got, fmt.Sprintf("%d: %s", j, r.text(j, item{frame: d.Frame})))
			}
		}
	}
	for _, h := range e.Held {
		want = append(want, fmt.Sprintf("%d: %s", h.From, h.Message))
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("%q are held, in the world %q", got, want)
	}
	got, want = nil, nil
	for _, t := range saved.Timers {
		left := 0
		if r.World.Rules.Time != nil {
			// A link that lingers may cost the bubble's clock a millisecond.
			left = int((t.Left + r.protocol.Tick/2) / r.protocol.Tick)
		}
		got = append(got, fmt.Sprintf("%s[%d] for %d", s.inner.Info().Timers[t.ID], t.Key, left))
	}
	for k, left := range e.Left {
		if left != world.Disarmed {
			want = append(want, fmt.Sprintf("%s[%d] for %d", p.Alarms[k].Name, p.Alarms[k].Key, left))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Errorf("%q run, in the world %q", got, want)
	}
	return nil
}

// stop ends all drivers.
func (r *play) stop() {
	for _, s := range r.seats {
		for _, e := range s.ends {
			e.Abort()
		}
		if s.d != nil && s.started {
			s.d.Stop()
			<-s.d.Done()
		}
	}
	synctest.Wait()
}

// String tells the run so far.
func (r *play) String() string { return strings.Join(r.log, "\n") }
