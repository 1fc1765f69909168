package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// TooMany says that a folder has more below it than is looked at.
type TooMany struct {
	Folder string
	Looked int    // files and folders that were looked at
	First  string // the folder of the first file that was taken; empty: none was
}

// Error says how much was looked at and what to name instead.
func (e *TooMany) Error() string {
	instead := "name a folder further down, or the files"
	if e.First != "" && filepath.Clean(e.First) != filepath.Clean(e.Folder) {
		instead = "name a folder further down, such as " + e.First + ", or the files"
	}
	return fmt.Sprintf("%s has too much below it: %d files and folders were looked at, and there are more; %s",
		e.Folder, e.Looked, instead)
}

// Skipped reports whether a folder of this name is passed over where folders are walked, as Go passes
// over it: hidden ones, those that begin with _, testdata, vendor, and node_modules.
func Skipped(name string) bool {
	switch name {
	case "testdata", "vendor", "node_modules":
		return true
	}
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

// Walk lists the files below a folder for which take reports true, in the order of their names. It
// looks at no more than most files and folders, else it fails with TooMany, and passes over folders
// that are [Skipped] or for which take reports false. Links to folders are not followed, but folder
// may be one. What vanishes meanwhile is passed over.
func Walk(folder string, most int, take func(path string, d fs.DirEntry) bool) (taken []string, err error) {
	root := folder
	if info, err := os.Lstat(root); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		root += string(filepath.Separator)
	}
	looked := 0
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && path != root:
			return nil
		case err != nil:
			return err
		case path == root && d.IsDir():
			return nil
		case looked == most:
			e := &TooMany{Folder: folder, Looked: looked}
			if len(taken) > 0 {
				e.First = filepath.Dir(taken[0])
			}
			return e
		}
		looked++
		switch is := take(path, d); {
		case d.IsDir() && (Skipped(d.Name()) || !is):
			return filepath.SkipDir
		case !d.IsDir() && is:
			taken = append(taken, path)
		}
		return nil
	})
	return taken, err
}
