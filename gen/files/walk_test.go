package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func yaml(path string, d fs.DirEntry) bool { return d.IsDir() || strings.HasSuffix(path, ".yaml") }

func TestWalk(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b/x.yaml", "a.yaml", ".git/c.yaml", "vendor/d.yaml", "node_modules/e.yaml",
		"_old/f.yaml", "testdata/g.yaml", "b/text"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), "")
	}
	if err := os.Symlink("..", filepath.Join(dir, "b", "again")); err != nil {
		t.Skip(err) // a loop
	}
	link := filepath.Join(dir, "b", "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{dir, link} {
		got, err := Walk(root, 12, yaml)
		want := []string{filepath.Join(root, "a.yaml"), filepath.Join(root, "b", "x.yaml")}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", root, got, err)
		}
	}
	many := new(TooMany)
	_, err := Walk(dir, 5, yaml)
	if !errors.As(err, &many) || many.Looked != 5 || many.First != "" && many.First != dir {
		t.Errorf("%+v", err)
	}
	if _, err := Walk(dir, 11, yaml); err != nil && !strings.Contains(err.Error(), "11 files and folders") {
		t.Error(err)
	}
	if e := (&TooMany{"/x", 7, "/x/y"}).Error(); !strings.Contains(e, "7 files and folders") ||
		!strings.Contains(e, "such as /x/y") {
		t.Error(e)
	}
	if _, err := Walk(filepath.Join(dir, "nowhere"), 5, yaml); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestWalkVanishing: a folder that is removed while its parent is walked is passed over.
func TestWalkVanishing(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "c.yaml"), "")
	got, err := Walk(dir, 10, func(path string, d fs.DirEntry) bool {
		if d.Name() == "a" {
			os.Remove(path)
			os.Remove(filepath.Join(dir, "b"))
		}
		return yaml(path, d)
	})
	if err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}
