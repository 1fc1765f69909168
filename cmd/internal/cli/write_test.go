package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestWriteFileNames: an error names the file that was to be written, not one that only this
// package knows.
func TestWriteFileNames(t *testing.T) {
	dir := t.TempDir()
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0o500); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "missing", "a.txt"), dir, filepath.Join(closed, "a.txt")} {
		if os.Getuid() == 0 && filepath.Dir(path) == closed {
			continue // nothing is closed to root
		}
		var wrong *fs.PathError
		if err := WriteFile(path, []byte("a")); !errors.As(err, &wrong) || wrong.Path != path {
			t.Errorf("%s: %v", path, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("files were left behind: %v %v", left, err)
	}
}

// TestWriteFileClosedFolder writes a file that is there into a folder that takes no new ones.
func TestWriteFileClosedFolder(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("nothing is closed to root")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	if err := errors.Join(os.WriteFile(path, []byte("long before"), 0o640), os.Chmod(dir, 0o500)); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	if err := WriteFile(path, []byte("after")); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "after" {
		t.Errorf("%q %v", b, err)
	}
}
