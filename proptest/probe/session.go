package probe

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/replay"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/run"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/world"
)

// session is one conversation with the program: each instance that we play has a connection, and after [resume] another
// one. An instance connects when it first does something, or before that by [join], and those before it connect first.
type session struct {
	*game
	ctx     context.Context
	target  *target
	o       *Options
	in      chan arrival
	seats   []*seat           // in the order of us
	chunks  []spoken          // of these connections
	rec     *replay.Recording // of chunks
	judged  int               // chunks that rec has
	seen    int               // places in rec.Frames that have been looked at
	now     *replay.Present
	beyond  bool // we have done what the specification says nothing of
	acts    []act
	heard   bool // the program has said something, ever
	said    int  // arrivals since our last act
	finding *Finding
	note    string // what the specification itself leaves open
	run     *run.Run
	ids     map[int]int // messages of the program by the packets in which they came
	nextID  int
	began   time.Time
	packets []packet
	unsent  string // why an act was not possible
	hostile string // the last act that was not of our role
}

// seat is an instance that we play.
type seat struct {
	who    int
	conns  []*connection // by channel; none before it has connected
	since  int           // the packet with which it did
	left   int           // the one with which the program had heard that it went; 0: nobody knows
	value  interp.Value
	end    world.End[string]
	inbox  []int             // places in rec.Frames that our machine has not been given
	closed bool              // we send no more
	ended  bool              // they have closed
	broken bool              // we have broken it off, or wait no longer for theirs to end
	last   []byte            // that we have sent
	lastIn int               // the channel of that
	alarms map[int]time.Time // when timers of our machine expire
}

// spoken is a chunk of the conversation with an instance.
type spoken struct {
	with int
	replay.Chunk
}

// packet is what went over the wire, for the capture.
type packet struct {
	dir     trace.PcapDir
	at      time.Time
	kind    replay.ChunkKind
	opens   bool
	data    []byte
	comment string
	network string
	ends    [2]string
}

// Bounds of a session.
const (
	mostArrivals = 2000    // since our last act: more is a flood
	mostBytes    = 4 << 20 // likewise
	mostFrames   = 120     // of a session that is explored
)

// newSession begins a conversation. Of two instances ours connects at once. The error is for a program that cannot be
// reached, or not be started.
func (g *game) newSession(ctx context.Context, t *target, o *Options) (*session, error) {
	s := &session{game: g, ctx: ctx, target: t, o: o, began: time.Now(),
		run: &run.Run{Protocol: g.protocol.Name, Check: g.check.Name, Hash: g.protocol.Hash}}
	for i := range g.players {
		x := run.Instance{Name: g.name(i), Role: g.role(i).Name}
		x.Start = g.role(i).States[g.players[i].Begin[0]].Name
		s.run.Instances = append(s.run.Instances, x)
	}
	s.anew()
	return s, s.open(s.seats[0])
}

// anew makes seats of instances that have not connected yet. All that was said before is of no matter any more.
func (s *session) anew() {
	s.in = make(chan arrival, waiting)
	s.seats, s.chunks, s.rec, s.judged, s.seen, s.now, s.ids = nil, nil, nil, 0, 0, nil, map[int]int{}
	s.beyond, s.said = false, 0
	for _, i := range s.us {
		s.seats = append(s.seats, &seat{who: i, value: slices.Clone(s.players[i].Begin),
			end: world.End0[string](s.stage.World.Rules, i)})
	}
}

// several reports whether the program speaks with several at a time, be it that only one of them comes.
func (g *game) several() bool { return len(g.players) > 2 }

// seat is that of an instance.
func (s *session) seat(who int) *seat { return s.seats[slices.Index(s.us, who)] }

// joined reports whether an instance has connected.
func (x *seat) joined() bool { return len(x.conns) > 0 }

// open connects an instance, and its machine begins.
func (s *session) open(x *seat) error {
	list, err := s.target.dial(s.ctx, x.who, s.in)
	if err != nil {
		return err
	}
	x.conns, x.alarms, x.since = list, map[int]time.Time{}, len(s.packets)+1
	for _, c := range list {
		s.pack(c, packet{opens: true})
	}
	rules := s.stage.World.Rules
	s.step(x, run.Start, "", world.Begin(rules, x.who, x.end, x.value, s.players[x.who]))
	if x.end.Waiting>>s.they&1 != 0 {
		s.step(x, run.LinkUp, "", world.LinkUp(rules, x.who, x.end, x.value, s.they, s.players[x.who]))
	}
	return nil
}

