package prove

import (
	"encoding/binary"
	"slices"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/proptest/prove/certify"
)

// header begins the certificate of a check with every claim of some kinds, and the built-in ones.
func header(s *check.System, lift Lift, values int64, kinds map[model.ClaimKind]bool) certify.Header {
	h := certify.Header{Format: certify.Format, Spec: s.Protocol.Name, Hash: s.Protocol.Text,
		Check: s.Check.Name, Lift: string(lift), Values: values}
	for i := range s.Claims {
		if c := s.Claims[i].Stated; c != nil && kinds[c.Kind] {
			h.Claims = append(h.Claims, c.Name)
		}
	}
	h.Claims = append(h.Claims, certify.UnspecifiedReception, certify.Fault, certify.Deadlock, certify.OrphanMessage)
	return h
}

func messageLine(s *check.System, b []byte) []int64 {
	m, slots := s.Message(b)
	return append([]int64{int64(m.Index)}, slots...)
}

func localLine(s *check.System, i int, b []byte) []int64 {
	started, given, v := s.Local(i, b)
	line := []int64{int64(i), 0}
	if started {
		line[1] = 1
	}
	if inst := s.Check.Instances[i]; inst.IsHostile() { // nobody gives it commands
		given = make([]int64, len(inst.Role.Commands))
	}
	return append(append(line, given...), v...)
}

// certificate writes down what a search visited.
func (s *search) certificate(sys *check.System, h certify.Header) *certify.Certificate {
	c := &certify.Certificate{Header: h, Words: [][]certify.Block{nil}}
	for _, b := range s.letters.list {
		c.Messages = append(c.Messages, messageLine(sys, b))
	}
	first := make([]int, s.n)
	for i := range s.n {
		first[i] = len(c.Locals)
		for _, b := range s.locals[i].list {
			c.Locals = append(c.Locals, localLine(sys, i, b))
		}
	}
	numbers := map[int32]int{0: 0}
	for n := 0; n < len(s.confs); n += s.width {
		line := make([]int, s.width)
		for k, id := range s.confs[n : n+s.width] {
			if k < s.n {
				line[k] = first[k] + int(id)
				continue
			}
			number, known := numbers[id]
			if !known {
				number = len(c.Words)
				numbers[id] = number
				c.Words = append(c.Words, s.blocksOf(id))
			}
			line[k] = number
		}
		c.Configurations = append(c.Configurations, line)
	}
	return c
}

func (s *search) blocksOf(id int32) []certify.Block {
	var out []certify.Block
	for _, b := range s.words.list[id] {
		line := certify.Block{int(b.least)}
		for _, l := range b.letters {
			line = append(line, int(l))
		}
		out = append(out, line)
	}
	return out
}

// spaceCertificate writes down what the explorer visited.
func spaceCertificate(sys *check.System, space explore.Space, h certify.Header) *certify.Certificate {
	c := &certify.Certificate{Header: h, Words: [][]certify.Block{nil}}
	var letters table
	locals := make([]table, len(sys.System.Procs))
	number := make([][]int, len(locals))
	words := map[string]int{"": 0}
	space.ForEachConfiguration(func(_ int, x explore.Configuration) bool {
		var line []int
		for i, b := range x.Locals {
			id := locals[i].id(b)
			if int(id) == len(number[i]) {
				number[i] = append(number[i], len(c.Locals))
				c.Locals = append(c.Locals, localLine(sys, i, b))
			}
			line = append(line, number[i][id])
		}
		for k, w := range x.Channels {
			var key []byte
			var ids []int32
			var blocks []certify.Block
			for _, b := range w {
				ids = append(ids, letters.id(b))
			}
			if sys.System.Channels[k].Order == explore.Bag {
				slices.Sort(ids) // the explorer sorts by bytes, the verifier by number
			}
			for _, id := range ids {
				key = binary.AppendUvarint(key, uint64(id))
				blocks = append(blocks, certify.Block{0, int(id)})
			}
			id, known := words[string(key)]
			if !known {
				id = len(c.Words)
				words[string(key)] = id
				c.Words = append(c.Words, blocks)
			}
			line = append(line, id)
		}
		c.Configurations = append(c.Configurations, line)
		return true
	})
	for _, b := range letters.list {
		c.Messages = append(c.Messages, messageLine(sys, b))
	}
	return c
}
