package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/examples/skirmish/match"
	"github.com/parley-go/parley/examples/skirmish/session"
)

// league counts the matches of bots, who sit in the slots of their names. Its methods may be called at any time.
type league struct {
	bots, matches int // how many there are to be
	out, notes    io.Writer
	began         time.Time

	mu     sync.Mutex
	sums   map[played]uint32                // of the matches so far
	times  [game.Players + 1]map[uint32]int // how often each player has had a seed
	wins   [game.Players]int
	draws  int
	frames int64
	wrong  int
	round  int // that was last told of
}

// played is a match: its seed, and how many had that before. Seeds have twenty bits of chance.
type played struct {
	seed uint32
	nth  int
}

func newLeague(bots, matches int, out, notes io.Writer) *league {
	return &league{bots: bots, matches: matches, out: out, notes: notes, began: time.Now(), sums: map[played]uint32{},
		round: -1}
}

// report is a match in one line.
func report(r match.Result) string {
	s := fmt.Sprintf("match %08x: %d frames", r.Seed, r.State.Frame)
	if w := r.State.Winner; r.State.Phase == game.Over && w < game.Players {
		s += fmt.Sprintf(", %s wins with %d points", session.BotNames[w], r.State.Tanks[w].Score)
	} else if r.State.Phase == game.Over {
		s += ", a draw"
	}
	if r.Err != nil {
		s += fmt.Sprintf(", and then: %v", r.Err)
	}
	return s
}

// watch is given the states of one of the players, and tells how each round ends.
func (l *league) watch(s *game.State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.Phase != game.Pause {
		l.round = -1
		return
	}
	if l.round == int(s.Round) {
		return
	}
	l.round = int(s.Round)
	var points []string
	for i := range l.bots {
		points = append(points, fmt.Sprintf("%s %d", session.BotNames[i], s.Tanks[i].Score))
	}
	fmt.Fprintf(l.notes, "match %d of %d, round %d of %d, after %d s: %s\n", len(l.sums)+1, l.matches, s.Round+1,
		s.Rounds, s.Frame/game.Rate, strings.Join(points, ", "))
}

// over takes what a match came to for one of its players.
func (l *league) over(r match.Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	times := &l.times[r.Slot+1]
	if *times == nil {
		*times = map[uint32]int{}
	}
	it := played{r.Seed, (*times)[r.Seed]}
	(*times)[r.Seed]++
	switch sum, known := l.sums[it]; {
	case r.Err != nil || r.State.Phase != game.Over:
		l.wrong++
		fmt.Fprintln(l.out, report(r))
	case !known:
		l.sums[it] = r.Sum
		l.frames += int64(r.State.Frame)
		if w := r.State.Winner; w < game.Players {
			l.wins[w]++
		} else {
			l.draws++
		}
		fmt.Fprintln(l.out, report(r))
	case sum != r.Sum:
		l.wrong++
		fmt.Fprintf(l.out, "match %08x: slot %d has come to another end\n", r.Seed, r.Slot)
	}
}

// fail counts something else that went wrong.
func (l *league) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong++
	fmt.Fprintln(l.out, err)
}

// end says how it went, and whether that is an error.
func (l *league) end(how string, interrupted bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	took, n := time.Since(l.began), len(l.sums)
	fmt.Fprintf(l.out, "%d matches of %d bots %s in %.1f s, %d wrong\n", n, l.bots, how, took.Seconds(), l.wrong)
	if n > 0 {
		var wins []string
		for i := range l.bots {
			wins = append(wins, fmt.Sprintf("%s %d", session.BotNames[i], l.wins[i]))
		}
		fmt.Fprintf(l.out, "won by %s; %d draws; %.1f matches a minute\n", strings.Join(wins, ", "), l.draws,
			float64(n)/took.Minutes())
	}
	switch {
	case l.wrong > 0:
		return errWrong
	case n < l.matches && interrupted:
		return fmt.Errorf("%w after %d of %d matches", errInterrupted, n, l.matches)
	case n < l.matches:
		return fmt.Errorf("%w: %d of %d matches were played", errWrong, n, l.matches)
	}
	return nil
}
