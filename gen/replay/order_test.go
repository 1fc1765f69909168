package replay

import (
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/model"
	"pgregory.net/rapid"
)

const unordered = `protocol: unordered
messages:
  ONE: {id: 1}
  TWO: {id: 2}
  DONE: {id: 3}
  SET: {id: 1, channel: beside}
  GO: {id: 2, channel: beside}
  FIRST: {id: 3, channel: beside}
  SECOND: {id: 4, channel: beside}
channels:
  stream: {wire: {header: [length: u8, type: u8], max: 2}}
  beside: {order: ORDER, lossy: true, wire: {header: [type: u16], max: 2}}
roles:
  client:
    commands: {one: {}, two: {}, set: {}, go: {}}
    initial: idle
    states:
      idle:
        one: {send: ONE}
        two: {send: TWO}
        set: {send: SET}
        go: {send: GO}
        ignore: [DONE, FIRST, SECOND]
  server:
    initial: open
    states:
      open:
        ONE: {send: FIRST}
        TWO: {send: SECOND}
        SET: {goto: ready}
        GO: {}
      ready:
        ONE: {send: FIRST}
        TWO: {send: SECOND}
        SET: {}
        GO: {send: DONE, goto: open}
`

// TestOvertaken: in a channel that keeps no order a frame may have overtaken others, on its way to the machine and
// before it was captured, if it is near enough; in one that keeps order it has not.
func TestOvertaken(t *testing.T) {
	bytes := map[string]string{"ONE": "\x02\x01", "TWO": "\x02\x02", "DONE": "\x02\x03", "SET": "\x00\x01",
		"GO": "\x00\x02", "FIRST": "\x00\x03", "SECOND": "\x00\x04"}
	far := strings.Repeat("SET ", window)
	for order, protocol := range map[string]*model.Protocol{"any": ordered(t, "any"), "fifo": ordered(t, "fifo")} {
		for _, tt := range []struct {
			said         string // by the client, or by the server in brackets
			any, inOrder bool
		}{
			{said: "SET GO [DONE]", any: true, inOrder: true},
			{said: "GO SET [DONE]", any: true},
			{said: "GO [DONE] SET"}, // it comes after its effect
			{said: "GO GO SET SET [DONE] [DONE]", any: true},
			{said: "ONE TWO [FIRST] [SECOND]", any: true, inOrder: true},
			{said: "ONE TWO [SECOND] [FIRST]", any: true},
			{said: "ONE [SECOND] TWO [FIRST]"},
			{said: "ONE TWO [SECOND] [SECOND]"},
			{said: "TWO TWO ONE [FIRST] [SECOND]"}, // one was sent, not two
			{said: "GO " + far + "[DONE]", any: true},
			{said: "ONE TWO GO SET [SECOND] [DONE] [FIRST]", any: true},
		} {
			var chunks []Chunk
			for i, word := range strings.Fields(tt.said + " ONE [FIRST]") {
				c := Chunk{Packet: i + 1}
				if strings.HasPrefix(word, "[") {
					c.From, word = 1, strings.Trim(word, "[]")
				}
				if c.Data = []byte(bytes[word]); c.Data[0] == 0 {
					c.Channel = 1
				}
				chunks = append(chunks, c)
			}
			rec := Split(protocol, chunks, false, true)
			if rec.Fault != nil {
				t.Fatal(tt.said, rec.Fault)
			}
			s, err := Explain(t.Context(), rec, 1, protocol.Roles[1:], Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := tt.any
			if order == "fifo" {
				want = tt.inOrder
			}
			if s.Accepted != want {
				t.Errorf("order %s, %s: accepted: %t", order, tt.said, s.Accepted)
			}
		}
	}
}

// TestKeySeesOvertaking: two nodes at which different frames have overtaken others are two.
func TestKeySeesOvertaking(t *testing.T) {
	s := &search{lanes: make([]lane, 2)}
	keys := map[[16]byte]bool{}
	for _, take := range [][]int{{}, {1}, {2}, {1, 2}, {0}} {
		var read, sent node
		for _, k := range take {
			read.read.take(1, k)
			sent.sent.take(1, k)
		}
		keys[s.key(&read)], keys[s.key(&sent)] = true, true
	}
	if len(keys) != 9 { // with nothing taken both are the same
		t.Errorf("%d keys of 9 nodes", len(keys))
	}
}

func ordered(t *testing.T, order string) *model.Protocol {
	t.Helper()
	return protocolOf(t, strings.ReplaceAll(unordered, "ORDER", order))
}

// TestProgress holds progress against a set.
func TestProgress(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p progress
		set, first := map[int]bool{}, 0
		for range rapid.IntRange(0, 60).Draw(t, "frames") {
			k := first + rapid.IntRange(0, window).Draw(t, "k")
			if p.has(3, k) != set[k] {
				t.Fatalf("frame %d of %v: %v", k, set, p)
			}
			if set[k] {
				continue
			}
			p.take(3, k)
			for set[k] = true; set[first]; first++ {
			}
			if int(p.first[3]) != first || p.sum() != len(set) {
				t.Fatalf("%d of %v from %d: %v", p.sum(), set, first, p)
			}
		}
	})
}
