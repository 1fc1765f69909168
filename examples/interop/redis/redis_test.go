// Package redis holds the client of specs/library/resp against a real Redis.
package redis

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parley-go/parley/machines/resp"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/play"
)

// limit is how long the test waits for anything at all, on a computer that may stand still.
const limit = 60 * time.Second

// start runs a Redis of our own until the test ends, and returns its address.
func start(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("redis-server is not installed here")
	}
	for range 5 { // somebody may take the free port before Redis does
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := l.Addr().String()
		l.Close()
		var out bytes.Buffer
		c := exec.Command(path, "--bind", "127.0.0.1", "--port", address[strings.LastIndex(address, ":")+1:],
			"--save", "", "--appendonly", "no", "--dir", t.TempDir())
		c.Stdout, c.Stderr = &out, &out
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			_ = c.Wait() // how it ends says nothing: we end it
			close(ended)
		}()
		t.Cleanup(func() {
			_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // it may have ended
			<-ended
		})
		if ready(address, ended) {
			return address
		}
		t.Logf("Redis does not listen on %s:\n%s", address, out.String())
	}
	t.Fatal("Redis has not begun to listen")
	return ""
}

// ready waits until somebody listens at an address.
func ready(address string, ended <-chan struct{}) bool {
	deadline := time.After(limit)
	for {
		if c, err := net.Dial("tcp4", address); err == nil {
			c.Close()
			return true
		}
		select {
		case <-ended:
			return false
		case <-deadline:
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func command(words ...string) (args resp.Args) {
	for _, word := range words {
		args.Items[args.Len].Len = uint16(copy(args.Items[args.Len].Data[:], word))
		args.Len++
	}
	return args
}

// TestRedis: commands go out one after the other, and their answers come back in this order, of each kind that there
// is, nested ones too.
func TestRedis(t *testing.T) {
	address := start(t)
	answers := make(chan string, 16)
	h := &resp.ClientHandlers{Answered: func(a resp.ClientAnsweredReport) { answers <- said(a) }}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	s, err := play.Dial(ctx, "tcp", address, resp.NewClientRunner(), h, play.Options{Handshake: limit})
	if err != nil {
		t.Fatal(err)
	}
	binary := "a\r\n$3\r\n\x00\xff"
	asked := [][]string{
		{"PING"}, {"SET", "k", binary}, {"GET", "k"},
		{"GET", "nothing"}, {"INCR", "n"}, {"DECRBY", "n", "1000"},
		{"SET", "n", "9223372036854775807"}, {"INCRBY", "n", "-1"}, {"NOSUCH"},
		{"EVAL", "return {1, {2, 'b', {err = 'bad'}}, false, {}}", "0"}, {"BLPOP", "empty", "0.01"},
		{"RPUSH", "l", "x", "y"},
	}
	want := []string{"simple PONG", "simple OK", `bulk "a\r\n$3\r\n\x00\xff"`, "absent", "integer 1", "integer -999", "simple OK", "integer 9223372036854775806",
		"error ERR unknown command", `array [integer 1, array [integer 2, bulk "b", error bad], absent, array []]`,
		"noArray", "integer 2"}
	const pipeline = 3
	for from := 0; from < len(asked); from += pipeline {
		for _, words := range asked[from : from+pipeline] {
			if err := s.Give(func(r *resp.ClientRunner) fsm.Result { return r.Ask(command(words...)) }); err != nil {
				t.Fatal(words, err)
			}
		}
		for i := range pipeline {
			select {
			case got := <-answers:
				if !strings.HasPrefix(got, want[from+i]) {
					t.Errorf("%q is answered by %s, not %s", asked[from+i], got, want[from+i])
				}
			case <-s.Done():
				t.Fatal(asked[from+i], s.Wait())
			case <-ctx.Done():
				t.Fatalf("no answer to %q", asked[from+i])
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// said writes an answer as the test wants it.
func said(a resp.ClientAnsweredReport) string {
	switch a.Kind {
	case resp.KindArray:
		var list []string
		for i := range a.Array.Value.Items[:a.Array.Value.Len] {
			b := &a.Array.Value.Items[i]
			if b.Kind != resp.KindArray {
				list = append(list, one(b.Kind.String(), b.Line, b.Number, b.Bulk))
				continue
			}
			var inner []string
			for k := range b.Array.Value.Items[:b.Array.Value.Len] {
				l := &b.Array.Value.Items[k]
				inner = append(inner, one(l.Kind.String(), l.Line, l.Number, l.Bulk))
			}
			list = append(list, "array ["+strings.Join(inner, ", ")+"]")
		}
		return "array [" + strings.Join(list, ", ") + "]"
	}
	return one(a.Kind.String(), a.Line, a.Number, a.Bulk)
}

func one(kind string, line resp.Optional[resp.Line], number resp.Optional[resp.Number],
	bulk resp.Optional[resp.Bulk]) string {
	switch {
	case line.Present:
		return kind + " " + line.Value.String()
	case number.Present:
		return fmt.Sprint(kind, " ", int64(number.Value))
	case bulk.Present:
		return fmt.Sprintf("%s %q", kind, bulk.Value.String())
	}
	return kind
}
