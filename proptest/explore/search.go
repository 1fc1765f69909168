package explore

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// search is a level-synchronous breadth-first search: the workers expand one
// level in rounds; between rounds one goroutine interns what they missed,
// enlarges the visited set and repacks configurations if a field grew.
type search struct {
	e          *engine
	tune       tuning
	checks     Checks
	workers    []*worker
	start      time.Time
	stop       atomic.Bool // a limit was reached or the context ended
	why        atomic.Pointer[string]
	cursor     atomic.Int64
	pause      atomic.Bool // end the round early: something has to be done in between
	tasks      [][]uint64  // pieces of the level not yet expanded
	reserved   atomic.Int64
	total      uint64
	reported   map[findKey]bool
	finds      []finding
	conflicts  []conflict
	walked     []Violation // by random walks
	seen       []Witness
	deepest    int
	nodes      *nodes // of a search that takes one configuration after the other
	unexpanded uint64
	held       []uint64 // by claim: configurations where it held
	relevant   []uint64
	sequential sync.Mutex
	cancel     []func() bool
	free       context.CancelFunc
}

// level is all configurations at one distance, in blocks of packed words.
type level struct {
	blocks [][]uint64
	n      uint64
}

const blockWords = 1 << 15

// tuning has the sizes that decide how often the workers stop for a round to
// end; 0 is the usual. Only tests choose others, to provoke what is rare.
type tuning struct {
	slots  uint64 // of the first visited set
	quota  int64  // insertions reserved at a time
	batch  int    // configurations in a task
	misses int    // words of missed configurations after which a round ends
	share  uint64 // slots of the visited set that are worth moving by several workers
	piece  uint64 // below this slot growth moves all that is left at once
	// yield, if set, is called where another worker's step would matter most.
	yield func()
}

func (t tuning) complete() tuning {
	return tuning{
		slots: cmp.Or(t.slots, 1<<12), quota: cmp.Or(t.quota, 1<<13), batch: cmp.Or(t.batch, 256), misses: cmp.Or(t.misses, 1<<12),
		share: cmp.Or(t.share, 1<<14), piece: cmp.Or(t.piece, 1<<10), yield: t.yield,
	}
}

func newSearch(ctx context.Context, e *engine) *search {
	s := &search{e: e, start: time.Now(), reported: map[findKey]bool{}, checks: e.opt.Checks, tune: e.opt.tune.complete()}
	s.held, s.relevant = make([]uint64, len(e.sys.Claims)), make([]uint64, len(e.sys.Claims))
	if s.checks == 0 {
		s.checks = DefaultChecks
	}
	n := e.opt.Workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	for range n {
		s.workers = append(s.workers, newWorker(s))
	}
	s.free = func() {}
	if e.opt.MaxTime > 0 {
		ctx, s.free = context.WithTimeoutCause(ctx, e.opt.MaxTime, fmt.Errorf("the time limit of %v was reached", e.opt.MaxTime))
	}
	s.cancel = append(s.cancel, context.AfterFunc(ctx, func() { s.halt(context.Cause(ctx).Error()) }))
	return s
}

// halt stops the search as soon as the workers notice; the first reason given
// is the one reported.
func (s *search) halt(why string) {
	s.why.CompareAndSwap(nil, &why)
	s.stop.Store(true)
}

func (s *search) close() {
	for _, c := range s.cancel {
		c()
	}
	s.free()
	if s.e.visited != nil {
		s.e.visited.free()
		s.e.visited = nil
	}
}

// breadthFirst runs the search to its end or a limit.
func (s *search) breadthFirst() {
	e := s.e
	if !s.begin() {
		return
	}
	for depth := 0; ; depth++ {
		next := s.expandLevel(&e.levels[depth])
		bad := s.harvest(depth)
		s.report(depth, next.n)
		if next.n > 0 {
			e.levels = append(e.levels, next)
		}
		switch {
		case s.stop.Load():
			s.unexpanded += next.n
			return
		case next.n == 0:
			return
		case bad && !e.opt.KeepGoing:
			s.unexpanded += next.n
			return
		case e.opt.MaxDepth > 0 && depth+1 >= e.opt.MaxDepth:
			s.unexpanded += next.n
			s.halt(fmt.Sprintf("the depth limit of %d steps was reached", e.opt.MaxDepth))
			return
		}
	}
}

// begin makes the visited set and the first level.
func (s *search) begin() bool {
	e := s.e
	ids := e.initial()
	if e.canon != nil {
		e.canon.learn(e.initial(), ids)
	}
	s.relayout()
	t, err := s.newVisited(s.tune.slots)
	if err != nil {
		s.halt(err.Error())
		return false
	}
	e.visited = t
	c := make([]uint64, e.lay.stride)
	e.lay.pack(ids, c)
	s.insertOne(c)
	s.total = 1
	e.levels = []level{{blocks: [][]uint64{c}, n: 1}}
	return true
}

func (s *search) insertOne(c []uint64) {
	s.e.visited.insert(c)
	s.e.visited.used++
}

// expandLevel expands all of a level and returns the next one.
func (s *search) expandLevel(l *level) level {
	s.split(l)
	for {
		s.cursor.Store(0)
		s.pause.Store(false)
		s.room()
		s.round()
		rest := s.tasks[min(int(s.cursor.Load()), len(s.tasks)):]
		missed := s.gather()
		if s.stop.Load() {
			for _, t := range slices.Concat(rest, missed) {
				s.unexpanded += uint64(len(t) / s.e.lay.stride)
			}
			break
		}
		if len(missed) == 0 && len(rest) == 0 && !s.pending() {
			break
		}
		s.tasks = append(missed, rest...)
		if s.fetch(missed) {
			s.repack(l)
		}
		s.grow()
	}
	return s.collect()
}

// split cuts a level into tasks of some configurations.
func (s *search) split(l *level) {
	s.tasks = s.tasks[:0]
	size := s.tune.batch * s.e.lay.stride
	for _, b := range l.blocks {
		for len(b) > 0 {
			n := min(size, len(b))
			s.tasks = append(s.tasks, b[:n])
			b = b[n:]
		}
	}
}

// round lets the workers run until the tasks are done or a pause is asked for.
func (s *search) round() {
	n := min(len(s.workers), 1+len(s.tasks)/8)
	var wg sync.WaitGroup
	for _, w := range s.workers[1:n] {
		wg.Add(1)
		go func() {
			defer wg.Done()
			w.run()
		}()
	}
	s.workers[0].run()
	wg.Wait()
	if n < len(s.workers) { // idle ones may still hold successors
		for _, w := range s.workers[n:] {
			w.flush()
		}
	}
}

// run is what a worker does in a round.
func (w *worker) run() {
	s := w.s
	stride := w.e.lay.stride
	for {
		if len(w.buf) > 0 && !w.flush() || s.pause.Load() || s.stop.Load() {
			return
		}
		at := int(s.cursor.Add(1)) - 1
		if at >= len(s.tasks) {
			return
		}
		for t := s.tasks[at]; len(t) > 0; t = t[stride:] {
			if !w.expand(t[:stride]) {
				w.miss = append(w.miss, t[:stride]...)
			}
		}
		if len(w.miss) >= s.tune.misses {
			s.pause.Store(true)
		}
	}
}
