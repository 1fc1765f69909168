package main

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/parley-go/parley/examples/lockstep/frames"
	"github.com/parley-go/parley/gen/files"
)

// recording is the file that the first match is recorded in. The match never waits for it: what cannot be written now,
// as on a disk without room or into a pipe that nobody reads, is kept and tried again.
type recording struct {
	path string
	file *os.File // of the goroutine that writes, and of end
	new  bool     // the file was not there before

	mu      sync.Mutex
	begun   bool
	waiting []byte // what is still to be written
	lost    bool   // more than most was
	err     error  // of the last try
	ended   bool
	wake    chan struct{}
	done    chan struct{} // closed when nothing is written any more
}

// most is how many bytes may wait: those of matches of hours.
const most = 8 << 20

// lastly is how long a pipe has to take what waits when the program ends.
const lastly = 2 * time.Second

// openRecording returns the recording in a file, nil if there is none to be. What the file has stays there until a
// match begins.
func openRecording(path string) (*recording, error) {
	if path == "" {
		return nil, nil
	}
	_, missing := os.Stat(path)
	f, err := files.Stream(path, 0o666)
	if err != nil {
		return nil, fmt.Errorf("-record: %w", err)
	}
	return &recording{path: path, file: f, new: os.IsNotExist(missing), wake: make(chan struct{}, 1),
		done: make(chan struct{})}, nil
}

// begin returns the recorder of a match, nil if this is not the first one.
func (r *recording) begin() *frames.Recorder {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	if r.begun || r.ended {
		r.mu.Unlock()
		return nil
	}
	r.begun = true
	r.mu.Unlock()
	r.file.Truncate(0) // what is no file of bytes has nothing to cut
	go r.write()
	rec, _ := frames.NewRecorder(r) // it never fails, see Write
	return rec
}

// Write implements io.Writer. It never waits and never fails: only end tells of errors.
func (r *recording) Write(b []byte) (int, error) {
	r.mu.Lock()
	if r.lost = r.lost || len(r.waiting)+len(b) > most; !r.lost {
		r.waiting = append(r.waiting, b...)
	}
	r.mu.Unlock()
	r.nudge()
	return len(b), nil
}

func (r *recording) nudge() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// write writes what waits, and tries again with the next record what could not be written.
func (r *recording) write() {
	defer close(r.done)
	for range r.wake {
		r.mu.Lock()
		b, ended := r.waiting, r.ended
		r.mu.Unlock()
		n, err := 0, error(nil)
		if len(b) > 0 {
			n, err = r.file.Write(b)
		}
		r.mu.Lock()
		r.waiting, r.err = r.waiting[n:], err
		more := err == nil && len(r.waiting) > 0
		r.mu.Unlock()
		switch {
		case more:
			r.nudge()
		case ended:
			return
		}
	}
}

// trouble says that what has happened is not in the file so far, "" where it is.
func (r *recording) trouble() string {
	if r == nil {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.lost:
		return "The recording has ended, for its file took nothing for too long."
	case r.err != nil:
		return fmt.Sprintf("The recording waits: %v.", r.err)
	}
	return ""
}

// end closes the file, and says whether all is in it. The note says that there is nothing in it.
func (r *recording) end() (note string, err error) {
	if r == nil {
		return "", nil
	}
	r.mu.Lock()
	begun, again := r.begun, r.ended
	r.ended = true
	r.mu.Unlock()
	switch {
	case again:
		return "", nil
	case !begun:
		err = r.file.Close()
		if r.new {
			os.Remove(r.path)
			return "-record: no match has begun, so nothing was recorded", err
		}
		return "-record: no match has begun, so " + r.path + " is as it was", err
	}
	r.file.SetWriteDeadline(time.Now().Add(lastly)) // of a pipe; other files do not wait
	r.nudge()
	<-r.done
	r.mu.Lock()
	defer r.mu.Unlock()
	err = errors.Join(r.err, r.file.Close())
	switch {
	case r.lost && err == nil:
		err = errors.New("its file took nothing for too long")
	case err == nil:
		return "", nil
	}
	return "", fmt.Errorf("-record: the match is not recorded to its end: %w", err)
}
