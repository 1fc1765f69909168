// Package files reads files with a bound and writes them whole or not at all. All of gen and of the
// commands read and write through it, so that no file makes a program hang or grow, and none is
// left half written. It knows nothing of what is in them. Start from [Read] and [Write].
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// ErrFolder says that a folder stands where a file is needed.
var ErrFolder = errors.New("it is a folder")

// ErrSilent says that a named pipe is empty and that nobody writes to it.
var ErrSilent = errors.New("it is a pipe, and nobody writes to it")

// TooLong says that a file has more bytes than are read of it.
type TooLong struct{ Most int64 }

func (e *TooLong) Error() string { return fmt.Sprintf("it has more than %d bytes", e.Most) }

// patience is how long a pipe may be empty and without a writer.
var patience = 2 * time.Second

// Open opens a file for reading. A folder is refused with ErrFolder. A pipe that nobody writes to
// fails with ErrSilent instead of waiting for ever; one that somebody holds open is waited for. Errors name the path.
func Open(path string) (fs.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: reason(err)}
	}
	mode := os.O_RDONLY
	switch {
	case info.IsDir():
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrFolder}
	case info.Mode()&fs.ModeNamedPipe != 0:
		mode |= syscall.O_NONBLOCK // otherwise opening waits for a writer
	}
	f, err := os.OpenFile(path, mode, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: reason(err)}
	}
	if mode != os.O_RDONLY {
		return &pipe{File: f, path: path}, nil
	}
	return f, nil
}

// pipe is a named pipe. Before its first byte the end of the file means that there is no writer yet.
type pipe struct {
	*os.File
	path  string
	begun bool
}

func (p *pipe) Read(b []byte) (int, error) {
	for left := patience; ; left -= patience / 100 {
		n, err := p.File.Read(b)
		if n > 0 || err != io.EOF || p.begun {
			p.begun = true
			return n, err
		}
		if left <= 0 {
			return 0, &fs.PathError{Op: "read", Path: p.path, Err: ErrSilent}
		}
		time.Sleep(patience / 100)
	}
}

// Read reads a file of at most most bytes. A longer one, or a device without end, is refused with
// TooLong, and no more of it is read. Errors name the path.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := ReadFrom(f, most)
	var named *fs.PathError
	if err != nil && !errors.As(err, &named) {
		err = &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return b, err
}

// ReadFrom reads what is left of r, at most most bytes of it, or fails with TooLong.
func ReadFrom(r io.Reader, most int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		return nil, &TooLong{most}
	}
	return b, err
}

// reason is an error without the name that it has.
func reason(err error) error {
	var named *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &named):
		return named.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
