// Package search visits the configurations of a system: level by level with several workers, or one
// after the other, depth first, guided or at random. It judges each one where it is found, and
// keeps the way to what is wrong. It must not know claims about what comes after a configuration;
// those are decided when the search is over. Start from [Search] and [Worker].
package search

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/proptest/explore/internal/api"
	"github.com/parley-go/parley/proptest/explore/internal/store"
	"github.com/parley-go/parley/proptest/explore/internal/tables"
)

// Search is a level-synchronous breadth-first search: the workers expand one
// level in rounds; between rounds one goroutine interns what they missed,
// enlarges the visited set and repacks configurations if a field grew.
type Search struct {
	Engine     *tables.Engine
	Visited    *store.Table
	Levels     []Level
	Peak       uint64 // most memory held at once
	Tune       api.Tuning
	checks     api.Checks
	Workers    []*Worker
	Start      time.Time
	Stop       atomic.Bool // a limit was reached or the context ended
	Why        atomic.Pointer[string]
	cursor     atomic.Int64
	pause      atomic.Bool // end the round early: something has to be done in between
	Tasks      [][]uint64  // pieces of the level not yet expanded
	reserved   atomic.Int64
	Total      uint64
	reported   map[FindKey]bool
	Finds      []Finding
	Walked     []api.Violation // by random walks
	Seen       []api.Witness
	Deepest    int
	Nodes      *nodes // of a search that takes one configuration after the other
	Unexpanded uint64
	Held       []uint64 // by claim: configurations where it held
	Relevant   []uint64
	sequential sync.Mutex
	cancel     []func() bool
	free       context.CancelFunc
}

// Level is all configurations at one depth, in blocks of packed words.
type Level struct {
	Blocks [][]uint64
	N      uint64
}

const blockWords = 1 << 15

func NewSearch(ctx context.Context, e *tables.Engine) *Search {
	s := &Search{Engine: e, Start: time.Now(), reported: map[FindKey]bool{}, checks: e.Opt.Checks,
		Tune: e.Opt.Tune.Complete()}
	s.Held, s.Relevant = make([]uint64, len(e.Sys.Claims)), make([]uint64, len(e.Sys.Claims))
	if s.checks == 0 {
		s.checks = api.DefaultChecks
	}
	n := e.Opt.Workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	for range n {
		s.Workers = append(s.Workers, newWorker(s))
	}
	s.free = func() {}
	if e.Opt.MaxTime > 0 {
		ctx, s.free = context.WithTimeoutCause(ctx, e.Opt.MaxTime,
			fmt.Errorf("the time limit of %v was reached", e.Opt.MaxTime))
	}
	s.cancel = append(s.cancel, context.AfterFunc(ctx, func() { s.Halt(context.Cause(ctx).Error()) }))
	return s
}

// Halt stops the search as soon as the workers notice. Only the first reason is reported.
func (s *Search) Halt(why string) {
	s.Why.CompareAndSwap(nil, &why)
	s.Stop.Store(true)
}

func (s *Search) Close() {
	for _, c := range s.cancel {
		c()
	}
	s.free()
	if s.Visited != nil {
		s.Visited.Free()
		s.Visited = nil
	}
}

// BreadthFirst runs the search until it ends or reaches a limit.
func (s *Search) BreadthFirst() {
	e := s.Engine
	if !s.begin() {
		return
	}
	for depth := 0; ; depth++ {
		next := s.expandLevel(&s.Levels[depth])
		bad := s.harvest(depth)
		s.report(depth, next.N)
		if next.N > 0 {
			s.Levels = append(s.Levels, next)
		}
		switch {
		case s.Stop.Load():
			s.Unexpanded += next.N
			return
		case next.N == 0:
			return
		case bad && !e.Opt.KeepGoing:
			s.Unexpanded += next.N
			return
		case e.Opt.MaxDepth > 0 && depth+1 >= e.Opt.MaxDepth:
			s.Unexpanded += next.N
			s.Halt(depthLimit(e.Opt.MaxDepth))
			return
		case e.Opt.MaxFlooded > 0 && s.Total > e.Opt.MaxFlooded && s.flooded():
			s.Unexpanded += next.N
			s.Halt(fmt.Sprintf("a channel is full, and with what is sent without end there are more than %d "+
				"configurations", e.Opt.MaxFlooded))
			return
		}
	}
}

