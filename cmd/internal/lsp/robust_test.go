package lsp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/parse"
)

// TestRules: what a client may not do gets an error, and the session goes on.
func TestRules(t *testing.T) {
	c := dial(t)
	if r := c.try("textDocument/hover", map[string]any{}); r.Error == nil || r.Error.Code != notInitialized {
		t.Errorf("before initialize: %+v", r)
	}
	c.call("initialize", map[string]any{})
	for method, code := range map[string]int{"no/such": unknownMethod, "textDocument/hover": invalidParams} {
		if r := c.try(method,
			map[string]any{"textDocument": map[string]any{"uri": "file:///not/open"}}); r.Error == nil ||
			r.Error.Code != code {
			t.Errorf("%s: %+v", method, r)
		}
	}
	if r := c.try("textDocument/hover", []int{1}); r.Error == nil || r.Error.Code != invalidParams {
		t.Errorf("parameters of the wrong form: %+v", r)
	}
	for _, body := range []string{"not json", "[]", `{"id":`, `"text"`} {
		fmt.Fprintf(c.out, "Content-Length: %d\r\n\r\n%s", len(body), body)
		if r := c.read(); r.Error == nil || r.Error.Code != parseError {
			t.Errorf("%s: %+v", body, r)
		}
	}
	c.write(map[string]any{"jsonrpc": "2.0"}) // nothing at all
	c.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": "file:///not/open"}})
	c.notify("textDocument/didOpen", 7)
	c.notify("no/such", nil)
	c.call("shutdown", nil)
	if r := c.try("textDocument/hover", map[string]any{}); r.Error == nil || r.Error.Code != invalidRequest {
		t.Errorf("after shutdown: %+v", r)
	}
	c.notify("exit", nil)
	if err := <-c.err; err != nil {
		t.Error(err)
	}
}

// TestFilesOnDisk: a change of a file that is not open is noticed in one that extends it.
func TestFilesOnDisk(t *testing.T) {
	dir := copySpecs(t, "confirm")
	base, coded := filepath.Join(dir, "confirm/spec.yaml"), filepath.Join(dir, "confirm/coded.yaml")
	c := dial(t)
	c.call("initialize",
		map[string]any{"capabilities": map[string]any{
			"workspace": map[string]any{"didChangeWatchedFiles": map[string]any{"dynamicRegistration": true}}}})
	c.notify("initialized", map[string]any{})
	r := c.read()
	if r.Method != "client/registerCapability" {
		t.Fatalf("after initialized: %+v", r)
	}
	c.write(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(r.ID), "result": nil})
	if p := c.open(coded, text(t, coded)); len(p.Diagnostics) != 0 {
		t.Fatalf("%+v", p.Diagnostics)
	}
	whole := text(t, base)
	if err := os.WriteFile(base, []byte(strings.Replace(whole, "goto: remoteOk", "goto: remotOk", 1)),
		0o600); err != nil {
		t.Fatal(err)
	}
	delete(c.latest, uri(coded))
	c.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{}})
	p := c.said(coded, 1)
	if len(p.Diagnostics) != 1 || !strings.HasPrefix(p.Diagnostics[0].Message, "spec.yaml: there is no state") ||
		p.Diagnostics[0].Range.Start.Line != 5 || p.Diagnostics[0].Related[0].Location.URI != uri(base) {
		t.Errorf("a fault in the extended file is shown as %+v", p.Diagnostics)
	}
	c.end()
}

func TestEndWithoutShutdown(t *testing.T) {
	c := start(t, t.TempDir())
	c.notify("exit", nil)
	if err := <-c.err; !errors.Is(err, ErrNoShutdown) {
		t.Errorf("exit without shutdown gives %v", err)
	}
	c = start(t, t.TempDir())
	io.WriteString(c.out, "GET / HTTP/1.1\r\n\r\n")
	if err := <-c.err; err == nil || !strings.Contains(err.Error(), "no header") {
		t.Errorf("a stream that is none gives %v", err)
	}
}

// TestCancel: a request that is cancelled while it waits is answered as cancelled, the next one as
// ever.
func TestCancel(t *testing.T) {
	s := newServer(io.Discard, Options{})
	var out bytes.Buffer
	s.out, s.ready = &out, true
	queue := make(chan incoming, 8)
	var in bytes.Buffer
	for _, v := range []any{
		map[string]any{"id": 1, "method": "textDocument/hover", "params": map[string]any{}},
		map[string]any{"id": "two", "method": "textDocument/hover", "params": map[string]any{}},
		map[string]any{"method": "$/cancelRequest", "params": map[string]any{"id": 1}},
		map[string]any{"method": "$/cancelRequest", "params": map[string]any{"id": 99}},
	} {
		if err := writeFrame(&in, v); err != nil {
			t.Fatal(err)
		}
	}
	s.read(context.Background(), bufio.NewReader(&in), queue)
	for range 3 {
		s.take(<-queue)
	}
	r := bufio.NewReader(&out)
	for _, want := range []int{cancelled, invalidParams} {
		body, err := readFrame(r)
		var got reply
		if err != nil || json.Unmarshal(body, &got) != nil || got.Error == nil || got.Error.Code != want {
			t.Errorf("%s is not %d", body, want)
		}
	}
	if len(s.waiting) != 0 {
		t.Errorf("%d requests are kept", len(s.waiting))
	}
}

