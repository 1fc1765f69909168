package drive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/world"
)

// op is something that can happen to the drivers. It is a move of the world, but MoveTick makes all
// of them feel a beat, or the next timer expire. With limits, the instance that takes the step
// crashes in the middle of it.
type op struct {
	stage.Move
	limits *limits
}

// ops lists what can happen to the drivers now. It lists deliveries twice, because runs consist
// mostly of them.
func (r *play) ops(sub int) []op {
	var ops []op
	add := func(mv stage.Move) { ops = append(ops, op{Move: mv}) }
	f := &r.World.Rules.Faults
	for i, s := range r.seats {
		if len(s.splits) > 0 {
			add(stage.Move{Kind: world.MoveCutoff, Who: i})
		}
		switch {
		case r.hostile(i):
			continue
		case s.down:
			if r.comes(i) && s.comes < r.World.Rules.Come[i] {
				add(stage.Move{Kind: world.MoveCome, Who: i})
				add(stage.Move{Kind: world.MoveCome, Who: i})
			}
			if i < len(f.Restart) && int(s.number)-s.comes < f.Restart[i] && !s.absent {
				add(stage.Move{Kind: world.MoveRestart, Who: i})
			}
			continue
		case !s.started:
			if r.canStart(i) {
				add(stage.Move{Kind: world.MoveStart, Who: i})
				add(stage.Move{Kind: world.MoveStart, Who: i})
			}
			continue
		}
		if list := r.commands[i]; len(list) > 0 {
			add(stage.Move{Kind: world.MoveCommand, Who: i, Message: list[sub%len(list)]})
		}
		if r.canCrash(i) {
			add(stage.Move{Kind: world.MoveCrash, Who: i})
		}
		if going := (stage.Move{Kind: world.MoveGo, Who: i}); r.comes(i) && r.possible(going) {
			add(going)
			add(going)
		}
		for j := range r.seats {
			if r.waits(i, j) && s.away>>j&1 == 0 {
				add(stage.Move{Kind: world.MoveUp, Who: i, Peer: j})
			}
			up := r.link(i, j) != nil && s.ends[j] != nil && r.c.Ends[i].Up>>j&1 != 0
			if up && (r.breaks < f.Break || s.away>>j&1 != 0) {
				add(stage.Move{Kind: world.MoveLost, Who: i, Peer: j})
			}
			if back := (stage.Move{Kind: world.MoveReturn, Who: i, Peer: j}); s.away>>j&1 == 0 && r.possible(back) {
				add(back)
			}
		}
	}
	for i, s := range r.seats {
		if s.started && !s.down {
			for _, mv := range r.hostileOps(i, sub) {
				add(mv)
			}
		}
	}
	if r.canWait() {
		add(stage.Move{Kind: world.MoveTick})
	}
	if sides := r.World.Rules.Sides(); r.split != 0 {
		add(stage.Move{Kind: world.MoveHeal})
	} else if r.parts < f.Partition {
		add(stage.Move{Kind: world.MovePartition, Set: sides[sub%len(sides)]})
	}
	for k := range r.queues {
		for _, mv := range r.onChannel(k, sub) {
			add(mv)
		}
	}
	if f.Torn && sub%2 == 0 {
		ops = append(ops, r.tornOps(ops, sub)...)
	}
	return ops
}

// tornOps returns those of a list that a crash may cut short, each with limits.
func (r *play) tornOps(list []op, sub int) (torn []op) {
	for _, o := range list {
		if i := r.mover(o.Move, sub); i >= 0 && r.canCrash(i) && !r.seats[i].down {
			o.limits = &limits{who: i, frames: sub / 2 % 4, closes: sub / 8 % 2}
			torn = append(torn, o)
		}
	}
	return torn
}

// mover returns the instance whose machine takes a step in a move, or -1 if none does. If several
// feel a beat, it returns one of them.
func (r *play) mover(mv stage.Move, sub int) int {
	switch mv.Kind {
	case world.MoveStart, world.MoveUp, world.MoveLost, world.MoveReturn, world.MoveCommand,
		world.MoveForge, world.MoveHangup, world.MoveMalformed:
		return mv.Who
	case world.MoveDeliver, world.MoveCopy:
		return r.World.Rules.Channels[mv.Channel].To
	case world.MoveTick:
		if i := sub % len(r.seats); !r.hostile(i) {
			return i
		}
	}
	return -1
}

