package second

import (
	"encoding/binary"
	"slices"

	"github.com/parley-go/parley/proptest/second/machine"
)

// message is a message with what its receiver makes of it.
type message struct {
	machine.Message
	event map[string]machine.Value
}

// item is a message, or news of a link, on its way.
type item struct {
	news string // "lost", "reset", "mark", "ask", "answer"; "" for a message
	msg  *message
	age  int
	no   int // of an ask, which one; of an answer, to which ask
	had  int // of an ask, how many resets its sender had heard
}

// same reports whether two items are alike.
func (it item) same(other item) bool {
	return it.news == other.news && it.age == other.age && it.no == other.no && it.had == other.had &&
		(it.msg == other.msg || it.msg != nil && other.msg != nil && it.msg.Text == other.msg.Text)
}

func (it item) text() string {
	if it.msg != nil {
		return it.news + it.msg.Text
	}
	return it.news
}

// queue is what one channel holds. It is not changed once it is made.
type queue struct {
	items []item
	no    uint64 // of its content; 0: it has none yet, or is empty
	words int    // how many messages it has
}

var empty = &queue{}

func newQueue(items []item) *queue {
	if len(items) == 0 {
		return empty
	}
	q := &queue{items: items}
	for _, it := range items {
		if it.news == "" {
			q.words++
		}
	}
	return q
}

type kept struct {
	from int
	msg  *message
}

// ends are a set of instances, each of which is one end of a link.
type ends uint64

func (e ends) has(j int) bool { return e>>j&1 == 1 }

func (e *ends) add(j int) { *e |= 1 << j }

func (e *ends) drop(j int) { *e &^= 1 << j }

// tally counts something by peer, modulo 16.
type tally uint64

func (t tally) of(j int) int { return int(t >> (4 * j) & 15) }

func (t *tally) add(j int, n int) { *t = *t&^(15<<(4*j)) | tally((t.of(j)+n)&15)<<(4*j) }

// inst is what one instance is at one moment. It is not changed but by the configuration that owns it.
type inst struct {
	owner   *byte
	no      uint64           // 0: it has no number yet
	m       *machine.Machine // nil: hostile
	started bool
	down    bool
	absent  bool // down, and nobody has come yet, or the last one has gone
	held    []kept
	used    map[string]int
	seen    map[string]machine.Value    // what claims remember of reports and commands
	mons    map[string]*machine.Machine // monitors
	crashes int
	begins  int    // restarts
	coming  int    // how many may still come
	beat    bool   // the present beat is still to be felt
	gone    ends   // its ends of links that are over
	wait    ends   // its ends that are to come up
	lost    ends   // its ends that it has lost, so that it may ask for them again
	asked   ends   // its ends that it has asked for: what comes before the answer is old
	told    tally  // how many resets of an open link it has sent, where links may come back
	heard   tally  // how many it has heard
	cut     ends   // whom the present partition keeps away from it
	parts   []ends // partitions (one side of each) and ends of partitions (0) that have not reached it yet
	asks    tally  // how often it has asked, besides in the beginning
}

// config is a configuration. What it points at may belong to others, too.
type config struct {
	mine                  *byte // of instances that nobody else has; nil: there is none
	in                    []*inst
	ch                    []*queue
	crashes, lost, copied int
	swapped, cut          int
	returned, parted      int
	split                 ends               // one side of the present partition; 0: there is none
	joint                 []*machine.Machine // by the numbers of monitors; nil: none
	clocks                []int              // of watches
}

func (c *config) clone() *config {
	out := *c
	out.mine, c.mine = nil, nil // what was c's own is shared now
	out.in = slices.Clone(c.in)
	out.ch = slices.Clone(c.ch)
	out.clocks = slices.Clone(c.clocks)
	return &out
}

// own is an instance that c may change.
func (c *config) own(i int) *inst {
	in := c.in[i]
	if c.mine == nil {
		c.mine = new(byte)
	}
	if in.owner != c.mine || in.no != 0 {
		out := *in
		out.owner, out.no = c.mine, 0
		in = &out
		c.in[i] = in
	}
	return in
}

