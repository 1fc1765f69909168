package prove

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/proptest/prove/certify"
	"github.com/parley-go/parley/proptest/race"
	"github.com/parley-go/parley/runtime/world"
)

// The search for a proof and its verifier take their steps by themselves. What both call a set that
// no step leaves is held against the world here: no run of it may leave the set either.

// timedSpec is randomSpec with a timer in each role, which some states ignore.
func timedSpec(r *rand.Rand, beside string) string {
	text := strings.NewReplacer(
		"protocol: random\n", "protocol: random\ntick: 1s\n",
		"commands: {go: {}, off: {}}", "timers: {t: {ticks: 1}}\n    commands: {go: {}, off: {}}",
	).Replace(randomSpec(r, beside))
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "        go: {") && r.IntN(2) == 0:
			lines[i] = strings.Replace(strings.Replace(line, "{", "{start: t, ", 1), ", }", "}", 1)
		case strings.HasSuffix(line, "doc: a state"):
			lines[i] += "\n        t: " + []string{"ignore", "{goto: s1}", "{send: A}"}[r.IntN(3)]
		}
	}
	return strings.Join(lines, "\n")
}

// stands reports whether a word of messages is one that blocks stand for. Without order words are
// sorted, and so are blocks.
func stands(word []int, blocks []certify.Block) bool {
	if len(blocks) == 0 {
		return len(word) == 0
	}
	b := blocks[0]
	if !b.Open() {
		return len(word) > 0 && word[0] == b[1] && stands(word[1:], blocks[1:])
	}
	for n := 0; ; n++ {
		if n >= b.Least() && stands(word[n:], blocks[1:]) {
			return true
		}
		if n == len(word) || !slices.Contains(b[1:], word[n]) {
			return false
		}
	}
}

// anyOrder does the same for words without order.
func anyOrder(word []int, blocks []certify.Block) bool {
	rest := slices.Clone(word)
	var open []int
	least := 0
	for _, b := range blocks {
		if b.Open() {
			open, least = append(open, b[1:]...), least+b.Least()
			continue
		}
		at := slices.Index(rest, b[1])
		if at < 0 {
			return false
		}
		rest = slices.Delete(rest, at, at+1)
	}
	return len(rest) >= least && !slices.ContainsFunc(rest, func(m int) bool { return !slices.Contains(open, m) })
}

// inside returns a configuration of a certificate that stands for one of the world, -1 if there is
// none. The machines have no rules of the environment, so that nothing is counted.
func inside(cert *certify.Certificate, s *stage.Stage, c *stage.Configuration) int {
	letters := map[string]int{}
	for n, m := range cert.Messages {
		letters["ABC"[m[0]:m[0]+1]] = n
	}
	same := func(i int, line []int64) bool {
		m := s.Parties[i].Machine
		head := 2 + len(m.Commands)
		return line[0] == int64(i) && (line[1] == 1) == c.Ends[i].Started &&
			slices.Equal(line[head:], c.Values[i][:m.Size])
	}
	return slices.IndexFunc(cert.Configurations, func(x []int) bool {
		for i := range s.Parties {
			if !same(i, cert.Locals[x[i]]) {
				return false
			}
		}
		for k, q := range c.Queues {
			var word []int
			for _, item := range q {
				n, ok := letters[item.Message]
				if !ok {
					return false
				}
				word = append(word, n)
			}
			blocks := cert.Words[x[len(s.Parties)+k]]
			fifo := s.World.Rules.Channels[k].Order == world.Fifo
			if fifo && !stands(word, blocks) || !fifo && !anyOrder(word, blocks) {
				return false
			}
		}
		return true
	})
}

