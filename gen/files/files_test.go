package files

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// what lists a folder and everything below it.
func what(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && path != dir {
			all = append(all, strings.TrimPrefix(filepath.ToSlash(path), filepath.ToSlash(dir)+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func reads(t *testing.T, path, want string) {
	t.Helper()
	if b, err := os.ReadFile(path); err != nil || string(b) != want {
		t.Errorf("%s: %.60q, %v; want %.60q", path, b, err, want)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a")
	write(t, file, "12345")
	if b, err := Read(file, 5); err != nil || string(b) != "12345" {
		t.Errorf("%q, %v", b, err)
	}
	var long *TooLong
	var named *fs.PathError
	for _, path := range []string{file, "/dev/zero"} {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if _, err := Read(path, 4); !errors.As(err, &long) || !errors.As(err, &named) || named.Path != path {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := Read(dir, 4); !errors.Is(err, ErrFolder) {
		t.Error(err)
	}
	if _, err := Read(filepath.Join(dir, "b"), 4); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := os.Chmod(file, 0); err == nil && os.Getuid() != 0 {
		if _, err := Read(file, 5); !errors.Is(err, fs.ErrPermission) {
			t.Error(err)
		}
	}
}

// TestPipe: a pipe with nobody at its other end fails, and one with a writer is read, also if he
// comes later.
func TestPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := mkfifo(pipe); err != nil {
		t.Skip(err)
	}
	before := patience
	patience = 50 * time.Millisecond
	if _, err := Read(pipe, 100); !errors.Is(err, ErrSilent) {
		t.Errorf("without a writer: %v", err)
	}
	patience = time.Minute
	defer func() { patience = before }()
	go os.WriteFile(pipe, []byte("hello"), 0) // waits for the reader
	if b, err := Read(pipe, 100); err != nil || string(b) != "hello" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "a"), filepath.Join(dir, "link")
	write(t, file, "before")
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", link); err != nil {
		t.Skip(err)
	}
	if err := Write(link, []byte("after")); err != nil {
		t.Fatal(err)
	}
	reads(t, file, "after")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	var named *fs.PathError
	for _, path := range []string{dir, filepath.Join(dir, "missing", "a")} {
		if err := Write(path, nil); !errors.As(err, &named) || named.Path != path {
			t.Errorf("%s: %v", path, err)
		}
	}
	if all := what(t, dir); len(all) != 2 {
		t.Errorf("%v", all)
	}
}

// TestWriteAll: all or none, with their folders.
func TestWriteAll(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	write(t, at("a"), "before")
	if err := os.Mkdir(at("folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	blocked := []File{{at("a"), []byte("after")}, {at("new/deep/b"), nil}, {at("folder"), nil}}
	if err := WriteAll(blocked); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("%v", err)
	}
	reads(t, at("a"), "before")
	if all := what(t, dir); len(all) != 2 {
		t.Errorf("%v", all)
	}
	// Something goes wrong when two of three have their names.
	list := []File{{at("a"), []byte("after")}, {at("new/b"), []byte("b")}, {at("c"), []byte("c")}}
	beforeCommit = func(n int) error {
		if n == 2 {
			return syscall.EIO
		}
		return nil
	}
	err := WriteAll(list)
	beforeCommit = nil
	if !errors.Is(err, syscall.EIO) {
		t.Errorf("%v", err)
	}
	reads(t, at("a"), "before")
	if all := what(t, dir); len(all) != 2 {
		t.Errorf("%v", all)
	}
	if err := WriteAll(list); err != nil {
		t.Error(err)
	}
	reads(t, at("a"), "after")
	reads(t, at("new/b"), "b")
	if all := what(t, dir); len(all) != 5 {
		t.Errorf("%v", all)
	}
}

// TestFullDisk: on a full disk what was there stays as it was, and nothing is left beside it.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := mount(dir); err != nil {
		t.Skipf("no small disk can be mounted here: %v", err)
	}
	t.Cleanup(func() { unmount(dir) })
	at := func(name string) string { return filepath.Join(dir, name) }
	old := strings.Repeat("before ", 1000)
	write(t, at("a"), old)
	big := bytes.Repeat([]byte("after "), 1<<16)
	for name, list := range map[string][]File{
		"one":     {{at("a"), big}},
		"another": {{at("b"), big}},
		"a set":   {{at("a"), []byte("short")}, {at("new/b"), []byte("b")}, {at("c"), big}},
	} {
		if err := WriteAll(list); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", name, err)
		}
		reads(t, at("a"), old)
		if all := what(t, dir); len(all) != 1 {
			t.Errorf("%s leaves %v", name, all)
		}
	}
	if err := overwrite(at("a"), big); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("in its place: %v", err)
	}
	reads(t, at("a"), old)
	if runtime.GOOS == "linux" && os.Getuid() == 0 {
		if err := Write("/dev/full", big); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("a device: %v", err)
		}
	}
}

// TestNoPlace: why there is no place for a file is said, and not only that it is not there.
func TestNoPlace(t *testing.T) {
	dir := t.TempDir()
	if err := Write(filepath.Join(dir, "missing", "x"), nil); !errors.Is(err, ErrNoFolder) {
		t.Errorf("a folder that is not there: %v", err)
	}
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip("no folder here takes no files")
	}
	for _, err := range []error{
		Write("/proc/parley", nil), WriteAll([]File{{Path: "/proc/parley"}}),
		WriteAll([]File{{Path: "/proc/a/b/parley"}}),
	} {
		if !errors.Is(err, ErrTakesNone) {
			t.Errorf("a folder that takes no files: %v", err)
		}
	}
}
