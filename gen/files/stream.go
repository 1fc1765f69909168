package files

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// ErrUnread says that nobody reads from a named pipe.
var ErrUnread = errors.New("nobody reads from this pipe; start the reader first")

// Stream opens a file for what comes bit by bit, such as a recording, and makes it if there is none. Nothing of what it
// has is cut. A pipe that nobody reads fails with ErrUnread instead of waiting for ever, and of one that is read and
// full Write waits no longer than its deadline. Errors name the path.
func Stream(path string, perm fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|syscall.O_NONBLOCK, perm)
	if errors.Is(err, syscall.ENXIO) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrUnread}
	}
	return f, err
}