func (c *config) put(at int, items []item) { c.ch[at] = newQueue(items) }

// push puts something behind all that is in a channel.
func (c *config) push(at int, it item) {
	old := c.ch[at].items
	items := make([]item, len(old)+1)
	copy(items, old)
	items[len(old)] = it
	c.put(at, items)
}

// take takes the n-th item out of a channel.
func (c *config) take(at, n int) {
	c.put(at, slices.Delete(slices.Clone(c.ch[at].items), n, n+1))
}

// store gives numbers to what configurations are made of: equal things have equal numbers, from 1. So a
// configuration is a short text of numbers, exactly, and can be made from it again.
type store struct {
	unit      *machine.Unit
	instances int
	bags      []bool // of the classes of channels, those that keep no order
	clocks    int
	joint     []bool // of the monitors, those of several instances
	buf       []byte
	machines  map[string]*machine.Machine
	list      []*machine.Machine
	insts     []map[string]*inst
	byNumber  [][]*inst
	queues    map[string]*queue
	contents  []*queue
	messages  map[string]*message
}

func newStore(u *machine.Unit, n int) *store {
	out := &store{unit: u, instances: n, machines: map[string]*machine.Machine{}, list: []*machine.Machine{nil},
		queues: map[string]*queue{}, contents: []*queue{empty}, messages: map[string]*message{}}
	for range n {
		out.insts, out.byNumber = append(out.insts, map[string]*inst{}), append(out.byNumber, []*inst{nil})
	}
	return out
}

// numbered is the one machine that is like m, of one owner.
func (w *store) numbered(owner string, m *machine.Machine) *machine.Machine {
	if m.No > 0 {
		return m
	}
	key := owner + "/" + m.Text()
	if old := w.machines[key]; old != nil {
		return old
	}
	m.No = len(w.list)
	w.machines[key] = m
	w.list = append(w.list, m)
	return m
}

// interned is the one message that is like m.
func (w *store) interned(m machine.Message) *message {
	if old := w.messages[m.Text]; old != nil {
		return old
	}
	out := &message{Message: m, event: map[string]machine.Value{}}
	for k, f := range w.unit.MessageFields(m.Name) {
		out.event[f.Name] = m.Fields[k]
	}
	w.messages[m.Text] = out
	return out
}

// number gives all of c its numbers.
func (w *store) number(c *config) {
	for i, in := range c.in {
		if in.no != 0 {
			continue
		}
		w.buf = w.write(w.buf[:0], in)
		old := w.insts[i][string(w.buf)]
		if old == nil {
			old = in
			in.no = uint64(len(w.byNumber[i]))
			w.insts[i][string(w.buf)] = in
			w.byNumber[i] = append(w.byNumber[i], in)
		}
		c.in[i] = old
	}
	for k, q := range c.ch {
		if q.no != 0 || len(q.items) == 0 {
			continue
		}
		w.buf = w.writeQueue(w.buf[:0], q, w.bags[k%len(w.bags)])
		old := w.queues[string(w.buf)]
		if old == nil {
			old = q
			q.no = uint64(len(w.contents))
			w.queues[string(w.buf)] = q
			w.contents = append(w.contents, q)
		}
		c.ch[k] = old
	}
}

