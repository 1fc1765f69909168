package main

import (
	"bytes"
	"encoding/json"
	"html/template"
	"strings"
	"time"
)

// about is what the administrator says of the server.
type about struct{ Location, Admin, Comment string }

// row is a slot as the page shows it, which counts from 1.
type row struct {
	Slot int    `json:"slot"`
	Name string `json:"name"`
	IP   string `json:"ip"`
	OS   string `json:"os"`
}

// table is the page that figure 3 of the document shows. What players say of themselves is escaped.
var table = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html><head><meta charset="utf-8"><meta http-equiv="refresh" content="30"><title>{{.Name}}</title></head><body>
<h1>Which clients are currently connected to this Parsec server ?</h1>
<p>Name: {{.Name}}<br>
{{with .Location}}Location: {{.}}<br>
{{end}}{{with .Admin}}Administrator: <a href="mailto:{{.}}">{{.}}</a><br>
{{end}}{{with .Comment}}{{.}}{{end}}</p>
<table>
<tr><th>Slot number</th><th>Name</th><th>IP address</th><th>Operating System</th></tr>
{{range .Rows}}<tr><td>{{.Slot}}</td>{{if .Name}}<td>{{.Name}}</td><td>{{.IP}}</td><td>{{.OS}}</td>` +
	`{{else}}<td colspan="3">---&gt; Slot available &lt;---</td>{{end}}</tr>
{{end}}</table>
<p>generated automatically on {{.Date}} by Parsec Server v0.10</p>
</body></html>
`))

// rows returns all slots, free ones without a name.
func (s *server) rows() []row {
	rows := make([]row, 16)
	for i := range rows {
		rows[i].Slot = i + 1
	}
	for _, p := range s.list() {
		rows[p.slot] = row{p.slot + 1, name(p.name), p.ip, p.os}
	}
	return rows
}

// name is a player's as people see it; an empty one has a mark, since its slot is taken.
func name(n string) string {
	if n == "" {
		return "?"
	}
	return n
}

// page is the list as HTML.
func (s *server) page(now time.Time) []byte {
	var b bytes.Buffer
	err := table.Execute(&b, struct {
		about
		Name, Date string
		Rows       []row
	}{s.about, strings.ReplaceAll(s.name, "_", " "), now.UTC().Format(time.RFC1123), s.rows()})
	if err != nil {
		return []byte(err.Error())
	}
	return b.Bytes()
}

// json is the list for programs: the slots that are taken.
func (s *server) json() []byte {
	taken := []row{}
	for _, r := range s.rows() {
		if r.Name != "" {
			taken = append(taken, r)
		}
	}
	b, err := json.Marshal(struct {
		Name    string `json:"name"`
		Slots   int    `json:"slots"`
		Players []row  `json:"players"`
	}{s.name, 16, taken})
	if err != nil {
		return []byte(err.Error())
	}
	return append(b, '\n')
}
