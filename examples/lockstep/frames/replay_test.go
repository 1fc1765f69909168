package frames_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/parley-go/parley/examples/lockstep/frames"
)

// quiet is a game that takes everything.
type quiet struct{ turns int }

func (q *quiet) Start(uint32, []int)  {}
func (q *quiet) Restore([]byte) error { return nil }
func (q *quiet) Snapshot() []byte     { return nil }
func (q *quiet) Sum() uint32          { return 0 }
func (q *quiet) Turn(*frames.Turn)    { q.turns++ }
func (q *quiet) Step()                {}

// head is the beginning of a replay with a start.
func head(t interface{ Fatal(...any) }) []byte {
	var b bytes.Buffer
	if _, err := frames.NewRecorder(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// FuzzPlay: whatever a file holds, it is played as far as it is a replay, and no further.
func FuzzPlay(f *testing.F) {
	f.Add(head(f))
	f.Add(append(head(f), 0, 0, 0, 6, 1, 2, 3, 4, 1, 0, 0, 0, 7, 3))
	f.Add(append(head(f), 255, 255, 255, 255, 0, 0, 0, 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		q := &quiet{}
		p, err := frames.Play(bytes.NewReader(b), q, nil)
		if int(p.Turns) != q.turns {
			t.Errorf("%d turns were played, and %d are told of", q.turns, p.Turns)
		}
		if err == nil && !bytes.HasPrefix(b, head(t)) {
			t.Error("that is no replay")
		}
	})
}

// TestNoReplay: files that are none, or are damaged, are errors that say so.
func TestNoReplay(t *testing.T) {
	for _, b := range [][]byte{nil, []byte("something else that is long enough"), head(t)[:10]} {
		if _, err := frames.Play(bytes.NewReader(b), &quiet{}, nil); err == nil {
			t.Errorf("%q is a replay", b)
		}
	}
	damaged := append(head(t), 0, 0, 0, 6, 1, 2, 3, 4, 1, 0, 0, 0, 7, 3) // its checksum is wrong
	if _, err := frames.Play(bytes.NewReader(damaged), &quiet{}, nil); !errors.Is(err, frames.ErrCut) {
		t.Errorf("a wrong checksum: %v", err)
	}
}
