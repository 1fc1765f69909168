package drive

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/mem"
	"github.com/parley-go/parley/runtime/world"
)

// setting is where a run takes place: a world, and how to make its drivers.
type setting struct {
	*stage.Stage
	protocol *model.Protocol // with a wire format
	commands [][]string      // by instance: what it may be told to do
	stream   bool
	record   bool // the drivers record, and so step in another way
	keep     bool // the drivers keep links over which comes what they refuse, or what is no frame
	forged   forgeries
	// make makes a runner for instance i. Its machine has the value that the text describes.
	make func(i int, machine string) (fsm.Runner, error)
	peer func(i, j int) fsm.Peer // what i calls j
}

// item is a frame or news under way between two drivers.
type item struct {
	frame  []byte
	class  int // the channel that it came over
	phase  int // of its stream, in which the frame stands
	news   world.News
	number uint8 // of a question or an answer; 1 of the reset of an open link
	heard  uint8 // of a question: how many resets of open links had been heard
}

// end is the test's end of a link. A driver has the other end.
type end struct {
	*mem.Link
	mu     sync.Mutex
	frames []sent
	closed bool     // the driver has closed its own end
	told   *reading // what a hostile instance has told the driver
}

// seat holds what belongs to one instance: a driver and the ends of its links.
type seat struct {
	d       *driver.Driver[fsm.Runner]
	inner   fsm.Runner
	ends    map[int]*end
	beside  map[[2]int]*end // by instance and class: links of other channels than that of news
	mu      sync.Mutex      // of errs and seen, which the driver writes while time passes
	errs    []*driver.Error
	seen    []stage.Move // what its driver has told the machine by itself: up and expiries
	started bool
	down    bool
	crashes int
	number  uint8         // of its beginnings but the first of who is there from the beginning
	absent  bool          // it is down because it has gone, or has not come yet
	comes   int           // how many have come
	again   map[int]uint8 // how often a link was asked for once more
	asked   map[int]bool  // since it has begun anew: links that were not answered yet
	had     map[int]bool  // links that were there once
	dying   bool          // its driver is switched off
	cut     *cut          // what goes out of a step that a crash cuts short
	away    uint64        // whom a partition keeps away from it
	splits  []uint64      // whom it will: partitions, and ends of partitions, that it has still to hear of
	// handled counts the messages that the machine in the world handled or deferred. recorded counts
	// those in the driver's record. Both count a deferred message again when it is handled.
	handled  int
	recorded atomic.Int64 // the driver counts while time passes
	// wanted counts what the instance has refused of hostile ones in the world, blames the errors of the
	// driver that say so.
	wanted, blames int
}

// saw notes what the driver has told the machine by itself.
func (s *seat) saw(mv stage.Move) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, mv)
}

// taken returns what was noted since it was last called.
func (s *seat) taken() []stage.Move {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.seen
	s.seen = nil
	return list
}

// busy reports whether something was noted.
func (s *seat) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen) > 0
}

// failed notes an error of the driver.
func (s *seat) failed(e *driver.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs = append(s.errs, e)
}

// failures returns the errors of the driver, without those that forgive drops for good.
func (s *seat) failures(forgive func(*driver.Error) bool) []*driver.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs = slices.DeleteFunc(s.errs, forgive)
	return slices.Clone(s.errs)
}

// play is a run in progress: the drivers, the network between them, and the configuration of the
// world, which they must match.
type play struct {
	*setting
	c      *stage.Configuration
	seats  []*seat
	queues [][]item
	lost   map[[2]int]bool  // by who has lost it and from where: nobody attaches it before a restart
	breaks int              // how many links were taken for dead, but for those that a partition parts
	parts  int              // how many partitions there were
	split  uint64           // one side of the present one
	told   map[[2]int]uint8 // by who told whom: resets of open links
	heard  map[[2]int]uint8 // by who heard them from whom
	full   bool             // a message found its channel full
	over   bool             // the run cannot go on: a machine refused something, or the like
	seen   []stage.Move     // what drivers did by themselves in the last step
	log    []string
	faults map[string]int // how often each of the faults of networks has happened
}