// join connects an instance, and those before it that have not: the program knows them by the order in which they come.
func (s *session) join(x *seat) bool {
	for _, y := range s.seats {
		if !y.joined() {
			if s.open(y) != nil {
				s.unreached()
				return false
			}
			s.drain(s.o.grace)
		}
		if x == y {
			break
		}
	}
	return true
}

// early reports whether an instance may not speak yet: over datagrams nobody has come before he is heard, so the
// program would give it the number of one before it that has said nothing.
func (s *session) early(x *seat) bool {
	if s.target.stream() {
		return false
	}
	for _, y := range s.seats {
		if y == x {
			break
		}
		if !slices.ContainsFunc(s.chunks, func(c spoken) bool { return c.with == y.who && c.From == 0 }) {
			return true
		}
	}
	return false
}

// pack notes what goes over a connection.
func (s *session) pack(c *connection, p packet) {
	p.network, p.ends = c.network(), [2]string{c.local.String(), c.shown.String()}
	if p.at.IsZero() {
		p.at = time.Now()
	}
	s.packets = append(s.packets, p)
}

// stop ends the session's connections. Of several the program has time to hear of it: who comes next is to have the
// number of who went.
func (s *session) stop() {
	several := s.several() && s.target.stream()
	for _, x := range s.seats {
		if several && x.joined() && !x.closed {
			s.finish(x)
		}
	}
	if several {
		s.leave()
	}
	for _, x := range s.seats {
		for _, c := range x.conns {
			c.close()
			if !x.closed {
				s.pack(c, packet{dir: trace.PcapSent, kind: replay.Close})
			}
		}
		x.closed = true
	}
}

