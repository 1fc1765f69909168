package second

import (
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/syntax"
	"github.com/parley-go/parley/proptest/second/machine"
)

// world is all that does not change in the course of a check.
type world struct {
	u            *machine.Unit
	check        *ast.Node
	names        []string        // of the instances
	roles        []*machine.Role // nil: hostile
	as           []*machine.Role // the role that a hostile instance has by the check
	params       [][]machine.Value
	groups       map[string]machine.Group
	classes      []class
	of           map[string]int // messages to classes
	time         *machine.Timing
	crash        faults
	restart      faults
	atomic       bool
	lose         int // how often; -1: as often as the channel does, or never
	copies       int
	swaps        int
	breaks       int
	returns      int // -1: as often as possible
	partitions   int
	bridge       ends
	come         []int
	bad          []bool // hostile with `malformed`
	linked       [][]bool
	reach        [][]bool // may send to
	dgram        bool     // links are of datagrams
	channelNames []string
	news         int // the class in which news of links travels
	quiet        syntax.Node
	watched      ghosts
	monitors     []*monitor
	watches      []*watch
	forged       map[[2]int][]*message // what a hostile instance can send to another
	args         []machine.Text        // in the parameters of honest instances
	said         []machine.Text        // besides in their machines; nil: not found out yet
	only         map[string][]int64    // see Options.Only
	labels       bool                  // steps need labels, for `confluent`
	answers      map[string]*answers
	now          *answers // of the configuration that claims are asked about; nil: of none
	conditions   map[syntax.Node]int
	*store
	memos
}

// class is one of the channels that lie between each two instances.
type class struct {
	name               string
	bag, lossy, copies bool
	capacity           int
	full               string
}

// faults says how often something may happen: to each instance, or to all together.
type faults struct {
	total int // -1: each says for itself
	each  []int
}

func (w *world) at(from, to, class int) int { return (from*len(w.roles)+to)*len(w.classes) + class }

// first is the configuration in which everything begins.
func (w *world) first() *config {
	c := &config{joint: make([]*machine.Machine, len(w.monitors))}
	n := len(w.roles)
	c.ch = make([]*queue, n*n*len(w.classes))
	for k := range c.ch {
		c.ch[k] = empty
	}
	for i := range w.roles {
		c.in = append(c.in, w.begin(i))
		if w.come[i] > 0 {
			c.in[i] = w.away(c.in[i], i)
			c.in[i].coming = w.come[i]
		}
		for j := range w.roles {
			if w.come[j] > 0 && w.linked[i][j] && !w.dgram {
				c.shut(i, j) // as a link that was lost: who comes asks for it
			}
		}
	}
	for k, m := range w.monitors {
		if m.joint {
			c.joint[k] = w.numbered(m.name, m.role.Machine(0, nil))
		}
	}
	c.clocks = make([]int, len(w.watches))
	return c
}

// begin is an instance as it is in the beginning.
func (w *world) begin(i int) *inst {
	in := &inst{used: map[string]int{}, seen: map[string]machine.Value{},
		mons: map[string]*machine.Machine{}, started: true}
	if w.roles[i] == nil {
		return in
	}
	in.m = w.numbered(w.names[i], w.roles[i].Machine(i, w.params[i]))
	in.started = !in.m.StartDoes()
	for j := range w.roles {
		if w.linked[i][j] && w.mentions(i, "up") {
			in.wait.add(j)
		}
	}
	for k, v := range w.watched.begin(w.roles[i]) {
		in.seen[k] = v
	}
	for _, m := range w.monitors {
		if !m.joint && m.of[0] == w.roles[i].Name {
			in.mons[m.name] = w.numbered(w.names[i]+m.name, m.role.Machine(i, nil))
		}
	}
	return in
}
