package drive

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/world"
)

// A hostile instance has no driver. The test has the other ends of its links, and sends there what it
// likes. What drivers send to it is dropped.

// hostile reports whether an instance has no driver.
func (s *setting) hostile(i int) bool { return s.World.Rules.IsHostile(i) }

// silent reports whether nobody at j hears what i makes of the link between them.
func (s *setting) silent(i, j int) bool { return s.hostile(j) || s.link(i, j).Datagrams }

// forgeries are the messages of hostile instances, by receiver and sender, in words.
type forgeries map[[2]int][]string

// forgeriesOf lists what the hostile instances of a check can send, but for what has no frame here: texts that
// stand for others in a check, and what has no place in the default format.
func forgeriesOf(p *model.Protocol, c *model.Check) (forgeries, error) {
	strs := &interp.Strings{}
	list, hostile, wired := forgeries{}, stage.NewHostile(p, c, strs), model.WithDefaultWire(p)
	for _, h := range c.Instances {
		for _, to := range c.Instances {
			if !h.IsHostile() || to.IsHostile() {
				continue
			}
			all, _, err := hostile.Forgeries(h, to)
			if err != nil {
				return nil, err
			}
			for _, f := range all {
				m := wired.Messages[f.Message.Index]
				if _, err := interp.AppendFrame(wired, strs, nil, m, f.Slots); err.Problem != 0 {
					continue
				}
				text := interp.AppendMessage(nil, strs, f.Message, f.Slots)
				list[[2]int{to.Index, h.Index}] = append(list[[2]int{to.Index, h.Index}], string(text))
			}
		}
	}
	return list, nil
}

// hostileOps lists what hostile instances can do to i now.
func (r *play) hostileOps(i, sub int) (moves []stage.Move) {
	for j := range r.seats {
		e, list := r.seats[i].ends[j], r.forgeable(i, j)
		if !r.hostile(j) || e == nil || len(list) == 0 {
			continue
		}
		at := (sub*31 + len(r.log)*17) % len(list)
		if text, err := r.Forged(i, list[at]); err == nil {
			forge := stage.Move{Kind: world.MoveForge, Who: i, Peer: j, Message: text}
			moves = append(moves, forge, forge)
		}
		if hangup := (stage.Move{Kind: world.MoveHangup, Who: i, Peer: j}); sub%4 == 0 && r.possible(hangup) {
			moves = append(moves, hangup)
		}
		garbage := stage.Move{Kind: world.MoveMalformed, Who: i, Peer: j}
		if sub%4 == 1 && (r.keep || r.possible(garbage)) && len(r.garbage(e.told, sub)) > 0 {
			moves = append(moves, garbage)
		}
	}
	return moves
}

// attacked does what a hostile instance does to another.
func (r *play) attacked(mv stage.Move) error {
	s := r.seats[mv.Who]
	e, stays := s.ends[mv.Peer], false
	over := func(text string) int { // the class of a message
		if m, _ := r.Said(text); m != nil {
			return m.Channel
		}
		return 0
	}
	send := func(bytes []byte) error {
		if e == nil {
			return nil
		}
		return errors.Join(e.Send(0, bytes), e.Flush())
	}
	var physical func() error
	switch mv.Kind {
	case world.MoveForge:
		r.faults["forged messages"]++
		frame, err := r.Frame(mv.Message)
		if err != nil {
			return err
		}
		e = r.end(mv.Who, mv.Peer, over(mv.Message))
		if e != nil {
			e.told.read(frame)
		}
		physical = func() error { return send(frame) }
	case world.MoveMalformed:
		r.faults["malformed frames"]++
		var list [][]byte
		if e != nil {
			list = r.garbage(e.told, len(r.log))
		}
		if len(list) == 0 {
			return errLeft
		}
		bytes := list[len(r.log)%len(list)]
		if list := r.forged[[2]int{mv.Who, mv.Peer}]; r.protocol.Several() && len(list) > 0 && len(r.log)%2 == 0 {
			text, err := r.Forged(mv.Who, list[len(r.log)%len(list)]) // a message, but over another channel
			if err != nil {
				return err
			}
			if bytes, err = r.Frame(text); err != nil {
				return err
			}
			e = r.end(mv.Who, mv.Peer, 1-over(text))
			r.faults["messages over another channel"]++
		}
		physical = func() error { return send(bytes) }
		if stays = r.keep; stays {
			r.log = append(r.log, "  which changes nothing")
			s.wanted++
		}
	default:
		r.faults["hangups"]++
		half := r.half(mv.Who, mv.Peer)
		physical = func() error {
			var err error
			if half != nil {
				err = send(half)
			}
			r.hangUp(mv.Who, mv.Peer)
			return err
		}
	}
	if stays {
		_, err := r.act(mv.String(), physical)
		return err
	}
	_, err := r.act(mv.String(), physical, mv)
	return err
}