// walk goes through the world at random, with channels in which there is always room. It returns
// the configurations of the certificate that it passed, and where the world left it.
func walk(s *stage.Stage, cert *certify.Certificate, r *rand.Rand, steps int) (
	passed []int, left string, fault world.FaultKind) {
	c := s.World.Begin(s.Values())
	for i := range s.Parties {
		t, err := s.World.Do(c, stage.Move{Kind: world.MoveStart, Who: i})
		if err != nil || t.Fault != world.NoFault {
			return passed, fmt.Sprint(err), t.Fault
		}
		c = t.Next
	}
	for range steps {
		at := inside(cert, s, c)
		if at < 0 {
			return passed, fmt.Sprintf("%+v", *c), 0
		}
		passed = append(passed, at)
		var next []stage.Taken
		for _, t := range s.World.Moves(c) {
			next = append(next, t)
		}
		for i, p := range s.Parties {
			for _, ev := range p.Commands {
				command := p.Command(interp.Event{Event: ev})
				mv := stage.Move{Kind: world.MoveCommand, Who: i, Message: command}
				if t, err := s.World.Do(c, mv); err == nil {
					next = append(next, t)
				}
			}
		}
		for _, t := range next {
			if t.Fault != world.NoFault {
				return passed, "", t.Fault
			}
		}
		if len(next) == 0 {
			return passed, "", 0
		}
		c = next[r.IntN(len(next))].Next
	}
	return passed, "", 0
}

// TestWorldStaysInside walks through random protocols in the world. It may not leave what the
// search has found and the verifier has accepted, and may meet no error that the verifier denies.
// A set from which one configuration is taken that the walk passes is left.
func TestWorldStaysInside(t *testing.T) {
	sets, steps, faults, holes := 0, 0, 0, 0
	for seed := range uint64(race.Draws(16, 600)) {
		text := timedSpec(rand.New(rand.NewPCG(seed, 3)), besideOf(seed))
		load := func(name string) (*model.Protocol, error) {
			files := fstest.MapFS{"spec.yaml": &fstest.MapFile{Data: []byte(text)}}
			p, list := compile.Load("spec.yaml", compile.Options{Check: name, FS: files})
			if p == nil {
				return nil, fmt.Errorf("%v\n%s", list, text)
			}
			return p, nil
		}
		p := &prover{ctx: context.Background(), load: load, name: "pair", o: Options{MaxConfigurations: 5000}}
		if err := p.reload(0); err != nil {
			t.Fatal(err)
		}
		if _, err := p.closes(); err != nil {
			t.Fatal(err)
		}
		found, why := p.closeCollapsed(int32(seed % 3))
		if why != "" {
			continue
		}
		proto, _ := load("pair")
		cert := found.certificate(p.sys, header(p.sys, "", 0, provable))
		_, broken, err := cert.Audit(proto)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		s, err := stage.New(proto, proto.Checks[0])
		if err != nil {
			t.Fatal(err)
		}
		for k := range s.World.Rules.Channels {
			s.World.Rules.Channels[k].Capacity = 1000
		}
		sets++
		r := rand.New(rand.NewPCG(seed, 4))
		for range 8 {
			passed, left, fault := walk(s, cert, r, 40)
			if steps += len(passed); left != "" {
				t.Fatalf("seed %d: the world leaves the set at %s\n%s", seed, left, text)
			}
			if fault != world.NoFault {
				faults++
				if _, known := broken[certify.UnspecifiedReception]; !known {
					t.Fatalf("seed %d: the world says %v, and the verifier that all is specified\n%s",
						seed, fault, text)
				}
			}
			if len(passed) > 3 {
				hole := *cert
				without := cert.Configurations[passed[3]]
				hole.Configurations = slices.DeleteFunc(slices.Clone(cert.Configurations),
					func(x []int) bool { return slices.Equal(x, without) })
				if _, left, _ := walk(s, &hole, rand.New(rand.NewPCG(seed, 5)), 200); left != "" {
					holes++
				}
			}
		}
	}
	t.Logf("%d sets, %d steps, %d walks to an error; %d sets with a hole were left", sets, steps, faults, holes)
	if sets < 10 || holes < 10 {
		t.Errorf("%d sets, %d holes found", sets, holes)
	}
}
