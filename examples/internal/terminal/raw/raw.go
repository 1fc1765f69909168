// Package raw takes a terminal of the operating system, and gives it back: keys come one by one, and it can be asked
// how large it is. What is shown there is the business of package terminal. Start from [Open].
package raw

import (
	"context"
	"os"

	"golang.org/x/term"
)

// Terminal is one that has been taken.
type Terminal struct {
	// Typed has what is typed, as it comes.
	Typed   <-chan []byte
	in, out *os.File
	old     *term.State
	cancel  context.CancelFunc
}

// Is reports whether somebody sits at both files.
func Is(in, out *os.File) bool {
	return term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd()))
}

// Open takes a terminal. Nothing is read from it any more once ctx has ended or Close was called, but for one key that
// a read waits for.
func Open(ctx context.Context, in, out *os.File) (*Terminal, error) {
	old, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	typed := make(chan []byte, 16)
	go func() {
		for {
			b := make([]byte, 64)
			n, err := in.Read(b)
			if err != nil {
				return
			}
			select {
			case typed <- b[:n]:
			case <-ctx.Done():
				return
			}
		}
	}()
	return &Terminal{Typed: typed, in: in, out: out, old: old, cancel: cancel}, nil
}

// Size is how many columns and lines there are; ok is false if the terminal does not say.
func (t *Terminal) Size() (columns, lines int, ok bool) {
	c, l, err := term.GetSize(int(t.out.Fd()))
	return c, l, err == nil
}

// Close gives the terminal back as it was.
func (t *Terminal) Close() error {
	t.cancel()
	return term.Restore(int(t.in.Fd()), t.old)
}