// errLeft says that a run does something which drivers cannot do. That is no difference.
var errLeft = errors.New("the drivers cannot follow")

func newPlay(s *setting) *play {
	r := &play{
		setting: s,
		c:       s.World.Begin(s.Values()),
		queues:  make([][]item, len(s.World.Rules.Channels)),
		lost:    map[[2]int]bool{},
		told:    map[[2]int]uint8{},
		heard:   map[[2]int]uint8{},
		faults:  map[string]int{},
	}
	for i := range s.Parties {
		r.seats = append(r.seats, &seat{ends: map[int]*end{}, beside: map[[2]int]*end{},
			again: map[int]uint8{}, cut: newCut(), down: r.comes(i), absent: r.comes(i)})
		for j := range s.Parties {
			if l := s.link(i, j); l != nil && !l.Datagrams && r.comes(j) {
				r.lost[[2]int{i, j}] = true // what is sent there is refused until somebody comes
			}
		}
	}
	return r
}

// watched is a runner that notes what its driver does on its own.
type watched struct {
	fsm.Runner
	up      func(p fsm.Peer)
	expired func(id uint16, key uint32)
	closes  func(p fsm.Peer)
	only    fsm.Peer // in a world of two: what the machine has to call the other
}

// Effect implements [fsm.Runner]. Where there are two machines, one may call the other by number or
// not, whatever the protocol is for.
func (w watched) Effect(i int) fsm.Effect {
	e := w.Runner.Effect(i)
	if w.only >= 0 && e.Peer >= 0 && (e.Kind == fsm.Send || e.Kind == fsm.Close) {
		e.Peer = w.only
	}
	if e.Kind == fsm.Close {
		w.closes(e.Peer)
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

// streaming is a watched runner that can also take several frames at once.
type streaming struct {
	watched
	stream func(from fsm.Peer, in, out []byte, limit int) fsm.Streamed
}

func (w streaming) Stream(from fsm.Peer, in, out []byte, limit int) fsm.Streamed {
	return w.stream(from, in, out, limit)
}

// channeled is a watched runner of a protocol with several channels.
type channeled struct {
	watched
	inner fsm.Channeled
}

func (c channeled) FrameOn(from fsm.Peer, channel int, frame []byte) (fsm.Result, error) {
	return c.inner.FrameOn(from, channel, frame)
}

func (c channeled) FrameSizeOn(channel int, b []byte) (int, error) {
	return c.inner.FrameSizeOn(channel, b)
}

// tally is a record that only counts messages.
type tally struct{ s *seat }

func (t tally) Begin(trace.Header) {}
func (t tally) Flush() error       { return nil }
func (t tally) Step(s *trace.Step) {
	if s.Kind == trace.Message {
		t.s.recorded.Add(1)
	}
}

// place makes the driver of an instance. The driver does not run yet.
func (r *play) place(i int) error {
	s, p := r.seats[i], r.Parties[i]
	inner, err := r.make(i, string(interp.AppendMachine(nil, r.Strings, p.Machine, r.c.Values[i])))
	if err != nil {
		return err
	}
	w := watched{inner, func(peer fsm.Peer) {
		for j := range r.seats {
			if j != i && r.peer(i, j) == peer && !r.untold(i, j) {
				s.saw(stage.Move{Kind: world.MoveUp, Who: i, Peer: j})
			}
		}
	}, func(id uint16, key uint32) {
		timer := alarm(p.Alarms, inner.Info().Timers[id], key)
		s.saw(stage.Move{Kind: world.MoveExpire, Who: i, Timer: timer})
	}, nil, -1}
	s.cut = newCut()
	w.closes = s.cut.closing
	if len(r.seats) == 2 {
		w.only = r.peer(i, 1-i)
	}
	var outer fsm.Runner = w
	if x, ok := inner.(fsm.Streamer); ok {
		outer = streaming{w, x.Stream}
	}
	if x, ok := inner.(fsm.Channeled); ok && r.protocol.Several() {
		outer = channeled{w, x}
	}
	if x, ok := inner.(fsm.Phased); ok && r.protocol.Phased() {
		outer = phased{w, x}
	}
	o := driver.Options[fsm.Runner]{OnError: func(_ fsm.Runner, e *driver.Error) { s.failed(e) },
		KeepRefused: r.keep, KeepMalformed: r.keep}
	if r.record {
		o.Trace = append(o.Trace, tally{s})
	}
	s.inner, s.d, s.ends, s.asked, s.had = inner, driver.New(outer, o), map[int]*end{}, map[int]bool{}, map[int]bool{}
	s.beside = map[[2]int]*end{}
	s.failures(r.blamed(i)) // in the step in which the one before crashed
	s.handled, s.wanted, s.blames = 0, 0, 0
	s.recorded.Store(0)
	return nil
}

// attach gives instance i a link to j, that of news last: with it the peer is there.
func (r *play) attach(i, j int) error {
	news := r.World.Rules.NewsClass(i, j)
	s := r.seats[i]
	for class, ch := range r.protocol.Channels() {
		if class == news {
			continue
		}
		e, err := r.attachOn(i, j, class, func(l transport.Link) error {
			return s.d.AttachOn(r.peer(i, j), ch.Name, l)
		})
		if err != nil {
			return err
		}
		s.beside[[2]int{j, class}] = e
	}
	e, err := r.attachOn(i, j, news, func(l transport.Link) error { return s.d.Attach(r.peer(i, j), l) })
	if err == nil {
		s.ends[j], s.had[j] = e, true
	}
	return err
}

// attachOn gives instance i a link to j for one channel.
func (r *play) attachOn(i, j, class int, give func(transport.Link) error) (*end, error) {
	mine, theirs := mem.Pair(mem.Config{Stream: r.streams(class), Linger: time.Millisecond})
	e := &end{Link: theirs, told: r.reading(i, class)}
	s := r.seats[i]
	limits := s.cut
	if r.hostile(j) {
		limits = newCut() // nobody looks at what goes there
	}
	written := r.reading(j, class)
	f := &tearing{Link: mine, cut: limits, to: j, over: class, size: func(b []byte) (int, error) {
		n, _, err := written.next(b)
		return n, err
	}, away: func() bool {
		s.mu.Lock() // the driver asks
		defer s.mu.Unlock()
		return r.parted(i, j, class)
	}}
	if !r.silent(i, j) {
		s.cut.open(j, r.peer(i, j))
	}
	if err := give(f); err != nil {
		return nil, err
	}
	go e.collect(r.reading(j, class))
	return e, nil
}

// end is the test's end of the link of i to j for a channel; nil if there is none.
func (r *play) end(i, j, class int) *end {
	s := r.seats[i]
	if e := s.beside[[2]int{j, class}]; e != nil && s.ends[j] != nil {
		return e
	}
	if class != r.World.Rules.NewsClass(i, j) {
		return nil
	}
	return s.ends[j]
}

// collect receives what a driver sends.
func (e *end) collect(in *reading) {
	var rest []byte
	buf := make([]byte, in.p.Wire.Max+1)
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
			n, phase, err := in.next(rest)
			if err != nil || n == 0 || n > len(rest) {
				break
			}
			e.frames = append(e.frames, sent{slices.Clone(rest[:n]), phase})
			rest = rest[n:]
		}
		if !e.Properties().Stream {
			e.frames, rest = append(e.frames, sent{slices.Clone(rest), in.read(rest)}), rest[:0]
		}
		e.mu.Unlock()
	}
}

