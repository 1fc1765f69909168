package frames

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// held is a link that holds its client up, when it is attached, until the link is lost.
type held struct {
	transport.Link
	hold func()
}

func (h held) Properties() transport.Properties { h.hold(); return h.Link.Properties() }

// lets is a log that lets a client go on when a link is lost.
type lets struct {
	slog.Handler
	on func()
}

func (l lets) Enabled(context.Context, slog.Level) bool { return true }

func (l lets) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "parley: link lost" {
		l.on()
	}
	return nil
}

// TestLostBeforeJoin: whoever loses the link before having joined is told so, and does not wait for an answer to a
// JOIN that went nowhere. A door that shows everybody out, as that of a host without a match, does this to some.
func TestLostBeforeJoin(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // only ends a test that would hang
	defer cancel()
	near, far := mem.Pair(mem.Config{Stream: true})
	far.Abort()
	var c *Client
	letGo := sync.OnceFunc(func() { c.mu.Unlock() })
	c = NewClient(ClientConfig{Slot: Watch, Name: "late", Logger: slog.New(lets{slog.DiscardHandler, letGo})})
	err := c.Run(ctx, held{near, sync.OnceFunc(func() { c.mu.Lock() })})
	if !errors.Is(err, ErrLost) {
		t.Error(err)
	}
}
