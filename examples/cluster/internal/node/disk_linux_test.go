package node_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/parley-go/parley/examples/cluster/internal/node"
	"github.com/parley-go/parley/examples/cluster/internal/store"
)

// small is a disk of a few megabytes, where this program may make one.
func small(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=24m"); err != nil {
		t.Skip("no disk of its own: ", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// Where the disk has no room for what the buckets may come to, that is said at once.
func TestSmallDisk(t *testing.T) {
	t.Parallel()
	e, err := store.Embed(store.EmbedConfig{Dir: filepath.Join(small(t), "nats")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Shutdown)
	nc, err := store.Connect(e.URL(), t.Name())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	_, err = store.Open(t.Context(), nc, store.Config{})
	if err == nil || !strings.Contains(err.Error(), "no room on its disk") {
		t.Errorf("%v", err)
	}
}

// The disk of NATS becomes full. Nobody can decide anything then, so servers let their players go; when there is room
// and NATS has begun again, all goes on with later epochs.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := small(t)
	cfg := store.EmbedConfig{Dir: filepath.Join(dir, "nats"), MaxStore: 16 << 30}
	e, err := store.Embed(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Shutdown() })
	c := withNATS(t, e.URL(), 1)
	s := c.server(c.url, node.Config{})
	p := c.player("L", "", s.address)
	before := p.Epoch()
	fill := filepath.Join(dir, "fill")
	f, err := os.Create(fill)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	f.Close()
	c.session(s, false)
	if _, err := p.conn.Read(make([]byte, 1)); err == nil {
		t.Error("the player is still there")
	}
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	cfg.Address = strings.TrimPrefix(e.URL(), "nats://")
	e.Shutdown()
	if e, err = store.Embed(cfg); err != nil {
		t.Fatal(err)
	}
	c.session(s, true)
	c.enter(p)
	if p.Epoch() <= before {
		t.Errorf("after epoch %d came %d", before, p.Epoch())
	}
}
