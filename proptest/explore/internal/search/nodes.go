package search

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/parley-go/parley/proptest/explore/internal/api"
	"github.com/parley-go/parley/proptest/explore/internal/tables"
)

// Searches that take one configuration after the other: depth first, or where
// a claim is nearest to being violated. All configurations found are kept in one level,
// and each knows the one it was first met from.

// nodes are the configurations in the order in which they were found.
type nodes struct {
	parent []int32
	depth  []int32
}

// queue says which configuration comes next.
type queue interface {
	push(node int32, ids []uint32)
	// pop returns -1 when there is none left.
	pop() int32
}

// Stack is a last-in, first-out list.
type Stack []int32

func (q *Stack) push(node int32, _ []uint32) { *q = append(*q, node) }

func (q *Stack) pop() int32 {
	last := len(*q) - 1
	if last < 0 {
		return -1
	}
	n := (*q)[last]
	*q = (*q)[:last]
	return n
}

// nearest prefers what is nearest to a violation of a claim, and among those what
// looks like little that was met before.
type nearest struct {
	e       *tables.Engine
	target  *tables.Bundle // nil: any error
	claim   *api.Claim
	met     map[string]uint64
	buckets [][]int32 // by distance and logarithm of how often its like was met
	key     []byte
}

// rarities is how many buckets there are for each distance.
const rarities = 32

func NewNearest(e *tables.Engine) *nearest {
	q := &nearest{e: e, met: map[string]uint64{}}
	if t := e.Opt.Target; t > 0 && t <= len(e.Sys.Claims) && e.Sys.Claims[t-1].Kind != api.Confluent {
		q.claim = &e.Sys.Claims[t-1]
		q.target = e.NewBundle(api.Everywhere, []int{t - 1})
	}
	return q
}

func (q *nearest) push(node int32, ids []uint32) {
	at := q.distance(ids) * rarities
	n := q.met[string(q.key)]
	q.met[string(q.key)] = n + 1
	at += min(bits.Len64(n), rarities-1)
	for len(q.buckets) <= at {
		q.buckets = append(q.buckets, nil)
	}
	q.buckets[at] = append(q.buckets[at], node)
}

// distance is how far ids are from a violation, as the claim sees it; it leaves in key what
// is taken for alike.
func (q *nearest) distance(ids []uint32) int {
	q.key = q.key[:0]
	if q.target == nil {
		for _, id := range ids[:len(q.e.Procs)] {
			q.key = append(q.key, byte(id), byte(id>>8), byte(id>>16), byte(id>>24))
		}
		return 0
	}
	procs, chans := make([]uint32, len(q.e.Procs)), make([]uint32, len(q.e.Chans))
	for i := range q.target.Fields {
		q.e.Classify(q.target, i, ids)
	}
	for i := range q.target.Fields {
		f := &q.target.Fields[i]
		c := f.Classes[f.Places[ids[f.At]]>>f.Shift&(1<<f.Width-1)][0]
		if f.At < len(procs) {
			procs[f.At] = c
		} else {
			chans[f.At-len(procs)] = c
		}
		q.key = append(q.key, byte(c), byte(c>>8), byte(c>>16), byte(c>>24))
	}
	if q.claim.Distance == nil {
		return 0
	}
	return min(max(q.claim.Distance(procs, chans), 0), 1<<10)
}

func (q *nearest) pop() int32 {
	for i := range q.buckets {
		if b := q.buckets[i]; len(b) > 0 {
			q.buckets[i] = b[1:]
			return b[0]
		}
	}
	return -1
}

