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

// session is one connection to the program, or several with [resume] between them.
type session struct {
	*game
	ctx     context.Context
	target  *target
	o       *Options
	conn    *connection
	value   interp.Value
	end     world.End[string]
	chunks  []replay.Chunk    // of this connection
	rec     *replay.Recording // of chunks
	judged  int               // chunks that rec has
	inbox   []int             // places in rec.Frames that our machine has not been given
	seen    int               // places in rec.Frames that have been looked at
	now     *replay.Present
	beyond  bool // we have done what the specification says nothing of
	closed  bool // we send no more
	ended   bool // they have closed
	acts    []act
	last    []byte // that we have sent
	heard   bool   // the program has said something, ever
	said    int    // arrivals since our last act
	finding *Finding
	note    string // what the specification itself leaves open
	run     *run.Run
	ids     map[int]int // messages of the program by their places in rec.Frames
	nextID  int
	began   time.Time
	packets []packet
	unsent  string            // why an act was not possible
	alarms  map[int]time.Time // when timers of our machine expire
	hostile string            // the last act that was not of our role
}

// packet is what went over the wire, for the capture.
type packet struct {
	dir     trace.PcapDir
	at      time.Time
	kind    replay.ChunkKind
	opens   bool
	data    []byte
	comment string
	ends    [2]string
}

// Bounds of a session.
const (
	mostArrivals = 2000    // since our last act: more is a flood
	mostBytes    = 4 << 20 // likewise
	mostFrames   = 120     // of a session that is explored
)

// newSession connects and begins our machine. The error is for a program that cannot be reached, or not be started.
func (g *game) newSession(ctx context.Context, t *target, o *Options) (*session, error) {
	s := &session{game: g, ctx: ctx, target: t, o: o, ids: map[int]int{}, began: time.Now(),
		run: &run.Run{Protocol: g.protocol.Name, Check: g.check.Name, Hash: g.protocol.Hash}}
	for i := range 2 {
		x := run.Instance{Name: g.name(i), Role: g.role(i).Name}
		x.Start = g.role(i).States[g.players[i].Begin[0]].Name
		s.run.Instances = append(s.run.Instances, x)
	}
	return s, s.open()
}

// open connects, for the first time or again. Our machine begins anew.
func (s *session) open() error {
	c, err := s.target.dial(s.ctx)
	if err != nil {
		return err
	}
	s.conn, s.chunks, s.rec, s.judged, s.now = c, nil, nil, 0, nil
	s.inbox, s.seen, s.ids = nil, 0, map[int]int{}
	s.beyond, s.closed, s.ended, s.last, s.said, s.alarms = false, false, false, nil, 0, map[int]time.Time{}
	s.packets = append(s.packets, packet{opens: true, at: time.Now(), ends: [2]string{c.local.String(), c.at.String()}})
	s.value, s.end = slices.Clone(s.players[s.us].Begin), world.End0[string](s.stage.World.Rules, s.us)
	s.step(run.Start, "", world.Begin(s.stage.World.Rules, s.us, s.end, s.value, s.me()))
	if s.end.Waiting>>s.they&1 != 0 {
		s.step(run.LinkUp, "", world.LinkUp(s.stage.World.Rules, s.us, s.end, s.value, s.they, s.me()))
	}
	return nil
}

func (s *session) me() world.Machine[interp.Value, string] { return s.players[s.us] }

// stop ends the session's connection.
func (s *session) stop() {
	if s.conn != nil {
		s.conn.close()
		if !s.closed {
			s.packets = append(s.packets, packet{dir: trace.PcapSent, at: time.Now(), kind: replay.Close})
		}
		s.closed = true
	}
}

