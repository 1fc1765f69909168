// Package http holds the client and the server of specs/library/http against net/http of Go and curl.
package http

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/parley-go/parley/examples/interop/internal/daemon"
	"github.com/parley-go/parley/machines/http"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/play"
)

// headers makes header lines of names and values.
func headers(pairs ...string) (h http.Headers) {
	for i := 0; i < len(pairs); i += 2 {
		line := &h.Items[h.Len]
		line.Name, _ = http.NewName(pairs[i])
		line.Value, _ = http.NewValue(pairs[i+1])
		h.Len++
	}
	return h
}

// value returns the value of the header line with a name.
func value(h *http.Headers, name string) string {
	for i := range h.Items[:h.Len] {
		if strings.EqualFold(h.Items[i].Name.String(), name) {
			return h.Items[i].Value.String()
		}
	}
	return ""
}

// counted is a body with a Content-Length.
func counted(s string) (b http.Optional[http.Body]) {
	b.Present = true
	b.Value, _ = http.NewBody(s)
	return b
}

// pieces is a body in chunks, with a trailer.
func pieces(list ...string) (c http.Optional[http.Chunked]) {
	c.Present = true
	for _, s := range list {
		c.Value.Pieces.Items[c.Value.Pieces.Len], _ = http.NewPiece(s)
		c.Value.Pieces.Len++
	}
	c.Value.Trailers.Len = 1
	c.Value.Trailers.Items[0].Name, _ = http.NewName("Parts")
	c.Value.Trailers.Items[0].Value, _ = http.NewValue(fmt.Sprint(len(list)))
	return c
}

// content is a body, however it came, with its trailers.
func content(b *http.Optional[http.Body], c *http.Optional[http.Chunked]) string {
	if b.Present {
		return b.Value.String()
	}
	s := ""
	for i := range c.Value.Pieces.Items[:c.Value.Pieces.Len] {
		s += c.Value.Pieces.Items[i].String()
	}
	for i := range c.Value.Trailers.Items[:c.Value.Trailers.Len] {
		s += fmt.Sprintf(" [%s: %s]", c.Value.Trailers.Items[i].Name, c.Value.Trailers.Items[i].Value)
	}
	return s
}

// ours is a server of ours: it answers each request with what came in it, as the target says.
type ours struct {
	t       *testing.T
	address string
}

// serve starts it, until the test ends.
func serve(t *testing.T) ours {
	t.Helper()
	l, err := play.Listen("tcp4", "127.0.0.1:0", play.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	t.Cleanup(func() {
		cancel()
		l.Close()
		<-ended
	})
	go func() {
		defer close(ended)
		for {
			asked := make(chan http.ServerAskedReport, 1) // nobody is asked twice before the answer
			h := &http.ServerHandlers{Asked: func(r http.ServerAskedReport) { asked <- r }}
			s, err := play.Accept(ctx, l, http.NewServerRunner(), h, play.Options{Handshake: -1})
			if err != nil {
				return
			}
			go answers(s, asked)
		}
	}()
	return ours{t, l.Addr().String()}
}

// answers answers what one client asks.
func answers(s *play.Session[*http.ServerRunner], asked <-chan http.ServerAskedReport) {
	ok, _ := http.NewReason("OK")
	for {
		select {
		case <-s.Done():
			return
		case r := <-asked:
			if r.Method == http.MethodPut { // as one does who needs long
				_ = s.Give(func(m *http.ServerRunner) fsm.Result { return m.Hold(102, headers()) }) // it may be gone
			}
			code, body, chunked := http.Final(200), http.Optional[http.Body]{}, http.Optional[http.Chunked]{}
			said := fmt.Sprintf("%s %s %s", r.Method, r.Target, content(&r.Body, &r.Chunked))
			switch {
			case r.Method == http.MethodHead:
			case r.Target.String() == "/none":
				code = 204
			case r.Target.String() == "/chunked":
				chunked = pieces("said ", said)
			default:
				body = counted(said)
			}
			h := headers("Content-Type", "text/plain", "Server", "parley")
			_ = s.Give(func(m *http.ServerRunner) fsm.Result { return m.Answer(code, ok, h, body, chunked) })
		}
	}
}

// TestCurl: curl understands our server, and it understands curl.
func TestCurl(t *testing.T) {
	curl := daemon.Path(t, "curl")
	url := "http://" + serve(t).address
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{url + "/a?b=c"}, "get /a?b=c "},
		{[]string{url + "/one", url + "/chunked", url + "/three"}, "get /one said get /chunked get /three "},
		{[]string{"--data", "x=1", url + "/form"}, "post /form x=1"},
		{[]string{"--data", "y", "-H", "Transfer-Encoding: chunked", url + "/chunked"}, "said post /chunked y"},
		{[]string{"-X", "DELETE", "-w", "%{http_code}", url + "/none"}, "204"},
		{[]string{"-I", "-w", "%{http_code} %{num_connects}", "-o", "/dev/null", url + "/head"}, "200 1"},
		{[]string{"-w", " %{num_connects}", url + "/1", url + "/2"}, "get /1  1get /2  0"},
	} {
		out, err := daemon.Run(t, curl, append([]string{"-sS", "--noproxy", "*", "--max-time", "60"}, x.args...)...)
		if err != nil || out != x.want {
			t.Errorf("%q: %q, %v; want %q", x.args, out, err, x.want)
		}
	}
}

