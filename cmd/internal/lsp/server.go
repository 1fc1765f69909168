// Package lsp is a language server for specifications: it speaks JSON-RPC over a pair of
// streams and answers from the compiler's own front end. It knows nothing of the
// checker or of generated code. Start from [Serve].
package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// Options choose how the server compiles.
type Options struct {
	// More has more to say about a protocol without errors; may be nil.
	More func(*model.Protocol) diag.List
}

// ErrNoShutdown means that the client went away without asking for a shutdown first.
var ErrNoShutdown = errors.New("the client ended the session without a shutdown")

// Serve answers one client until it says exit, the input ends, or ctx is done. It returns nil
// after a shutdown, [ErrNoShutdown] without one, or the error of a stream.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	s := newServer(out, o)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	queue := make(chan incoming, 64)
	go s.read(ctx, bufio.NewReader(in), queue)
	for {
		var m incoming
		select {
		case m = <-queue:
		case <-ctx.Done():
			return ctx.Err()
		default:
			// Nothing is waiting: what changed is worth compiling now.
			s.publish()
			select {
			case m = <-queue:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if done, err := s.take(m); done || err != nil {
			return err
		}
	}
}

// incoming is a message, or the reason why there is none.
type incoming struct {
	message
	err error
}

// server is the state of one session; all but waiting belongs to the goroutine of Serve.
type server struct {
	o       Options
	out     io.Writer
	outErr  error
	docs    map[string]*document // open documents, by name
	folders []string             // of the workspace
	watches bool                 // the client tells of changed files if asked to
	ready   bool                 // initialize was answered
	down    bool                 // shutdown was answered

	mu      sync.Mutex
	waiting map[string]bool // ids of requests not yet answered; true: cancelled
}

func newServer(out io.Writer, o Options) *server {
	return &server{o: o, out: out, docs: map[string]*document{}, waiting: map[string]bool{}}
}

// read turns the stream into messages until it ends.
func (s *server) read(ctx context.Context, r *bufio.Reader, queue chan<- incoming) {
	for {
		body, err := readFrame(r)
		m := incoming{err: err}
		if err == nil {
			if json.Unmarshal(body, &m.message) != nil {
				m.err = &rpcError{parseError, "the message is no JSON object of JSON-RPC"}
			} else if m.Method == "$/cancelRequest" {
				s.cancel(m.Params)
				continue
			} else if m.ID != nil {
				s.mu.Lock()
				s.waiting[string(m.ID)] = false
				s.mu.Unlock()
			}
		}
		select {
		case queue <- m:
		case <-ctx.Done():
			return
		}
		var rpc *rpcError
		if err != nil && !errors.As(m.err, &rpc) && !errors.Is(err, errTooLong) {
			return
		}
	}
}

func (s *server) cancel(params json.RawMessage) {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.waiting[string(p.ID)]; known {
		s.waiting[string(p.ID)] = true
	}
}

// take handles one message; done ends the session.
func (s *server) take(m incoming) (done bool, err error) {
	var rpc *rpcError
	switch {
	case errors.Is(m.err, errTooLong):
		s.send(failure{"2.0", null, &rpcError{invalidRequest, m.err.Error()}})
		return false, s.outErr
	case errors.As(m.err, &rpc):
		s.send(failure{"2.0", null, rpc})
		return false, s.outErr
	case errors.Is(m.err, io.EOF):
		return true, s.ended()
	case m.err != nil:
		return true, m.err
	case m.Method == "exit":
		return true, s.ended()
	case m.Method == "":
		// A response to a request of ours, or nothing at all.
		if m.ID != nil {
			s.settled(m.ID)
		}
		return false, nil
	case m.ID == nil:
		s.notified(m.message)
		return false, s.outErr
	}
	s.answer(m.message)
	return false, s.outErr
}

func (s *server) ended() error {
	if s.down {
		return nil
	}
	return ErrNoShutdown
}

// settled forgets a request and reports whether it was cancelled.
func (s *server) settled(id json.RawMessage) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.waiting[string(id)]
	delete(s.waiting, string(id))
	return was
}

var null = json.RawMessage("null")

// answer handles one request.
func (s *server) answer(m message) {
	result, err := s.request(m)
	if s.settled(m.ID) && m.Method != "shutdown" {
		err = &rpcError{cancelled, "cancelled"}
	}
	if err != nil {
		var rpc *rpcError
		if !errors.As(err, &rpc) {
			rpc = &rpcError{requestFailed, err.Error()}
		}
		s.send(failure{"2.0", m.ID, rpc})
		return
	}
	s.send(response{"2.0", m.ID, result})
}

