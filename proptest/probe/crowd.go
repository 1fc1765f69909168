package probe

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/replay"
)

// Many servers let in so many of one address and close whoever comes next. A specification says nothing of that, so
// closing looks like a fault. It is told apart by connections that say nothing: where the program closes one of those,
// and none of fewer, nothing that was said can be the reason.

// crowded reports whether what was found in a session comes of a limit of connections. If so it is no finding: it is
// noted, and from then on so many of our instances stay away that the program lets the others in.
func (pr *prober) crowded(ctx context.Context, s *session) bool {
	if len(pr.us) < 2 || !pr.target.stream() || s.finding.Kind == Flooded ||
		!slices.ContainsFunc(s.seats, func(x *seat) bool { return x.ended }) {
		return false
	}
	most := pr.lets(ctx, len(pr.us))
	if most == 0 || most == len(pr.us) || pr.lets(ctx, len(pr.us)) != most || pr.lets(ctx, most) != most {
		return false
	}
	o := *pr.o
	o.Connections = most
	g, err := newGame(pr.protocol, &o)
	if err != nil {
		return false
	}
	pr.open(fmt.Sprintf("the program closes connection %d while %d are there, though nobody has said anything: that "+
		"seems to be a limit of connections of one address, and is not counted as a fault. From here on there are no "+
		"more than %[2]d: without %[3]s. Raise the limit while the program is probed, or say --connections %[2]d",
		most+1, most, g.away()))
	pr.game, pr.o.Connections = g, most
	pr.plans()
	pr.report.Limit, pr.report.Us = most, g.ours()
	pr.done, pr.reached, pr.order, pr.asks, pr.best = map[string]int{}, map[string][]act{}, nil, nil, nil
	pr.previous = last{}
	pr.restart()
	return true
}

// away are the instances that stay away, in words.
func (g *game) away() string {
	var list []string
	for i := range g.players {
		if !g.plays(i) {
			list = append(list, g.name(i))
		}
	}
	if len(list) > 2 {
		return list[0] + " to " + list[len(list)-1]
	}
	return diag.And(list)
}

// lets opens up to n connections that say nothing, one after the other, and returns how many the program lets be at a
// time: all, or those before the one that it closes. It is 0 if the program closes the first one, or
// cannot be reached.
func (pr *prober) lets(ctx context.Context, n int) (most int) {
	in := make(chan arrival, waiting)
	var all []*connection
	closed := map[int]bool{}
	hear := func(patience time.Duration, first bool) {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		for !first || len(closed) == 0 {
			select {
			case a := <-in:
				if a.kind != replay.Data && a.conn.channel == pr.target.news {
					closed[a.conn.who] = true
				}
			case <-timer.C:
				return
			case <-ctx.Done():
				return
			}
		}
	}
	for k := 0; k < n && len(closed) == 0; k++ {
		list, err := pr.target.dial(ctx, k, in)
		if err != nil {
			closed[0] = true
			break
		}
		all = append(all, list...)
		hear(pr.o.grace, true)
	}
	if hear(pr.o.Linger, true); len(closed) == 0 {
		most = n
	} else {
		hear(pr.o.Linger, false) // on a busy computer others came before the first was closed
		for most < n && !closed[most] {
			most++
		}
	}
	for _, c := range all {
		c.finish()
	}
	pr.gone(ctx, in, all)
	for _, c := range all {
		c.close()
	}
	if ctx.Err() != nil {
		return 0
	}
	return most
}

// gone waits until the program has closed connections that we have closed, so that it does not count them any more.
func (pr *prober) gone(ctx context.Context, in chan arrival, all []*connection) {
	timer := time.NewTimer(longestLeaving)
	defer timer.Stop()
	for _, c := range all {
		for over := c.stream == nil; !over; {
			select {
			case <-in:
			case <-c.over:
				over = true
			case <-timer.C:
				return
			case <-ctx.Done():
				return
			}
		}
	}
}