// channel is that in which news of a link travels.
func (r *play) channel(from, to int) int {
	return r.World.Rules.Channel(from, to, r.World.Rules.NewsClass(from, to))
}

// gather puts into the channels what the drivers have sent since the last time.
func (r *play) gather() {
	synctest.Wait()
	for i, s := range r.seats {
		for _, j := range slices.Sorted(maps.Keys(s.ends)) {
			closed := false
			k := r.channel(i, j)
			for class := range r.protocol.Channels() {
				if e := r.end(i, j, class); e != nil && r.sent(i, j, class, e) && e == s.ends[j] {
					closed = true
				}
			}
			if closed && !s.dying && !s.cut.gone(j) {
				if !r.silent(i, j) {
					r.queues[k] = append(r.queues[k], item{news: world.Cut})
				}
				r.hangUp(i, j)
				delete(s.asked, j)
			}
		}
	}
	synctest.Wait()
}

// sent puts into a channel what a driver has sent over a link, and reports whether it has closed that.
func (r *play) sent(i, j, class int, e *end) (closed bool) {
	e.mu.Lock()
	frames, closed := e.frames, e.closed
	e.frames = nil
	e.mu.Unlock()
	k := r.World.Rules.Channel(i, j, class)
	for _, f := range frames {
		if r.hostile(j) || r.parted(i, j, class) {
			continue
		}
		if ch := &r.World.Rules.Channels[k]; messages(r.queues[k]) >= ch.Capacity {
			if ch.Full != world.FullLose {
				r.full = true
			}
			continue
		}
		r.queues[k] = append(r.queues[k], item{frame: f.bytes, class: class, phase: f.phase})
	}
	return closed
}

