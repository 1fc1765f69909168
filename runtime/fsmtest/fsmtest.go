// Package fsmtest repeats a run with generated machines, step by step: it gives commands, delivers
// messages, lets timers expire, and crashes machines. The tests that `fsmgen check --test` writes
// use it. The network between the machines is a world of runtime/world: it lives in memory and
// needs neither clocks nor goroutines. The package knows machines only as [fsm.Runner], and knows
// nothing of specifications. Start from [New].
package fsmtest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/run"
	"github.com/parley-go/parley/runtime/world"
)

// Machine is a machine that takes part in a run.
type Machine struct {
	Name   string
	Runner fsm.Runner
	// Starts says that the machine starts by itself, at the beginning and after each restart. Runs
	// leave out the start of a machine that does nothing when it starts.
	Starts bool
	// Restart resets the runner's machine to its initial state, and leaves alone the variables that
	// survive a crash. It is nil if the machine does not restart in the run.
	Restart func()
	// Come resets the runner's machine to its initial state. If it is not nil, nobody is there at first:
	// see [World.Come] and [World.Go].
	Come func()
}

// Full says what happens to a message when its channel is full.
type Full = world.Full

// The choices for Options.Full.
const (
	Fault = world.FullFault // the send is an error
	Lose  = world.FullLose  // the message is lost
	Wait  = world.FullWait  // the step that sends it is not possible
)

// Time says how long timers and messages take, in beats.
type Time = world.Time

// Link is a connection between two machines, which it names. For the other fields see [world.Link].
type Link struct {
	A, B      string
	Untold    [2]bool
	Datagrams bool
	// Channel names the channel in which news of the link travels, if there are several.
	Channel string
}

// Channel is one of several channels between each two machines. Its fields are as those of Options.
type Channel struct {
	Name      string
	Capacity  int
	Full      Full
	Unordered bool
	Lossless  bool
	// Duplicates: a message may arrive more than once.
	Duplicates bool
}

// Options describe the network between the machines of a run. They do not bound how often
// something may go wrong: whoever found the run has looked after that.
type Options struct {
	// Capacity is how many messages a channel holds; 0 means any number.
	Capacity int
	Full     Full
	// Unordered channels deliver any of their messages. Others deliver the oldest.
	Unordered bool
	// Channels are those of a protocol with several; then Capacity, Full, Unordered and Lossless say nothing. Which
	// messages go over which the machines know.
	Channels []Channel
	Links    []Link
	// Lossless channels lose messages only in a crash.
	Lossless bool
	// Atomic says that machines crash only between steps, and that what they sent before arrives.
	Atomic bool
	// Hostile names the machines that are replaced by somebody who sends anything. They take no
	// steps.
	Hostile []string
	// Bridge names the machines that no partition cuts off.
	Bridge []string
	// Time is nil if a timer may expire at any moment after its start.
	Time *Time
}

// World holds the machines of a run and the messages between them. A step that is not possible ends
// the test as skipped: the machines are then not those with which the run was found. One goroutine
// owns a World.
type World struct {
	t       testing.TB
	parties []*party
	between world.World[value, letter]
	now     *world.Configuration[value, letter]
	steps   int
	why     string // what is wrong if the next step is an error; see Wrong
	nobody  string // which machine sent what to nobody, or without a frame, in this step
	torn    int    // Torn of the next move
	watches []*watch
	classes []string // the names of several channels
}

