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
	if !in.gone.has(j) && !in.wait.has(j) && c.cut < w.breaks && w.roles[j] != nil {
		next := c.clone()
		next.cut++
		out = append(out, w.broken(c, next, i, j)...)
	}
	if in.gone.has(j) && in.lost.has(j) && c.returned < w.returns {
		next := c.clone()
		next.returned++
		w.ask(next, i, j)
		out = append(out, move{desc: desc{label: "asks for " + w.names[j], who: i, kind: isFault}, to: next})
	}
	return out
}

// ask has i want its link to j. Over datagrams it has it; else j is asked, and what comes before the answer
// is old.
func (w *world) ask(c *config, i, j int) {
	in := c.own(i)
	in.gone.drop(j)
	in.lost.drop(j)
	if w.mentions(i, "up") {
		in.wait.add(j)
	}
	if !w.dgram && w.roles[j] != nil {
		in.asked.add(j)
		c.push(w.at(i, j, w.news), item{news: "ask"})
	}
}

// asked has i hear that j wants their link back.
func (w *world) asked(c, next *config, i, j int, mv move) []move {
	in := next.own(i)
	in.gone.drop(j)
	in.lost.drop(j)
	in.wait.drop(j)
	next.push(w.at(i, j, w.news), item{news: "answer"})
	return w.applied(c, next, i, w.hears(in.m, "up", j), mv)
}

// old reports whether what comes from j is of a link that i has no more.
func (w *world) old(in *inst, i, j int) bool {
	return w.linked[i][j] && (in.gone.has(j) || in.asked.has(j))
}

// hear has i take news of j, or drop what comes from somebody of whom it hears nothing any more.
func (w *world) hear(c, next *config, i, j int, it item, mv move) []move {
	in := c.in[i]
	switch {
	case w.linked[i][j] && it.news == "ask":
		return w.asked(c, next, i, j, mv)
	case w.linked[i][j] && it.news == "answer":
		next.own(i).asked.drop(j)
		mv.to = next
		return []move{mv}
	case !w.linked[i][j] || w.old(in, i, j) || it.news == "mark":
		mv.to = next
		return []move{mv}
	}
	to := next.own(i)
	to.gone.add(j)
	if it.news == "reset" {
		to.lost.add(j)
	}
	to.held = without(in.held, j)
	return w.applied(c, next, i, w.hears(in.m, "lost", j), mv)
}

func without(held []kept, from int) []kept {
	return slices.DeleteFunc(slices.Clone(held), func(h kept) bool { return h.from == from })
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
	if what == "reset" {
		next.own(i).lost.add(j)
	}
	return w.applied(c, next, i, w.hears(c.in[i].m, "lost", j), mv)
}

// hangup ends i's end of the link to j. What is under way to it is gone, and j will hear.
func (w *world) hangup(c *config, i, j int, what string) {
	if !w.linked[i][j] || c.in[i].gone.has(j) {
		return
	}
	in := c.own(i)
	in.gone.add(j)
	in.wait.drop(j)
	in.asked.drop(j)
	if len(in.held) > 0 {
		in.held = without(in.held, j)
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

// unheard drops messages from those to whom the link is over, also while the instance takes no event.
func (w *world) unheard(c *config, i int) (out []move) {
	for j := range c.in {
		if !w.old(c.in[i], i, j) {
			continue
		}
		for k, cl := range w.classes {
			at := w.at(j, i, k)
			for n, it := range c.ch[at].items {
				if n > 0 && !cl.bag || it.news != "" {
					break
				}
				out = append(out, w.dropped(c, i, at, n))
			}
		}
	}
	return out
}

// dropped is that something arrives where nobody hears it.
func (w *world) dropped(c *config, i, at, n int) move {
	next := c.clone()
	next.take(at, n)
	return move{desc: desc{label: "dropped", who: i, kind: isNews, class: w.channelNames[at]}, to: next}
}

// downMoves are what becomes of an instance that is not there.
func (w *world) downMoves(c *config, i int) (out []move) {
	in := c.in[i]
	for j := range c.in {
		for k, cl := range w.classes {
			at := w.at(j, i, k)
			for n := range c.ch[at].items {
				if n > 0 && !cl.bag {
					break
				}
				mv := w.dropped(c, i, at, n)
				if w.linked[i][j] && c.ch[at].items[n].news == "ask" {
					// Who is not there answers that it is gone.
					mv.to.push(w.at(i, j, w.news), item{news: "answer"})
					mv.to.push(w.at(i, j, w.news), item{news: "lost"})
				}
				out = append(out, mv)
			}
		}
	}
	if in.beat {
		out = append(out, w.beat(c, i)...)
	}
	if w.restart.total < 0 && in.begins < w.restart.each[i] {
		next := c.clone()
		fresh := w.begin(i)
		m := fresh.m.Clone()
		for k, v := range in.m.R.Vars {
			if v.Kept {
				m.Vars[k] = in.m.Vars[k]
			}
		}
		fresh.m = w.numbered(w.names[i], m)
		fresh.begins, fresh.crashes, fresh.used, fresh.seen, fresh.mons = in.begins+1,
			in.crashes, in.used, in.seen, in.mons
		next.in[i] = fresh
		for j := range c.in {
			if w.linked[i][j] {
				w.ask(next, i, j)
			}
		}
		out = append(out, move{desc: desc{label: "restart", who: i, kind: isFault}, to: next})
	}
	return out
}
