package second

import (
	"slices"
	"strings"

	"github.com/parley-go/parley/proptest/second/machine"
)

// linkMoves are what the end of a link does by itself.
func (w *world) linkMoves(c *config, i, j int) (out []move) {
	in := c.in[i]
	if !w.linked[i][j] {
		return nil
	}
	if in.wait.has(j) && !in.gone.has(j) {
		next := c.clone()
		next.own(i).wait.drop(j)
		out = append(out, w.applied(c, next, i, w.hears(in.m, "up", j),
			move{desc: desc{label: "up from " + w.names[j], who: i, kind: isNews, class: "up " + w.names[j]}})...)
	}
	if !in.gone.has(j) && !in.wait.has(j) && (c.cut < w.breaks || in.cut.has(j)) && w.roles[j] != nil {
		next := c.clone()
		if !in.cut.has(j) {
			next.cut++
		}
		out = append(out, w.broken(c, next, i, j)...)
	}
	if in.gone.has(j) && in.lost.has(j) && !in.cut.has(j) && (w.returns < 0 || c.returned < w.returns) {
		next := c.clone()
		if w.returns >= 0 {
			next.returned++
		}
		w.returning(next, i, j)
		out = append(out, move{desc: desc{label: "asks for " + w.names[j], who: i, kind: isFault}, to: next})
	}
	return out
}

// revives reports whether links may come back: then ends count what they have told, heard and asked.
func (w *world) revives() bool {
	return w.returns != 0 || w.restart.total >= 0 || slices.Max(w.restart.each) > 0 || slices.Max(w.come) > 0
}

// counted adds to a tally, where links may come back.
func (w *world) counted(t *tally, j, n int) {
	if w.revives() {
		t.add(j, n)
	}
}

// asking is the number of what i asks j next, or has asked it last.
func (w *world) asking(in *inst, i, j int) int {
	return (in.begins + w.come[i] - in.coming + in.asks.of(j)) & 15
}

// ask has i ask for its link to j.
func (w *world) ask(c *config, i, j int) {
	in := c.in[i]
	c.push(w.at(i, j, w.news), item{news: "ask", no: w.asking(in, i, j), had: in.heard.of(j)})
}

// returning has i want its lost link to j back. Over datagrams it has it; else j is asked, and what comes
// before the answer is old.
func (w *world) returning(c *config, i, j int) {
	in := c.own(i)
	in.gone.drop(j)
	in.lost.drop(j)
	if w.mentions(i, "up") {
		in.wait.add(j)
	}
	if !w.dgram && w.roles[j] != nil {
		w.counted(&in.asks, j, 1)
		in.asked.add(j)
		w.ask(c, i, j)
	}
}

// begins has i ask for all its links, as who begins anew does.
func (w *world) begins(c *config, i int) {
	for j := range c.in {
		if w.linked[i][j] && !w.dgram && w.roles[j] != nil {
			c.own(i).asked.add(j)
			w.ask(c, i, j)
		}
	}
}

// old reports whether what comes from j is of a link that i has no more.
func (w *world) old(in *inst, i, j int) bool {
	return in.down || w.linked[i][j] && (in.gone.has(j) || in.asked.has(j))
}

// forfeit is shut of a link that i may ask for again.
func (w *world) forfeit(c *config, i, j int) {
	c.shut(i, j)
	if w.returns != 0 {
		c.own(i).lost.add(j)
	}
}