// New makes a world in which nothing has happened yet.
func New(t testing.TB, o Options, machines ...Machine) *World {
	t.Helper()
	n := len(machines)
	const often = 255
	rules := &world.Rules{Instances: n, Timers: make([]int, n), Time: o.Time,
		Faults: world.Faults{
			Lose: -1, Duplicate: -1, Overtake: -1, Break: -1, Return: -1, Partition: often, Torn: !o.Atomic,
			Crash: slices.Repeat([]int{often}, n), Restart: slices.Repeat([]int{often}, n),
		}}
	w := &World{t: t, between: world.World[value, letter]{Rules: rules}}
	for i, m := range machines {
		p := &party{Machine: m, w: w, i: i}
		rules.Come = append(rules.Come, 0)
		if m.Come != nil {
			rules.Come[i] = often
		}
		w.parties, w.between.Machines = append(w.parties, p), append(w.between.Machines, p)
		most := m.Runner.Info().Deferred
		if most == 0 {
			most = fsm.DefaultDeferred
		}
		rules.Deferred = append(rules.Deferred, most)
		for j := range machines {
			if i == j {
				continue
			}
			rules.Channels = append(rules.Channels, o.between(i, j)...)
		}
	}
	for _, c := range o.Channels {
		w.classes = append(w.classes, c.Name)
	}
	for _, l := range o.Links {
		link := world.Link{A: w.number(l.A), B: w.number(l.B), Untold: l.Untold, Datagrams: l.Datagrams}
		if l.Channel != "" {
			link.Class = w.class(l.Channel)
		}
		rules.Links = append(rules.Links, link)
	}
	for _, name := range o.Hostile {
		rules.Hostile |= 1 << w.number(name)
	}
	rules.Malformed = rules.Hostile
	for _, name := range o.Bridge {
		rules.Faults.Bridge |= 1 << w.number(name)
	}
	w.now = w.between.Begin(make([]value, n))
	for i := range w.parties {
		w.begin(i)
	}
	return w
}

// between are the channels from one machine to another.
func (o *Options) between(from, to int) (list []world.Channel) {
	several := o.Channels
	if len(several) == 0 {
		several = []Channel{{Capacity: o.Capacity, Full: o.Full, Unordered: o.Unordered, Lossless: o.Lossless}}
	}
	for class, c := range several {
		ch := world.Channel{From: from, To: to, Class: class, Capacity: c.Capacity, Full: c.Full, Lossy: !c.Lossless,
			Duplicates: c.Duplicates}
		if len(o.Channels) == 0 {
			ch.Duplicates, ch.Overtakes = true, true
		}
		if c.Unordered {
			ch.Order = world.Any
		}
		if c.Capacity == 0 {
			ch.Capacity = 1 << 30
		}
		list = append(list, ch)
	}
	return list
}

// begin starts a machine that starts by itself. That does not count as a step of the run.
func (w *World) begin(i int) {
	w.t.Helper()
	if w.parties[i].Starts && !w.now.Ends[i].Absent {
		w.do("start", move{Kind: world.MoveStart, Who: i})
		w.steps--
	}
}

// Start starts a machine.
func (w *World) Start(name string) { w.t.Helper(); w.alone(world.MoveStart, name) }

// Command gives a machine a command by calling give. text is the command as people read it.
func (w *World) Command(name, text string, give func() fsm.Result) {
	w.t.Helper()
	i := w.number(name)
	w.parties[i].give = give
	w.do(text, move{Kind: world.MoveCommand, Who: i, Message: letter{text: text}})
}

// Up tells a machine that its link to a peer has come up.
func (w *World) Up(name, peer string) { w.t.Helper(); w.linked(world.MoveUp, name, peer) }

// Down makes a machine take its link to a peer for dead. News tells the peer.
func (w *World) Down(name, peer string) { w.t.Helper(); w.linked(world.MoveLost, name, peer) }

// Return makes a machine reconnect a link that it has lost. News tells the peer.
func (w *World) Return(name, peer string) { w.t.Helper(); w.linked(world.MoveReturn, name, peer) }

// Forge delivers a message that a hostile machine sends now; frame is its encoding. A receiver that
// refuses the message closes the link.
func (w *World) Forge(from, to, text, frame string) {
	w.t.Helper()
	w.do(text, move{Kind: world.MoveForge, Who: w.number(to), Peer: w.number(from), Message: letter{text, frame}})
}

// Hangup tells a machine that a hostile peer has closed their link.
func (w *World) Hangup(name, peer string) { w.t.Helper(); w.linked(world.MoveHangup, name, peer) }

// Malformed makes a machine receive bytes from a hostile peer that are no message. The machine closes
// their link.
func (w *World) Malformed(name, peer string) { w.t.Helper(); w.linked(world.MoveMalformed, name, peer) }

