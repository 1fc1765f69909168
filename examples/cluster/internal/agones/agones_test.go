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
	"slices"
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
	slow    int // so many calls are not answered first
	deaf    int // so many changes of state are answered, and come to nothing
	notes   []string
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
	if s.slow > 0 {
		s.slow--
		s.mu.Unlock()
		<-r.Context().Done()
		s.mu.Lock()
		return
	}
	set := func(state string) {
		if s.deaf > 0 {
			s.deaf--
		} else {
			s.state = state
		}
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
	case r.Method == http.MethodPut && r.Header.Get("Content-Type") == "application/json" &&
		r.URL.Path == "/metadata/annotation":
		var note struct{ Key, Value string }
		if json.Unmarshal(body, &note) != nil || note.Key != "games" {
			s.t.Errorf("annotation %s", body)
		}
		s.notes = append(s.notes, note.Value)
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
	c.Every, c.Pause, c.Note = 5*time.Millisecond, 5*time.Millisecond, 0
	return s, c
}

// keep runs Keep, and returns how to wait for what was said.
func keep(t *testing.T, s *standIn, c *Sidecar, up <-chan bool, games func() int) (until func(string), end func()) {
	t.Helper()
	bound, stop := context.WithTimeout(t.Context(), 30*time.Second)
	ctx, cancel := context.WithCancel(bound)
	done := make(chan struct{})
	go func() { c.Keep(ctx, up, games); close(done) }()
	end = func() { cancel(); <-done }
	t.Cleanup(func() { end(); stop() })
	return func(want string) {
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
	}, end
}

// A server is ready when it may serve, allocated while it has games, reserved for a while afterwards, and says when
// it ends.
func TestKeep(t *testing.T) {
	t.Parallel()
	s, c := begin(t)
	s.absent = 5
	up := make(chan bool, 2)
	var games atomic.Int64
	until, end := keep(t, s, c, up, func() int { return int(games.Load()) })
	alive := func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.healths >= 3 }
	for !alive() && t.Context().Err() == nil {
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
	noted := func() bool { s.mu.Lock(); defer s.mu.Unlock(); return slices.Contains(s.notes, "1") }
	for !noted() && t.Context().Err() == nil {
		runtime.Gosched()
	}
	end()
	until("[/ready /allocate /reserve /allocate /shutdown]")
}

// What Agones has answered, and not done, is said again: a server with games must not be taken for a free one.
func TestLost(t *testing.T) {
	t.Parallel()
	s, c := begin(t)
	s.deaf = 1
	up := make(chan bool, 1)
	up <- true
	var games atomic.Int64
	until, _ := keep(t, s, c, up, func() int { return int(games.Load()) })
	until("[/ready /ready]") // it was Scheduled all the time
	s.mu.Lock()
	s.deaf = 2
	s.mu.Unlock()
	games.Store(1)
	until("[/ready /ready /allocate /allocate /allocate]")
}

// A sidecar that does not answer, or dies and comes back, is told all that it has missed; the watch, too, comes back.
func TestSlowAndDead(t *testing.T) {
	t.Parallel()
	s, c := begin(t)
	c.Patience, c.Silence = 50*time.Millisecond, 100*time.Millisecond
	s.slow = 6 // the watch among them
	up := make(chan bool, 1)
	up <- true
	var games atomic.Int64
	until, _ := keep(t, s, c, up, func() int { return int(games.Load()) })
	until("[/ready]")
	s.mu.Lock()
	s.absent = 10
	s.mu.Unlock()
	games.Store(3)
	until("[/ready /allocate]")
	s.mu.Lock()
	s.state = Shutdown // it is not told: whoever asks again hears it
	s.mu.Unlock()
	ended := func() bool { c.mu.Lock(); defer c.mu.Unlock(); return c.seen == Shutdown }
	for !ended() {
		if t.Context().Err() != nil {
			t.Fatal("it is not heard")
		}
		runtime.Gosched()
	}
}

// A server that somebody else has allocated, and where nobody comes, is ready again; so is one whose call to be
// reserved came to nothing. As long as players are there, neither happens.
func TestForgotten(t *testing.T) {
	t.Parallel()
	s, c := begin(t)
	c.Expect = 20 * time.Millisecond
	up := make(chan bool, 1)
	up <- true
	var games atomic.Int64
	until, _ := keep(t, s, c, up, func() int { return int(games.Load()) })
	until("[/ready]")
	s.mu.Lock()
	s.state = Allocated
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	until("[/ready /ready]")
	games.Store(1)
	until("[/ready /ready /allocate]")
	s.mu.Lock()
	signs := s.healths + 20 // longer than anything is borne in which nobody is
	s.deaf = 1
	s.mu.Unlock()
	for alive := func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.healths >= signs }; !alive(); {
		runtime.Gosched()
	}
	until("[/ready /ready /allocate]")
	games.Store(0)
	until("[/ready /ready /allocate /reserve /ready]")
}

// A sidecar that fails when it is told that the server ends is told again.
func TestEnd(t *testing.T) {
	t.Parallel()
	s, c := begin(t)
	c.Every = time.Hour // only the end is told
	until, end := keep(t, s, c, nil, func() int { return 0 })
	s.mu.Lock()
	s.absent = 5
	s.mu.Unlock()
	end()
	until("[/shutdown]")
}

// Nothing of Agones is there at all: a server goes on for as long as it likes, and ends at once.
func TestNoSidecar(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	c := New("http://127.0.0.1:1", slog.New(slog.NewTextHandler(&log, nil)))
	c.Every, c.Pause = time.Millisecond, time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	up := make(chan bool)
	done := make(chan struct{})
	go func() { c.Keep(ctx, up, func() int { return 1 }); close(done) }()
	for range 20 {
		up <- true // each is a sign of life that nobody hears
	}
	cancel()
	<-done
	if n := bytes.Count(log.Bytes(), []byte("does not answer")); n != 1 {
		t.Errorf("it is said %d times that nobody is there:\n%s", n, log.String())
	}
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
