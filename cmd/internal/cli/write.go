package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// WriteFile gives the file at path this content, whole or not at all. It writes where a symbolic
// link points to, straight into what is no regular file (a pipe, a device), and keeps the mode of a
// file that is there. Errors name path as it was given.
func WriteFile(path string, content []byte) error {
	err := writeFile(path, content)
	var wrong *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &wrong):
		return &fs.PathError{Op: "write", Path: path, Err: wrong.Err}
	case errors.As(err, &link):
		return &fs.PathError{Op: "write", Path: path, Err: link.Err}
	}
	return err
}

func writeFile(path string, content []byte) error {
	info, err := os.Stat(path)
	mode := fs.FileMode(0o644)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.IsDir():
		return &fs.PathError{Op: "write", Path: path, Err: syscall.EISDIR}
	case !info.Mode().IsRegular():
		return writeInto(path, os.O_APPEND, content)
	default:
		mode = info.Mode().Perm()
		f, err := os.OpenFile(path, os.O_WRONLY, 0) // a file that may not be written is not replaced either
		if err != nil {
			return err
		}
		f.Close()
	}
	real, ok := target(path)
	if !ok {
		return writeInto(path, os.O_APPEND, content)
	}
	err = replace(real, content, mode)
	if errors.Is(err, fs.ErrPermission) && info != nil {
		return writeInto(real, os.O_TRUNC, content) // nothing can be added to the folder, but the file is ours to write
	}
	return err
}

// target follows symbolic links to the file that is meant, which need not exist. It is not ok if
// the way leads through the open files of a process (/dev/stdout): such a file is not replaced,
// somebody is writing it.
func target(path string) (real string, ok bool) {
	for range 40 {
		if strings.HasPrefix(path, "/proc/") || strings.HasPrefix(path, "/dev/fd/") {
			return "", false
		}
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return path, true
}

func writeInto(path string, flag int, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|flag, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// replace writes a file beside path and gives it path's name.
func replace(path string, content []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".parley-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // does nothing after the rename
	_, err = f.Write(content)
	if e := f.Chmod(mode); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// patient is an output that takes everything, even when nobody reads it any more: a command that
// writes files finishes them although its output goes to `head`.
type patient struct{ to io.Writer }

func (p *patient) Write(b []byte) (int, error) {
	n, err := p.to.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		return len(b), nil
	}
	return n, err
}