// step takes what came of a step of our machine: it sends what is to be sent. It reports whether the machine has
// taken it.
func (s *session) step(kind run.Kind, event string, res result) bool {
	wrong := s.stage.Wrong
	s.stage.Wrong = ""
	if res.What == world.Blocked || res.Fault != world.NoFault || wrong != "" {
		return false
	}
	before := s.value
	s.value, s.end = slices.Clone(res.Value), res.End
	st := run.Step{Kind: kind, Who: s.us, From: run.Nobody, Event: event, Time: time.Since(s.began)}
	st.State, st.After = s.state(s.us, before), s.state(s.us, s.value)
	if st.State != st.After {
		st.State += " → " + st.After
	}
	if res.What == world.Stepped {
		for _, t := range s.players[s.us].Fired() {
			st.Transition = t.Name
		}
		for i := range s.players[s.us].Effects {
			switch e := &s.players[s.us].Effects[i]; e.Kind {
			case fsm.Report:
				st.Effects = append(st.Effects, string(interp.AppendEffect(nil, s.strs, e)))
			case fsm.StartTimer:
				k := stage.AlarmOf(s.players[s.us].Alarms, e)
				s.alarms[k] = time.Now().Add(time.Duration(e.Ticks) * s.protocol.Tick)
			}
		}
	}
	var answers []run.Step
	closes := false
	for _, x := range res.Sends {
		if x.Item.News != world.NoNews {
			closes = true
			continue
		}
		b, err := s.frame(x.Item.Message)
		if err != nil {
			continue // the stage has seen that there is one
		}
		sent, got := s.sends(x.Item.Message, b)
		st.Sent, answers = append(st.Sent, sent), append(answers, got)
	}
	if event != "" || len(st.Sent) > 0 || kind == run.Message {
		s.run.Steps = append(append(s.run.Steps, st), answers...)
	}
	if closes {
		s.finish()
	}
	return true
}

// sends sends a frame of ours, and returns how a chart shows that.
func (s *session) sends(text string, frame []byte) (run.Sent, run.Step) {
	s.nextID++
	id := s.nextID
	s.put(frame, text)
	s.chunks = append(s.chunks, replay.Chunk{Kind: replay.Data, From: s.us, Time: time.Now(), Packet: len(s.packets),
		Data: frame})
	got := run.Step{Kind: run.Unseen, Who: s.they, From: s.us, Message: id, Event: text}
	return run.Sent{ID: id, To: s.they, Text: text}, got
}

// put sends bytes.
func (s *session) put(b []byte, comment string) {
	s.said = 0
	if s.closed {
		return
	}
	s.last = b
	s.packets = append(s.packets, packet{dir: trace.PcapSent, at: time.Now(), data: b, comment: comment})
	s.conn.send(b) // a connection that is gone is heard of
}

// finish ends what we send.
func (s *session) finish() {
	if !s.closed {
		s.closed = true
		s.conn.finish()
		s.packets = append(s.packets, packet{dir: trace.PcapSent, at: time.Now(), kind: replay.Close})
	}
}

// arrived notes what came.
func (s *session) arrived(a arrival) {
	s.said++
	p := packet{dir: trace.PcapReceived, at: a.at, kind: a.kind, data: a.data}
	if a.from.IsValid() {
		p.ends[1] = a.from.String()
	}
	s.packets = append(s.packets, p)
	s.chunks = append(s.chunks, replay.Chunk{Kind: a.kind, From: s.they, Time: a.at, Packet: len(s.packets),
		Data: a.data})
	if a.kind == replay.Data {
		s.heard = true
	} else {
		s.ended = true
	}
}

// drain takes what has come. With patience it waits so long for the first, and reports whether there was any.
func (s *session) drain(patience time.Duration) (any bool) {
	bytes := 0
	for s.said < mostArrivals && bytes < mostBytes {
		select {
		case a := <-s.conn.in:
			any = true
			bytes += len(a.data)
			s.arrived(a)
			continue
		default:
		}
		if any || patience <= 0 || s.ended {
			return any
		}
		timer := time.NewTimer(patience)
		select {
		case a := <-s.conn.in:
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
	roles := [2]string{s.role(0).Name, s.role(1).Name}
	s.rec = replay.Between(s.protocol, s.strs, roles, s.chunks, s.target.network == "udp")
	s.rec.Names, s.judged = []string{s.name(0), s.name(1)}, len(s.chunks)
	for ; s.seen < len(s.rec.Frames); s.seen++ {
		if s.rec.Frames[s.seen].From == s.they {
			if s.inbox = append(s.inbox, s.seen); len(s.inbox) <= mostArrivals { // nobody reads a longer chart
				s.tells(s.seen)
			}
		}
	}
	if len(s.inbox) > mostArrivals {
		s.find(Flooded, "", fmt.Sprintf("%s has sent %d messages without being asked again", s.name(s.they),
			len(s.inbox)))
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
		f := s.rec.Text(side.Refusal.Frame)
		s.find(Left, "refused "+word(f), fmt.Sprintf("%s has closed the connection after %s, which %s %s sends there; "+
			"nothing in the specification closes it, in %s", s.name(s.they), f, s.role(s.us).Name, s.name(s.us),
			side.Refusal.At.State))
	case side.Accepted || side.Refusal != nil:
	case side.Frontier < len(s.rec.Frames) && s.rec.Frames[side.Frontier].From == s.they:
		text := s.rec.Text(side.Frontier)
		s.find(Left, "sent "+word(text), fmt.Sprintf("%s sends %s, which no run of %s explains%s", s.name(s.they), text,
			s.role(s.they).Name, s.legal(side)))
	default:
		s.find(Left, "run", fmt.Sprintf("what %s has sent is no run of %s%s", s.name(s.they), s.role(s.they).Name,
			s.legal(side)))
	}
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
		Time: time.Since(s.began), Sent: []run.Sent{{ID: s.nextID, To: s.us, Text: s.rec.Text(frame)}}})
}

