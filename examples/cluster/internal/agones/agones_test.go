package agones

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// standIn is no Agones: it answers as the documentation of its REST interface says
// (agones.dev, Guides, Client SDKs, REST Game Server Client API), and refuses what is said otherwise.
type standIn struct {
	t  *testing.T
	mu sync.Mutex
	// state is the game server's, and said what was called, but for signs of life.
	state   string
	said    []string
	healths int
	absent  int // so many calls fail first: the sidecar may start after the server
	changed chan struct{}
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.absent > 0 {
		s.absent--
		http.Error(w, "not there yet", http.StatusBadGateway)
		return
	}
	set := func(state string) {
		s.state = state
		s.said = append(s.said, r.URL.Path)
		close(s.changed)
		s.changed = make(chan struct{})
	}
	post := r.Method == http.MethodPost && r.Header.Get("Content-Type") == "application/json"
	empty := bytes.Equal(body, []byte("{}"))
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/gameserver":
		fmt.Fprint(w, s.gameServer())
	case r.Method == http.MethodGet && r.URL.Path == "/watch/gameserver":
		for r.Context().Err() == nil {
			fmt.Fprintf(w, `{"result":%s}`+"\n", s.gameServer())
			w.(http.Flusher).Flush()
			changed := s.changed
			s.mu.Unlock()
			select {
			case <-changed:
			case <-r.Context().Done():
			}
			s.mu.Lock()
		}
	case post && empty && r.URL.Path == "/health":
		s.healths++
		fmt.Fprint(w, "{}")
	case post && empty && r.URL.Path == "/ready":
		set(Ready)
		fmt.Fprint(w, "{}")
	case post && empty && r.URL.Path == "/allocate":
		set(Allocated)
		fmt.Fprint(w, "{}")
	case post && empty && r.URL.Path == "/shutdown":
		set(Shutdown)
		fmt.Fprint(w, "{}")
	case post && r.URL.Path == "/reserve":
		var d struct {
			Seconds json.Number `json:"seconds"`
		}
		if json.Unmarshal(body, &d) != nil || d.Seconds.String() != "30" {
			s.t.Errorf("reserve %s", body)
		}
		set(Reserved)
		fmt.Fprint(w, "{}")
	default:
		s.t.Errorf("no such call: %s %s %q", r.Method, r.URL.Path, body)
		http.NotFound(w, r)
	}
}

func (s *standIn) gameServer() string {
	return `{"object_meta":{"name":"local","namespace":"default","uid":"1234","resource_version":"v1",` +
		`"generation":"1","creation_timestamp":"1531795395","annotations":{"annotation":"true"},"labels":{"islocal":"true"}},` +
		`"status":{"state":"` + s.state + `","address":"127.0.0.1","ports":[{"name":"default","port":7777}]}}`
}

func (s *standIn) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprint(s.said)
}

func begin(t *testing.T) (*standIn, *Sidecar) {
	t.Helper()
	s := &standIn{t: t, state: "Scheduled", changed: make(chan struct{})}
	server := httptest.NewServer(s)
	t.Cleanup(server.CloseClientConnections)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	c := New(server.URL, slog.New(slog.DiscardHandler))
	c.Every, c.Pause = 5*time.Millisecond, 5*time.Millisecond
	return s, c
}

// A server is ready when it may serve, allocated while it has games, reserved for a while afterwards, and says when
// it ends.
func TestKeep(t *testing.T) {
	t.Parallel()
	s, c := begin(t)
	s.absent = 5
	bound, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	ctx, cancel := context.WithCancel(bound)
	up := make(chan bool, 2)
	var games atomic.Int64
	done := make(chan struct{})
	go func() { c.Keep(ctx, up, func() int { return int(games.Load()) }); close(done) }()
	until := func(want string) {
		t.Helper()
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for s.last() != want {
			select {
			case <-tick.C:
			case <-bound.Done():
				t.Fatalf("said %s, not %s", s.last(), want)
			}
		}
	}
	alive := func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.healths >= 3 }
	for !alive() && bound.Err() == nil {
		runtime.Gosched()
	}
	until("[]") // no session, so it is alive and not ready
	up <- true
	until("[/ready]")
	games.Store(2)
	until("[/ready /allocate]")
	games.Store(0)
	until("[/ready /allocate /reserve]")
	games.Store(1)
	until("[/ready /allocate /reserve /allocate]")
	g, err := c.GameServer(t.Context())
	if err != nil || g.Status.State != Allocated || g.Status.Ports[0].Port != 7777 || g.ObjectMeta.Name != "local" {
		t.Errorf("%+v, %v", g, err)
	}
	cancel()
	<-done
	until("[/ready /allocate /reserve /allocate /shutdown]")
}

// What Agones ends ends, and is not told again.
func TestShutdown(t *testing.T) {
	t.Parallel()
	s, c := begin(t)
	bound, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	done := make(chan struct{})
	go func() { c.Keep(bound, nil, func() int { return 0 }); close(done) }()
	s.mu.Lock()
	s.state = Shutdown
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	<-done
	if said := s.last(); said != "[]" {
		t.Errorf("said %s", said)
	}
}
