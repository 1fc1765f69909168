// Package live shows machines while they run: it follows the records that they write, and serves a page with the
// diagram of each, on which its present state is marked, its variables, its last steps, and a sequence chart of all.
// What a step means is known to package replay, what pictures show to package graph. The package keeps the last
// steps alone. Start from Server.
package live

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"github.com/parley-go/parley/gen/graph"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/run"
)

// MostRecords is how many records a server follows.
const MostRecords = 16

const (
	mostPages       = 16                     // open at a time
	mostConnections = 64                     // of all kinds
	chartSteps      = 40                     // in the chart, of all records
	breath          = 100 * time.Millisecond // between two events of a page
	stalled         = 10 * time.Second       // after which a page that takes nothing is let go
	beat            = 15 * time.Second       // after which a quiet page is written to, to see whether it is there
)

// Server follows records and shows them.
type Server struct {
	records []*record
	host    string

	mu    sync.Mutex
	pages map[chan struct{}]bool // each is told when anything has changed

	chartMu sync.Mutex
	chart   string
	charted uint64 // the version of the chart
}

// New returns a server of records of a protocol, of which "-" is stdin. Host is a name by which browsers may ask for
// the page, beside localhost and numbers: a page from elsewhere cannot read this one by giving a name of its own to
// this computer.
func New(p *model.Protocol, o graph.Options, paths []string, stdin io.Reader, host string) *Server {
	s := &Server{host: host, pages: map[chan struct{}]bool{}}
	o.NoLegend = true
	for i, path := range paths {
		r := &record{protocol: p, options: o, path: path, changed: s.tell, version: 1}
		r.options.Marks = fmt.Sprintf("m%d-", i)
		r.state = State{File: clean(path), Control: -1}
		if path == "-" {
			r.stdin, r.state.File = stdin, "standard input"
		}
		s.records = append(s.records, r)
	}
	return s
}

// Serve follows the records and serves the page until ctx is done.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, r := range s.records {
		go r.follow(ctx) // that of standard input may stay in its Read
	}
	h := &http.Server{Handler: s, ReadHeaderTimeout: stalled, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	stop := context.AfterFunc(ctx, func() { h.Close() })
	defer stop()
	if err := h.Serve(netutil.LimitListener(l, mostConnections)); ctx.Err() == nil {
		return err
	}
	return nil
}

// tell wakes all pages.
func (s *Server) tell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.pages {
		select {
		case c <- struct{}{}:
		default: // it has been told
		}
	}
}

//go:embed page.html
var page []byte

//go:embed page.css
var style []byte

//go:embed page.js
var script []byte

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "+
		"img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "this page only shows", http.StatusMethodNotAllowed)
		return
	}
	if !s.knows(r.Host) {
		http.Error(w, "ask by number or as localhost", http.StatusForbidden)
		return
	}
	send := func(kind string, data []byte) {
		h.Set("Content-Type", kind+"; charset=utf-8")
		w.Write(data)
	}
	switch r.URL.Path {
	case "/":
		send("text/html", page)
	case "/page.css":
		send("text/css", style)
	case "/page.js":
		send("text/javascript", script)
	case "/events":
		s.events(w, r)
	default:
		http.NotFound(w, r)
	}
}

// knows reports whether a browser may ask by such a name.
func (s *Server) knows(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	return net.ParseIP(strings.Trim(name, "[]")) != nil || strings.EqualFold(name, "localhost") ||
		s.host != "" && strings.EqualFold(name, s.host)
}

// drawing is the picture of a record's machine, and message what else is known of it, as they are sent.
type (
	drawing struct {
		Record int    `json:"record"`
		SVG    string `json:"svg"`
	}
	message struct {
		Record int   `json:"record"`
		State  State `json:"state"`
	}
)

// events sends what the page shows, and again whenever it is something else. A page that is slow gets the newest
// alone, so nothing piles up.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	told := make(chan struct{}, 1)
	s.mu.Lock()
	full := len(s.pages) >= mostPages
	if !full {
		s.pages[told] = true
	}
	s.mu.Unlock()
	if full {
		http.Error(w, fmt.Sprintf("%d pages are open already; close one", mostPages), http.StatusServiceUnavailable)
		return
	}
	defer func() {
		s.mu.Lock()
		delete(s.pages, told)
		s.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	c := http.NewResponseController(w)
	send := func(event string, data any) bool {
		text, err := json.Marshal(data)
		if err != nil {
			return false
		}
		c.SetWriteDeadline(time.Now().Add(stalled))
		_, err = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, text)
		return err == nil
	}
	sent, drawn := make([]uint64, len(s.records)), make([]int, len(s.records))
	for {
		changed := false
		for i, x := range s.records {
			state, version, fresh := x.now(sent[i])
			if !fresh {
				continue
			}
			changed, sent[i] = true, version
			if drawn[i] != state.Drawing && !send("drawing", drawing{i, x.drawing()}) ||
				!send("record", message{i, state}) {
				return
			}
			drawn[i] = state.Drawing
		}
		if changed && !send("chart", s.drawChart(sent)) || c.Flush() != nil {
			return
		}
		if !rest(r.Context(), breath) {
			return
		}
		select {
		case <-told:
		case <-r.Context().Done():
			return
		case <-time.After(beat):
			c.SetWriteDeadline(time.Now().Add(stalled))
			if _, err := io.WriteString(w, ": still here\n\n"); err != nil {
				return
			}
		}
	}
}

// drawChart is the sequence chart of the last steps, or why there is none. It is drawn once for all pages.
func (s *Server) drawChart(versions []uint64) string {
	var sum uint64
	for _, v := range versions {
		sum += v
	}
	s.chartMu.Lock()
	defer s.chartMu.Unlock()
	if s.charted < sum {
		s.chart, s.charted = s.chartNow(), sum
	}
	return s.chart
}

func (s *Server) chartNow() string {
	var list []run.Stretch
	var times []time.Time
	var from time.Time
	for _, r := range s.records {
		x, dropped := r.stretch()
		if len(x.Steps) == 0 {
			continue
		}
		for _, step := range x.Steps {
			times = append(times, x.Header.Time.Add(step.At))
		}
		if first := x.Header.Time.Add(x.Steps[0].At); dropped && first.After(from) {
			from = first // of what was before, one record knows and another does not
		}
		list = append(list, x)
	}
	if len(list) == 0 {
		return ""
	}
	slices.SortFunc(times, time.Time.Compare)
	if at := times[max(0, len(times)-chartSteps)]; at.After(from) {
		from = at
	}
	for i := range list {
		x := &list[i]
		k := 0
		for k < len(x.Steps) && x.Header.Time.Add(x.Steps[k].At).Before(from) {
			k++
		}
		x.Steps = x.Steps[k:]
	}
	r, err := run.MergeStretches(list)
	if err != nil {
		return "no chart: " + clean(err.Error())
	}
	r.Title += ", the last steps"
	return graph.ChartSVG(r.Chart())
}
