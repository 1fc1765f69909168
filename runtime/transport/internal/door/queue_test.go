package door

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// drain takes everything out and returns it by sender.
func drain(q *Queue[string, int]) (all []string) {
	for v, frame, ok := q.Take(); ok; v, frame, ok = q.Take() {
		all = append(all, fmt.Sprint(v, " ", string(frame)))
	}
	return all
}

// A sender that fills the queue loses its own frames; those of the others come, in turns.
func TestQueueIsFair(t *testing.T) {
	q, lost := NewQueue[string, int](8), 0
	for n := range 100 {
		if !q.Put("loud", n, []byte("noise")) {
			lost++
		}
	}
	if lost != 92 {
		t.Fatalf("%d of the loud one's are lost, want 92", lost)
	}
	for n := range 3 {
		q.Put("quiet", 1000+n, []byte("word")) // each displaces one of the loud one
	}
	q.News("quiet", 2000)
	got := drain(q)
	want := []string{"3 noise", "1000 word", "4 noise", "1001 word", "5 noise", "1002 word", "6 noise", "2000 ",
		"7 noise"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if !q.Empty() || q.frames != 0 || q.active != 0 || len(q.lines) != 0 {
		t.Errorf("not empty: %+v", q)
	}
}

// News is never lost, and stays behind the frames that came before it.
func TestQueueKeepsNews(t *testing.T) {
	q := NewQueue[string, int](4)
	q.News("a", -1)
	for n := range 10 {
		q.Put("a", n, []byte("x"))
	}
	q.News("a", -2)
	for n := range 3 {
		q.Put("b", 100+n, []byte("y"))
	}
	first, last := false, false
	for v, _, ok := q.Take(); ok; v, _, ok = q.Take() {
		switch {
		case v == -1:
			first = true
		case v == -2:
			last = true
		case v < 100 && (!first || last):
			t.Errorf("%d comes at the wrong time", v)
		}
	}
	if !first || !last {
		t.Error("news was lost")
	}
}

// Whatever is put and taken: each sender's order is kept, no share is smaller than it may be, and
// the queue never holds more than its limit.
func TestQueueAtRandom(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		limit := 4 + r.IntN(30)
		q := NewQueue[int, [2]int](limit)
		last, held, put := [5]int{}, [5]int{}, 0
		for step := range 2000 {
			who := r.IntN(5) * r.IntN(2) // half of all are of 0
			if r.IntN(3) > 0 {
				put++
				q.Put(who, [2]int{who, put}, []byte{byte(put)})
			} else if v, frame, ok := q.Take(); ok {
				if v[1] <= last[v[0]] || frame[0] != byte(v[1]) {
					t.Fatalf("seed %d, step %d: %v after %d, frame %v", seed, step, v, last[v[0]], frame)
				}
				last[v[0]] = v[1]
			} else if !q.Empty() {
				t.Fatal("nothing to take, and not empty")
			}
			clear(held[:])
			sum := 0
			for l := range q.ring {
				held[l.key] = l.frames
				sum += l.frames
			}
			if sum != q.frames || sum > limit || sum != q.Len() {
				t.Fatalf("seed %d, step %d: %d frames, %d counted, limit %d", seed, step, sum, q.frames, limit)
			}
		}
	}
}

// BenchmarkQueue is what a frame costs that goes through a queue.
func BenchmarkQueue(b *testing.B) {
	q, frame := NewQueue[int, int](1024), make([]byte, 100)
	for b.Loop() {
		for n := range 32 {
			q.Put(n&3, n, frame)
		}
		for range 32 {
			q.Take()
		}
	}
}