// hear has i take news of j, or drop what comes from somebody of whom it hears nothing any more. What has
// come is no longer under way in next.
func (w *world) hear(c, next *config, i, j int, it item, blocked bool, mv move) []move {
	in := c.in[i]
	linked := w.linked[i][j]
	mv.to = next
	dropped := []move{mv}
	mv.to = nil
	switch {
	case (it.news == "ask" || it.news == "answer") && !in.down && in.cut.has(j):
		return nil // a partition holds it up
	case it.news == "ask" && !in.down && it.had != in.told.of(j):
		return dropped // who asked will hear that i has lost the link
	case it.news == "reset" && !in.down && in.asked.has(j):
		if blocked {
			return nil
		}
		w.counted(&next.own(i).heard, j, 1)
		if in.wait.has(j) { // it asks once more, and nobody notices
			w.counted(&next.own(i).asks, j, 1)
			w.ask(next, i, j)
			return dropped
		}
		w.forfeit(next, i, j)
		return w.applied(c, next, i, w.hears(in.m, "lost", j), mv)
	case it.news == "mark" && in.asked.has(j) && !in.down:
		if blocked {
			return nil
		}
		return dropped
	case in.down || in.asked.has(j):
		switch {
		case !linked:
		case it.news == "reset":
			w.counted(&next.own(i).heard, j, 1)
		case it.news == "ask":
			next.own(i).asked.drop(j)
			next.push(w.at(i, j, w.news), item{news: "answer", no: it.no})
			if in.down {
				next.push(w.at(i, j, w.news), item{news: "lost"})
			}
		case it.news == "answer" && it.no == w.asking(in, i, j):
			next.own(i).asked.drop(j)
		}
		return dropped
	case linked && in.gone.has(j) && it.news == "":
		return dropped
	case blocked || in.wait.has(j):
		return nil
	}
	open := linked && !in.gone.has(j)
	switch {
	case open && it.news == "lost":
		next.shut(i, j)
		return w.applied(c, next, i, w.hears(in.m, "lost", j), mv)
	case open && it.news == "reset":
		w.counted(&next.own(i).heard, j, 1)
		w.forfeit(next, i, j)
		return w.applied(c, next, i, w.hears(in.m, "lost", j), mv)
	case !open && it.news == "reset":
		w.counted(&next.own(i).heard, j, 1)
	case it.news == "ask":
		next.push(w.at(i, j, w.news), item{news: "answer", no: it.no})
		if !open {
			in := next.own(i)
			in.gone.drop(j)
			in.lost.drop(j)
			mv.answers = true
			return w.applied(c, next, i, w.hears(in.m, "up", j), mv)
		}
	}
	return dropped
}

// broken has i take its link to j for dead. A crash may cut that step short, too; what j hears is out already.
func (w *world) broken(c, next *config, i, j int) (out []move) {
	mv := move{desc: desc{label: "break to " + w.names[j], who: i, kind: isFault}}
	if w.mayCrash(c, i) && !w.atomic {
		torn := next.clone()
		w.hangup(torn, i, j, "reset")
		if o := w.hears(c.in[i].m, "lost", j); !o.Refused && o.Fault == "" && !o.Ignored {
			torn.own(i).m = o.M
			w.fall(torn, i, j)
			torn.crashes++
			out = append(out, move{desc: desc{label: "break, crash", who: i, kind: isFault}, to: torn})
		}
	}
	return append(out, w.loses(c, next, i, j, "reset", mv)...)
}

// loses has i hear that its link to j is over; what says what j hears of it.
func (w *world) loses(c, next *config, i, j int, what string, mv move) []move {
	w.hangup(next, i, j, what)
	if w.returns != 0 {
		next.own(i).lost.add(j)
	}
	return w.applied(c, next, i, w.hears(c.in[i].m, "lost", j), mv)
}

// hangup ends i's end of the link to j. What is under way to it is gone, and j will hear.
func (w *world) hangup(c *config, i, j int, what string) {
	if !w.linked[i][j] || c.in[i].gone.has(j) {
		return
	}
	c.shut(i, j)
	if what == "reset" {
		w.counted(&c.own(i).told, j, 1)
	}
	if w.roles[j] != nil && !w.dgram {
		c.push(w.at(i, j, w.news), item{news: what})
	}
}

func (w *world) mayCrash(c *config, i int) bool {
	if w.crash.total >= 0 {
		return c.crashes < w.crash.total
	}
	return c.in[i].crashes < w.crash.each[i]
}

func (w *world) crashes(c *config, i int) []move {
	if !w.mayCrash(c, i) {
		return nil
	}
	next := c.clone()
	next.crashes++
	w.fall(next, i, -1)
	return []move{{desc: desc{label: "crash", who: i, kind: isFault}, to: next}}
}

