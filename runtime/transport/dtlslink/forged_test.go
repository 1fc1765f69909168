package dtlslink_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/dtlslink"
)

// Whatever datagram somebody forges with the address of an established peer, the session goes on, at
// either end: nothing that it needs can be made without its keys.
func TestForgedRecords(t *testing.T) {
	alice, bob := newPerson(t, "alice"), newPerson(t, "bob")
	record := func(kind, epoch byte, body ...byte) []byte {
		return append([]byte{kind, 254, 253, 0, epoch, 0, 0, 0, 0, 9, 9, 0, byte(len(body))}, body...)
	}
	finished := append([]byte{20, 0, 0, 12, 0, 9, 0, 0, 0, 0, 0, 12}, make([]byte, 12)...)
	sealed := bytes.Repeat([]byte{7}, 40)
	server := open(t)
	y := wrap(t, server, bob.server(alice.key))
	below := open(t, server.LocalAddr().String())
	x := wrap(t, below, alice.client(bob.key))
	expect(t, x, transport.PeerUp, "")
	expect(t, y, transport.PeerUp, "")
	clear := 0
	for _, forged := range []struct {
		name     string
		datagram []byte
		clear    bool // it has a record in the clear that no handshake has
	}{
		{"a fatal alert", record(21, 0, 2, 40), false},
		{"a close", record(21, 0, 1, 0), false},
		{"half an alert", record(21, 0, 2), false},
		{"application data", record(23, 0, 1, 2, 3), true},
		{"an unknown content", record(99, 0, 1, 2, 3), true},
		{"a connection ID", record(25, 0, 1, 2, 3), true},
		{"a change of the cipher", record(20, 0, 1), false},
		{"a broken change of the cipher", record(20, 0, 2), true},
		{"a long change of the cipher", record(20, 0, 1, 1), true},
		{"an empty handshake", record(22, 0), false},
		{"a broken handshake", record(22, 0, 20, 0, 0, 0), false},
		{"the end of a handshake", record(22, 0, finished...), false},
		{"application data behind that", slices.Concat(record(22, 0, finished...), record(23, 0, 1)), true},
		{"application data behind sealed", slices.Concat(record(23, 1, sealed...), record(23, 0, 1)), true},
		{"a request for a hello", record(22, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0), false},
		{"sealed data", record(23, 1, sealed...), false},
		{"a sealed alert", record(21, 1, sealed...), false},
		{"a sealed handshake", record(22, 1, sealed...), false},
		{"a sealed change of the cipher", record(20, 1, 1), false},
		{"a sealed connection ID", record(25, 1, sealed...), false},
		{"a sealed unknown content", record(99, 1, sealed...), false},
		{"too little sealed", record(23, 1, 7), false},
		{"a later epoch", record(23, 2, sealed...), false},
		{"a record that is cut off", record(23, 0, 1, 2, 3)[:15], false},
		{"junk", []byte("junk"), false},
	} {
		t.Log(forged.name)
		for _, l := range []transport.Link{below, server} {
			if err := errors.Join(l.Send(0, forged.datagram), l.Flush()); err != nil {
				t.Fatal(err)
			}
		}
		say(t, x, "two")
		expect(t, y, transport.Data, "two")
		say(t, y, "three")
		expect(t, x, transport.Data, "three")
		if forged.clear {
			clear++
		}
		for _, l := range []interface {
			Stats() (dtlslink.Stats, error)
		}{x, y} {
			if s, _ := l.Stats(); int(s.Clear) != clear {
				t.Fatalf("%d datagrams have records in the clear, want %d", s.Clear, clear)
			}
		}
	}
}
