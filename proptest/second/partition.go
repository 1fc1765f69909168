package second

import "slices"

// datagrams reports whether a partition takes what is in a channel between two instances.
func (w *world) datagrams(i, j, class int) bool {
	return !w.linked[i][j] || w.dgram || class != w.news && w.loose(class)
}

// loose reports whether a channel may lose, copy or reorder messages.
func (w *world) loose(class int) bool {
	c := &w.classes[class]
	return c.bag || c.lossy || c.copies || w.lose > 0 || w.copies > 0 || w.swaps > 0
}

// heldUp reports whether what is in a channel waits for the end of a partition, so that beats do not wait for it.
func (w *world) heldUp(i, j, class int) bool {
	return w.linked[i][j] && (w.dgram || !w.datagrams(i, j, class))
}

// sides are the partitions that there may be, by the side on which the first instance is not.
func (w *world) sides() (out []ends) {
	all := w.apart()
	first := all & -all
	for side := ends(1); side <= all; side++ {
		if side&^all == 0 && side&first == 0 {
			out = append(out, side)
		}
	}
	return out
}

// apart are those whom partitions part.
func (w *world) apart() ends { return (1<<len(w.roles) - 1) &^ w.bridge }

// partitionMoves are the beginning and the end of partitions, and that instances hear of them, each at a
// moment of its own.
func (w *world) partitionMoves(c *config) (out []move) {
	to := func(side ends) *config {
		next := c.clone()
		next.split = side
		for i := range next.in {
			if !w.bridge.has(i) {
				in := next.own(i)
				in.parts = append(slices.Clone(in.parts), side)
			}
		}
		return next
	}
	if c.split != 0 {
		out = append(out, move{desc: desc{label: "heal", who: -1, kind: isNews, class: "heal"}, to: to(0)})
	} else if c.parted < w.partitions {
		for _, side := range w.sides() {
			next := to(side)
			next.parted++
			out = append(out, move{desc: desc{label: "partition", who: -1, kind: isFault}, to: next})
		}
	}
	for i, in := range c.in {
		if len(in.parts) > 0 {
			next := c.clone()
			mine, side := next.own(i), in.parts[0]
			mine.parts = slices.Clone(in.parts[1:])
			switch {
			case side == 0:
				mine.cut = 0
			case side.has(i):
				mine.cut = w.apart() &^ side
			default:
				mine.cut = side
			}
			mine.cut.drop(i)
			out = append(out, move{desc: desc{label: "cut off", who: i, kind: isNews, class: "cut off"}, to: next})
		}
		if in.cut != 0 && !in.down && w.roles[i] != nil {
			out = append(out, w.swallows(c, i)...)
		}
	}
	return out
}

// swallows are what a partition takes that is under way to an instance that it cuts off.
func (w *world) swallows(c *config, i int) (out []move) {
	for j := range c.in {
		for k, cl := range w.classes {
			if !c.in[i].cut.has(j) || !w.datagrams(j, i, k) || cl.lossy && w.lose < 0 {
				continue
			}
			at := w.at(j, i, k)
			items := c.ch[at].items
			for n, it := range items {
				if n > 0 && !cl.bag {
					break
				}
				if it.news == "" && !slices.ContainsFunc(items[:n], it.same) {
					next := c.clone()
					next.take(at, n)
					out = append(out, move{desc: desc{label: "swallowed", who: i, kind: isMedium}, to: next})
				}
			}
		}
	}
	return out
}