// perform does something to the drivers.
func (r *play) perform(o op) error {
	if l := o.limits; l != nil {
		c := r.seats[l.who].cut
		if o.Kind == world.MoveStart && r.seats[l.who].d == nil {
			if err := r.place(l.who); err != nil {
				return err
			}
			c = r.seats[l.who].cut
		}
		r.log = append(r.log,
			fmt.Sprintf("instance %d crashes after %d messages and %d closes of:", l.who, l.frames, l.closes))
		c.arm(*l)
		defer c.disarm()
	}
	switch mv := o.Move; mv.Kind {
	case world.MoveStart:
		return r.start(mv.Who)
	case world.MoveUp:
		return r.up(mv.Who, mv.Peer)
	case world.MoveLost:
		return r.lose(mv.Who, mv.Peer)
	case world.MoveReturn:
		return r.back(mv)
	case world.MoveCommand:
		return r.command(mv.Who, mv.Message)
	case world.MoveCrash:
		return r.crash(mv.Who)
	case world.MoveRestart, world.MoveCome:
		return r.begin(mv)
	case world.MoveGo:
		return r.leave(mv)
	case world.MoveCutoff:
		return r.cutoff(mv)
	case world.MovePartition, world.MoveHeal:
		return r.part(mv)
	case world.MoveTick:
		return r.wait()
	case world.MoveDeliver, world.MoveCopy:
		return r.deliver(mv.Channel, mv.At, mv.Kind)
	case world.MoveLose, world.MoveSwallow:
		return r.drop(mv)
	case world.MoveTail:
		return r.tail(mv.Channel)
	case world.MoveOvertake:
		return r.overtake(mv.Channel, mv.At)
	case world.MoveForge, world.MoveHangup, world.MoveMalformed:
		return r.attacked(mv)
	}
	return fmt.Errorf("drivers do not %v", o.Move)
}

// possible reports whether the world can make a move now.
func (r *play) possible(mv stage.Move) bool {
	_, err := r.World.Do(r.c, mv)
	return err == nil
}

// canCrash reports whether an instance may crash once more.
func (r *play) canCrash(i int) bool {
	f := &r.World.Rules.Faults
	return i < len(f.Crash) && r.seats[i].crashes < f.Crash[i]
}

// canStart reports whether a program can give its driver all the links that it begins with. It cannot
// if a partition keeps one of them from coming up.
func (r *play) canStart(i int) bool {
	for j := range r.seats {
		if l := r.link(i, j); r.given(i, j) && !l.Late && !r.untold(i, j) && r.seats[i].away>>j&1 != 0 {
			return false
		}
	}
	return true
}

// given reports whether the program of an instance begins with a link to another: that is the one who comes,
// not those who wait for somebody.
func (r *play) given(i, j int) bool {
	e := &r.c.Ends[i]
	return r.link(i, j) != nil && (e.Waiting|e.Up)>>j&1 != 0
}

// waits reports whether the program has yet to give i its link to j.
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
			if l := r.link(i, j); r.given(i, j) && !l.Late || l == nil && r.keep && r.hostile(j) {
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
	told := len(r.log)
	res, derr := r.quiet(i).Do(context.Background(), func(fsm.Runner) fsm.Result {
		res, err := r.seats[i].inner.(fsm.Commander).Command(text)
		if err != nil {
			panic(err)
		}
		return res
	})
	if err := r.meanwhile(); err != nil || r.over {
		return err
	}
	ev, err := interp.ParseEvent(r.Parties[i].Machine, r.Strings, text)
	if err != nil {
		return err
	}
	mv := stage.Move{Kind: world.MoveCommand, Who: i, Message: r.Parties[i].Command(ev)}
	if _, err := r.World.Do(r.c, mv); err != nil {
		if (r.full || r.seats[i].cut.torn()) && r.waitsForRoom() {
			return errLeft // what a crash has cut off would have had to wait
		}
		if res.Code != fsm.Refused {
			return fmt.Errorf("the driver says %v, the world %w", res, err)
		}
		if len(r.log) == told {
			r.log = r.log[:told-1] // nothing has happened
		}
		return nil
	}
	if res.Code == fsm.Refused {
		return fmt.Errorf("the driver says %w, the world takes it", derr)
	}
	_, err = r.act("  it is taken", nil, mv)
	return err
}