// forgeable lists what a hostile instance j can send to i now: what is in the phase of its stream, and is that message
// for the role of i.
func (r *play) forgeable(i, j int) (list []string) {
	all, e := r.forged[[2]int{i, j}], r.seats[i].ends[j]
	if e == nil || !r.protocol.Phased() && !r.protocol.Directed() {
		return all
	}
	for _, text := range all {
		name, _, _ := strings.Cut(text, "{")
		at := slices.IndexFunc(r.protocol.Messages, func(m *model.Message) bool { return m.Name == name })
		if m := r.protocol.Messages[max(at, 0)]; at >= 0 && m.In(e.told.phase) && m.Reaches(e.told.to, r.protocol) {
			list = append(list, text)
		}
	}
	return list
}

// half is the beginning of a frame, after which a stream may end.
func (r *play) half(i, j int) []byte {
	list := r.forgeable(i, j)
	if !r.streams(r.World.Rules.NewsClass(i, j)) || len(list) == 0 || len(r.log)%2 == 0 {
		return nil
	}
	text, err := r.Forged(i, list[0])
	if err != nil {
		return nil
	}
	frame, err := r.Frame(text)
	if err != nil {
		return nil
	}
	return frame[:len(frame)/2]
}

// garbage lists bytes that are no frame. A stream has ended with them, or cannot go on: what could be
// the beginning of a frame is not among them.
func (r *play) garbage(told *reading, seed int) (list [][]byte) {
	view := told.p.In(told.phase)
	if r.protocol.Raw(told.phase, told.to) {
		return nil // what comes there is somebody else's
	}
	rnd := rand.New(rand.NewPCG(uint64(seed), 4))
	for n := range 24 {
		b := make([]byte, 1+rnd.IntN(1+n%int(r.protocol.Wire.Max)))
		for k := range b {
			b[k] = byte(rnd.Uint32() >> (rnd.Uint32() % 25))
		}
		if n == 0 && !told.stream {
			b = nil
		}
		whole := b
		if told.stream {
			size, err := interp.FrameSizeTo(view, b, told.to)
			switch {
			case err.Problem != 0 && !r.keep: // no boundary of a frame is known any more
				list = append(list, b)
				continue
			case err.Problem != 0 || size == 0 || size != len(b):
				continue
			}
			whole = b[:size]
		}
		if _, _, err := interp.DecodeFrameTo(view, r.Strings, whole, told.to); err.Problem != 0 {
			list = append(list, b)
		}
	}
	return list
}

// rejects counts what the world says of a move against a hostile instance: that what came from there
// was refused.
func (r *play) rejects(mv stage.Move, t *stage.Taken) {
	if t.Who < 0 {
		return
	}
	s := r.seats[t.Who]
	switch {
	case mv.Kind == world.MoveMalformed:
		s.wanted++
	case (mv.Kind == world.MoveForge || mv.Kind == world.MoveOffer) &&
		(t.Event.Kind == world.Lost || t.What == world.Dropped):
		s.wanted++
		s.handled++
		r.faults["refused messages"]++
	}
}

// blamed moves the errors that hostile instances have caused out of a list, and counts them.
func (r *play) blamed(i int) func(*driver.Error) bool {
	return func(e *driver.Error) bool {
		is := e.Kind == driver.Malformed ||
			(e.Kind == driver.Refused || e.Kind == driver.DeferredFull) && e.Frame != nil
		for j := range r.seats {
			if is && r.hostile(j) && r.peer(i, j) == e.Peer {
				r.seats[i].blames++
				return true
			}
		}
		return false
	}
}

// linkless reports whether no honest role of a check has to do with links.
func linkless(c *model.Check) bool {
	return !slices.ContainsFunc(c.Instances, func(i *model.Instance) bool {
		return !i.IsHostile() && (i.Role.Linked() || i.Role.Closes())
	})
}

// keeping has drivers drop what they refuse and what is no frame. In the world there is no link then.
func (s *setting) keeping() {
	s.keep = true
	s.World.Rules.Links = slices.DeleteFunc(slices.Clone(s.World.Rules.Links), func(l world.Link) bool {
		return s.hostile(l.A) || s.hostile(l.B)
	})
}
