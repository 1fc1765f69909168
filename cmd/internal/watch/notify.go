package watch

import (
	"context"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settleTime is how long after the last event a file is taken to be written.
const settleTime = 40 * time.Millisecond

// Notifier learns of changes from the operating system.
type Notifier struct {
	w       *fsnotify.Watcher
	folders map[string]bool
	Events  chan string
}

// NewNotifier starts one; it ends with ctx.
func NewNotifier(ctx context.Context) (*Notifier, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	n := &Notifier{w: w, folders: map[string]bool{}, Events: make(chan string, 64)}
	go n.run(ctx)
	return n, nil
}

func (n *Notifier) run(ctx context.Context) {
	defer n.w.Close()
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-n.w.Events:
			if !ok {
				return
			}
			if e.Op == fsnotify.Chmod {
				continue
			}
			select {
			case n.Events <- filepath.Clean(e.Name):
			case <-ctx.Done():
				return
			}
		case _, ok := <-n.w.Errors:
			// An overflow loses events; the next save is seen again.
			if !ok {
				return
			}
		}
	}
}

// Watch asks for events about a folder. It is for one goroutine.
func (n *Notifier) Watch(dir string) error {
	if n.folders[dir] {
		return nil
	}
	if err := n.w.Add(dir); err != nil {
		return err
	}
	n.folders[dir] = true
	return nil
}

// Settle waits until nothing has happened for a moment.
func Settle() <-chan time.Time { return time.After(settleTime) }