// crash switches a driver off. The others see a close.
func (r *play) crash(i int) error {
	_, err := r.act(fmt.Sprintf("crash %d", i), func() error { r.halt(i); return nil },
		stage.Move{Kind: world.MoveCrash, Who: i})
	return err
}

// halt switches a driver off, and the network tells the others.
func (r *play) halt(i int) {
	s := r.seats[i]
	r.gather()
	s.dying = true
	s.d.Stop()
	r.gather()
	for j := range r.seats {
		l, k := r.link(i, j), r.channel(i, j)
		switch ch := &r.World.Rules.Channels; {
		case k < 0 || r.hostile(j) || l != nil && l.Datagrams:
		case s.ends[j] != nil || r.waits(i, j):
			if !r.World.Rules.Faults.Torn {
				r.queues[k] = append(r.queues[k], item{news: world.Cut})
				break
			}
			r.reset(i, j)
		case !r.World.Rules.Faults.Torn:
		case l != nil && len(r.queues[k]) > 0: // nobody hears of it but the world
			r.queues[k] = append(r.queues[k], item{news: world.Reset})
		case l == nil:
			for k, q := range r.queues {
				if ch := &(*ch)[k]; ch.From == i && ch.To == j && len(q) > 0 && ch.Order == world.Fifo && !ch.Lossy {
					r.queues[k] = append(r.queues[k], item{news: world.Reset})
				}
			}
		}
	}
	for j := range r.seats {
		r.hangUp(i, j)
	}
	r.gather()
	s.d, s.down, s.started, s.dying, s.ends, s.asked = nil, true, false, false, map[int]*end{}, map[int]bool{}
	s.beside = map[[2]int]*end{}
	s.crashes++
}

// reset makes the network tell j that the open link to i is lost.
func (r *play) reset(i, j int) {
	k := r.channel(i, j)
	r.queues[k] = append(r.queues[k], item{news: world.Reset, number: 1})
	r.told[[2]int{i, j}]++
}

// leave ends a driver whose machine has ended, as its program does. The others see a close.
func (r *play) leave(mv stage.Move) error {
	i := mv.Who
	r.faults["departures"]++
	_, err := r.act(mv.String(), func() error {
		s := r.seats[i]
		for j := range r.seats {
			if r.waits(i, j) && !r.link(i, j).Datagrams && !r.hostile(j) {
				k := r.channel(i, j)
				r.queues[k] = append(r.queues[k], item{news: world.Cut})
			}
		}
		s.d.Stop()
		r.gather()
		for j := range r.seats {
			r.hangUp(i, j)
		}
		r.gather()
		s.d, s.down, s.absent, s.started = nil, true, true, false
		s.ends, s.beside, s.asked = map[int]*end{}, map[[2]int]*end{}, map[int]bool{}
		return nil
	}, mv)
	return err
}

// begin makes a new driver for an instance that begins again, or to which somebody comes. Its links come up
// when the others have answered.
func (r *play) begin(mv stage.Move) error {
	i := mv.Who
	t, err := r.World.Do(r.c, mv)
	if err != nil {
		return fmt.Errorf("an instance cannot begin anew: %w", err)
	}
	before := r.c
	_, err = r.act(mv.String(), func() error {
		first := *t.Next // for the value with which it begins
		if r.c = &first; mv.Kind == world.MoveCome {
			first.Values = slices.Clone(first.Values)
			first.Values[i] = r.Parties[i].Begin
		}
		err := r.place(i)
		r.c = before
		s := r.seats[i]
		s.down, s.absent = false, false
		if s.number++; mv.Kind == world.MoveCome {
			s.comes++
			r.faults["arrivals"]++
		}
		for j := range r.seats {
			if l := r.link(i, j); l != nil && !r.silent(i, j) {
				r.ask(i, j)
				s.asked[j] = true
			}
		}
		return err
	}, mv)
	return err
}