// hangUp closes the test's ends of a link.
func (r *play) hangUp(i, j int) {
	for k, e := range r.seats[i].beside {
		if k[0] == j {
			delete(r.seats[i].beside, k)
			go e.Close()
		}
	}
	if e := r.seats[i].ends[j]; e != nil {
		delete(r.seats[i].ends, j)
		r.seats[i].cut.shut(j)
		go e.Close()
	}
}

// one makes a move of the world.
func (r *play) one(mv stage.Move) (stage.Taken, error) {
	t, err := r.World.Do(r.c, mv)
	switch {
	case err != nil && r.full && r.waitsForRoom():
		return t, errLeft
	case err != nil:
		return t, fmt.Errorf("the drivers do %v, which is no move of the world: %w", mv, err)
	case r.Wrong != "":
		return t, errLeft
	case t.Fault != world.NoFault:
		return t, r.faulted(t.Who, t.Fault, t.Why)
	}
	r.c = t.Next
	r.rejects(mv, &t)
	if t.Who >= 0 && t.Event.Kind == world.Message {
		r.seats[t.Who].handled++
	}
	return t, nil
}

// do makes a move of the world, and the moves that follow at once, in which an instance handles
// messages that its state no longer defers.
func (r *play) do(mv stage.Move) (stage.Taken, error) {
	first, err := r.one(mv)
	for t := first; err == nil && !r.over; {
		next, ok := r.offer(r.c, mv, &t)
		if !ok {
			break
		}
		t, err = r.one(next)
	}
	return first, err
}

// offer returns the move that follows at once from a result.
func (r *play) offer(c *stage.Configuration, mv stage.Move, t *stage.Taken) (next stage.Move, ok bool) {
	if t.Who < 0 || mv.Kind == world.MoveBeat {
		return next, false
	}
	next = stage.Move{Kind: world.MoveOffer, Who: t.Who}
	_, err := r.World.Do(c, next)
	return next, err == nil
}

// waitsForRoom reports whether steps wait while a channel is full. Drivers do not wait.
func (r *play) waitsForRoom() bool {
	return slices.ContainsFunc(r.World.Rules.Channels, func(c world.Channel) bool {
		return c.Full == world.FullWait
	})
}