// fall is what a crash does. told is a peer that hears of the end of its link from the same step, or -1.
func (w *world) fall(c *config, i, told int) {
	in := c.own(i)
	if w.crash.total < 0 {
		in.crashes++
	}
	old := in.m
	if w.fallen[old] == nil {
		m := old.Clone()
		m.Timers = map[string]machine.Clock{}
		m.StopParts()
		w.fallen[old] = w.numbered(w.names[i], m)
	}
	in.m, in.down, in.held, in.started = w.fallen[old], true, nil, false
	for j := range w.roles {
		if w.linked[i][j] {
			what := "reset"
			if w.atomic {
				what = "lost"
			}
			if k := w.at(i, j, w.news); in.gone.has(j) && len(c.ch[k].items) > 0 && j != told &&
				!w.atomic && !w.dgram && w.roles[j] != nil {
				// Nobody is told of the end of a link that had ended, but what was sent before may go,
				// too.
				c.push(k, item{news: "mark"})
			}
			w.hangup(c, i, j, what)
			continue
		}
		if w.atomic || i == j {
			continue
		}
		for k, cl := range w.classes {
			at := w.at(i, j, k)
			if len(c.ch[at].items) > 0 && !cl.bag && !(cl.lossy && w.lose < 0) {
				c.push(at, item{news: "mark"})
			}
		}
	}
	in = c.own(i)
	in.wait, in.lost, in.asked = 0, 0, 0
	for k, v := range in.seen {
		if strings.HasPrefix(k, "pending ") && v == true {
			seen := map[string]machine.Value{}
			for k, v := range in.seen {
				seen[k] = v
				if strings.HasPrefix(k, "pending ") {
					seen[k] = false
				}
			}
			in.seen = seen
			break
		}
	}
}

// downMoves are what becomes of an instance that is not there.
func (w *world) downMoves(c *config, i int) (out []move) {
	in := c.in[i]
	for j := range c.in {
		out = append(out, w.arrivals(c, i, j, true)...)
	}
	if in.beat {
		out = append(out, w.beat(c, i)...)
	}
	if w.restart.total < 0 && in.begins < w.restart.each[i] && !in.absent {
		next := c.clone()
		fresh := w.anew(in, i)
		m := fresh.m.Clone()
		for k, v := range in.m.R.Vars {
			if v.Kept {
				m.Vars[k] = in.m.Vars[k]
			}
		}
		fresh.m = w.numbered(w.names[i], m)
		fresh.begins, fresh.used, fresh.seen, fresh.mons = in.begins+1, in.used, in.seen, in.mons
		next.in[i] = fresh
		w.begins(next, i)
		out = append(out, move{desc: desc{label: "restart", who: i, kind: isFault}, to: next})
	}
	if in.coming > 0 {
		next := c.clone()
		next.in[i] = w.anew(in, i)
		next.in[i].coming--
		w.begins(next, i)
		out = append(out, move{desc: desc{label: "come", who: i, kind: isComing}, to: next})
	}
	return out
}

// anew is an instance that begins where in is down. What counts faults and links goes on.
func (w *world) anew(in *inst, i int) *inst {
	out := w.begin(i)
	out.begins, out.crashes, out.coming, out.beat = in.begins, in.crashes, in.coming, in.beat
	out.told, out.heard, out.asks = in.told, in.heard, in.asks
	out.cut, out.parts = in.cut, in.parts
	return out
}

// away is an instance at which nobody is any more; it has the values of the beginning.
func (w *world) away(in *inst, i int) *inst {
	out := w.anew(in, i)
	out.down, out.absent, out.started, out.wait, out.gone = true, true, false, 0, 0
	for j := range w.roles {
		if w.linked[i][j] {
			out.gone.add(j)
		}
	}
	return out
}

// goes has a party go that has ended. The others hear of it behind all that it has sent.
func (w *world) goes(c *config, i int) []move {
	in := c.in[i]
	if w.come[i] == 0 || !in.m.R.States[in.m.State].Final {
		return nil
	}
	next := c.clone()
	for j := range c.in {
		w.hangup(next, i, j, "lost")
	}
	next.in[i] = w.away(in, i)
	return []move{{desc: desc{label: "go", who: i, kind: isGoing, class: "go"}, to: next}}
}
