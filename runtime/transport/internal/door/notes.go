package door

import (
	"log/slog"
	"sync"
)

// Notes tell a log of each limit that bites, once; further bites are counted elsewhere. The zero
// value tells nobody.
type Notes struct {
	Logger *slog.Logger // nil: nobody is told
	// Place names the link or listener, such as "UDP 127.0.0.1:4000". It is called when something
	// is told.
	Place func() string

	mu   sync.Mutex
	said map[string]bool
}

// Bite says that a limit has bitten: its name, what happens to whom it turns away, and who was
// the first one. Any goroutine may call it.
func (n *Notes) Bite(limit, effect string, who func() string) {
	if n.Logger == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.said[limit] {
		return
	}
	if n.said == nil {
		n.said = map[string]bool{}
	}
	n.said[limit] = true
	args := []any{"limit", limit, "effect", effect}
	if n.Place != nil {
		args = append(args, "at", n.Place())
	}
	if who != nil {
		args = append(args, "first", who())
	}
	n.Logger.Warn("a limit has been reached; further cases are only counted", args...)
}