// Torn says that the machine which takes the next step crashes in the middle of it, after so many
// sends.
func (w *World) Torn(sends int) { w.torn = sends + 1 }

// Partition cuts the named machines off from the others. Cutoff tells a machine so, and Heal ends the
// partition.
func (w *World) Partition(names ...string) {
	w.t.Helper()
	var side uint64
	for _, name := range names {
		side |= 1 << w.number(name)
	}
	w.do("partition", move{Kind: world.MovePartition, Set: side})
}

// Heal ends a partition.
func (w *World) Heal() { w.t.Helper(); w.do("heal", move{Kind: world.MoveHeal}) }

// Cutoff tells a machine that a partition cuts it off from others.
func (w *World) Cutoff(name string) { w.t.Helper(); w.alone(world.MoveCutoff, name) }

// Tail loses a message that its sender's crash, or a broken link, takes with it. channel names one of several.
func (w *World) Tail(from, to string, channel ...string) {
	w.t.Helper()
	w.do("tail", move{Kind: world.MoveTail, Channel: w.channel(from, to, channel)})
}

// News tells a receiver that the sender has closed the link, has crashed, or is back. News comes
// after all messages that the sender sent before in its channel, which channel names if there are several.
func (w *World) News(from, to string, channel ...string) {
	w.t.Helper()
	k := w.channel(from, to, channel)
	if q := w.now.Queues[k]; len(q) == 0 || q[0].News == world.NoNews {
		w.impossible("no news of the link is under way from %s to %s", from, to)
	}
	w.do("news", move{Kind: world.MoveDeliver, Channel: k})
}

// Deliver takes a message out of a channel and gives it to the receiver. at is its position, 0 for
// the oldest, and text is the message that has to be there.
func (w *World) Deliver(from, to, text string, at int) {
	w.t.Helper()
	w.message(world.MoveDeliver, from, to, text, at)
}

// Copy delivers a message like Deliver, and leaves it in the channel.
func (w *World) Copy(from, to, text string, at int) {
	w.t.Helper()
	w.message(world.MoveCopy, from, to, text, at)
}

// Drop loses a message, which it finds like Deliver.
func (w *World) Drop(from, to, text string, at int) {
	w.t.Helper()
	w.message(world.MoveLose, from, to, text, at)
}

// Swallow loses a message to a machine that a partition cuts off.
func (w *World) Swallow(from, to, text string, at int) {
	w.t.Helper()
	kind := world.MoveSwallow
	if w.between.Rules.Channels[w.over(from, to, text)].Lossy { // losses have no bound here
		kind = world.MoveLose
	}
	w.message(kind, from, to, text, at)
}

// Swap lets the message behind a place of a channel overtake the one there.
func (w *World) Swap(from, to string, at int) {
	w.t.Helper()
	w.do("swap", move{Kind: world.MoveOvertake, Channel: w.channel(from, to, nil), At: at})
}

// Offer makes a machine handle the oldest deferred message that its state no longer defers.
func (w *World) Offer(name string) { w.t.Helper(); w.alone(world.MoveOffer, name) }

// Crash switches a machine off: its timers stop, and its deferred messages are gone. News tells the
// others.
func (w *World) Crash(name string) { w.t.Helper(); w.alone(world.MoveCrash, name) }

// Restart switches a crashed machine on again. It has to start again, and News tells the others.
func (w *World) Restart(name string) {
	w.t.Helper()
	w.alone(world.MoveRestart, name)
	w.begin(w.number(name))
}

// Come has a machine begin at which nobody is, as one that nobody has been before. News tells the others.
func (w *World) Come(name string) {
	w.t.Helper()
	w.alone(world.MoveCome, name)
	w.begin(w.number(name))
}

// Go has a machine that is in a final state go. News tells the others.
func (w *World) Go(name string) { w.t.Helper(); w.alone(world.MoveGo, name) }

// Tick begins a beat of time. Beat makes each machine feel it.
func (w *World) Tick() { w.t.Helper(); w.do("tick", move{Kind: world.MoveTick}) }

