package tables

import (
	"hash/fnv"
	"slices"

	"github.com/parley-go/parley/proptest/explore/internal/api"
	"github.com/parley-go/parley/proptest/explore/internal/store"
)

// What canon asks the system, once for each number.

// weigh makes the weights of ids known.
func (k *canon) weigh(ids []uint32) {
	for at := range k.weight {
		for n := len(k.weight[at]); n <= int(ids[at]); n++ {
			h := fnv.New64a()
			if at < len(k.e.Procs) {
				h.Write([]byte(k.e.Procs[at].Locals.Vals[n]))
			} else {
				for _, m := range k.e.Chans[at-len(k.e.Procs)].bytes(uint32(n)) {
					h.Write([]byte{byte(len(m)), byte(len(m) >> 8)})
					h.Write(m)
				}
			}
			k.weight[at] = append(k.weight[at], store.Hash1(h.Sum64()))
		}
	}
}

func (k *canon) learnScan(at int, id, order uint32) uint32 {
	o := make([][]uint8, len(k.orders[order]))
	for d := range o {
		o[d] = slices.Clone(k.orders[order][d])
	}
	meet := func(list occurrences) {
		for _, x := range list {
			if !slices.Contains(o[x.domain], x.value) {
				o[x.domain] = append(o[x.domain], x.value)
			}
		}
	}
	if np := len(k.e.Procs); at < np {
		meet(k.occurrences(at, id))
	} else {
		for _, m := range k.e.Chans[at-np].sorted(id) {
			meet(k.occurrences(at, m))
		}
	}
	next := k.Order(o) + 1
	k.Widen()
	k.scan[at].Set(id, order, next)
	return next
}

// occurrences gives the values in a local value or a message.
func (k *canon) occurrences(at int, id uint32) occurrences {
	for len(k.values[at]) <= int(id) {
		k.values[at] = append(k.values[at], nil)
	}
	if k.values[at][id] == nil {
		list := occurrences{}
		use := func(domain, value int) {
			list = append(list, struct{ domain, value uint8 }{uint8(domain), uint8(value)})
		}
		if np := len(k.e.Procs); at < np {
			k.spec.Local(at, []byte(k.e.Procs[at].Locals.Vals[id]), use)
		} else {
			k.spec.Msg(at-np, []byte(k.e.Chans[at-np].msgs.Vals[id]), use)
		}
		k.values[at][id] = list
	}
	return k.values[at][id]
}

// message renames message m of channel ch.
func (k *canon) message(ch int, m, order uint32) uint32 {
	t, c := &k.messages[ch], &k.e.Chans[ch]
	t.Widen(len(k.orders))
	image := t.Get(m, order)
	if image == 0 {
		image = c.msgs.id(k.spec.RenameMsg(ch, []byte(c.msgs.Vals[m]), k.to[order])) + 1
		t.Set(m, order, image)
	}
	return image - 1
}

func (k *canon) LearnImage(at int, id, order uint32) uint32 {
	to := k.to[order]
	var image uint32
	if np := len(k.e.Procs); at < np {
		image = k.e.Procs[at].Locals.id(k.spec.RenameLocal(at, []byte(k.e.Procs[at].Locals.Vals[id]), to)) + 1
	} else {
		c := &k.e.Chans[at-np]
		image = c.mapped(id, c, func(m uint32) uint32 { return k.message(at-np, m, order) }) + 1
	}
	k.Image[at].Set(id, order, image)
	return image
}

func (k *canon) learnShuffle(f *shuffle, at int, id uint32) {
	for len(f.image[at]) <= int(id) {
		f.image[at] = append(f.image[at], 0)
	}
	np, to := len(k.e.Procs), f.place[at]
	if at < np {
		v := []byte(k.e.Procs[at].Locals.Vals[id])
		if f.Spec.Local != nil {
			v = f.Spec.Local(at, v)
		}
		f.image[at][id] = k.e.Procs[to].Locals.id(v) + 1
		return
	}
	from, into := &k.e.Chans[at-np], &k.e.Chans[to-np]
	f.image[at][id] = from.mapped(id, into, func(m uint32) uint32 {
		b := []byte(from.msgs.Vals[m])
		if f.Spec.Msg != nil {
			b = f.Spec.Msg(at-np, b)
		}
		return into.msgs.id(b)
	}) + 1
}

// mapped gives the word of channel to with the messages of w, renamed.
func (c *channel) mapped(w uint32, to *channel, rename func(uint32) uint32) uint32 {
	var out []uint32
	for _, m := range slices.Clone(c.Words[w]) {
		out = append(out, rename(m))
	}
	if to.Spec.Order == api.Bag {
		slices.Sort(out)
	}
	return to.word(out)
}
