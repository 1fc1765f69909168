package master

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"time"
)

// table is the page that the document shows: one row for each server, its name linked to its page.
var table = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html><head><meta charset="utf-8"><meta http-equiv="refresh" content="30"><title>Parsec servers</title></head><body>
<h1>Which Parsec servers are currently running ?</h1>
<table>
<tr><th>Name</th><th>Players</th><th>IP address</th><th>Operating System</th></tr>
{{range .List}}<tr><td>{{if .Url}}<a href="{{.Url}}">{{.Shown}}</a>{{else}}{{.Shown}}{{end}}</td><td>{{.Players}}/{{.Max}}</td><td>{{.Address}}</td><td>{{.Os}}</td></tr>
{{end}}</table>
<p>generated automatically on {{.Date}} by Parsec Master Server v0.10</p>
</body></html>
`))

// Shown is the name as people see it.
func (e Entry) Shown() string { return strings.ReplaceAll(e.Name.String(), "_", " ") }

// Address is where the server is.
func (e Entry) Address() string { return e.address }

// Page is the list as HTML. What game servers say of themselves is escaped, and only
// links to the web become links.
func Page(list []Entry, now time.Time) []byte {
	var b bytes.Buffer
	err := table.Execute(&b, struct {
		List []Entry
		Date string
	}{list, now.UTC().Format(time.RFC1123)})
	if err != nil {
		return []byte(err.Error())
	}
	return b.Bytes()
}

// inJSON is the list for programs.
func inJSON(list []Entry) []byte {
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

// Site shows the list to browsers, and to programs as /list.json.
type Site struct {
	mu   sync.Mutex
	list []Entry
}

// Set replaces the list, which nobody changes any more.
func (s *Site) Set(list []Entry) {
	s.mu.Lock()
	s.list = list
	s.mu.Unlock()
}

func (s *Site) now() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list
}

// Handler answers requests for the list.
func (s *Site) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(Page(s.now(), time.Now()))
	})
	mux.HandleFunc("GET /list.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(inJSON(s.now()))
	})
	return mux
}

// Summary is the list on one line.
func Summary(list []Entry) string {
	var rows []string
	for _, e := range list {
		rows = append(rows, fmt.Sprintf("%s %d/%d %s", e.Shown(), e.Players, e.Max, e.Os))
	}
	what := "servers"
	if len(list) == 1 {
		what = "server"
	}
	return fmt.Sprintf("%d %s: %s", len(list), what, strings.Join(rows, "; "))
}
