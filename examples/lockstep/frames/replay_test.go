package frames_test

import (
	"bytes"
	"errors"
	"testing"
	"testing/synctest"
	"time"

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

// narrow has room for so many bytes.
type narrow struct {
	bytes.Buffer
	room int
}

var errFull = errors.New("full")

func (n *narrow) Write(b []byte) (int, error) {
	m := min(len(b), n.room-n.Len())
	n.Buffer.Write(b[:m])
	if m < len(b) {
		return m, errFull
	}
	return m, nil
}

// TestNoRoom: a game goes on when its recordings are full, those who record are told once, and what was written until
// then can be played.
func TestNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files, told := []*narrow{{room: 500}, {room: 900}}, make([]int, 2)
		var recorders []*frames.Recorder
		for i, f := range files {
			r := recorder(t, f)
			r.OnError = func(err error) {
				if told[i]++; !errors.Is(err, errFull) {
					t.Error(err)
				}
			}
			recorders = append(recorders, r)
		}
		came := make(chan int, 8)
		tb := newTable(t, frames.ServerConfig{Seed: 7, Record: recorders[0],
			OnCame: func(_ string, slot int) { came <- slot }})
		a := tb.invite(frames.ClientConfig{Slot: 0, Record: recorders[1]})
		<-came
		b := tb.meet(came, 1)[0]
		time.Sleep(time.Minute)
		synctest.Wait()
		same(t, 250, a.world, b.world)
		for i, f := range files {
			w := &world{}
			p, err := frames.Play(&f.Buffer, w, nil)
			if !errors.Is(err, frames.ErrCut) || p.Turns < 3 || p.Turns > 30 {
				t.Errorf("recording %d: %d turns, %v", i, p.Turns, err)
			}
			same(t, 3, a.world, w)
			if told[i] != 1 {
				t.Errorf("it was told %d times that recording %d is full", told[i], i)
			}
		}
	})
}
