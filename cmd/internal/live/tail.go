package live

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/parley-go/parley/gen/files"
)

// pause is how long a file is left alone between two looks. Files are looked at, since messages of the operating
// system about changes do not come from everywhere, such as from other computers' disks.
const pause = 50 * time.Millisecond

// rest waits for a time. It reports false when ctx is done.
func rest(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// errAnew is the error of a file that was cut or replaced by another: what comes is another record.
var errAnew = errors.New("the file was begun anew")

// tail reads a file to which somebody still writes. At its end it waits for more.
type tail struct {
	ctx  context.Context
	path string
	file fs.File
	read int64
	// head is how the file began, by which it is known again, and last the byte read last.
	head []byte
	last byte
	// idle is told, before it waits, whether the last line is not whole. It may be told the same again.
	idle func(half bool)
}

// headMost is how much of a file's beginning is remembered. The first line of a record has its time in it.
const headMost = 1 << 10

// newTail waits until there is such a file. why is told what is in the way.
func newTail(ctx context.Context, path string, why func(error)) (*tail, error) {
	for {
		f, err := files.Open(path)
		if err == nil {
			return &tail{ctx: ctx, path: path, file: f}, nil
		}
		if why(err); !rest(ctx, pause) {
			return nil, ctx.Err()
		}
	}
}

// Read implements [io.Reader]. It returns errAnew if the file is no longer the one that was opened.
func (t *tail) Read(b []byte) (int, error) {
	for {
		if t.read > 0 && t.anew() {
			return 0, errAnew
		}
		n, err := t.file.Read(b)
		if n > 0 {
			t.head = append(t.head, b[:min(n, headMost-len(t.head))]...)
			t.read, t.last = t.read+int64(n), b[n-1]
			return n, nil
		}
		if err != nil && err != io.EOF {
			return 0, err
		}
		if !t.same() {
			return 0, errAnew
		}
		if t.idle != nil {
			t.idle(t.read > 0 && t.last != '\n')
		}
		if !rest(t.ctx, pause) {
			return 0, t.ctx.Err()
		}
	}
}

// anew reports whether the file was cut, and perhaps written again: it is shorter, or begins in another way.
func (t *tail) anew() bool {
	at, ok := t.file.(io.ReaderAt)
	if info, err := t.file.Stat(); !ok || err != nil || !info.Mode().IsRegular() {
		return false // what is no file, such as a pipe, cannot be cut
	} else if info.Size() < t.read {
		return true
	}
	now := make([]byte, len(t.head))
	n, _ := at.ReadAt(now, 0)
	return !bytes.Equal(now[:n], t.head)
}

// same reports whether the path still names the file. A file that was taken away may come back, so it still does then.
func (t *tail) same() bool {
	mine, err := t.file.Stat()
	if err != nil {
		return true
	}
	now, err := os.Stat(t.path)
	return err != nil || os.SameFile(mine, now)
}