func (s *server) request(m message) (result any, err error) {
	// A fault of ours must not end the editor's session.
	defer func() {
		if r := recover(); r != nil {
			result, err = nil, &rpcError{internalError, fmt.Sprintf("%s failed: %v", m.Method, r)}
		}
	}()
	switch {
	case m.Method == "initialize":
		return s.initialize(m.Params)
	case !s.ready:
		return nil, &rpcError{notInitialized, "the session begins with initialize"}
	case s.down:
		return nil, &rpcError{invalidRequest, "the session is shut down"}
	case m.Method == "shutdown":
		s.down = true
		return nil, nil
	}
	do, ok := requests[m.Method]
	if !ok {
		return nil, &rpcError{unknownMethod, "there is no method " + m.Method}
	}
	s.mu.Lock()
	skip := s.waiting[string(m.ID)]
	s.mu.Unlock()
	if skip {
		return nil, nil // answer says that it was cancelled
	}
	var p place
	if err := json.Unmarshal(m.Params, &p); err != nil {
		return nil, &rpcError{invalidParams, err.Error()}
	}
	d := s.docs[nameOf(p.Document.URI)]
	if d == nil {
		return nil, &rpcError{invalidParams, "the document is not open: " + p.Document.URI}
	}
	if d.tooLong {
		return nil, nil
	}
	return do(s, d, p)
}

// requests are the methods about a document. The document is open and not too long.
var requests map[string]func(*server, *document, place) (any, error)

func init() {
	requests = map[string]func(*server, *document, place) (any, error){
		"textDocument/hover":          (*server).hover,
		"textDocument/definition":     (*server).definition,
		"textDocument/references":     (*server).references,
		"textDocument/prepareRename":  (*server).prepareRename,
		"textDocument/rename":         (*server).rename,
		"textDocument/completion":     (*server).completion,
		"textDocument/documentSymbol": (*server).outline,
		"textDocument/formatting":     (*server).format,
		"textDocument/codeAction":     (*server).fixes,
	}
}

func (s *server) initialize(params json.RawMessage) (any, error) {
	var p initializeParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, &rpcError{invalidParams, err.Error()}
	}
	for _, f := range p.Folders {
		s.folders = append(s.folders, nameOf(f.URI))
	}
	if len(s.folders) == 0 && p.RootURI != "" {
		s.folders = []string{nameOf(p.RootURI)}
	} else if len(s.folders) == 0 && p.RootPath != "" {
		s.folders = []string{filepath.ToSlash(p.RootPath)}
	}
	s.ready, s.watches = true, p.Capabilities.Workspace.Watched.Dynamic
	return capabilities(), nil
}

// notified handles one notification. The protocol asks to pass over what is not understood.
func (s *server) notified(m message) {
	defer func() {
		if r := recover(); r != nil {
			s.send(notification{"2.0", "window/logMessage",
				map[string]any{"type": 1, "message": fmt.Sprintf("%s failed: %v", m.Method, r)}})
		}
	}()
	var c change
	if !s.ready || s.down || json.Unmarshal(m.Params, &c) != nil {
		return
	}
	name := nameOf(c.Document.URI)
	switch m.Method {
	case "initialized":
		s.register()
	case "textDocument/didOpen":
		s.open(name, c.Document)
	case "textDocument/didChange":
		if d := s.docs[name]; d != nil {
			s.changed(d, c)
		}
	case "textDocument/didSave":
		if d := s.docs[name]; d != nil && c.Text != nil {
			d.set(*c.Text)
		}
		s.touch(name)
	case "textDocument/didClose":
		s.closed(name)
	case "workspace/didChangeWatchedFiles":
		s.touchAll()
	}
}

// register asks the client to tell of specifications that change on disk.
func (s *server) register() {
	if !s.watches {
		return
	}
	watch := map[string]any{"watchers": []any{map[string]any{"globPattern": "**/*.yaml"}}}
	one := map[string]any{"id": "files", "method": "workspace/didChangeWatchedFiles",
		"registerOptions": watch}
	s.send(request{"2.0", "files", "client/registerCapability",
		map[string]any{"registrations": []any{one}}})
}

func (s *server) send(v any) {
	if err := writeFrame(s.out, v); err != nil && s.outErr == nil {
		s.outErr = err
	}
}