// Beat makes a machine feel the beat of time that Tick has begun.
func (w *World) Beat(name string) { w.t.Helper(); w.alone(world.MoveBeat, name) }

// Expire lets a timer expire. key tells instances of the timer apart: it is the Key that the timer's
// [fsm.Effect] has when it starts, and 0 if neither the timer nor its part has a key.
func (w *World) Expire(name, timerName string, key uint32) {
	w.t.Helper()
	i := w.number(name)
	p := w.parties[i]
	id := slices.Index(p.Runner.Info().Timers, timerName)
	n := slices.Index(p.timers, timer{uint16(id), key})
	if id < 0 || n < 0 || !w.now.Ends[i].Left[n].Runs() {
		w.impossible("the timer %s of %s is not armed", timerName, name)
	}
	w.do(timerName, move{Kind: world.MoveExpire, Who: i, Timer: n})
}

// Wrong says that the next step is the error that was found, and why, in the author's words. The test
// fails with these words if the machine refuses the step or has no room for what it sends.
// Otherwise the error is mended.
func (w *World) Wrong(why string) { w.why = why }

// Fail ends the test as failed. It prints why, which says what is wrong in the author's words, and
// the state of the world.
func (w *World) Fail(why string) {
	w.t.Helper()
	w.t.Fatalf("after %d steps: %s\n%s", w.steps, why, w.String())
}

// Len returns how many messages from one machine to another are not handled yet: they are under way,
// or the receiver has deferred them. If message is not "", Len counts only messages of that name. With
// channel it counts those in that one of several channels.
func (w *World) Len(from, to, message string, channel ...string) int {
	n, i, j := 0, w.number(from), w.number(to)
	counts := func(l letter) bool {
		return (message == "" || l.name() == message) &&
			(len(channel) == 0 || w.classOf(l) == w.class(channel[0]))
	}
	for k, c := range w.between.Rules.Channels {
		if c.From != i || c.To != j {
			continue
		}
		for _, x := range w.now.Queues[k] {
			if x.News == world.NoNews && counts(x.Message) {
				n++
			}
		}
	}
	for _, h := range w.now.Ends[j].Held {
		if h.From == i && counts(h.Message) {
			n++
		}
	}
	return n
}

// Pending is Len with what is under way of news of the link counted, too.
func (w *World) Pending(from, to, message string, channel ...string) int {
	n, i, j := w.Len(from, to, message, channel...), w.number(from), w.number(to)
	for k, c := range w.between.Rules.Channels {
		if c.From == i && c.To == j && (len(channel) == 0 || c.Class == w.class(channel[0])) {
			n += len(w.now.Queues[k]) - world.Length(w.now.Queues[k])
		}
	}
	return n
}

// Total returns the sum of Len over all pairs of machines.
func (w *World) Total(message string, channel ...string) int {
	n := 0
	for i, from := range w.parties {
		for j, to := range w.parties {
			if i != j {
				n += w.Len(from.Name, to.Name, message, channel...)
			}
		}
	}
	return n
}

// Orphans returns the number of messages that are under way or held.
func (w *World) Orphans() int { return w.now.Orphans() }

// Crashed reports whether nobody is at a machine: it has crashed, has gone, or has not come yet.
func (w *World) Crashed(name string) bool { return w.now.Ends[w.number(name)].Down }

// Final reports whether every machine that has not crashed is in a final state.
func (w *World) Final() bool { return w.between.Final(w.now) }

// Ruled says that the rules of the check may keep a timer of a machine from expiring, so that Possible does
// not count it.
func (w *World) Ruled(name, timerName string) {
	p := w.parties[w.number(name)]
	if id := slices.Index(p.Runner.Info().Timers, timerName); id >= 0 {
		p.ruled = append(p.ruled, uint16(id))
	}
}

