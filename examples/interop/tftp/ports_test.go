package tftp

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// What the packets of a server begin with, and what a client answers.
const (
	rrq, data, ack, failure = 1, 3, 4, 5
	unknownPort             = 5 // error code
)

// TestPorts: a server that answers a request from two ports, neither of which was asked. The client takes all
// from the one that was heard first, and tells the other that it is not meant. It needs no other program.
func TestPorts(t *testing.T) {
	ctx := within(t)
	listener, first, second := socket(t), socket(t), socket(t)
	got := make(chan error, 1)
	var file bytes.Buffer
	go func() { got <- Get(ctx, dial(t, listener.LocalAddr().String()), "f", &file) }()
	request := make([]byte, 1024)
	_, client, err := listener.ReadFrom(request)
	if err != nil || binary.BigEndian.Uint16(request) != rrq {
		t.Fatalf("the client asks %q, %v", request[:16], err)
	}
	right, wrong := bytes.Repeat([]byte{'r'}, blockSize), bytes.Repeat([]byte{'w'}, blockSize)
	if kind, n := answer(ctx, t, first, client, packet(right, 1)); kind != ack || n != 1 {
		t.Fatalf("to the first port the client says %d %d", kind, n)
	}
	if kind, n := answer(ctx, t, second, client, packet(wrong, 1)); kind != failure || n != unknownPort {
		t.Errorf("to the second port the client says %d %d", kind, n)
	}
	if kind, n := answer(ctx, t, second, client, packet([]byte("w"), 2)); kind != failure || n != unknownPort {
		t.Errorf("to the second port the client then says %d %d", kind, n)
	}
	for kind, n := ack, 1; kind != ack || n != 2; { // what it said again of block 1 may come before
		kind, n = answer(ctx, t, first, client, packet([]byte("r"), 2))
	}
	if err := <-got; err != nil || !bytes.Equal(file.Bytes(), append(right, 'r')) {
		t.Errorf("%d bytes have come, %v", file.Len(), err)
	}
}

// socket opens a port on this computer.
func socket(t *testing.T) net.PacketConn {
	t.Helper()
	s, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// packet is a packet with a block of the file.
func packet(bytes []byte, number uint16) []byte {
	return append(binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, data), number), bytes...)
}

// answer says a packet until the client answers, and returns the kind of the answer and its number.
func answer(ctx context.Context, t *testing.T, s net.PacketConn, client net.Addr, say []byte) (kind, number int) {
	t.Helper()
	buf := make([]byte, 1024)
	for ctx.Err() == nil {
		if _, err := s.WriteTo(say, client); err != nil {
			t.Fatal(err)
		}
		s.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
		n, _, err := s.ReadFrom(buf)
		switch {
		case err == nil && n >= 4:
			return int(binary.BigEndian.Uint16(buf)), int(binary.BigEndian.Uint16(buf[2:]))
		case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
			t.Fatal(err)
		}
	}
	t.Fatal("the client says nothing")
	return 0, 0
}
