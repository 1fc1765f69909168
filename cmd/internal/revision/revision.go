// Package revision reads files as git has them in a revision. Start from [Open].
package revision

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path"
	"strings"
	"time"
)

// Tree is a revision of the repository that the working folder is in, as a file system. It implements [fs.FS]; only
// Open is meant, since a specification is read file by file.
type Tree struct{ rev string }

// Open returns the tree of a revision, such as main, HEAD~3 or v1.2, and the path in it of a file: as git takes it,
// from the top of the repository, or from the working folder if it begins with ./ or ../. A folder stands for the
// spec.yaml in it.
func Open(rev, file string) (*Tree, string, error) {
	if rev == "" || strings.HasPrefix(rev, "-") || strings.ContainsAny(rev, ": \n") {
		return nil, "", fmt.Errorf("%q is no revision", rev)
	}
	if _, err := git("rev-parse", "--verify", "--quiet", rev+"^{commit}"); err != nil {
		return nil, "", fmt.Errorf("git knows no revision %s here%s", rev, because(err))
	}
	if strings.HasPrefix(file, "./") || strings.HasPrefix(file, "../") {
		prefix, err := git("rev-parse", "--show-prefix")
		if err != nil {
			return nil, "", err
		}
		file = path.Join(strings.TrimSpace(string(prefix)), file)
	}
	t, file := &Tree{rev}, path.Clean(file)
	kind, err := git("cat-file", "-t", rev+":"+file)
	if err != nil {
		return nil, "", fmt.Errorf("%s is not in revision %s%s", file, rev, because(err))
	}
	if strings.TrimSpace(string(kind)) == "tree" {
		file = path.Join(file, "spec.yaml")
		if _, err := git("cat-file", "-e", rev+":"+file); err != nil {
			return nil, "", fmt.Errorf("%s is not in revision %s; name a file", file, rev)
		}
	}
	return t, file, nil
}

// because adds what git says, if it says anything.
func because(err error) string {
	if text := strings.TrimSpace(err.Error()); text != "" {
		return ": " + text
	}
	return ""
}

// git runs git in the working folder and returns what it prints. The error has what it complains of, in one line.
func git(args ...string) ([]byte, error) {
	var out, complaint bytes.Buffer
	c := exec.Command("git", args...)
	c.Stdout, c.Stderr = &out, &complaint
	err := c.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, errors.New("the program git is not installed")
	case err != nil:
		line, _, _ := strings.Cut(complaint.String(), "\n")
		return nil, errors.New(strings.TrimPrefix(line, "fatal: "))
	}
	return out.Bytes(), nil
}

// Open implements [fs.FS].
func (t *Tree) Open(name string) (fs.File, error) {
	data, err := git("cat-file", "blob", t.rev+":"+path.Clean(name))
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("%w in revision %s", fs.ErrNotExist, t.rev)}
	}
	return &file{Reader: bytes.NewReader(data), name: path.Base(name)}, nil
}

// file is a file of a revision. It is its own description.
type file struct {
	*bytes.Reader
	name string
}

var _ io.Reader = (*file)(nil)

func (f *file) Stat() (fs.FileInfo, error) { return f, nil }
func (f *file) Close() error               { return nil }
func (f *file) Name() string               { return f.name }
func (f *file) Mode() fs.FileMode          { return 0o444 }
func (f *file) ModTime() time.Time         { return time.Time{} }
func (f *file) IsDir() bool                { return false }
func (f *file) Sys() any                   { return nil }