// Possible reports whether anything can still happen by itself: a message is under way, a machine
// has to start or to handle a deferred message, a link has yet to come up, or a timer is armed.
func (w *World) Possible() bool {
	rules := w.between.Rules
	for i := range w.now.Ends {
		e := &w.now.Ends[i]
		armed := false
		for k, left := range e.Left {
			armed = armed || left.Runs() && !slices.Contains(w.parties[i].ruled, w.parties[i].timers[k].id)
		}
		goes := rules.Come[i] > 0 && w.between.Machines[i].Final(value{})
		moves := armed || goes || !e.Started || e.Waiting != 0 ||
			world.Due(rules, e, value{}, w.between.Machines[i]) >= 0
		if !e.Down && moves {
			return true
		}
	}
	return slices.ContainsFunc(w.now.Queues, func(q []world.Item[letter]) bool { return len(q) > 0 })
}

// Stuck reports whether nothing but errors can happen by itself. It tries what is possible, which
// changes the machines, so a test calls it last.
func (w *World) Stuck() bool {
	w.room()
	var tried []move
	for i := range w.parties {
		tried = append(tried, move{Kind: world.MoveStart, Who: i}, move{Kind: world.MoveOffer, Who: i})
		for j := range w.parties {
			tried = append(tried, move{Kind: world.MoveUp, Who: i, Peer: j})
		}
		for k, left := range w.now.Ends[i].Left {
			if left.Least > 0 { // time will pass
				return false
			}
			tried = append(tried, move{Kind: world.MoveExpire, Who: i, Timer: k})
		}
	}
	for k := range w.now.Queues {
		for _, at := range world.Heads(&w.between.Rules.Channels[k], w.now.Queues[k]) {
			tried = append(tried, move{Kind: world.MoveDeliver, Channel: k, At: at})
		}
	}
	for _, mv := range tried {
		back := w.remember()
		t, err := w.between.Do(w.now, mv)
		if err == nil && t.Fault == world.NoFault && w.nobody == "" {
			return false
		}
		w.nobody = ""
		back()
	}
	return true
}

// remember returns a function that sets all runners back to what they are now. A step that has no
// room for what it sends is an error, but has changed its runner.
func (w *World) remember() (back func()) {
	var all []func()
	for _, p := range w.parties {
		if r := reflect.ValueOf(p.Runner); r.Kind() == reflect.Pointer {
			was := reflect.New(r.Type().Elem()).Elem()
			was.Set(r.Elem())
			all = append(all, func() { r.Elem().Set(was) })
		}
	}
	return func() {
		for _, f := range all {
			f()
		}
	}
}

// String describes the machines and the messages between them, a line for each.
func (w *World) String() string {
	var b strings.Builder
	for i, p := range w.parties {
		down := ""
		if w.now.Ends[i].Absent {
			fmt.Fprintf(&b, "  %s: %s\n", p.Name, run.Absent)
			continue
		}
		if w.now.Ends[i].Down {
			down = "crashed in "
		}
		fmt.Fprintf(&b, "  %s: %s%s\n", p.Name, down, p.Runner.AppendMachine(nil))
	}
	for i, p := range w.parties {
		for _, h := range w.now.Ends[i].Held {
			fmt.Fprintf(&b, "  %s holds %s from %s\n", p.Name, h.Message.text, w.parties[h.From].Name)
		}
	}
	for k, q := range w.now.Queues {
		if c := w.between.Rules.Channels[k]; len(q) > 0 {
			name := ""
			if len(w.classes) > 0 {
				name = " (" + w.classes[c.Class] + ")"
			}
			fmt.Fprintf(&b, "  %s -> %s%s: %s\n", w.parties[c.From].Name, w.parties[c.To].Name, name, texts(q))
		}
	}
	return b.String()
}

func texts(q []world.Item[letter]) string {
	list := make([]string, len(q))
	for i, x := range q {
		if list[i] = x.Message.text; x.News != world.NoNews {
			list[i] = "(" + run.NewsText(x.News) + ")"
		}
	}
	return strings.Join(list, ", ")
}

type move = world.Move[letter]

func (w *World) number(name string) int {
	w.t.Helper()
	i := slices.IndexFunc(w.parties, func(p *party) bool { return p.Name == name })
	if i < 0 {
		w.t.Fatalf("this run has no machine %q", name)
	}
	return i
}

