package node

import (
	"fmt"
	"io"
)

// Status writes how the server is and what it has done, in the text form that Prometheus reads.
func (n *Node) Status(w io.Writer) error {
	lobbies, matches := n.Games()
	session := 0
	if s := n.current.Load(); s != nil && s.good() {
		session = 1
	}
	now, count := "gauge", "counter"
	for _, m := range []struct {
		name, kind, what string
		n                int64
	}{
		{"session", now, "whether the server may serve", int64(session)},
		{"lobbies", now, "lobbies that are known here, most of them here", int64(lobbies)},
		{"matches", now, "matches that are known here, most of them here", int64(matches)},
		{"connections", now, "connections of players", int64(n.places.open())},
		{"joins_total", count, "players who were let in", n.Joins.Load()},
		{"moves_total", count, "players who were sent to another server", n.Moves.Load()},
		{"laters_total", count, "players who were told to come later", n.Laters.Load()},
		{"turned_total", count, "connections that were closed: too many, or not of a player", n.Turned.Load()},
		{"limited_total", count, "games that an address wanted beyond what it may begin", n.Limited.Load()},
		{"busy_total", count, "questions of other servers that found no room", n.Busy.Load()},
		{"taken_total", count, "games that came here", n.Taken.Load()},
		{"fenced_total", count, "games that were let go with their session", n.Fenced.Load()},
		{"presence_lost_total", count, "entries of who is where that were not written at once", n.presence.lost.Load()},
	} {
		name := "parley_cluster_" + m.name
		_, err := fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n%s %d\n", name, m.what, name, m.kind, name, m.n)
		if err != nil {
			return err
		}
	}
	return nil
}
