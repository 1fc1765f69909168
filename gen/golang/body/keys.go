package body

import (
	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/model"
)

// nextKey composes the number of an instance from the number of its parent and one more key.
func nextKey(key, index gotree.Expr, k *model.Field) gotree.Expr {
	if n, ok := gotree.Number(key); ok && n == 0 {
		return gotree.X("uint32($1)", index)
	}
	return gotree.X("$1*$2 + uint32($3)", key, k.Type.Count(), index)
}

// nextIndex composes the index of an instance from the index of the keys before and one more key.
func nextIndex(before, index gotree.Expr, k *model.Field) gotree.Expr {
	if before == nil {
		return index
	}
	return gotree.X("int($1)*$2 + int($3)", before, k.Type.Count(), index)
}

// timerIndex composes which instance of a timer the keys select: its index in the machine, and the key
// that the driver knows it by.
func (c *body) timerIndex(t *model.Timer, keys []core.Expr) (index, key gotree.Expr) {
	key = c.ownKey()
	for i, k := range t.Keys {
		v := c.selecting(keys[i], k)
		index = nextIndex(index, c.g.index(v, k.Type), k)
		key = nextKey(key, c.g.index(v, k.Type), k)
	}
	return index, key
}

// selecting composes a key in a form that can be written twice.
func (c *body) selecting(key core.Expr, k *model.Field) (v val) {
	c.named(k.Name, func() { v = c.steady(c.value(key)) })
	return v
}

// ownKey composes the number of this instance, which is the key of its timers.
func (c *body) ownKey() gotree.Expr {
	key := gotree.Int(0)
	for _, k := range c.r.Keys {
		key = nextKey(key, c.g.index(local(k.Name, k.Field.Type), k.Field.Type), k.Field)
	}
	return key
}
