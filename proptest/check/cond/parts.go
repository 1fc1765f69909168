// Package cond compiles the conditions of a check: a claim's predicate over a configuration, cut into
// what each instance and each channel contributes, and a rule of the environment, cut into boxes of
// channel lengths. It takes no steps and knows no search.
package cond

import (
	"encoding/binary"
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/proptest/explore"
)

// Parts are what conditions look at.
type Parts struct {
	Protocol  *model.Protocol
	Instances []*model.Instance
	Texts     *interp.Strings
	Channels  []explore.Channel // those between instances
	Layouts   []*codec.Layout   // of the local values of Instances, then of monitors of several instances
	// MonitorsAt is the place of the first such monitor among the machines of the explorer.
	MonitorsAt int
}

// Machine is the place among the machines of the explorer of what has a number in Layouts.
func (p *Parts) Machine(i int) int {
	if n := len(p.Instances); i >= n {
		return p.MonitorsAt + i - n
	}
	return i
}

// LooksAt reports whether the length of channel k counts in l, for the given instance if it asks for
// the instance's own channels.
func (p *Parts) LooksAt(inst *model.Instance, l *model.ChanLen, k int) bool {
	if k >= len(p.Channels) {
		return false
	}
	c := &p.Channels[k]
	n := 1 + len(p.Protocol.Beside) // channels from one instance to another, which are next to each other
	if l.Message != nil && l.Message.Channel != k%n || l.Over != "" && l.Class != k%n {
		return false
	}
	if l.Self {
		return l.Out && c.From == inst.Index || !l.Out && c.To == inst.Index
	}
	return (l.From == nil || l.From.Index == c.From) && (l.To == nil || l.To.Index == c.To)
}

// Classes number tuples from 2; 0 and 1 stand for "nothing looked at" and irrelevant.
type Classes struct {
	ids    map[string]uint32
	Tuples [][]int64 // by class
}

// Number returns the class of a tuple.
func (c *Classes) Number(tuple []int64) uint32 {
	var key []byte
	for _, v := range tuple {
		key = binary.AppendVarint(key, v)
	}
	if id, ok := c.ids[string(key)]; ok {
		return id
	}
	if c.ids == nil {
		c.ids = map[string]uint32{}
		c.Tuples = [][]int64{nil, nil}
	}
	id := uint32(len(c.Tuples))
	c.ids[string(key)] = id
	c.Tuples = append(c.Tuples, slices.Clone(tuple))
	return id
}