// ask makes the network tell j that i wants the link.
func (r *play) ask(i, j int) {
	k, s := r.channel(i, j), r.seats[i]
	x := item{news: world.Ask, number: (s.number + s.again[j]) & 15, heard: r.heard[[2]int{i, j}]}
	r.queues[k] = append(r.queues[k], x)
}

// back makes an instance's program give its driver a lost link again. The network asks the other end
// for it, unless the link carries datagrams.
func (r *play) back(mv stage.Move) error {
	i, j := mv.Who, mv.Peer
	r.faults["returns"]++
	_, err := r.act(mv.String(), func() error {
		s := r.seats[i]
		if !r.silent(i, j) {
			s.again[j]++
			s.asked[j] = true
			r.ask(i, j)
		}
		return r.attach(i, j)
	}, mv)
	return err
}

// part begins a partition, or ends it.
func (r *play) part(mv stage.Move) error {
	_, err := r.act(mv.String(), func() error {
		if r.split = mv.Set; mv.Set != 0 {
			r.parts++
			r.faults["partitions"]++
		}
		for i, s := range r.seats {
			if r.World.Rules.Faults.Bridge>>i&1 != 0 {
				continue
			}
			s.splits = append(s.splits, r.World.Rules.Away(i, mv.Set))
		}
		return nil
	}, mv)
	return err
}

// cutoff makes an instance notice a partition, or its end.
func (r *play) cutoff(mv stage.Move) error {
	_, err := r.act(mv.String(), func() error {
		s := r.seats[mv.Who]
		s.away, s.splits = s.splits[0], s.splits[1:]
		return nil
	}, mv)
	return err
}

// lose makes instance i take its link to j for dead.
func (r *play) lose(i, j int) error {
	if r.seats[i].away>>j&1 == 0 {
		r.breaks++
	}
	_, err := r.act(fmt.Sprintf("lost %d %d", i, j), func() error {
		delete(r.seats[i].asked, j)
		r.lost[[2]int{i, j}] = true
		if !r.silent(i, j) {
			r.reset(i, j)
		}
		if e := r.seats[i].ends[j]; e != nil {
			delete(r.seats[i].ends, j)
			r.seats[i].cut.shut(j)
			err := e.Abort()
			for k, b := range r.seats[i].beside {
				if k[0] == j {
					delete(r.seats[i].beside, k)
					err = errors.Join(err, b.Abort())
				}
			}
			return err
		}
		return nil
	}, stage.Move{Kind: world.MoveLost, Who: i, Peer: j})
	return err
}

// snapshot takes a snapshot of a driver.
func (r *play) snapshot(i int) *driver.Snapshot[int] {
	zero := 0
	s, err := driver.SaveDriver(context.Background(), r.quiet(i), func(fsm.Runner) *int { return &zero })
	if err != nil {
		panic(err)
	}
	return s
}

// next returns how long it takes until the next timer expires.
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

// canWait reports whether time may pass. If the world counts time, nothing may be under way.
func (r *play) canWait() bool {
	if r.World.Rules.Time == nil {
		_, ok := r.next()
		return ok
	}
	for k, q := range r.queues {
		ch := &r.World.Rules.Channels[k]
		if len(q) > 0 && (!r.World.Rules.HoldsUp(ch) || r.seats[ch.To].away>>ch.From&1 == 0) {
			return false
		}
	}
	for i, s := range r.seats {
		if !s.started && !s.down && !r.hostile(i) {
			return false
		}
	}
	return true
}

// wait lets time pass until the next timer expires, or for one beat.
func (r *play) wait() error {
	length := time.Duration(r.protocol.Tick)
	var moves []stage.Move
	if r.World.Rules.Time == nil {
		length, _ = r.next()
	} else {
		moves = append(moves, stage.Move{Kind: world.MoveTick})
		for i := range r.seats {
			if !r.hostile(i) {
				moves = append(moves, stage.Move{Kind: world.MoveBeat, Who: i})
			}
		}
	}
	_, err := r.act(fmt.Sprintf("wait %v", length), func() error { time.Sleep(length); return nil }, moves...)
	return err
}