func writeString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// write writes an instance so that equal ones are written alike.
func (w *store) write(b []byte, in *inst) []byte {
	flags := uint64(0)
	for k, is := range []bool{in.started, in.down, in.beat, in.absent} {
		if is {
			flags |= 1 << k
		}
	}
	no := 0
	if in.m != nil {
		no = in.m.No
	}
	for _, x := range []uint64{uint64(no), flags, uint64(in.crashes), uint64(in.begins), uint64(in.coming),
		uint64(in.gone), uint64(in.wait), uint64(in.lost), uint64(in.asked), uint64(in.told), uint64(in.heard),
		uint64(in.asks), uint64(in.cut), uint64(len(in.parts)), uint64(len(in.held))} {
		b = binary.AppendUvarint(b, x)
	}
	for _, p := range in.parts {
		b = binary.AppendUvarint(b, uint64(p))
	}
	for _, h := range in.held {
		b = writeString(binary.AppendUvarint(b, uint64(h.from)), h.msg.Text)
	}
	if len(in.used) > 0 {
		for _, k := range machine.Sorted(in.used) {
			b = binary.AppendUvarint(writeString(b, k), uint64(in.used[k]))
		}
	}
	b = append(b, '?')
	if len(in.seen) > 0 {
		for _, k := range machine.Sorted(in.seen) {
			b = writeString(writeString(b, k), machine.Write(in.seen[k]))
		}
	}
	b = append(b, '%')
	if len(in.mons) > 0 {
		for _, k := range machine.Sorted(in.mons) {
			b = binary.AppendUvarint(writeString(b, k), uint64(in.mons[k].No))
		}
	}
	return b
}

// writeQueue writes what a channel holds; without order the order is that of the texts.
func (w *store) writeQueue(b []byte, q *queue, bag bool) []byte {
	b = append(b, 'q')
	if bag {
		b[0] = 'b'
		items := slices.Clone(q.items)
		slices.SortFunc(items, func(a, b item) int {
			x, y := a.text(), b.text()
			switch {
			case x < y || x == y && a.age < b.age:
				return -1
			case x > y || a.age > b.age:
				return 1
			}
			return 0
		})
		q.items = items
	}
	for _, it := range q.items {
		b = binary.AppendUvarint(writeString(b, it.text()), uint64(it.age))
		b = append(b, byte(it.no), byte(it.had))
	}
	return b
}

// key is the identity of a configuration whose parts have numbers.
func (w *store) key(b []byte, c *config) []byte {
	for _, in := range c.in {
		b = binary.AppendUvarint(b, in.no)
	}
	for _, q := range c.ch {
		b = binary.AppendUvarint(b, q.no)
	}
	for _, n := range []int{c.crashes, c.lost, c.copied, c.swapped, c.cut, c.returned, c.parted, int(c.split)} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, n := range c.clocks {
		b = binary.AppendVarint(b, int64(n))
	}
	for _, m := range c.joint {
		if m != nil {
			b = binary.AppendUvarint(b, uint64(m.No))
		}
	}
	return b
}

// unkey makes a configuration from its key.
func (w *store) unkey(key string) *config {
	b := []byte(key)
	next := func() uint64 {
		x, n := binary.Uvarint(b)
		b = b[n:]
		return x
	}
	n := w.instances
	split := 0
	c := &config{in: make([]*inst, n), ch: make([]*queue, n*n*len(w.bags)),
		clocks: make([]int, w.clocks), joint: make([]*machine.Machine, len(w.joint))}
	for i := range c.in {
		c.in[i] = w.byNumber[i][next()]
	}
	for k := range c.ch {
		c.ch[k] = w.contents[next()]
	}
	for _, p := range []*int{&c.crashes, &c.lost, &c.copied, &c.swapped, &c.cut, &c.returned, &c.parted, &split} {
		*p = int(next())
	}
	c.split = ends(split)
	for k := range c.clocks {
		x, n := binary.Varint(b)
		b, c.clocks[k] = b[n:], int(x)
	}
	for k, is := range w.joint {
		if is {
			c.joint[k] = w.list[next()]
		}
	}
	return c
}

// shut ends i's end of the link to j, for i alone.
func (c *config) shut(i, j int) {
	in := c.own(i)
	in.gone.add(j)
	in.wait.drop(j)
	in.asked.drop(j)
	in.lost.drop(j)
	if len(in.held) > 0 {
		in.held = slices.DeleteFunc(slices.Clone(in.held), func(h kept) bool { return h.from == j })
	}
}

// due reports whether an instance has to handle what it holds before anything else.
func (in *inst) due() bool {
	return slices.ContainsFunc(in.held, func(h kept) bool { return in.m.Mode(h.msg.Name) != "defer" })
}
