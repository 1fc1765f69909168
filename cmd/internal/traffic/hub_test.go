package traffic

import (
	"strings"
	"testing"
)

// score: a client puts a number, and the server tells both clients what both have put, and whose the last one was.
const score = `
protocol: score
parties: 3
channel: {order: fifo, capacity: 2}
types: {N: 0..9}
wire: {header: [length: u8, type: u8], max: 8}
messages:
  PUT: {id: 1, fields: {n: N}, wire: [n: u8]}
  ALL: {id: 2, fields: {last: instance, one: N, two: N}, wire: [last: u8, one: u8, two: u8]}
roles:
  server:
    vars: {n: {array: instance, of: N}}
    initial: up
    states:
      up:
        PUT: {set: {"n[sender]": msg.n}, send: "ALL{last: sender, one: n[1], two: n[2]}", to: sender}
  client:
    commands: {put: {fields: {n: N}}}
    initial: here
    states:
      here:
        put: {send: "PUT{n}", to: 0, goto: waits}
      waits:
        ALL: {when: last == self, goto: here}
checks:
  two: {instances: {server: server, "c[1..2]": client}, quiet: "true"}
`

// TestHub: a server that speaks with several clients is explained by all of them together. In what is said, 1 and 2 are
// clients, p5 is what one puts, and a151 the answer: the last, and what both have put.
func TestHub(t *testing.T) {
	t.Parallel()
	p := protocolOf(t, score)
	for said, want := range map[string][]string{
		"1p5 1a150 2p7 2a257 1p6 1a167": {"accepted", "client 1 is 10.0.0.1:4000, client 2 is 10.0.0.2:4000",
			"server as server: a run, 3 sent and 3 received frames in"},
		"1p5 2p7 2a257 1a157":     {"rejected", "server as server: NOT a run"}, // in the order of what they put
		"1p5 1a150 2p7 2a267":     {"rejected", "from the server: ALL{last: 2, one: 6, two: 7}", "not in the capture"},
		"1p5 1a157":               {"incomplete", "the capture has one client of 10.0.0.9:7000"},
		"1p5 1a150 1p6 1a160":     {"accepted", "10.0.0.9:7000 with 1 client: client 1 is 10.0.0.1:4000"},
		"1p5 1a150 2p7 2a257 1?9": {"rejected", "no message has type 0"},
	} {
		w := newPackets()
		for _, who := range "12" {
			if strings.ContainsRune(said, who) {
				w.opens("10.0.0."+string(who)+":4000", "10.0.0.9:7000")
			}
		}
		for x := range strings.FieldsSeq(said) {
			from, to := "10.0.0."+x[:1]+":4000", "10.0.0.9:7000"
			frame := []byte{byte(len(x)), byte(strings.IndexByte("?pa", x[1]))}
			if x[1] == 'a' {
				from, to = to, from
			}
			for _, digit := range x[2:] {
				frame = append(frame, byte(digit-'0'))
			}
			w.send("tcp", from, to, frame, 0)
		}
		w.told(t, p, said, want)
	}
}

// TestSentAgain: what a machine may have sent again by itself is not told as a copy of the network, and what was
// captured in one order is not explained in another.
func TestSentAgain(t *testing.T) {
	t.Parallel()
	p := protocolOf(t, `
protocol: again
channel: {order: any, lossy: true, duplicates: true, capacity: 2, full: lose}
tick: 10ms
messages: {ASK: {id: 1, fields: {n: 0..9}, wire: [n: u8]}}
wire: {header: [type: u8], max: 8}
roles:
  client:
    timers: {again: {ticks: 1}}
    commands: {ask: , more: }
    initial: idle
    states:
      idle: {ask: {send: "ASK{n: 5}", start: again, goto: first}}
      first: {again: {send: "ASK{n: 5}", start: again}, more: {send: "ASK{n: 9}", goto: second}}
      second: {again: {send: "ASK{n: 9}"}}
  server: {initial: up, states: {up: {ASK: ignore}}}
`)
	w := newPackets()
	for _, n := range []byte{5, 5, 9} {
		w.send("udp", "10.0.0.1:4000", "10.0.0.2:7000", []byte{1, n}, 0)
	}
	text, _ := w.against(t, p, Options{})
	if !strings.Contains(text, "2. again  sends ASK{n: 5} (packet 2)") || strings.Contains(text, "copied") {
		t.Error(text)
	}
}

// TestFinalAnswers: a machine in a final state may go on answering, and its answers are explained.
func TestFinalAnswers(t *testing.T) {
	t.Parallel()
	p := protocolOf(t, strings.Replace(ask, "states: {up: {ASK", "states: {up: {final: true, ASK", 1))
	w := newPackets()
	for n := range byte(3) {
		w.send("udp", "10.0.0.1:4000", "10.0.0.2:7000", []byte{1, n}, 0)
		w.send("udp", "10.0.0.2:7000", "10.0.0.1:4000", []byte{2, n}, 0)
	}
	if text, r := w.against(t, p, Options{}); r == nil || !r.Accepted() {
		t.Error(text)
	}
}
