package explore

import (
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

const (
	batchParents = 256
	blockWords   = 1 << 15
	quotaStep    = 1 << 13
	missesEnough = 1 << 12
)

func newSearch(ctx context.Context, e *engine) *search {
	s := &search{e: e, start: time.Now(), reported: map[findKey]bool{}, checks: e.opt.Checks}
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
	ids := e.initial()
	s.relayout()
	t, err := newTable(1<<12, e.lay.stride)
	if err != nil {
		s.halt(err.Error())
		return
	}
	e.visited = t
	c := make([]uint64, e.lay.stride)
	e.lay.pack(ids, c)
	s.insertOne(c)
	s.total = 1
	e.levels = []level{{blocks: [][]uint64{c}, n: 1}}
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

// split cuts a level into tasks of batchParents configurations.
func (s *search) split(l *level) {
	s.tasks = s.tasks[:0]
	size := batchParents * s.e.lay.stride
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
		if len(w.miss) >= missesEnough {
			s.pause.Store(true)
		}
	}
}

// flush inserts the successors in buf. It is false, and leaves them there, if
// the visited set has to grow first.
func (w *worker) flush() bool {
	if len(w.buf) == 0 {
		return true
	}
	n := w.waiting()
	if n > w.quota && !w.reserve(n) {
		return false
	}
	if w.e.lay.stride == 1 {
		w.flush1()
	} else {
		w.flushN()
	}
	w.buf = w.buf[:0]
	return true
}

// waiting is the number of successors in buf.
func (w *worker) waiting() int64 { return int64(len(w.buf) / w.e.lay.stride) }

// reserve gets the right to insert n, and perhaps some more.
func (w *worker) reserve(n int64) bool {
	need := max(n-w.quota, quotaStep)
	if w.s.reserved.Add(-need) < 0 {
		w.s.reserved.Add(need)
		w.s.pause.Store(true)
		return false
	}
	w.quota += need
	return true
}

// flush1 works in passes over short arrays, each simple enough that many of
// its memory accesses are under way at once: drop what was seen a moment ago,
// fetch a slot for each of the others, drop those found there, insert the rest.
func (w *worker) flush1() {
	t := w.e.visited
	if len(w.homes) < len(w.buf) {
		w.homes = make([]uint64, 2*len(w.buf))
		w.keys = make([]uint64, 2*len(w.buf))
	}
	if w.recent == nil {
		w.recent = make([]uint64, recentSize)
	}
	n := w.dropRecent(t)
	for from := 0; from < n; from += lookAhead {
		to := min(from+lookAhead, n)
		w.insertSome(t, w.keys[from:to], w.homes[from:to])
	}
}

// lookAhead is how many slots are asked for at once: enough that the memory is
// kept busy, few enough that they are still in the first cache when used.
const lookAhead = 128

// insertSome inserts keys and keeps those that are new. It uses its arguments
// up.
func (w *worker) insertSome(t *table, keys, homes []uint64) {
	n := 0
	for i, c := range keys {
		h := homes[i]
		d := atomic.LoadUint64(&t.slots[h]) ^ (c + 1)
		d2 := atomic.LoadUint64(&t.slots[h+1]) ^ (c + 1)
		keys[n], homes[n] = c, h
		n += int(((d | -d) & (d2 | -d2)) >> 63)
	}
	keys, homes = keys[:n], homes[:n]
	n = 0
	for i, c := range keys {
		if t.insert1(c, homes[i]) {
			keys[n] = c
			n++
		}
	}
	w.quota -= int64(n)
	w.keep(keys[:n])
}

const recentSize = 1 << recentBits
const recentBits = 12

// dropRecent puts those successors that were not met a moment ago into keys
// and their homes into homes. It forgets at random, so nothing depends on it.
func (w *worker) dropRecent(t *table) int {
	recent := (*[recentSize]uint64)(w.recent)
	keys, homes := w.keys[:len(w.buf)], w.homes[:len(w.buf)]
	n := 0
	for _, c := range w.buf {
		h := hash1(c)
		r := &recent[h%recentSize]
		d := *r ^ (c + 1)
		*r = c + 1
		keys[n], homes[n] = c, t.home(h)
		n += int((d | -d) >> 63)
	}
	return n
}

// flushN is flush1 for several words, without the shortcut for those found at
// the first look.
func (w *worker) flushN() {
	t := w.e.visited
	stride := w.e.lay.stride
	n := len(w.buf) / stride
	if len(w.homes) < n {
		w.homes = make([]uint64, 2*n)
	}
	homes := w.homes[:n]
	sum := uint64(0)
	for i := range homes {
		h := t.home(hashN(w.buf[i*stride : (i+1)*stride]))
		homes[i] = h
		sum += atomic.LoadUint64(&t.slots[h*t.stride])
	}
	w.sink = sum
	fresh := 0
	for i, h := range homes {
		c := w.buf[i*stride : (i+1)*stride]
		if t.insertN(c, h) {
			copy(w.buf[fresh*stride:], c)
			fresh++
		}
	}
	w.quota -= int64(fresh)
	w.keep(w.buf[:fresh*stride])
}

// keep adds new configurations to the next level.
func (w *worker) keep(cs []uint64) {
	stride := w.e.lay.stride
	w.fresh += uint64(len(cs) / stride)
	for len(cs) > 0 {
		last := len(w.out) - 1
		if last < 0 || len(w.out[last]) == cap(w.out[last]) {
			size := 64 * stride
			if last >= 0 {
				size = min(4*cap(w.out[last]), blockWords*stride)
			}
			w.out = append(w.out, make([]uint64, 0, size))
			last++
		}
		b := w.out[last]
		n := min(len(cs), cap(b)-len(b))
		w.out[last] = append(b, cs[:n]...)
		cs = cs[n:]
	}
}

// gather takes what the workers missed and how many they found.
func (s *search) gather() (missed [][]uint64) {
	for _, w := range s.workers {
		if len(w.miss) > 0 {
			missed = append(missed, w.miss)
			w.miss = nil
		}
		s.total += w.fresh
		s.e.visited.used += w.fresh
		w.fresh = 0
	}
	if most := s.e.opt.MaxConfigurations; most > 0 && s.total > most {
		s.halt(fmt.Sprintf("the limit of %d configurations was reached", most))
	}
	return missed
}

func (s *search) pending() bool {
	return slices.ContainsFunc(s.workers, func(w *worker) bool { return len(w.buf) > 0 })
}

// room hands out the free part of the visited set afresh.
func (s *search) room() {
	room := s.e.visited.room()
	if most := s.e.opt.MaxConfigurations; most > 0 {
		room = min(room, max(int64(most)-int64(s.total), 0)+int64(len(s.workers)*quotaStep))
	}
	for _, w := range s.workers {
		w.quota = 0
		if e := s.e; e.opt.MaxConfigurations > 0 {
			room = min(room+w.waiting(), e.visited.room())
		}
	}
	s.reserved.Store(room)
}

// fetch interns everything the missed configurations need. It is true if ids
// no longer fit the layout.
func (s *search) fetch(missed [][]uint64) bool {
	e := s.e
	stride := e.lay.stride
	ids := make([]uint32, e.fields())
	for _, t := range missed {
		for ; len(t) > 0; t = t[stride:] {
			e.lay.unpack(t[:stride], ids)
			e.moves(ids, func(*move) bool { return true })
			for i := 0; i < len(e.bundles); i++ {
				if b := e.bundles[i]; e.applies(b.where, ids) && b.outcome(ids) == 0 && !e.learn(b, ids) {
					s.divide(i)
					i--
				}
			}
		}
	}
	for k := range e.chans {
		c := &e.chans[k]
		c.append.widen(len(c.msgs.vals))
		c.recv.widen(len(c.msgs.vals))
	}
	return !e.lay.fits(e.counts())
}

// divide replaces a bundle by two with half of its claims each.
func (s *search) divide(i int) {
	e := s.e
	s.count(i)
	b := e.bundles[i]
	half := len(b.claims) / 2
	e.bundles[i] = e.newBundle(b.where, b.claims[:half])
	e.bundles = append(e.bundles, e.newBundle(b.where, b.claims[half:]))
	for _, w := range s.workers {
		w.said = append(w.said, 0)
		w.by = append(w.by, nil)
	}
}

// count adds the workers' counts for a bundle to those of its claims.
func (s *search) count(i int) {
	b := s.e.bundles[i]
	for _, w := range s.workers {
		for v, n := range w.by[i] {
			for j, claim := range b.claims {
				bits := b.outcomes[v].bits[j]
				s.held[claim] += n * uint64(bits&heldBit)
				s.relevant[claim] += n * uint64(bits/relevantBit)
			}
		}
		w.by[i] = nil
	}
}

// collect joins what the workers kept into the next level.
func (s *search) collect() level {
	var l level
	for _, w := range s.workers {
		for _, b := range w.out {
			l.n += uint64(len(b) / s.e.lay.stride)
		}
		l.blocks = append(l.blocks, w.out...)
		w.out = nil
	}
	return l
}

func (s *search) report(depth int, frontier uint64) {
	e := s.e
	e.peak = max(e.peak, e.bytes(s.total))
	if e.opt.Progress == nil {
		return
	}
	p := Progress{Configurations: s.total, Depth: depth, Frontier: frontier, Bytes: e.bytes(s.total), Elapsed: time.Since(s.start)}
	for _, w := range s.workers {
		p.Steps += w.steps
	}
	e.opt.Progress(p)
}

// bytes is the memory of the visited set, the levels and the tables.
func (e *engine) bytes(configurations uint64) uint64 {
	n := configurations * uint64(e.lay.stride) * 8
	if e.visited != nil {
		n += e.visited.bytes()
	}
	for i := range e.chans {
		c := &e.chans[i]
		n += c.append.bytes() + c.recv.bytes() + uint64(len(c.words))*(64+uint64(4*c.widest))
	}
	for i := range e.procs {
		n += uint64(len(e.procs[i].rules))*56 + uint64(len(e.procs[i].locals.vals))*64
	}
	return n
}