// take gives our machine the next frame that has come.
func (s *session) take() {
	k := s.inbox[0]
	s.inbox = s.inbox[1:]
	f := &s.rec.Frames[k]
	text := s.tell(f.Message, f.Slots)
	res := world.Deliver(s.stage.World.Rules, s.us, s.end, s.value, s.they, world.Item[string]{Message: text}, s.me())
	switch {
	case res.What == world.Blocked || res.Fault != world.NoFault:
		s.stage.Wrong = ""
		if s.note == "" && !s.beyond {
			s.note = fmt.Sprintf("%s does not take %s of %s in %s: the specification itself leaves that open",
				s.name(s.us), text, s.name(s.they), s.state(s.us, s.value))
		}
		return
	case res.What == world.Dropped:
		return
	}
	before := len(s.run.Steps)
	s.step(run.Message, text, res)
	if before < len(s.run.Steps) {
		s.run.Steps[before].From, s.run.Steps[before].Message = s.they, s.ids[k]
	}
}

// offer gives our machine a message that it held and takes now. It reports whether there was one.
func (s *session) offer() bool {
	if s.closed || world.Due(s.stage.World.Rules, &s.end, s.value, s.me()) < 0 {
		return false
	}
	return s.step(run.Offer, "", world.Offer(s.stage.World.Rules, s.us, s.end, s.value, s.me()))
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
		if len(s.inbox) > 0 {
			s.take()
			continue
		}
		if s.expire() {
			continue
		}
		owes := !s.beyond && !s.ended && s.now != nil && len(s.now.Places) == 0 && len(s.now.Owes) > 0
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

// expire lets a timer of our machine expire whose time has come. It reports whether there was one.
func (s *session) expire() bool {
	for i, a := range s.players[s.us].Alarms {
		if at, ok := s.alarms[i]; ok && s.end.Left[i].Runs() && !time.Now().Before(at) && !s.beyond {
			delete(s.alarms, i)
			text := string(interp.AppendEvent(nil, s.strs, a.Event))
			return s.step(run.Timer, text, world.Expire(s.stage.World.Rules, s.us, s.end, s.value, i, s.me()))
		}
	}
	return false
}

// over reports whether there is nothing more to be asked in this connection.
func (s *session) over() bool {
	return s.finding != nil || s.closed || s.ctx.Err() != nil
}

// endings asks whether a program that has closed the connection had a reason.
func (s *session) endings() {
	if !s.ended || s.beyond || s.closed || s.finding != nil || s.now == nil {
		return
	}
	if s.now.Side.Refusal != nil || s.now.Partial {
		return
	}
	if slices.ContainsFunc(s.now.Places, func(p replay.Place) bool { return !p.Open || p.Left != "" }) {
		return
	}
	why := "nothing in the specification closes it there"
	if len(s.now.Places) == 0 && len(s.now.Owes) > 0 {
		why = "it owes " + strings.Join(s.now.Owes, " or ")
	} else if len(s.now.Places) > 0 {
		why += ", in " + s.state(s.they, s.now.Places[0].Value)
	}
	s.find(Left, "closed", fmt.Sprintf("%s has closed the connection, and %s", s.name(s.they), why))
}

// find notes what is wrong. If the program has died that is it.
func (s *session) find(kind Kind, what, why string) {
	if s.finding != nil {
		return
	}
	if kind != Flooded && s.dead(s.ended) {
		kind, what, why = Died, s.hostile, s.name(s.they)+" has died: "+s.target.death()
	}
	s.finding = &Finding{Kind: kind, what: what, Why: why}
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
	if !a.cross && a.kind != resume {
		if s.settle(); s.finding != nil || s.ended && a.kind != reset && a.kind != hangUp {
			return false
		}
	} else {
		s.drain(0)
	}
	if s.closed && a.kind != resume {
		return false
	}
	ok := true
	switch a.kind {
	case event:
		ok = s.give(a.text)
	case forge:
		ok = s.forge(a.text)
	case malformed:
		s.beyond = true
		s.tell2(run.Malformed, "bytes that are no message: "+hex.EncodeToString(a.bytes[:min(len(a.bytes), 16)]))
		s.put(a.bytes, "malformed")
	case again:
		if ok = s.last != nil; ok {
			ok = s.repeat()
		}
	case wait:
		if s.linger() && !a.cross {
			s.settle()
		}
	case hangUp:
		s.tell2(run.Break, "closes the connection")
		s.finish()
		s.conn.close()
	case reset:
		s.tell2(run.Break, "breaks the connection off")
		s.closed = true
		s.packets = append(s.packets, packet{dir: trace.PcapSent, at: time.Now(), kind: replay.Reset})
		s.conn.reset()
	case resume:
		s.stop()
		s.tell2(run.LinkUp, "connects again")
		ok = s.open() == nil
		if !ok {
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
	if !s.ended && s.ctx.Err() == nil && s.finding == nil {
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
	if s.now == nil || s.beyond || s.now.Partial || len(s.inbox) > 0 || s.judged != len(s.chunks) {
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
		why = "nobody listens at " + s.target.address + " any more"
	}
	s.finding = &Finding{Kind: Died, what: s.hostile, Why: s.name(s.they) + " has died: " + why}
}

// tell2 notes an act that is no step of our machine.
func (s *session) tell2(kind run.Kind, text string) {
	s.run.Steps = append(s.run.Steps, run.Step{Kind: kind, Who: s.us, From: s.they, Event: text,
		Time: time.Since(s.began)})
}

// give gives our machine a command, or has a timer of it expire.
func (s *session) give(text string) bool {
	p := s.players[s.us]
	ev, err := interp.ParseEvent(p.Machine, s.strs, text)
	if err != nil {
		s.unsent = err.Error()
		return false
	}
	if ev.Event.Kind == model.EventCommand {
		res := world.Give(s.stage.World.Rules, s.us, s.end, s.value, p.Command(ev), s.me())
		return s.step(run.Command, text, res)
	}
	for i, a := range p.Alarms {
		if string(interp.AppendEvent(nil, s.strs, a.Event)) == text {
			if !s.end.Left[i].Runs() {
				return false
			}
			return s.step(run.Timer, text, world.Expire(s.stage.World.Rules, s.us, s.end, s.value, i, s.me()))
		}
	}
	return false
}

// forge sends a message whatever our machine makes of that.
func (s *session) forge(text string) bool {
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
	s.beyond = s.beyond || !s.takes(told)
	sent, got := s.sends(told, b)
	s.run.Steps = append(s.run.Steps, run.Step{Kind: run.Unseen, Who: s.us, From: run.Nobody,
		Time: time.Since(s.began), Sent: []run.Sent{sent}}, got)
	return true
}

// repeat sends the last frame once more.
func (s *session) repeat() bool {
	s.judge()
	if s.target.network == "udp" || s.beyond {
		s.tell2(run.Unseen, "says the last frame again")
		s.beyond = true
		s.put(s.last, "again")
		return true
	}
	for k := len(s.rec.Frames) - 1; k >= 0; k-- {
		if s.rec.Frames[k].From == s.us {
			return s.forge(s.rec.Text(k))
		}
	}
	return false
}

// takes reports whether the program's machine takes a message wherever it may be.
func (s *session) takes(text string) bool {
	if s.now == nil || len(s.now.Places) == 0 || s.now.Partial {
		return false
	}
	for i := range s.now.Places {
		p := &s.now.Places[i]
		res := world.Deliver(s.stage.World.Rules, s.they, s.around(p), p.Value, s.us,
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
		if !p.Open && s.ended {
			continue
		}
		values := make([]interp.Value, 2)
		values[s.us], values[s.they] = s.value, p.Value
		c := s.world.Begin(values)
		c.Ends[s.us], c.Ends[s.they] = s.end, s.around(p)
		k := s.stage.World.Rules.Channel(s.they, s.us, 0)
		for _, f := range s.inbox {
			x := &s.rec.Frames[f]
			c.Queues[k] = append(c.Queues[k], world.Item[string]{Message: s.tell(x.Message, x.Slots)})
		}
		list = append(list, c)
	}
	return list
}

// err is why a session could not begin.
func unreachable(err error) bool { return errors.Is(err, errGone) }