// faulted ends a run in which the world sees a fault. The driver has to see it too.
func (r *play) faulted(i int, fault world.FaultKind, why string) error {
	r.over = true
	r.gather()
	want := map[world.FaultKind]driver.ErrorKind{
		world.Refusal:          driver.Refused,
		world.DeferredOverflow: driver.DeferredFull,
		world.NoLink:           driver.NoLink,
	}
	if fault == world.Overflow {
		if !r.full {
			return fmt.Errorf("the world finds a channel full: %s", why)
		}
		return nil
	}
	errs := r.seats[i].failures(func(*driver.Error) bool { return false })
	for _, e := range errs {
		if e.Kind == want[fault] {
			return nil
		}
	}
	return fmt.Errorf("the world says of instance %d: %s, %s; the errors of its driver are %v",
		i, fault, why, errs)
}

// act does something to the drivers. Then it makes the same move in the world, and the moves that the
// drivers have made on their own meanwhile, and compares both.
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
		r.seen = append(r.seen, s.taken()...)
	}
	moves = append(moves, r.seen...)
	if i := slices.IndexFunc(r.seats, func(s *seat) bool { return !s.down && s.cut.torn() }); i >= 0 {
		return r.tear(i, moves)
	}
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

// quiet returns the driver of i when it waits for its links. A driver that has just handled a call
// may look at its link for a moment before it answers the next call, and meanwhile time passes.
func (r *play) quiet(i int) *driver.Driver[fsm.Runner] {
	synctest.Wait()
	return r.seats[i].d
}

// meanwhile makes the moves that drivers have made on their own since the last step: a link that
// lingers takes a millisecond of the bubble's clock, in which timers may expire. A driver looks at
// its timers before it does what it is asked to do.
func (r *play) meanwhile() error {
	r.gather()
	if slices.ContainsFunc(r.seats, (*seat).busy) {
		_, err := r.act("meanwhile", nil)
		return err
	}
	return nil
}

// forget drops a move that a driver has made on its own, because the run makes it anyway.
func (r *play) forget(i int) {
	r.gather()
	r.seats[i].taken()
}

// comes reports whether nobody is at an instance at first.
func (r *setting) comes(i int) bool { return i < len(r.World.Rules.Come) && r.World.Rules.Come[i] > 0 }

// link returns the link between two instances, or nil if there is none.
func (r *setting) link(i, j int) *world.Link {
	for k := range r.World.Rules.Links {
		if l := &r.World.Rules.Links[k]; l.A == i && l.B == j || l.A == j && l.B == i {
			return l
		}
	}
	return nil
}

// parted reports whether a partition loses what i sends to j in a channel. In those of a link that keep everything
// frames wait instead.
func (r *play) parted(i, j, class int) bool {
	l, ch := r.link(i, j), &r.protocol.Channels()[class]
	keeps := l != nil && !l.Datagrams && (class == l.Class || ch.Ordered && !ch.Lossy && !ch.Duplicates)
	return !keeps && r.seats[i].away>>j&1 != 0
}

// untold reports whether nobody tells the machine of i that the link to j comes up.
func (r *setting) untold(i, j int) bool {
	l := r.link(i, j)
	return l == nil || l.Untold[map[bool]int{true: 0, false: 1}[l.A == i]]
}

// text describes an item that instance to receives.
func (r *play) text(to int, x item) string {
	if x.news != world.NoNews {
		return x.news.String()
	}
	m, slots, err := interp.DecodeFrameTo(r.protocol.Over(x.class).In(x.phase), r.Strings, x.frame,
		r.Check.Instances[to].Role.Name)
	if err.Problem != 0 {
		return fmt.Sprintf("% x: %v", x.frame, err)
	}
	return r.Tell(m, slots)
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

// String describes the run so far.
func (r *play) String() string { return strings.Join(r.log, "\n") }
