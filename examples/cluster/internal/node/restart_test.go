package node_test

import (
	"strings"
	"testing"

	"github.com/parley-go/parley/examples/cluster/internal/node"
	"github.com/parley-go/parley/examples/cluster/internal/store"
)

// NATS ends and begins again at the same address, with what it had on disk. What was in memory is gone with it, the
// buckets themselves too, and is made again by whoever needs it: servers serve again by themselves, and a lobby goes on
// in a later epoch.
func TestNATSBeginsAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e, err := store.Embed(store.EmbedConfig{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Shutdown() })
	c := withNATS(t, e.URL(), 1)
	a, b := c.server(c.url, node.Config{}), c.server(c.url, node.Config{})
	p := c.player("L", "Ann", a.address)
	before := p.Epoch()
	address := strings.TrimPrefix(e.URL(), "nats://")
	e.Shutdown()
	c.session(a, false)
	c.session(b, false)
	if e, err = store.Embed(store.EmbedConfig{Dir: dir, Address: address}); err != nil {
		t.Fatal(err)
	}
	c.session(a, true)
	c.session(b, true)
	c.enter(p)
	if p.Epoch() <= before {
		t.Errorf("after epoch %d came %d", before, p.Epoch())
	}
	c.eventually("presence is written again", func() bool {
		_, err := a.st.Presence.Get(c.ctx, node.PresenceKey("Ann"))
		return err == nil
	})
}
