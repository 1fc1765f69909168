// Package journal keeps the log of a server that anybody may come to from growing as fast as they come: so many lines
// in a second are written, the others are counted. Start from [New].
package journal

import (
	"context"
	"io"
	"log/slog"
	"sync"
)

// eachSecond is how many lines are written in a second.
const eachSecond = 50

// New returns a logger that writes lines of text to w. The first line of a second that follows those that were left
// out says how many they were.
func New(w io.Writer) *slog.Logger {
	return slog.New(&handler{Handler: slog.NewTextHandler(w, nil), count: new(count)})
}

type handler struct {
	slog.Handler
	*count
}

// count is shared by all loggers that are made of one.
type count struct {
	mu      sync.Mutex
	second  int64
	written int
	left    int
}

// Handle implements [slog.Handler].
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := r.Time.Unix(); now != h.second {
		h.second, h.written = now, 0
		if h.left > 0 {
			more := slog.NewRecord(r.Time, slog.LevelWarn, "lines of this log were left out", 0)
			more.AddAttrs(slog.Int("lines", h.left))
			h.left = 0
			if err := h.Handler.Handle(ctx, more); err != nil {
				return err
			}
		}
	}
	if h.written == eachSecond {
		h.left++
		return nil
	}
	h.written++
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h *handler) WithAttrs(a []slog.Attr) slog.Handler {
	return &handler{h.Handler.WithAttrs(a), h.count}
}

// WithGroup implements [slog.Handler].
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.Handler.WithGroup(name), h.count}
}
