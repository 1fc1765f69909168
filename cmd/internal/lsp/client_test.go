package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/parley-go/parley/cmd/internal/lsp/source"
)

// client is the other side of a session, over real pipes.
type client struct {
	t      *testing.T
	out    io.WriteCloser
	in     *bufio.Reader
	id     int
	err    chan error
	texts  map[string]string
	latest map[string]publishParams
}

// start begins a session in a folder.
func start(t *testing.T, folder string) *client {
	t.Helper()
	c := dial(t)
	result := c.call("initialize", map[string]any{"rootUri": "file://" + folder,
		"capabilities": map[string]any{}})
	if !strings.Contains(string(result), `"renameProvider"`) {
		t.Fatalf("initialize answers %s", result)
	}
	c.notify("initialized", map[string]any{})
	return c
}

func dial(t *testing.T) *client {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t: t, out: inW, in: bufio.NewReader(outR), err: make(chan error, 1),
		texts: map[string]string{}, latest: map[string]publishParams{}}
	go func() {
		c.err <- Serve(context.Background(), inR, outW, Options{})
		outW.Close()
		inR.Close()
	}()
	t.Cleanup(func() { inW.Close(); outR.Close() })
	return c
}

func (c *client) write(v any) {
	c.t.Helper()
	if err := writeFrame(c.out, v); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) notify(method string, params any) {
	c.t.Helper()
	c.write(notification{"2.0", method, params})
}

// reply is any message of the server.
type reply struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`
}

func (c *client) read() reply {
	c.t.Helper()
	body, err := readFrame(c.in)
	if err != nil {
		c.t.Fatalf("the server's stream ends: %v", err)
	}
	var r reply
	if err := json.Unmarshal(body, &r); err != nil {
		c.t.Fatal(err)
	}
	if r.Method == "textDocument/publishDiagnostics" {
		var p publishParams
		if err := json.Unmarshal(r.Params, &p); err != nil {
			c.t.Fatal(err)
		}
		c.latest[p.URI] = p
	}
	return r
}

// try sends a request and waits for its answer.
func (c *client) try(method string, params any) reply {
	c.t.Helper()
	c.id++
	c.write(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	for {
		if r := c.read(); string(r.ID) == fmt.Sprint(c.id) {
			return r
		}
	}
}

func (c *client) call(method string, params any) json.RawMessage {
	c.t.Helper()
	r := c.try(method, params)
	if r.Error != nil {
		c.t.Fatalf("%s: %s", method, r.Error.Message)
	}
	return r.Result
}

func uri(file string) string { return "file://" + filepath.ToSlash(file) }

// open shows a file to the server and returns what it has to say.
func (c *client) open(file, text string) publishParams {
	c.t.Helper()
	c.texts[file] = text
	c.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri(file),
		"languageId": "yaml", "version": 1, "text": text}})
	return c.said(file, 1)
}

// said waits for the diagnostics of a version.
func (c *client) said(file string, version int) publishParams {
	c.t.Helper()
	for {
		if p, ok := c.latest[uri(file)]; ok && p.Version != nil && *p.Version == version {
			return p
		}
		c.read()
	}
}

func (c *client) change(file string, version int, text string) publishParams {
	c.t.Helper()
	c.texts[file] = text
	c.notify("textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": uri(file), "version": version},
		"contentChanges": []any{map[string]any{"text": text}}})
	return c.said(file, version)
}

// at finds the first place of a text in an open file and puts the position before the `|` in it.
func (c *client) at(file, pattern string) map[string]any {
	c.t.Helper()
	plain := strings.Replace(pattern, "|", "", 1)
	i := strings.Index(c.texts[file], plain)
	if i < 0 {
		c.t.Fatalf("%s has no %q", file, plain)
	}
	i += strings.Index(pattern, "|")
	before := c.texts[file][:i]
	line := strings.Count(before, "\n")
	col := len(utf16.Encode([]rune(before[strings.LastIndexByte(before, '\n')+1:])))
	return map[string]any{"textDocument": map[string]any{"uri": uri(file)},
		"position": map[string]any{"line": line, "character": col}}
}

func (c *client) hover(file, pattern string) string {
	c.t.Helper()
	var h hover
	if err := json.Unmarshal(c.call("textDocument/hover", c.at(file, pattern)), &h); err != nil {
		c.t.Fatal(err)
	}
	return h.Contents.Value
}

// places asks for locations and renders them as base:line:col text.
func (c *client) places(method, file, pattern string) []string {
	c.t.Helper()
	p := c.at(file, pattern)
	p["context"] = map[string]any{"includeDeclaration": true}
	var ls []location
	if err := json.Unmarshal(c.call(method, p), &ls); err != nil {
		c.t.Fatal(err)
	}
	var out []string
	for _, l := range ls {
		out = append(out, fmt.Sprintf("%s:%d:%d", filepath.Base(l.URI), l.Range.Start.Line+1,
			l.Range.Start.Character+1))
	}
	return out
}

// labels completes where the text has the pattern.
func (c *client) labels(file, pattern string) []string {
	c.t.Helper()
	var l completionList
	raw := c.call("textDocument/completion", c.at(file, pattern))
	if strings.Contains(string(raw), source.Marker[:4]) {
		c.t.Errorf("behind %s the marker of the search is shown: %s", pattern, raw)
	}
	if err := json.Unmarshal(raw, &l); err != nil {
		c.t.Fatal(err)
	}
	var out []string
	for _, it := range l.Items {
		out = append(out, it.Label)
	}
	return out
}

// end closes the session in the regular way.
func (c *client) end() {
	c.t.Helper()
	c.call("shutdown", nil)
	c.notify("exit", nil)
	if err := <-c.err; err != nil {
		c.t.Errorf("after a shutdown the session ends with %v", err)
	}
}

// copySpecs copies specifications into a folder of the test's own.
func copySpecs(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, n := range names {
		if err := os.CopyFS(filepath.Join(dir, n), os.DirFS(filepath.Join("../../../specs", n))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func text(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// applyEdit applies a client's edit to texts, as an editor does.
func applyEdit(t *testing.T, texts map[string]string, edit workspaceEdit) {
	t.Helper()
	for u, edits := range edit.Changes {
		file := strings.TrimPrefix(u, "file://")
		lines := strings.SplitAfter(texts[file], "\n")
		start := func(p position) int {
			off := 0
			for _, l := range lines[:p.Line] {
				off += len(l)
			}
			if p.Line < len(lines) {
				off += byteColumn(lines[p.Line], p.Character)
			}
			return off
		}
		for i := len(edits) - 1; i >= 0; i-- {
			e := edits[i]
			texts[file] = texts[file][:start(e.Range.Start)] + e.NewText + texts[file][start(e.Range.End):]
		}
	}
}
