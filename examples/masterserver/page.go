package main

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"
)

// The page that the document shows: one row for each server, its name linked to its page.
var table = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html><head><meta charset="utf-8"><meta http-equiv="refresh" content="30"><title>Parsec servers</title></head><body>
<h1>Which Parsec servers are currently running ?</h1>
<table>
<tr><th>Name</th><th>Players</th><th>IP address</th><th>Operating System</th></tr>
{{range .}}<tr><td><a href="{{.Url}}">{{.Shown}}</a></td><td>{{.Players}}/{{.Max}}</td><td>{{.Address}}</td><td>{{.Os}}</td></tr>
{{end}}</table>
</body></html>
`))

// Shown is the name as people see it.
func (e entry) Shown() string { return strings.ReplaceAll(e.Name.String(), "_", " ") }

// Address is where the server is.
func (e entry) Address() string { return e.address }

// page is the list as HTML. What game servers say of themselves is escaped, and only
// links to the web become links.
func page(list []entry) []byte {
	var b bytes.Buffer
	if err := table.Execute(&b, list); err != nil {
		return []byte(err.Error())
	}
	return b.Bytes()
}

// summary is the list on one line.
func summary(list []entry) string {
	var rows []string
	for _, e := range list {
		rows = append(rows, fmt.Sprintf("%s %d/%d %s", e.Shown(), e.Players, e.Max, e.Os))
	}
	return fmt.Sprintf("%d servers: %s", len(list), strings.Join(rows, "; "))
}
