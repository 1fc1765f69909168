package explore

import (
	"fmt"
	"math/bits"
	"slices"
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

// stack is last in, first out.
type stack []int32

func (q *stack) push(node int32, _ []uint32) { *q = append(*q, node) }

func (q *stack) pop() int32 {
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
	e       *engine
	target  *bundle // nil: any error
	claim   *Claim
	met     map[string]uint64
	buckets [][]int32 // by distance and logarithm of how often its like was met
	key     []byte
}

// rarities is how many buckets there are for each distance.
const rarities = 32

func newNearest(e *engine) *nearest {
	q := &nearest{e: e, met: map[string]uint64{}}
	if t := e.opt.Target; t > 0 && t <= len(e.sys.Claims) && e.sys.Claims[t-1].Kind != Confluent {
		q.claim = &e.sys.Claims[t-1]
		q.target = e.newBundle(Everywhere, []int{t - 1})
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
		for _, id := range ids[:len(q.e.procs)] {
			q.key = append(q.key, byte(id), byte(id>>8), byte(id>>16), byte(id>>24))
		}
		return 0
	}
	procs, chans := make([]uint32, len(q.e.procs)), make([]uint32, len(q.e.chans))
	for i := range q.target.fields {
		q.e.classify(q.target, i, ids)
	}
	for i := range q.target.fields {
		f := &q.target.fields[i]
		c := f.classes[f.places[ids[f.at]]>>f.shift&(1<<f.width-1)][0]
		if f.at < len(procs) {
			procs[f.at] = c
		} else {
			chans[f.at-len(procs)] = c
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

// oneByOne searches in the order of q.
func (s *search) oneByOne(q queue) {
	e, w := s.e, s.workers[0]
	if !s.begin() {
		return
	}
	s.nodes = &nodes{}
	first := e.levels[0].blocks[0]
	e.levels[0].blocks[0] = append(make([]uint64, 0, nodesInBlock*e.lay.stride), first...)
	s.addNode(q, first, -1)
	cut := false
	for !s.stop.Load() {
		i := q.pop()
		if i < 0 {
			break
		}
		if most := e.opt.MaxDepth; most > 0 && int(s.nodes.depth[i]) >= most {
			s.unexpanded++
			cut = true
			continue
		}
		s.expandNode(w, q, i)
		if s.harvest(int(s.nodes.depth[i])) && (!e.opt.KeepGoing || s.hit()) {
			s.unexpanded += s.left(q)
			return
		}
		if len(s.nodes.parent)&(1<<16-1) == 0 {
			s.report(s.deepest, 0)
		}
	}
	if s.stop.Load() {
		s.unexpanded += s.left(q)
	} else if cut {
		s.halt(fmt.Sprintf("the depth limit of %d steps was reached", e.opt.MaxDepth))
	}
}

// hit says whether the claim aimed at is violated.
func (s *search) hit() bool {
	return s.e.opt.Mode == Guided && slices.ContainsFunc(s.finds, func(f finding) bool {
		return f.key.what == foundClaim && f.key.claim == s.e.opt.Target-1
	})
}

func (s *search) left(q queue) (n uint64) {
	for q.pop() >= 0 {
		n++
	}
	return n
}

// expandNode expands one configuration and queues what is new.
func (s *search) expandNode(w *worker, q queue, i int32) {
	e := s.e
	for w.buf = w.buf[:0]; !w.expand(s.node(i)); w.buf = w.buf[:0] {
		if s.fetch([][]uint64{slices.Clone(s.node(i))}) {
			s.repack(&e.levels[0])
		}
	}
	if e.visited.room() < w.waiting() {
		s.grow()
		if s.stop.Load() {
			return
		}
	}
	stride := e.lay.stride
	for o := 0; o < len(w.buf); o += stride {
		if c := w.buf[o : o+stride]; e.visited.insert(c) {
			e.visited.used++
			s.total++
			s.appendNode(c)
			s.addNode(q, c, i)
		}
	}
	if s.total > 1<<31-1<<20 {
		s.halt("no more than two thousand million configurations can be searched one by one")
	}
	if most := e.opt.MaxConfigurations; most > 0 && s.total > most {
		s.halt(fmt.Sprintf("the limit of %d configurations was reached", most))
	}
	if most := e.opt.MaxBytes; most > 0 && s.total&1023 == 0 && e.bytes(s.total)+s.total*12 > most {
		s.halt(fmt.Sprintf("the memory limit of %d bytes was reached", most))
	}
	w.buf = w.buf[:0]
}

// addNode numbers a configuration that was appended.
func (s *search) addNode(q queue, c []uint64, parent int32) {
	n := s.nodes
	depth := int32(0)
	if parent >= 0 {
		depth = n.depth[parent] + 1
	}
	n.parent, n.depth = append(n.parent, parent), append(n.depth, depth)
	s.deepest = max(s.deepest, int(depth))
	q.push(int32(len(n.parent)-1), s.e.unpack(c))
}

const nodesInBlock = 1 << 12

// appendNode keeps a copy of c.
func (s *search) appendNode(c []uint64) {
	l := &s.e.levels[0]
	last := len(l.blocks) - 1
	if len(l.blocks[last]) == nodesInBlock*len(c) {
		l.blocks = append(l.blocks, make([]uint64, 0, nodesInBlock*len(c)))
		last++
	}
	l.blocks[last] = append(l.blocks[last], c...)
	l.n++
}

func (s *search) node(i int32) []uint64 {
	stride := s.e.lay.stride
	b := s.e.levels[0].blocks[i/nodesInBlock]
	at := int(i%nodesInBlock) * stride
	return b[at : at+stride]
}

// way gives the configurations from the start to c, c included.
func (n *nodes) way(s *search, c []uint64) [][]uint64 {
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