// TestHalfWritten opens a specification cut off at many places and asks everything at the end.
func TestHalfWritten(t *testing.T) {
	whole := text(t, "../../../specs/battle-end/spec.yaml")
	file := filepath.Join(t.TempDir(), "spec.yaml")
	c := start(t, filepath.Dir(file))
	c.open(file, whole)
	version := 1
	for cut := 0; cut < len(whole); cut += len(whole)/60 + 1 {
		version++
		c.change(file, version, whole[:cut])
		for _, p := range c.latest[uri(file)].Diagnostics {
			if strings.Contains(p.Message, "failed") {
				t.Errorf("cut at %d: %s", cut, p.Message)
			}
		}
		line := strings.Count(whole[:cut], "\n")
		p := map[string]any{"textDocument": map[string]any{"uri": uri(file)},
			"position": map[string]any{"line": line, "character": 1000}, "newName": "x"}
		for method := range requests {
			if r := c.try(method, p); r.Error != nil && r.Error.Code == internalError {
				t.Errorf("cut at %d: %s: %s", cut, method, r.Error.Message)
			}
		}
	}
	c.end()
}

func TestHuge(t *testing.T) {
	file := filepath.Join(t.TempDir(), "spec.yaml")
	c := start(t, filepath.Dir(file))
	p := c.open(file, "protocol: huge\n"+strings.Repeat("# filler\n", parse.MaxBytes/9))
	if len(p.Diagnostics) != 1 || p.Diagnostics[0].Code != "FSM002" {
		t.Errorf("a text beyond the limit gives %+v", p.Diagnostics)
	}
	if got := c.call("textDocument/hover", c.at(file, "|protocol")); string(got) != "null" {
		t.Errorf("and its hover %s", got)
	}
	if p = c.change(file, 2, "protocol: [[[["); len(p.Diagnostics) != 1 || p.Diagnostics[0].Code != "FSM003" {
		t.Errorf("then: %+v", p.Diagnostics)
	}
	if p = c.change(file, 3, "services: {web: {image: nginx}}"); len(p.Diagnostics) != 0 {
		t.Errorf("a file that is no specification gives %+v", p.Diagnostics)
	}
	// A message that is too long as a whole is skipped.
	fmt.Fprintf(c.out, "Content-Length: %d\r\n\r\n", maxFrame+1)
	io.CopyN(c.out, zeros{}, maxFrame+1)
	if r := c.read(); r.Error == nil || r.Error.Code != invalidRequest {
		t.Errorf("a message of %d bytes gives %+v", maxFrame+1, r)
	}
	c.end()
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// TestColumns: bytes and UTF-16 units, both ways.
func TestColumns(t *testing.T) {
	const line = "aß🚀é\tz"
	for i := range line {
		if got := byteColumn(line, unitColumn(line, i)); got != i {
			t.Errorf("byte %d comes back as %d", i, got)
		}
	}
	if u := unitColumn(line, strings.Index(line, "z")); u != 6 {
		t.Errorf("z is at %d", u)
	}
	if b := byteColumn(line, 1000); b != len(line) {
		t.Errorf("behind the end is %d", b)
	}
}

func TestNames(t *testing.T) {
	s := newServer(io.Discard, Options{})
	for uri, name := range map[string]string{
		"file:///tmp/a%20b/s.yaml": "/tmp/a b/s.yaml", "file:///c:/x/s.yaml": "c:/x/s.yaml",
		"untitled:Untitled-1": "untitled:Untitled-1", "%zz": "%zz",
	} {
		if got := nameOf(uri); got != name {
			t.Errorf("%s is %s, not %s", uri, got, name)
		}
		if back := s.uriOf(name); strings.HasPrefix(uri, "file") && back != uri {
			t.Errorf("%s comes back as %s", uri, back)
		}
	}
}

// FuzzFrame reads whatever comes: no panic, no hang, no memory for what is only announced; what was
// written is read back.
func FuzzFrame(f *testing.F) {
	f.Add([]byte("Content-Length: 2\r\n\r\n{}"))
	f.Add([]byte("Content-Length: 999999999\r\n\r\nx"))
	f.Add([]byte("Content-Type: x\r\ncontent-length:3\n\nabcContent-Length: -1\r\n\r\n"))
	f.Add([]byte("\r\n\r\n:::"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bufio.NewReader(bytes.NewReader(data))
		read := 0
		for range len(data) + 1 {
			body, err := readFrame(r)
			if errors.Is(err, errTooLong) {
				continue
			}
			if err != nil {
				break
			}
			if read += len(body); read > len(data) {
				t.Fatalf("%d bytes from %d", read, len(data))
			}
		}
		var b bytes.Buffer
		if err := writeFrame(&b, string(data)); err != nil {
			t.Fatal(err)
		}
		body, err := readFrame(bufio.NewReader(&b))
		want, _ := json.Marshal(string(data))
		if err != nil || !bytes.Equal(body, want) {
			t.Fatalf("written %q, read %q, %v", want, body, err)
		}
	})
}
