package mem_test

import (
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/linktest"
	"github.com/parley-go/parley/runtime/transport/mem"
)

func TestLink(t *testing.T) {
	for name, cfg := range map[string]mem.Config{
		"stream": {Stream: true}, "frames": {}, "bounded frames": {MaxFrame: 1024},
	} {
		cfg.Queue, cfg.Linger = linktest.Queue, 100*time.Millisecond
		t.Run(name, func(t *testing.T) {
			linktest.Run(t, func(*testing.T) (transport.Link, transport.Link) { return mem.Pair(cfg) })
		})
	}
}
