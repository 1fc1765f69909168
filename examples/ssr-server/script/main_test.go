package main

import (
	"bytes"
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestUsage: what can be wrong with the command line is said before anything is served, with exit code 2.
func TestUsage(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ended, end := context.WithCancel(t.Context())
	end()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute) // ends a test that would hang
	defer stop()
	folder := t.TempDir()
	for _, c := range []struct{ flags, says string }{
		{"-listen " + l.Addr().String(), "address already in use"},
		{"-path servers", "-path"},
		{"-path /where", "-path"},
		{"-path /a?b", "-path"},
		{"-page " + filepath.Join(folder, "none"), "-page"},
		{"-page " + folder, "-page"},
		{"-list " + filepath.Join(folder, "no", "list"), "-list"},
		{"-list " + folder, "-list"},
		{"-nonsense", "nonsense"},
	} {
		args := strings.Fields(c.flags)
		if args[0] != "-listen" {
			args = append(args, "-listen", "127.0.0.1:0")
		}
		var out, errs bytes.Buffer
		code := run(ctx, args, &out, &errs)
		if code != 2 || !strings.Contains(errs.String(), c.says) || out.Len() > 0 {
			t.Errorf("%s: exit code %d, %q, %q", c.flags, code, &out, &errs)
		}
	}
	var out, errs bytes.Buffer
	if code := run(ended, []string{"-listen", "127.0.0.1:0"}, &out, &errs); code != 0 || errs.Len() > 0 {
		t.Errorf("interrupted: exit code %d, %q", code, &errs)
	}
}
