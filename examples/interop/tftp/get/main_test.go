package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// TestGet: the program prints what a server has that answers from another port than the one asked, as tftpd does.
func TestGet(t *testing.T) {
	want := bytes.Repeat([]byte("parley "), 30) // one short block
	door, from := socket(t), socket(t)
	served := make(chan error, 1)
	go func() { served <- serve(door, from, want) }()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	stdout, args := os.Stdout, os.Args
	os.Stdout, os.Args = out, []string{"get", door.LocalAddr().String(), "file"}
	main()
	os.Stdout, os.Args = stdout, args
	if err := <-served; err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(out.Name()); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d, %v", len(got), len(want), err)
	}
}

func socket(t *testing.T) net.PacketConn {
	t.Helper()
	c, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// serve takes one request at door and answers with one block through from.
func serve(door, from net.PacketConn, block []byte) error {
	b := make([]byte, 600)
	n, client, err := door.ReadFrom(b)
	if err != nil || !bytes.HasPrefix(b[:n], []byte("\x00\x01file\x00octet\x00")) {
		return fmt.Errorf("the request: %q, %w", b[:n], err)
	}
	if _, err := from.WriteTo(append([]byte{0, 3, 0, 1}, block...), client); err != nil {
		return err
	}
	if n, _, err = from.ReadFrom(b); err != nil || !bytes.Equal(b[:n], []byte{0, 4, 0, 1}) {
		return fmt.Errorf("the acknowledgement: %q, %w", b[:n], err)
	}
	return nil
}