// leave waits until the program has closed the connections that we have closed: then it has heard of that. One that has
// never done so gets less time. What was broken off nobody closes; so a moment more is left for that.
func (s *session) leave() {
	left := func(x *seat) bool { return !x.joined() || x.ended || x.broken }
	patience := s.o.Patience
	if !s.target.parts || s.finding != nil {
		patience = min(patience, longestLeaving)
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for waits := true; waits && slices.ContainsFunc(s.seats, func(x *seat) bool { return !left(x) }); {
		select {
		case a := <-s.in:
			if x := s.seat(a.conn.who); a.kind != replay.Data && a.conn.channel == s.target.news {
				x.ended, s.target.parts = true, true
			}
		case <-s.ctx.Done():
			waits = false
		case <-timer.C:
			waits, s.target.parts = false, false
		}
	}
	s.target.unheard = slices.ContainsFunc(s.seats, func(x *seat) bool { return x.broken || !left(x) })
	if s.target.unheard && s.ctx.Err() == nil {
		moment := time.NewTimer(s.o.Linger)
		defer moment.Stop()
		select {
		case <-s.ctx.Done():
		case <-moment.C:
		}
	}
}

// longestLeaving is how long a program that has never closed a connection which we have closed may take for it.
const longestLeaving = 500 * time.Millisecond

// ended reports whether the program has closed all connections that there are, closed whether we have.
func (s *session) ended() bool  { return s.all(func(x *seat) bool { return x.ended }) }
func (s *session) closed() bool { return s.all(func(x *seat) bool { return x.closed }) }

func (s *session) all(f func(x *seat) bool) bool {
	any := false
	for _, x := range s.seats {
		if x.joined() && !f(x) {
			return false
		}
		any = any || x.joined()
	}
	return any
}

// step takes what came of a step of our machine: it sends what is to be sent. It reports whether the machine has
// taken it.
func (s *session) step(x *seat, kind run.Kind, event string, res result) bool {
	wrong := s.stage.Wrong
	s.stage.Wrong = ""
	if res.What == world.Blocked || res.Fault != world.NoFault || wrong != "" {
		return false
	}
	before, me := x.value, s.players[x.who]
	x.value, x.end = slices.Clone(res.Value), res.End
	st := run.Step{Kind: kind, Who: x.who, From: run.Nobody, Event: event, Time: time.Since(s.began)}
	st.State, st.After = s.state(x.who, before), s.state(x.who, x.value)
	if st.State != st.After {
		st.State += " → " + st.After
	}
	if res.What == world.Stepped {
		for _, t := range me.Fired() {
			st.Transition = t.Name
		}
		for i := range me.Effects {
			switch e := &me.Effects[i]; e.Kind {
			case fsm.Report:
				st.Effects = append(st.Effects, string(interp.AppendEffect(nil, s.strs, e)))
			case fsm.StartTimer:
				k := stage.AlarmOf(me.Alarms, e)
				x.alarms[k] = time.Now().Add(time.Duration(e.Ticks) * s.protocol.Tick)
			}
		}
	}
	var answers []run.Step
	closes := false
	for _, m := range res.Sends {
		if m.Item.News != world.NoNews {
			closes = true
			continue
		}
		b, err := s.frame(m.Item.Message)
		if err != nil {
			continue // the stage has seen that there is one
		}
		sent, got := s.sends(x, m.Item.Message, b)
		st.Sent, answers = append(st.Sent, sent), append(answers, got)
	}
	if event != "" || len(st.Sent) > 0 || kind == run.Message {
		s.run.Steps = append(append(s.run.Steps, st), answers...)
	}
	if closes {
		s.finish(x)
	}
	return true
}

// sends sends a frame of ours, and returns how a chart shows that.
func (s *session) sends(x *seat, text string, frame []byte) (run.Sent, run.Step) {
	s.nextID++
	id := s.nextID
	class := s.class(text)
	s.put(x, class, frame, text)
	s.chunks = append(s.chunks, spoken{x.who, replay.Chunk{Kind: replay.Data, Channel: class, Time: time.Now(),
		Packet: len(s.packets), Data: frame}})
	got := run.Step{Kind: run.Unseen, Who: s.they, From: x.who, Message: id, Event: text}
	return run.Sent{ID: id, To: s.they, Text: text}, got
}

// put sends bytes.
func (s *session) put(x *seat, class int, b []byte, comment string) {
	s.said = 0
	if x.closed {
		return
	}
	x.last, x.lastIn = b, class
	s.pack(x.conns[class], packet{dir: trace.PcapSent, data: b, comment: comment})
	x.conns[class].send(b) // a connection that is gone is heard of
}

// finish ends what an instance sends.
func (s *session) finish(x *seat) {
	if !x.closed {
		x.closed = true
		for _, c := range x.conns {
			c.finish()
			s.pack(c, packet{dir: trace.PcapSent, kind: replay.Close})
		}
		s.leaves(x, replay.Close)
	}
}

// leaves notes that we have ended a connection. Of two instances nothing more is asked then; of more the program hears
// that one has gone.
func (s *session) leaves(x *seat, kind replay.ChunkKind) {
	if s.several() && s.target.stream() {
		s.chunks = append(s.chunks, spoken{x.who, replay.Chunk{Kind: kind, Channel: s.target.news, Time: time.Now(),
			Packet: len(s.packets)}})
	}
}

// arrived notes what came.
func (s *session) arrived(a arrival) {
	s.said++
	if a.from.IsValid() {
		a.conn.shown = a.from
	}
	s.pack(a.conn, packet{dir: trace.PcapReceived, at: a.at, kind: a.kind, data: a.data})
	s.chunks = append(s.chunks, spoken{a.conn.who, replay.Chunk{Kind: a.kind, From: 1, Channel: a.conn.channel,
		Time: a.at, Packet: len(s.packets), Data: a.data}})
	if a.kind == replay.Data {
		s.heard = true
	} else if a.conn.channel == s.target.news {
		s.seat(a.conn.who).ended = true
	}
}

// drain takes what has come. With patience it waits so long for the first, and reports whether there was any.
func (s *session) drain(patience time.Duration) (any bool) {
	bytes := 0
	for s.said < mostArrivals && bytes < mostBytes {
		select {
		case a := <-s.in:
			any = true
			bytes += len(a.data)
			s.arrived(a)
			continue
		default:
		}
		if any || patience <= 0 || s.ended() {
			return any
		}
		timer := time.NewTimer(patience)
		select {
		case a := <-s.in:
			any = true
			bytes += len(a.data)
			s.arrived(a)
		case <-timer.C:
			return false
		case <-s.ctx.Done():
			timer.Stop()
			return false
		}
		timer.Stop()
	}
	if s.finding == nil {
		s.find(Flooded, "", fmt.Sprintf("%s has sent %d times and more without being asked again", s.name(s.they),
			s.said))
	}
	return any
}

// judge holds what has come against the program's machine.
func (s *session) judge() {
	if s.rec != nil && s.judged == len(s.chunks) || s.finding != nil {
		return
	}
	s.record()
	s.judged = len(s.chunks)
	unread := 0
	for ; s.seen < len(s.rec.Frames); s.seen++ {
		f := &s.rec.Frames[s.seen]
		if f.From != s.they {
			continue
		}
		x := s.seat(f.To)
		x.inbox = append(x.inbox, s.seen)
		if len(x.inbox) <= mostArrivals { // nobody reads a longer chart
			s.tells(s.seen)
		}
	}
	for _, x := range s.seats {
		unread = max(unread, len(x.inbox))
	}
	if unread > mostArrivals {
		s.find(Flooded, "", fmt.Sprintf("%s has sent %d messages without being asked again", s.name(s.they), unread))
	}
	if s.beyond || s.finding != nil {
		return
	}
	if f := s.rec.Fault; f != nil && f.From == s.they {
		s.find(Left, "bytes", fmt.Sprintf("%s sends what is no message: %s; bytes there: % x", s.name(s.they), f.Reason,
			f.Bytes))
		return
	}
	s.now = replay.Watch(s.ctx, s.rec, s.they, s.role(s.they), s.players[s.they].Begin,
		replay.Options{Reliable: s.o.reliable, Passive: s.o.Passive, Loose: s.o.loose})
	side := s.now.Side
	if s.ctx.Err() != nil || side.Exhausted && !side.Accepted {
		return
	}
	switch {
	case side.Refusal != nil && side.Refusal.Or == "" && !side.Refusal.Expected:
		f, us := s.rec.Text(side.Refusal.Frame), s.rec.Frames[side.Refusal.Frame].From
		s.find(Left, "refused "+word(f), fmt.Sprintf("%s has closed the connection after %s, which %s %s sends there; "+
			"nothing in the specification closes it, in %s", s.name(s.they), f, s.role(us).Name, s.name(us),
			side.Refusal.At.State))
	case side.Accepted || side.Refusal != nil:
	case side.Frontier < len(s.rec.Frames) && s.rec.Frames[side.Frontier].From == s.they:
		text, to := s.rec.Text(side.Frontier), ""
		if s.several() {
			to = " to " + s.name(s.rec.Frames[side.Frontier].To)
		}
		s.find(Left, "sent "+word(text), fmt.Sprintf("%s sends %s%s, which no run of %s explains%s",
			s.name(s.they), text, to, s.role(s.they).Name, s.legal(side)))
	default:
		s.find(Left, "run", fmt.Sprintf("what %s has sent is no run of %s%s", s.name(s.they), s.role(s.they).Name,
			s.legal(side)))
	}
}

// record cuts what was said into frames.
func (s *session) record() {
	if len(s.players) == 2 {
		us := s.us[0]
		roles := [2]string{s.role(0).Name, s.role(1).Name}
		var list []replay.Chunk
		for _, c := range s.chunks {
			from := us
			if c.From != 0 {
				from = s.they
			}
			c.From = from
			list = append(list, c.Chunk)
		}
		s.rec = replay.Between(s.protocol, s.strs, roles, list, s.target.datagrams()...)
		s.rec.Names = []string{s.name(0), s.name(1)}
		return
	}
	var names []string
	for i := range s.players {
		names = append(names, s.name(i))
	}
	var peers []replay.Peer
	for _, x := range s.seats {
		if !x.joined() {
			continue
		}
		p := replay.Peer{Number: x.who, Role: s.role(x.who).Name, Since: x.since, Left: x.left}
		for _, c := range s.chunks {
			if c.with == x.who {
				p.Chunks = append(p.Chunks, c.Chunk)
			}
		}
		peers = append(peers, p)
	}
	s.rec = replay.Around(s.protocol, s.strs, names, s.they, s.role(s.they).Name, peers, s.target.datagrams()...)
}

// word is the name of a message in words.
func word(text string) string {
	name, _, _ := strings.Cut(text, "{")
	return name
}

// legal says where the machine may be at the end of an explanation and what was legal there.
func (s *session) legal(side *replay.Side) string {
	var b strings.Builder
	for _, at := range side.Machines {
		fmt.Fprintf(&b, "\nin %s", at.State)
		words := func(intro string, list []string) {
			if len(list) > 0 {
				fmt.Fprintf(&b, "; %s %s", intro, strings.Join(list, ", "))
			}
		}
		if at.Refuses != "" {
			fmt.Fprintf(&b, ", where %s", at.Refuses)
		}
		words("it may send", at.Sends)
		words("it may receive", at.Legal.Messages)
		words("or", at.Legal.Others)
	}
	return b.String()
}

// tells notes a frame of the program in the chart.
func (s *session) tells(frame int) {
	s.nextID++
	s.ids[frame] = s.nextID
	s.run.Steps = append(s.run.Steps, run.Step{Kind: run.Unseen, Who: s.they, From: run.Nobody,
		Time: time.Since(s.began), Sent: []run.Sent{{ID: s.nextID, To: s.rec.Frames[frame].To,
			Text: s.rec.Text(frame)}}})
}

// take gives our machine the next frame that has come.
func (s *session) take(x *seat) {
	k := x.inbox[0]
	x.inbox = x.inbox[1:]
	f := &s.rec.Frames[k]
	text := s.tell(f.Message, f.Slots)
	res := world.Deliver(s.stage.World.Rules, x.who, x.end, x.value, s.they, world.Item[string]{Message: text},
		s.players[x.who])
	switch {
	case res.What == world.Blocked || res.Fault != world.NoFault:
		s.stage.Wrong = ""
		if s.note == "" && !s.beyond {
			s.note = fmt.Sprintf("%s does not take %s of %s in %s: the specification itself leaves that open",
				s.name(x.who), text, s.name(s.they), s.state(x.who, x.value))
		}
		return
	case res.What == world.Dropped:
		return
	}
	before := len(s.run.Steps)
	s.step(x, run.Message, text, res)
	if before < len(s.run.Steps) {
		s.run.Steps[before].From, s.run.Steps[before].Message = s.they, s.ids[k]
	}
}

// offer gives a machine of ours a message that it held and takes now. It reports whether there was one.
func (s *session) offer() bool {
	rules := s.stage.World.Rules
	for _, x := range s.seats {
		me := s.players[x.who]
		if x.joined() && !x.closed && world.Due(rules, &x.end, x.value, me) >= 0 {
			return s.step(x, run.Offer, "", world.Offer(rules, x.who, x.end, x.value, me))
		}
	}
	return false
}

// unread is an instance to which something has come that it was not given.
func (s *session) unread() *seat {
	for _, x := range s.seats {
		if len(x.inbox) > 0 {
			return x
		}
	}
	return nil
}

// settle waits until the program owes nothing, and gives our machine all that has come. A program that owes
// something and does not say it in time hangs.
func (s *session) settle() {
	for range mostArrivals {
		s.drain(0)
		s.judge()
		if s.over() {
			return
		}
		if s.offer() {
			continue
		}
		if x := s.unread(); x != nil {
			if s.take(x); x.closed {
				x.inbox = nil
			}
			continue
		}
		if s.expire() {
			continue
		}
		owes := !s.beyond && !s.ended() && s.now != nil && len(s.now.Places) == 0 && len(s.now.Owes) > 0
		switch {
		case !owes && !s.drain(s.o.grace):
			s.endings()
			return
		case owes && !s.drain(s.o.Patience):
			if s.ctx.Err() == nil {
				s.find(Hung, word(s.now.Owes[0]), fmt.Sprintf("%s owes %s and says nothing for %v", s.name(s.they),
					strings.Join(s.now.Owes, " or "), s.o.Patience))
			}
			return
		}
	}
}

// expire lets a timer of a machine of ours expire whose time has come. It reports whether there was one.
func (s *session) expire() bool {
	for _, x := range s.seats {
		me := s.players[x.who]
		for i, a := range me.Alarms {
			at, ok := x.alarms[i]
			if ok && !x.closed && x.end.Left[i].Runs() && !time.Now().Before(at) && !s.beyond {
				delete(x.alarms, i)
				text := string(interp.AppendEvent(nil, s.strs, a.Event))
				return s.step(x, run.Timer, text, world.Expire(s.stage.World.Rules, x.who, x.end, x.value, i, me))
			}
		}
	}
	return false
}

// over reports whether there is nothing more to be asked in this connection.
func (s *session) over() bool {
	return s.finding != nil || s.closed() || s.ctx.Err() != nil
}

// endings asks whether a program that has closed a connection had a reason.
func (s *session) endings() {
	if s.beyond || s.finding != nil || s.now == nil || s.now.Side.Refusal != nil || s.now.Partial {
		return
	}
	for _, x := range s.seats {
		if !x.ended || x.closed || slices.ContainsFunc(s.now.Places, func(p replay.Place) bool {
			return !s.hears(&p, x.who) || p.Left != ""
		}) {
			continue
		}
		why := "nothing in the specification closes it there"
		if len(s.now.Places) == 0 && len(s.now.Owes) > 0 {
			why = "it owes " + strings.Join(s.now.Owes, " or ")
		} else if len(s.now.Places) > 0 {
			why += ", in " + s.state(s.they, s.now.Places[0].Value)
		}
		which := "the connection"
		if s.several() {
			which += " to " + s.name(x.who)
		}
		s.find(Left, "closed", fmt.Sprintf("%s has closed %s, and %s", s.name(s.they), which, why))
		return
	}
}

// hears reports whether the program still hears an instance at a place.
func (s *session) hears(p *replay.Place, who int) bool {
	return p.Open && (p.End.Up|p.End.Waiting)>>who&1 != 0
}

// find notes what is wrong. If the program has died that is it.
func (s *session) find(kind Kind, what, why string) {
	if s.finding != nil {
		return
	}
	if kind != Flooded && s.dead(s.ended()) {
		kind, what, why = Died, s.hostile, s.name(s.they)+" has died: "+s.target.death()
	}
	s.finding = &Finding{Kind: kind, what: what, Why: why, unsure: s.target.unheard && kind != Died}
}

// longestDying is how long it may take until a program has ended that has closed its connections by that.
const longestDying = 300 * time.Millisecond

// dead reports whether the program has ended. One that has just closed its connection gets a moment to do so.
func (s *session) dead(closed bool) bool {
	p := s.target.process
	if p == nil {
		return false
	}
	if closed {
		timer := time.NewTimer(min(s.o.Patience, longestDying))
		defer timer.Stop()
		select {
		case <-p.ended:
		case <-timer.C:
		}
	}
	return p.over()
}

// do takes one act, having waited for what the program owes unless the act crosses that. It reports whether it was
// possible.
func (s *session) do(a act) bool {
	x, ended, closed := s.seats[0], s.ended(), s.closed()
	if a.kind != wait && a.kind != resume {
		if !slices.Contains(s.us, a.who) { // it stays away
			return false
		}
		x = s.seat(a.who)
		ended, closed = x.ended, closed || x.closed
	}
	if !a.cross && a.kind != resume {
		if s.settle(); s.finding != nil || ended && a.kind != reset && a.kind != hangUp {
			return false
		}
	} else {
		s.drain(0)
	}
	if closed && a.kind != resume {
		return false
	}
	if a.kind != resume && a.kind != wait && !x.joined() {
		if !s.join(x) {
			return false
		}
	} else if a.kind == join {
		return false
	}
	if a.kind != resume && a.kind != wait && a.kind != join && s.early(x) {
		return false
	}
	ok := true
	switch a.kind {
	case event:
		ok = s.give(x, a.text)
	case forge:
		ok = s.forge(x, a.text)
	case malformed:
		s.beyond = true
		s.tell2(x, run.Malformed, "bytes that are no message: "+hex.EncodeToString(a.bytes[:min(len(a.bytes), 16)]))
		s.put(x, a.channel, a.bytes, "malformed")
	case again:
		if ok = x.last != nil; ok {
			ok = s.repeat(x)
		}
	case wait:
		if s.linger() && !a.cross {
			s.settle()
		}
	case hangUp:
		s.tell2(x, run.Break, "closes the connection")
		s.finish(x)
		if s.several() && a.cross {
			break // it is read until [session.leave] has seen its end
		}
		if s.several() {
			s.heardOf(x)
			x.broken = !x.ended
		}
		for _, c := range x.conns {
			c.close()
		}
	case reset:
		s.tell2(x, run.Break, "breaks the connection off")
		x.closed, x.broken = true, true
		for _, c := range x.conns {
			s.pack(c, packet{dir: trace.PcapSent, kind: replay.Reset})
			c.reset()
		}
		s.leaves(x, replay.Reset)
	case resume:
		s.stop()
		s.anew()
		s.tell2(s.seats[0], run.LinkUp, "connects again")
		if ok = s.open(s.seats[0]) == nil; !ok {
			s.unreached()
		}
	}
	for s.offer() {
	}
	if ok {
		s.acts = append(s.acts, a)
	}
	if a.hostile() {
		s.hostile = fmt.Sprint(a.kind, word(a.text))
	}
	return ok
}

// linger waits for what the program does by itself: for s.o.Linger, or until a timer has run out that it must have
// running. It reports whether something came. A program that lets such a timer pass hangs.
func (s *session) linger() bool {
	name, due := s.deadline()
	if due == 0 {
		return s.drain(s.o.Linger)
	}
	if s.drain(due + s.o.Patience) {
		return true
	}
	if !s.ended() && s.ctx.Err() == nil && s.finding == nil {
		s.find(Hung, name, fmt.Sprintf("timer %s of %s has run out after %v at most, and it says nothing for %v more",
			name, s.name(s.they), due, s.o.Patience))
	}
	return false
}

// longestTimer is how long a timer of the program may run that is waited for.
const longestTimer = 10 * time.Second

// deadline is when a timer of the program runs out at the latest, at which it sends something, wherever it may be; 0 if
// there is none that is sure to run.
func (s *session) deadline() (name string, due time.Duration) {
	if s.now == nil || s.beyond || s.now.Partial || s.unread() != nil || s.judged != len(s.chunks) {
		return "", 0
	}
	p := s.players[s.they]
	for i := range s.now.Places {
		at := &s.now.Places[i]
		end := s.around(at)
		first := time.Duration(0)
		for k, a := range p.Alarms {
			if !end.Left[k].Runs() {
				continue
			}
			res := world.Expire(s.stage.World.Rules, s.they, end, at.Value, k, p)
			s.stage.Wrong = ""
			after := time.Duration(a.Event.Event.Timer.Ticks) * s.protocol.Tick
			if len(res.Sends) > 0 && res.Fault == world.NoFault && (first == 0 || after < first) {
				first, name = after, a.Name
			}
		}
		if first == 0 || first > longestTimer {
			return "", 0
		}
		due = max(due, first)
	}
	return name, due
}

// unreached is what is found where a program that was there cannot be reached again.
func (s *session) unreached() {
	why := s.target.death()
	if why == "" {
		why = "nobody listens at " + s.target.String() + " any more"
	}
	s.finding = &Finding{Kind: Died, what: s.hostile, Why: s.name(s.they) + " has died: " + why}
}

// tell2 notes an act that is no step of a machine of ours.
func (s *session) tell2(x *seat, kind run.Kind, text string) {
	s.run.Steps = append(s.run.Steps, run.Step{Kind: kind, Who: x.who, From: s.they, Event: text,
		Time: time.Since(s.began)})
}

// give gives a machine of ours a command, or has a timer of it expire.
func (s *session) give(x *seat, text string) bool {
	p, rules := s.players[x.who], s.stage.World.Rules
	ev, err := interp.ParseEvent(p.Machine, s.strs, text)
	if err != nil {
		s.unsent = err.Error()
		return false
	}
	if ev.Event.Kind == model.EventCommand {
		return s.step(x, run.Command, text, world.Give(rules, x.who, x.end, x.value, p.Command(ev), p))
	}
	for i, a := range p.Alarms {
		if string(interp.AppendEvent(nil, s.strs, a.Event)) == text {
			if !x.end.Left[i].Runs() {
				return false
			}
			return s.step(x, run.Timer, text, world.Expire(rules, x.who, x.end, x.value, i, p))
		}
	}
	return false
}

// forge sends a message whatever our machine makes of that.
func (s *session) forge(x *seat, text string) bool {
	m, slots, err := interp.ParseMessage(s.protocol, s.strs, text)
	if err != nil {
		s.unsent = err.Error()
		return false
	}
	told := s.tell(m, slots)
	b, err := s.frame(told)
	if err != nil {
		s.unsent = err.Error()
		return false
	}
	s.beyond = s.beyond || !s.takes(x, told)
	sent, got := s.sends(x, told, b)
	s.run.Steps = append(s.run.Steps, run.Step{Kind: run.Unseen, Who: x.who, From: run.Nobody,
		Time: time.Since(s.began), Sent: []run.Sent{sent}}, got)
	return true
}

// heardOf waits until the program has closed a connection that we have closed, and a moment longer: then it has heard
// of that before it reads what others send.
func (s *session) heardOf(x *seat) {
	timer := time.NewTimer(s.o.Patience)
	defer timer.Stop()
	for !x.ended && s.target.stream() {
		select {
		case a := <-s.in:
			s.arrived(a)
		case <-timer.C:
			return
		case <-s.ctx.Done():
			return
		}
	}
	s.drain(s.o.Linger)
	x.left = len(s.packets) + 1
}

// repeat sends the last frame once more.
func (s *session) repeat(x *seat) bool {
	s.judge()
	if s.target.at[x.lastIn].datagrams() || s.beyond {
		s.tell2(x, run.Unseen, "says the last frame again")
		s.beyond = true
		s.put(x, x.lastIn, x.last, "again")
		return true
	}
	for k := len(s.rec.Frames) - 1; k >= 0; k-- {
		if f := &s.rec.Frames[k]; f.From == x.who && f.Channel == x.lastIn && !f.Ends {
			return s.forge(x, s.rec.Text(k))
		}
	}
	return false
}

// takes reports whether the program's machine takes a message wherever it may be.
func (s *session) takes(x *seat, text string) bool {
	if s.now == nil || len(s.now.Places) == 0 || s.now.Partial {
		return false
	}
	for i := range s.now.Places {
		p := &s.now.Places[i]
		res := world.Deliver(s.stage.World.Rules, s.they, s.around(p), p.Value, x.who,
			world.Item[string]{Message: text}, s.players[s.they])
		if res.Fault != world.NoFault || res.What == world.Blocked || res.What == world.Dropped {
			return false
		}
	}
	return true
}

// around is what is around the program's machine at a place.
func (s *session) around(p *replay.Place) world.End[string] {
	e := &p.End
	out := world.End[string]{Started: e.Started, Down: e.Down, Absent: e.Absent, Waiting: e.Waiting, Up: e.Up,
		Asked: e.Asked, Broken: e.Broken, Cutoff: e.Cutoff, Told: e.Told, Heard: e.Heard, Left: e.Left,
		Crashes: e.Crashes, Restarts: e.Restarts, Comes: e.Comes, Returns: e.Returns}
	for _, h := range e.Held {
		f := &s.rec.Frames[h.Message]
		out.Held = append(out.Held, world.Held[string]{From: h.From, Message: s.tell(f.Message, f.Slots)})
	}
	return out
}

// configurations are what may be now: our machine, what has come and was not given to it, and each place of the
// program.
func (s *session) configurations() (list []*configuration) {
	if s.now == nil || s.beyond {
		return nil
	}
	for i := range s.now.Places {
		p := &s.now.Places[i]
		if !p.Open && s.ended() {
			continue
		}
		values := make([]interp.Value, len(s.players))
		for k, x := range s.players { // of those who stay away
			values[k] = x.Begin
		}
		values[s.they] = p.Value
		for _, x := range s.seats {
			values[x.who] = x.value
		}
		c := s.world.Begin(values)
		c.Ends[s.they] = s.around(p)
		for _, x := range s.seats {
			c.Ends[x.who] = x.end
			for _, f := range x.inbox {
				y := &s.rec.Frames[f]
				k := s.queue(s.they, x.who, y.Channel)
				c.Queues[k] = append(c.Queues[k], world.Item[string]{Message: s.tell(y.Message, y.Slots)})
			}
			if x.closed {
				c.Ends[x.who].Up, c.Ends[x.who].Waiting = 0, 0
			}
		}
		list = append(list, c)
	}
	return list
}

// err is why a session could not begin.
func unreachable(err error) bool { return errors.Is(err, errGone) }