// OneByOne searches in the order of q.
func (s *Search) OneByOne(q queue) {
	e, w := s.Engine, s.Workers[0]
	if !s.begin() {
		return
	}
	s.Nodes = &nodes{}
	first := s.Levels[0].Blocks[0]
	s.Levels[0].Blocks[0] = append(make([]uint64, 0, NodesInBlock*e.Lay.Stride), first...)
	s.addNode(q, first, -1)
	cut := false
	for !s.Stop.Load() {
		i := q.pop()
		if i < 0 {
			break
		}
		if most := e.Opt.MaxDepth; most > 0 && int(s.Nodes.depth[i]) >= most {
			s.Unexpanded++
			cut = true
			continue
		}
		s.expandNode(w, q, i)
		if s.harvest(int(s.Nodes.depth[i])) && (!e.Opt.KeepGoing || s.hit()) {
			s.Unexpanded += s.left(q)
			return
		}
		if len(s.Nodes.parent)&(1<<16-1) == 0 {
			s.report(s.Deepest, 0)
		}
	}
	if s.Stop.Load() {
		s.Unexpanded += s.left(q)
	} else if cut {
		s.Halt(depthLimit(e.Opt.MaxDepth))
	}
}

// hit reports whether the claim aimed at is violated.
func (s *Search) hit() bool {
	return s.Engine.Opt.Mode == api.Guided && slices.ContainsFunc(s.Finds, func(f Finding) bool {
		return f.Key.What == FoundClaim && f.Key.Claim == s.Engine.Opt.Target-1
	})
}

func (s *Search) left(q queue) (n uint64) {
	for q.pop() >= 0 {
		n++
	}
	return n
}

// expandNode expands one configuration and queues what is new.
func (s *Search) expandNode(w *Worker, q queue, i int32) {
	e := s.Engine
	for w.Buf = w.Buf[:0]; !w.expand(s.node(i)); w.Buf = w.Buf[:0] {
		if s.fetch([][]uint64{slices.Clone(s.node(i))}) {
			s.repack(&s.Levels[0])
		}
	}
	if s.Visited.Room() < w.waiting() {
		s.grow()
		if s.Stop.Load() {
			return
		}
	}
	stride := e.Lay.Stride
	for o := 0; o < len(w.Buf); o += stride {
		if c := w.Buf[o : o+stride]; s.Visited.Insert(c) {
			s.Visited.Used++
			s.Total++
			s.appendNode(c)
			s.addNode(q, c, i)
		}
	}
	if s.Total > 1<<31-1<<20 {
		s.Halt("no more than two thousand million configurations can be searched one by one")
	}
	if most := e.Opt.MaxConfigurations; most > 0 && s.Total > most {
		s.Halt(fmt.Sprintf("the limit of %d configurations was reached", most))
	}
	if most := e.Opt.MaxBytes; most > 0 && s.Total&1023 == 0 && s.Bytes()+s.Total*12 > most {
		s.Halt(fmt.Sprintf("the memory limit of %d bytes was reached", most))
	}
	w.Buf = w.Buf[:0]
}

// addNode numbers a configuration that was appended.
func (s *Search) addNode(q queue, c []uint64, parent int32) {
	n := s.Nodes
	depth := int32(0)
	if parent >= 0 {
		depth = n.depth[parent] + 1
	}
	n.parent, n.depth = append(n.parent, parent), append(n.depth, depth)
	s.Deepest = max(s.Deepest, int(depth))
	q.push(int32(len(n.parent)-1), s.Engine.Unpack(c))
}

const NodesInBlock = 1 << 12

// appendNode keeps a copy of c.
func (s *Search) appendNode(c []uint64) {
	l := &s.Levels[0]
	last := len(l.Blocks) - 1
	if len(l.Blocks[last]) == NodesInBlock*len(c) {
		l.Blocks = append(l.Blocks, make([]uint64, 0, NodesInBlock*len(c)))
		last++
	}
	l.Blocks[last] = append(l.Blocks[last], c...)
	l.N++
}

func (s *Search) node(i int32) []uint64 {
	stride := s.Engine.Lay.Stride
	b := s.Levels[0].Blocks[i/NodesInBlock]
	at := int(i%NodesInBlock) * stride
	return b[at : at+stride]
}

// way gives the configurations from the start to c, c included.
func (n *nodes) way(s *Search, c []uint64) [][]uint64 {
	at := int32(0)
	for i := range int32(len(n.parent)) {
		if slices.Equal(s.node(i), c) {
			at = i
			break
		}
	}
	var path [][]uint64
	for ; at >= 0; at = n.parent[at] {
		path = append(path, s.node(at))
	}
	slices.Reverse(path)
	return path
}
