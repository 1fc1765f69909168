package relay

import (
	"bytes"
	"testing"

	"github.com/parley-go/parley/examples/remote"
	"github.com/parley-go/parley/machines/events"
)

// Datagrams of all lengths arrive as they were, and what is not whole arrives not at all.
func TestTexts(t *testing.T) {
	var p pieces
	for size := 0; size <= longest; size++ {
		frame := make([]byte, size)
		for i := range frame {
			frame[i] = byte(i * 7)
		}
		list := texts(head{to: 3, at: 0x1234, from: 7, id: uint8(size)}, frame)
		for i := range list {
			h, part, ok := parse(&list[i])
			if !ok || h.to != 3 || h.at != 0x1234 || h.from != 7 {
				t.Fatalf("%d bytes, text %d: %+v, %v", size, i, h, ok)
			}
			got, whole := p.add(h, part)
			if whole != (i == len(list)-1) {
				t.Fatalf("%d bytes: whole after text %d of %d", size, i, len(list))
			}
			if whole && !bytes.Equal(got, frame) {
				t.Fatalf("%d bytes arrive as others", size)
			}
		}
	}
	long := make([]byte, 3*partLen)
	one, other := texts(head{id: 1}, long), texts(head{id: 2}, long)
	for _, c := range []struct {
		name  string
		order []events.Message
		whole int
	}{
		{"in order", []events.Message{one[0], one[1], one[2], other[0], other[1], other[2]}, 2},
		{"the first is missing", []events.Message{one[1], one[2], other[0], other[1], other[2]}, 1},
		{"one in the middle is missing", []events.Message{one[0], one[2], other[0], other[1], other[2]}, 1},
		{"the last is missing", []events.Message{one[0], one[1], other[0], other[1], other[2]}, 1},
		{"of two datagrams", []events.Message{one[0], other[1], one[2]}, 0},
		{"doubled", []events.Message{one[0], one[0], one[1], one[1], one[2]}, 0},
	} {
		var p pieces
		n := 0
		for i := range c.order {
			h, part, ok := parse(&c.order[i])
			if _, whole := p.add(h, part); ok && whole {
				n++
			}
		}
		if n != c.whole {
			t.Errorf("%s: %d datagrams arrive, not %d", c.name, n, c.whole)
		}
	}
	talk := remote.Text("Ann", "aGVsbG8gaGVsbG8")
	if _, _, ok := parse(&talk); ok {
		t.Error("talk is taken for a datagram")
	}
}

// Whatever somebody says, nothing grows and nothing fails.
func FuzzText(f *testing.F) {
	f.Add("* AAAAAAAAAA", "* AAAAAAAAEQ")
	f.Add("*", "* !")
	f.Fuzz(func(t *testing.T, a, b string) {
		var p pieces
		for _, s := range []string{a, b, a} {
			text, ok := events.NewText(s)
			if !ok {
				continue
			}
			m := events.Message{Kind: events.MessageSendText, SendText: events.SendTextMessage{Text: text}}
			if h, part, ok := parse(&m); ok {
				if got, whole := p.add(h, part); whole && len(got) > longest || len(p.frame) > longest {
					t.Errorf("%d bytes", len(got))
				}
			}
		}
	})
}
