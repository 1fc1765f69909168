package main

import (
	"bytes"
	"context"
	"net"
	"strings"
	"testing"
	"time"
)

// TestUsage: what can be wrong with the command line is said before anything is served, with exit code 2; who
// interrupts the program has ended it.
func TestUsage(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute) // ends a test that would hang
	defer stop()
	for _, c := range []struct{ flags, says string }{
		{"-listen " + l.Addr().String(), "another program of this computer has port"},
		{"-listen 127.0.0.1:99999", "99999"},
		{"-listen 127.0.0.1:0 -udp nowhere", "nowhere"},
		{"-listen 127.0.0.1:0 -handshake -1s", "-handshake"},
		{"-listen 127.0.0.1:0 -per-address -1", "-per-address"},
		{"-listen 127.0.0.1:0 -game " + strings.Repeat("x", 32), "-game"},
		{"-listen 127.0.0.1:0 -edition 4294967296", "-edition"},
		{"more", "more"},
	} {
		var out, errs bytes.Buffer
		code := run(ctx, strings.Fields(c.flags), &out, &errs)
		if code != 2 || !strings.Contains(errs.String(), c.says) || out.Len() > 0 {
			t.Errorf("%s: exit code %d, %q, %q", c.flags, code, &out, &errs)
		}
	}
	stop()
	var out, errs bytes.Buffer
	if code := run(ctx, []string{"-listen", "127.0.0.1:0"}, &out, &errs); code != 0 || errs.Len() > 0 {
		t.Errorf("interrupted: exit code %d, %q", code, &errs)
	}
}