// channel finds the channel of a name, or that of news of the link if there is no name.
func (w *World) channel(from, to string, name []string) int {
	w.t.Helper()
	i, j := w.number(from), w.number(to)
	class := w.between.Rules.NewsClass(i, j)
	if len(name) > 0 {
		class = w.class(name[0])
	}
	return w.between.Rules.Channel(i, j, class)
}

// over finds the channel of a message.
func (w *World) over(from, to, text string) int {
	w.t.Helper()
	return w.between.Rules.Channel(w.number(from), w.number(to), w.classOf(letter{text: text}))
}

// class is the number of one of several channels.
func (w *World) class(name string) int {
	w.t.Helper()
	k := slices.Index(w.classes, name)
	if k < 0 {
		w.t.Fatalf("this run has no channel %q", name)
	}
	return k
}

// classOf is the number of a message's channel, as the machines know it.
func (w *World) classOf(l letter) int {
	info := w.parties[0].Runner.Info()
	if k := slices.Index(info.Messages, l.name()); len(w.classes) > 0 && k >= 0 && k < len(info.ChannelOf) {
		return int(info.ChannelOf[k])
	}
	return 0
}

func (w *World) alone(kind world.MoveKind, name string) {
	w.t.Helper()
	w.do(kind.String(), move{Kind: kind, Who: w.number(name)})
}

func (w *World) linked(kind world.MoveKind, name, peer string) {
	w.t.Helper()
	w.do(kind.String(), move{Kind: kind, Who: w.number(name), Peer: w.number(peer)})
}

// message makes a move with a message, which has to be under way.
func (w *World) message(kind world.MoveKind, from, to, text string, at int) {
	w.t.Helper()
	k := w.over(from, to, text)
	q := w.now.Queues[k]
	switch {
	case at >= len(q) || q[at].News != world.NoNews:
		w.impossible("%s is not under way from %s to %s", text, from, to)
	case q[at].Message.text != text:
		w.impossible("not %s but %s is under way from %s to %s", text, q[at].Message.text, from, to)
	}
	w.do(text, move{Kind: kind, Channel: k, At: at})
}

// impossible ends the test as skipped: the machines do not follow the run.
func (w *World) impossible(format string, args ...any) {
	w.t.Helper()
	w.t.Logf("step %d of the run is no longer possible: "+format, append([]any{w.steps + 1}, args...)...)
	w.t.Skip("the machines are others than those that the run was found with; " +
		"fsmgen check says whether the claim holds now")
}

// do makes a move, and fails or skips the test if its result is not that of the run.
func (w *World) do(text string, mv move) {
	w.t.Helper()
	w.room()
	mv.Torn, w.torn = w.torn, 0
	t, err := w.between.Do(w.now, mv)
	switch {
	case err != nil && t.Why != "":
		w.impossible("%s", t.Why)
	case err != nil:
		w.impossible("%s: %v", text, err)
	case w.nobody != "":
		w.wrong(w.nobody)
	case t.Fault == world.Refusal && w.why == "":
		w.impossible("%s", t.Why)
	case t.Fault == world.Refusal:
		w.wrong(t.Why)
	case t.Fault == world.Overflow:
		full := t.Sends[t.Gone[len(t.Gone)-1]].Item.Message
		w.wrong(w.parties[t.Who].Name + " sends " + full.text + " into a channel that is full")
	case t.Fault == world.DeferredOverflow:
		w.wrong(fmt.Sprintf("%s would hold more than %d deferred messages with %s",
			w.parties[t.Who].Name, w.between.Rules.Deferred[t.Who], text))
	}
	w.steps++
	w.now = t.Next
	w.watch()
}

// room makes room for timers that the next step may start for the first time.
func (w *World) room() {
	for i, p := range w.parties {
		for e := &w.now.Ends[i]; len(e.Left) < len(p.timers)+max(p.Runner.Info().MaxEffects, 16); {
			e.Left = append(slices.Clip(e.Left), world.Stopped)
		}
	}
}

// wrong ends the test as failed because a step is an error. what describes it.
func (w *World) wrong(what string) {
	w.t.Helper()
	w.steps++
	w.Fail(strings.TrimPrefix(w.why+"\n"+what, "\n"))
}
