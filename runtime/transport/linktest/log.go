package linktest

import (
	"context"
	"log/slog"
	"sync"
	"testing"
)

// Log is a logger that counts the lines about each limit.
type Log struct {
	slog.Handler
	mu   sync.Mutex
	told map[string]int
}

// NewLog returns a log, and the logger that writes it.
func NewLog() (*Log, *slog.Logger) {
	l := &Log{Handler: slog.DiscardHandler, told: map[string]int{}}
	return l, slog.New(l)
}

// Enabled implements [slog.Handler].
func (l *Log) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements [slog.Handler].
func (l *Log) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "limit" {
			l.told[a.Value.String()]++
		}
		return true
	})
	return nil
}

// Once reports limits that were not told exactly once.
func (l *Log) Once(t *testing.T, limits ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, limit := range limits {
		if l.told[limit] != 1 {
			t.Errorf("the log was told %d times of %s: %v", l.told[limit], limit, l.told)
		}
	}
}