// flooded reports whether a full channel was found.
func (s *Search) flooded() bool {
	return slices.ContainsFunc(s.Finds, func(f Finding) bool {
		return f.Key.What == foundFault && f.Key.kind == api.ChannelOverflow
	})
}

// begin makes the visited set and the first level.
func (s *Search) begin() bool {
	e := s.Engine
	ids := e.Initial()
	if e.Canon != nil {
		e.Canon.Learn(e.Initial(), ids)
	}
	s.relayout()
	t, err := s.newVisited(s.Tune.Slots)
	if err != nil {
		s.Halt(err.Error())
		return false
	}
	s.Visited = t
	c := make([]uint64, e.Lay.Stride)
	e.Lay.Pack(ids, c)
	s.insertOne(c)
	s.Total = 1
	s.Levels = []Level{{Blocks: [][]uint64{c}, N: 1}}
	return true
}

func (s *Search) insertOne(c []uint64) {
	s.Visited.Insert(c)
	s.Visited.Used++
}

// expandLevel expands all of a level and returns the next one.
func (s *Search) expandLevel(l *Level) Level {
	s.Split(l)
	for {
		s.cursor.Store(0)
		s.pause.Store(false)
		s.room()
		s.round()
		rest := s.Tasks[min(int(s.cursor.Load()), len(s.Tasks)):]
		missed := s.gather()
		if s.Stop.Load() {
			for _, t := range slices.Concat(rest, missed) {
				s.Unexpanded += uint64(len(t) / s.Engine.Lay.Stride)
			}
			break
		}
		if len(missed) == 0 && len(rest) == 0 && !s.pending() {
			break
		}
		s.Tasks = append(missed, rest...)
		if s.fetch(missed) {
			s.repack(l)
		}
		s.grow()
	}
	return s.collect()
}

// Split divides a level into tasks of some configurations each.
func (s *Search) Split(l *Level) {
	s.Tasks = s.Tasks[:0]
	size := s.Tune.Batch * s.Engine.Lay.Stride
	for _, b := range l.Blocks {
		for len(b) > 0 {
			n := min(size, len(b))
			s.Tasks = append(s.Tasks, b[:n])
			b = b[n:]
		}
	}
}

// round lets the workers run until the tasks are done or a pause is asked for.
func (s *Search) round() {
	n := min(len(s.Workers), 1+len(s.Tasks)/8)
	var wg sync.WaitGroup
	for _, w := range s.Workers[1:n] {
		wg.Add(1)
		go func() {
			defer wg.Done()
			w.run()
		}()
	}
	s.Workers[0].run()
	wg.Wait()
	if n < len(s.Workers) { // idle ones may still hold successors
		for _, w := range s.Workers[n:] {
			w.flush()
		}
	}
}

// run does the work of one worker in a round.
func (w *Worker) run() {
	s := w.Search
	stride := w.Engine.Lay.Stride
	for {
		if len(w.Buf) > 0 && !w.flush() || s.pause.Load() || s.Stop.Load() {
			return
		}
		at := int(s.cursor.Add(1)) - 1
		if at >= len(s.Tasks) {
			return
		}
		for t := s.Tasks[at]; len(t) > 0; t = t[stride:] {
			if !w.expand(t[:stride]) {
				w.miss = append(w.miss, t[:stride]...)
			}
		}
		if len(w.miss) >= s.Tune.Misses {
			s.pause.Store(true)
		}
	}
}

// ForEach calls f for every configuration of the levels, nearest first.
func (s *Search) ForEach(f func(depth int, c []uint64) bool) {
	stride := s.Engine.Lay.Stride
	for depth, l := range s.Levels {
		for _, b := range l.Blocks {
			for ; len(b) > 0; b = b[stride:] {
				if !f(depth, b[:stride]) {
					return
				}
			}
		}
	}
}

// depthLimit says that a search has come as deep as it may.
func depthLimit(most int) string {
	if most == 1 {
		return "the depth limit of 1 step was reached"
	}
	return fmt.Sprintf("the depth limit of %d steps was reached", most)
}
