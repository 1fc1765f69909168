package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// The page that the document shows: one row for each server, its name linked to its page.
var table = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html><head><meta charset="utf-8"><meta http-equiv="refresh" content="30"><title>Parsec servers</title></head><body>
<h1>Which Parsec servers are currently running ?</h1>
<table>
<tr><th>Name</th><th>Players</th><th>IP address</th><th>Operating System</th></tr>
{{range .List}}<tr><td><a href="{{.Url}}">{{.Shown}}</a></td><td>{{.Players}}/{{.Max}}</td><td>{{.Address}}</td><td>{{.Os}}</td></tr>
{{end}}</table>
<p>generated automatically on {{.Date}} by Parsec Master Server v0.10</p>
</body></html>
`))

// Shown is the name as people see it.
func (e entry) Shown() string { return strings.ReplaceAll(e.Name.String(), "_", " ") }

// Address is where the server is.
func (e entry) Address() string { return e.address }

// page is the list as HTML. What game servers say of themselves is escaped, and only
// links to the web become links.
func page(list []entry, now time.Time) []byte {
	var b bytes.Buffer
	err := table.Execute(&b, struct {
		List []entry
		Date string
	}{list, now.UTC().Format(time.RFC1123)})
	if err != nil {
		return []byte(err.Error())
	}
	return b.Bytes()
}

// inJSON is the list for programs.
func inJSON(list []entry) []byte {
	type row struct {
		Name    string `json:"name"`
		URL     string `json:"url"`
		Players int    `json:"players"`
		Max     int    `json:"max"`
		IP      string `json:"ip"`
		OS      string `json:"os"`
	}
	rows := []row{}
	for _, e := range list {
		rows = append(rows, row{e.Name.String(), e.Url.String(), int(e.Players), int(e.Max), e.address, e.Os.String()})
	}
	b, err := json.Marshal(struct {
		Servers []row `json:"servers"`
	}{rows})
	if err != nil {
		return []byte(err.Error())
	}
	return append(b, '\n')
}

// site shows the list to browsers, and to programs as /list.json.
type site struct {
	mu   sync.Mutex
	list []entry
}

// set replaces the list, which nobody changes any more.
func (s *site) set(list []entry) {
	s.mu.Lock()
	s.list = list
	s.mu.Unlock()
}

func (s *site) now() []entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list
}

// handler answers requests for the list.
func (s *site) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(page(s.now(), time.Now()))
	})
	mux.HandleFunc("GET /list.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(inJSON(s.now()))
	})
	return mux
}

// serve answers until ctx ends.
func (s *site) serve(ctx context.Context, l net.Listener) error {
	h := http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	stop := context.AfterFunc(ctx, func() { h.Close() })
	defer stop()
	if err := h.Serve(l); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// summary is the list on one line.
func summary(list []entry) string {
	var rows []string
	for _, e := range list {
		rows = append(rows, fmt.Sprintf("%s %d/%d %s", e.Shown(), e.Players, e.Max, e.Os))
	}
	return fmt.Sprintf("%d servers: %s", len(list), strings.Join(rows, "; "))
}