// onChannel lists what can happen in a channel.
func (r *play) onChannel(k, sub int) (moves []stage.Move) {
	ch, q := &r.World.Rules.Channels[k], r.queues[k]
	s := r.seats[ch.To]
	if len(q) == 0 || !s.started && !s.down {
		return nil
	}
	add := func(kind world.MoveKind, at int) { moves = append(moves, stage.Move{Kind: kind, Channel: k, At: at}) }
	if tail(q) >= 0 {
		add(world.MoveTail, 0)
	}
	if !s.down && r.waits(ch.To, ch.From) && !s.asked[ch.From] {
		return moves // nobody is there to receive
	}
	if first := q[0].news; !s.down && s.away>>ch.From&1 != 0 && (first == world.Ask || first == world.Answer) {
		return moves // no link comes up
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
	add(world.MoveDeliver, at)
	add(world.MoveDeliver, at)
	if q[at].news != world.NoNews {
		return moves
	}
	if ch.Duplicates && r.World.Rules.Faults.Duplicate != 0 {
		add(world.MoveCopy, at)
	}
	if ch.Lossy && r.World.Rules.Faults.Lose != 0 {
		add(world.MoveLose, at)
	}
	if r.parts > 0 && !s.down && r.parted(ch.To, ch.From, ch.Class) && !(ch.Lossy && r.World.Rules.Faults.Lose < 0) {
		add(world.MoveSwallow, at)
	}
	if r.World.Rules.Faults.Overtake == 0 || !ch.Overtakes || ch.Order != world.Fifo {
		return moves
	}
	for i := range len(q) - 1 {
		if q[i].news == world.NoNews && q[i+1].news == world.NoNews && string(q[i].frame) != string(q[i+1].frame) {
			add(world.MoveOvertake, i)
		}
	}
	return moves
}

// tail returns the position of the message that a crash or a break may take with it next, or -1.
func tail(q []item) int {
	last := slices.IndexFunc(q, func(x item) bool { return x.news == world.Reset }) - 1
	for last >= 0 && q[last].news != world.NoNews {
		last--
	}
	return last
}

// tail loses messages that a crash or a break takes with it.
func (r *play) tail(k int) error {
	r.faults["lost tails"]++
	_, err := r.act(fmt.Sprintf("tail of channel %d", k), func() error { r.take(k, tail(r.queues[k])); return nil },
		stage.Move{Kind: world.MoveTail, Channel: k})
	return err
}

func (r *play) drop(mv stage.Move) error {
	if mv.Kind == world.MoveSwallow {
		r.faults["swallowed datagrams"]++
	}
	_, err := r.act(mv.String(), func() error { r.take(mv.Channel, mv.At); return nil }, mv)
	return err
}

func (r *play) overtake(k, at int) error {
	q := r.queues[k]
	if at+1 >= len(q) {
		return errors.New("nothing can overtake")
	}
	_, err := r.act(fmt.Sprintf("overtake channel %d at %d", k, at),
		func() error { q[at], q[at+1] = q[at+1], q[at]; return nil },
		stage.Move{Kind: world.MoveOvertake, Channel: k, At: at})
	return err
}

func (r *play) take(k, at int) { r.queues[k] = slices.Delete(slices.Clone(r.queues[k]), at, at+1) }

// deliver takes an item out of a channel and gives it to the receiver.
func (r *play) deliver(k, at int, kind world.MoveKind) error {
	ch, x := &r.World.Rules.Channels[k], r.queues[k][at]
	s, from := r.seats[ch.To], ch.From
	heard := false
	t, err := r.act(fmt.Sprintf("%v %d>%d %s", kind, from, ch.To, r.text(ch.To, x)), func() error {
		if kind == world.MoveDeliver {
			r.take(k, at)
		}
		e := r.end(ch.To, from, ch.Class)
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
				s.again[from]++
				r.ask(ch.To, from)
				break
			}
			delete(s.asked, from)
			heard = true
			r.hangUp(ch.To, from)
		case s.down && x.news == world.Ask:
			answer()
			if !r.link(ch.To, from).Datagrams {
				r.queues[back] = append(r.queues[back], item{news: world.Cut})
			}
		case s.asked[from] && x.news == world.Ask:
			answer()
		case s.asked[from] && x.news == world.Answer && x.number == (s.number+s.again[from])&15:
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