// TestGoClient: the client of net/http understands our server, over one connection.
func TestGoClient(t *testing.T) {
	url := "http://" + serve(t).address
	dials := 0
	client := &nethttp.Client{Timeout: daemon.Limit, Transport: &nethttp.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			dials++
			return new(net.Dialer).DialContext(ctx, network, address)
		}}}
	defer client.CloseIdleConnections()
	for _, x := range []struct {
		method, target string
		body           io.Reader
		code           int
		want, trailer  string
	}{
		{"GET", "/x", nil, 200, "get /x ", ""},
		{"HEAD", "/x", nil, 200, "", ""},
		{"POST", "/y", strings.NewReader("counted"), 200, "post /y counted", ""},
		{"PUT", "/chunked", io.MultiReader(strings.NewReader("in chunks")), 200, "said put /chunked in chunks", "2"},
		{"GET", "/none", nil, 204, "", ""},
	} {
		req, err := nethttp.NewRequestWithContext(t.Context(), x.method, url+x.target, x.body)
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(x.method, x.target, err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != x.code || string(body) != x.want || res.Trailer.Get("Parts") != x.trailer {
			t.Errorf("%s %s: %d %q %v, %v", x.method, x.target, res.StatusCode, body, res.Trailer, err)
		}
	}
	if dials != 1 {
		t.Errorf("%d connections, not one that is kept", dials)
	}
}

// TestGoServer: our client understands the server of net/http.
func TestGoServer(t *testing.T) {
	server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			nethttp.Error(w, err.Error(), nethttp.StatusBadRequest)
			return
		}
		said := fmt.Sprintf("%s %s %s %q", r.Method, r.URL, r.Host, body)
		switch r.URL.Path {
		case "/chunked":
			w.Header().Set("Trailer", "Parts")
			for _, part := range []string{"said ", said} {
				io.WriteString(w, part)
				w.(nethttp.Flusher).Flush()
			}
			w.Header().Set("Parts", "2")
		case "/early":
			w.Header().Set("Link", "</style.css>")
			w.WriteHeader(nethttp.StatusEarlyHints)
			io.WriteString(w, said)
		case "/none":
			w.WriteHeader(nethttp.StatusNoContent)
		case "/large":
			w.Write(bytes.Repeat([]byte("x"), 4096))
		default:
			nethttp.NotFound(w, r)
		}
	}))
	defer server.Close()
	host := server.Listener.Addr().String()
	ctx, cancel := context.WithTimeout(t.Context(), daemon.Limit)
	defer cancel()
	answers := make(chan http.ClientAnsweredReport, 1)
	interim := make(chan http.ClientInterimReport, 2)
	h := &http.ClientHandlers{Answered: func(a http.ClientAnsweredReport) { answers <- a },
		Interim: func(i http.ClientInterimReport) { interim <- i }}
	s, err := play.Dial(ctx, "tcp", host, http.NewClientRunner(), h, play.Options{Handshake: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ask := func(method http.Method, path string, body http.Optional[http.Body],
		chunked http.Optional[http.Chunked]) (http.ClientAnsweredReport, error) {
		target, _ := http.NewTarget(path)
		if err := s.Give(func(r *http.ClientRunner) fsm.Result {
			return r.Ask(method, target, headers("Host", host), body, chunked)
		}); err != nil {
			return http.ClientAnsweredReport{}, err
		}
		select {
		case a := <-answers:
			return a, nil
		case <-s.Done():
			return http.ClientAnsweredReport{}, s.Wait()
		case <-ctx.Done():
			return http.ClientAnsweredReport{}, errors.New("no answer")
		}
	}
	no, none := http.Optional[http.Body]{}, http.Optional[http.Chunked]{}
	for _, x := range []struct {
		method  http.Method
		path    string
		body    http.Optional[http.Body]
		chunked http.Optional[http.Chunked]
		code    http.Code
		want    string
	}{
		{http.MethodGet, "/chunked", no, none, 200, `said GET /chunked ` + host + ` "" [Parts: 2]`},
		{http.MethodPost, "/chunked", counted("a b"), none, 200, `said POST /chunked ` + host + ` "a b" [Parts: 2]`},
		{http.MethodPut, "/early", no, pieces("a", "b"), 200, `PUT /early ` + host + ` "ab"`},
		{http.MethodDelete, "/none", no, none, 204, ""},
		{http.MethodGet, "/nowhere", no, none, 404, "404 page not found\n"},
		{http.MethodGet, "/large", no, none, 200, strings.Repeat("x", 4096)},
	} {
		a, err := ask(x.method, x.path, x.body, x.chunked)
		if err != nil {
			t.Fatal(x.path, err)
		}
		if got := content(&a.Body, &a.Chunked); a.Code != x.code || got != x.want || value(&a.Headers, "date") == "" {
			t.Errorf("%s %s: %d %q, of %q", x.method, x.path, a.Code, got, value(&a.Headers, "date"))
		}
	}
	if i := <-interim; i.Code != 103 || value(&i.Headers, "link") != "</style.css>" {
		t.Errorf("an interim response of %d %q", i.Code, value(&i.Headers, "link"))
	}
}
