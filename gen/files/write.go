package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// File is a file to be written.
type File struct {
	Path    string
	Content []byte
}

// Write gives the file at path this content, whole or not at all: also when the disk is full, or the
// computer goes down, it has what it had or what it gets. It writes where a symbolic link points
// to, straight into what is no regular file (a pipe, a device), and keeps the mode of a file that is
// there. Errors name path as it was given.
func Write(path string, content []byte) error { return writeAll([]File{{path, content}}, false) }

// WriteAll writes several files, all or none: it makes the folders that are missing, writes every
// file beside its place, and only then gives them their names. After an error the files and folders
// are those of before; only of a pipe or a device what was written cannot be taken back.
func WriteAll(list []File) error { return writeAll(list, true) }

func writeAll(list []File, mkdir bool) (err error) {
	var all []*place
	var made []string
	defer func() {
		for _, p := range slices.Backward(all) {
			p.end(err != nil)
		}
		for _, dir := range slices.Backward(made) {
			if err != nil {
				os.Remove(dir)
			}
		}
	}()
	for _, f := range list {
		if mkdir {
			dirs, err := folders(filepath.Dir(f.Path))
			made = append(made, dirs...)
			if err != nil {
				return &fs.PathError{Op: "write", Path: f.Path, Err: reason(unplaced(err, f.Path))}
			}
		}
		p := &place{path: f.Path, content: f.Content}
		all = append(all, p)
		if err := p.stage(); err != nil {
			return &fs.PathError{Op: "write", Path: f.Path, Err: reason(unplaced(err, f.Path))}
		}
	}
	for i, p := range all {
		err := error(nil)
		if beforeCommit != nil {
			err = beforeCommit(i)
		}
		if err == nil {
			err = p.commit(len(list) > 1)
		}
		if err != nil {
			return &fs.PathError{Op: "write", Path: p.path, Err: reason(unplaced(err, p.path))}
		}
	}
	return nil
}

// ErrNoFolder says that the folder of a file to be written does not exist, ErrTakesNone that it, or one
// above it, takes no new files, as those in which a system shows what it is doing.
var (
	ErrNoFolder  = errors.New("its folder does not exist")
	ErrTakesNone = errors.New("nothing can be written into that folder")
)

// unplaced says why there is no place for a new file, where a system says only that there is no such file.
func unplaced(err error, path string) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	at := filepath.Dir(path)
	if _, err := os.Stat(at); err == nil {
		return ErrTakesNone
	}
	var made *fs.PathError
	if errors.As(err, &made) && made.Op == "mkdir" {
		return ErrTakesNone
	}
	return ErrNoFolder
}

// beforeCommit lets a test fail between two files.
var beforeCommit func(n int) error

// folders makes a folder and those above it, and returns which it has made.
func folders(dir string) (made []string, err error) {
	var missing []string
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		missing = append(missing, at)
	}
	for _, at := range slices.Backward(missing) {
		if err := os.Mkdir(at, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return made, err
		}
		made = append(made, at)
	}
	return made, nil
}

// place is where one file is written.
type place struct {
	path    string
	content []byte
	real    string // where path leads; empty for what is written straight into
	there   bool
	new     string // the whole content, beside real; empty if the folder takes no new file
	old     string // what real was before, while others may still fail
	done    bool
}

// stage looks at the place, and writes the content beside it.
func (p *place) stage() error {
	info, err := os.Stat(p.path)
	mode := fs.FileMode(0o644)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.IsDir():
		return syscall.EISDIR
	case !info.Mode().IsRegular():
		return nil
	default:
		p.there, mode = true, info.Mode().Perm()
		f, err := os.OpenFile(p.path, os.O_WRONLY, 0) // a file that may not be written is not replaced either
		if err != nil {
			return err
		}
		f.Close()
	}
	var ok bool
	if p.real, ok = target(p.path); !ok {
		p.real = ""
		return nil
	}
	p.new, err = beside(p.real, p.content, mode)
	if errors.Is(err, fs.ErrPermission) && p.there {
		return nil // nothing can be added to the folder, but the file is ours to write
	}
	return err
}

// beside writes a file in the folder of path and returns its name.
func beside(path string, content []byte, mode fs.FileMode) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".parley-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync() // or the name could be there before the content, when the computer goes down
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// commit gives the file its name. With keep, what was there before is kept until end.
func (p *place) commit(keep bool) error {
	switch {
	case p.real == "":
		return into(p.path, p.content)
	case p.new == "":
		return overwrite(p.real, p.content)
	}
	if keep && p.there {
		if old := p.new + "~"; os.Link(p.real, old) == nil { // else it cannot be taken back
			p.old = old
		}
	}
	err := os.Rename(p.new, p.real)
	p.done = err == nil
	return err
}

// end removes what is left beside the place; undo puts back what was there before.
func (p *place) end(undo bool) {
	switch {
	case p.new != "" && !p.done:
		os.Remove(p.new)
	case undo && p.done && p.old != "":
		os.Rename(p.old, p.real)
		p.old = ""
	case undo && p.done && !p.there:
		os.Remove(p.real)
	}
	if p.old != "" {
		os.Remove(p.old)
	}
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

// into writes behind what is there.
func into(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// overwrite writes over a file in its place, and puts back what was there if that fails: its bytes
// have their room on the disk.
func overwrite(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	old, err := io.ReadAll(f)
	if err == nil {
		_, err = f.WriteAt(content, 0)
		if err == nil {
			err = f.Truncate(int64(len(content)))
		}
		if err == nil {
			err = f.Sync()
		}
		if err != nil {
			_, again := f.WriteAt(old, 0)
			err = errors.Join(err, again, f.Truncate(int64(len(old))))
		}
	}
	return errors.Join(err, f.Close())
}
