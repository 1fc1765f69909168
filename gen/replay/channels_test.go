package replay

import (
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/model"
)

const two = `protocol: two
messages:
  ASK: {id: 1}
  ANSWER: {id: 2}
  PING: {id: 1, channel: beside}
  PONG: {id: 2, channel: beside}
  BYE: {id: 3}
  DONE: {id: 4}
  QUERY: {id: 3, channel: beside}
  REPLY: {id: 4, channel: beside}
channels:
  stream: {wire: {header: [length: u8, type: u8], max: 2}}
  beside: {order: any, lossy: true, duplicates: true, full: lose, wire: {header: [type: u16], max: 2}}
roles:
  client:
    commands: {ask: {}, ping: {}, bye: {}, query: {}}
    initial: idle
    states:
      idle:
        ask: {send: ASK}
        ping: {send: PING}
        bye: {send: BYE}
        query: {send: QUERY}
        ignore: [ANSWER, PONG, DONE, REPLY]
  server:
    initial: open
    commands: {tell: {}}
    states:
      open:
        ASK: {send: ANSWER}
        PING: {send: PONG}
        BYE: {send: DONE}
        QUERY: {send: REPLY}
        tell: {send: PONG}
`

func twoChannels(t *testing.T) *model.Protocol {
	t.Helper()
	return protocolOf(t, two)
}

// TestChannels: each of two channels has its own order and losses, and one machine explains both.
func TestChannels(t *testing.T) {
	p := twoChannels(t)
	bytes := map[string]string{"ASK": "\x02\x01", "ANSWER": "\x02\x02", "PING": "\x00\x01", "PONG": "\x00\x02",
		"BYE": "\x02\x03", "DONE": "\x02\x04", "QUERY": "\x00\x03", "REPLY": "\x00\x04"}
	for _, tt := range []struct {
		said     string // by the client, or by the server in brackets
		accepted bool
	}{
		{"ASK PING [ANSWER] [PONG]", true},
		{"ASK PING [PONG] [ANSWER]", true}, // the datagram is sent later, and is there first
		{"PING QUERY [REPLY]", true},       // the first is lost
		{"ASK BYE [DONE]", false},          // a stream loses nothing
		{"PING ASK [ANSWER]", true},
		{"ASK [ANSWER] [ANSWER]", false},
		{"[ANSWER] ASK", false},
		{"[PONG] [PONG] ASK [ANSWER]", true},
	} {
		var chunks []Chunk
		for i, word := range strings.Fields(tt.said) {
			c := Chunk{Packet: i + 1}
			if strings.HasPrefix(word, "[") {
				c.From, word = 1, strings.Trim(word, "[]")
			}
			if c.Data = []byte(bytes[word]); c.Data[0] == 0 {
				c.Channel = 1
			}
			chunks = append(chunks, c)
		}
		// What is asked is asked to the end: a capture that stops may leave out an answer.
		chunks = append(chunks, Chunk{Packet: 90, Data: []byte(bytes["ASK"])},
			Chunk{From: 1, Packet: 91, Data: []byte(bytes["ANSWER"])})
		rec := Split(p, chunks, false, true)
		if rec.Fault != nil {
			t.Fatal(tt.said, rec.Fault)
		}
		for side, role := range p.Roles {
			s, err := Explain(t.Context(), rec, side, []*model.Machine{role}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if want := tt.accepted || side == 0; s.Accepted != want {
				t.Errorf("%s: the %s's side is accepted: %t", tt.said, role.Name, s.Accepted)
			}
		}
	}
}

// TestFaultOfChannel: bytes that are no frame of their channel end the recording, and the fault says which it is.
func TestFaultOfChannel(t *testing.T) {
	p := twoChannels(t)
	for _, tt := range []struct {
		channel int
		data    string
		fault   bool
	}{{0, "\x02\x01", false}, {1, "\x00\x01", false}, {0, "\x00\x01", true}, {1, "\x02\x01", true}} {
		rec := Split(p, []Chunk{{Packet: 1, Data: []byte("\x02\x01")}, {Packet: 2, Channel: tt.channel,
			Data: []byte(tt.data)}}, false, true)
		got := rec.Fault != nil
		if got != tt.fault || got && (rec.Fault.Channel != tt.channel || len(rec.Frames) != 1) {
			t.Errorf("% x over channel %d: %+v", tt.data, tt.channel, rec.Fault)
		}
	}
}
