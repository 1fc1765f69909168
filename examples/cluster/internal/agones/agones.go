// Package agones tells Agones what a game server does, through the HTTP interface of the sidecar that Agones starts
// beside it (agones.dev, Client SDKs, REST): whether it is ready, that it is alive, whether it has games, and that
// it ends. It hears from there when it is to end.
//
// It must not know what a game is. Start from [New] and [Sidecar.Keep].
package agones

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

// Sidecar is the program beside us.
type Sidecar struct {
	url    string
	client http.Client
	log    *slog.Logger

	// Every is the time between two signs of life, 0 for two seconds; Pause that between two attempts to say
	// something.
	Every, Pause time.Duration
	// Reserve is for how long a server is kept that had games and has none: players may be on their way.
	Reserve time.Duration
	// Expect is for how long a server stays allocated in which nobody is: somebody else has allocated it and sent no
	// players, or a call to reserve it came to nothing. Nothing else would make it ready again.
	Expect time.Duration
	// Note is how long at least it is from one note of how many games there are to the next: each is written by
	// Kubernetes.
	Note time.Duration
	// Patience is how long an answer may take, and Silence how long nothing may come of a watch before it is asked for
	// again: Agones says all half a minute what it knows.
	Patience, Silence time.Duration

	mu   sync.Mutex
	seen string // the state that the watch has told last; empty: none yet
	down bool   // the sidecar did not answer the last time
}

// State of a game server, as Agones calls them.
const (
	Ready     = "Ready"
	Allocated = "Allocated"
	Reserved  = "Reserved"
	Shutdown  = "Shutdown"
	Unhealthy = "Unhealthy" // it gave no signs of life; Agones replaces it
)

// GameServer is what the sidecar says of us, as far as it is of use here.
type GameServer struct {
	ObjectMeta struct {
		Name string `json:"name"`
	} `json:"object_meta"`
	Status struct {
		State   string `json:"state"`
		Address string `json:"address"`
		Ports   []struct {
			Name string `json:"name"`
			Port int    `json:"port"`
		} `json:"ports"`
	} `json:"status"`
}

// New returns the sidecar at a URL. An empty one is where Agones says, in AGONES_SDK_HTTP_PORT, or port 9358 of
// this computer.
func New(url string, log *slog.Logger) *Sidecar {
	if url == "" {
		port := os.Getenv("AGONES_SDK_HTTP_PORT")
		if port == "" {
			port = "9358"
		}
		url = "http://localhost:" + port
	}
	return &Sidecar{url: url, log: log, Every: 2 * time.Second, Pause: time.Second, Reserve: 30 * time.Second,
		Expect: 2 * time.Minute,
		Note:   30 * time.Second, Patience: 3 * time.Second, Silence: 2 * time.Minute}
}

// maxAnswer is how much of an answer is read: a GameServer has annotations of anybody.
const maxAnswer = 1 << 20

// say says something.
func (s *Sidecar) say(ctx context.Context, method, path string, body any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.Patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, bytes.NewReader(b))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := s.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer))
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("agones: %s: %s", path, answer.Status)
	}
	return nil
}

// nothing is the body of most calls.
type nothing struct{}

// GameServer asks what Agones knows of us.
func (s *Sidecar) GameServer(ctx context.Context) (g GameServer, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.Patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/gameserver", nil)
	if err != nil {
		return g, err
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return g, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return g, fmt.Errorf("agones: /gameserver: %s", answer.Status)
	}
	return g, json.NewDecoder(io.LimitReader(answer.Body, maxAnswer)).Decode(&g)
}

// watch calls f with each change of the game server, until ctx ends or f returns false. Where the stream ends, or
// nothing comes over it for long, it is asked for again.
func (s *Sidecar) watch(ctx context.Context, f func(GameServer) bool) {
	for ctx.Err() == nil && s.watchOnce(ctx, f) {
		s.wait(ctx)
	}
}

// watchOnce reports whether to go on when a stream has ended.
func (s *Sidecar) watchOnce(ctx context.Context, f func(GameServer) bool) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	silent := time.AfterFunc(s.Silence, cancel)
	defer silent.Stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/watch/gameserver", nil)
	if err != nil {
		return false
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return true
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, maxAnswer)
	for answer.StatusCode == http.StatusOK && lines.Scan() {
		silent.Reset(s.Silence)
		var change struct {
			Result *GameServer `json:"result"`
		}
		if json.Unmarshal(lines.Bytes(), &change) == nil && change.Result != nil && !f(*change.Result) {
			return false
		}
	}
	return true
}

func (s *Sidecar) wait(ctx context.Context) {
	select {
	case <-time.After(s.Pause):
	case <-ctx.Done():
	}
}

// Keep tells Agones what a server does, until ctx ends or Agones shuts the server down. The server is ready when it
// is up for the first time, allocated while it has games, and reserved for a while when it has none any more; then
// Agones takes it for ready by itself. At the end Agones is told that it is over. A sidecar that is not there, slow or
// dead is asked again, and the server serves meanwhile.
func (s *Sidecar) Keep(ctx context.Context, up <-chan bool, games func() int) {
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	var others sync.WaitGroup
	others.Go(func() {
		s.watch(ctx, func(g GameServer) bool {
			s.mu.Lock()
			s.seen = g.Status.State
			s.mu.Unlock()
			if g.Status.State == Shutdown {
				s.log.Warn("agones shuts the server down")
				cancel()
				return false
			}
			return true
		})
	})
	s.report(ctx, up, games)
	cancel()
	others.Wait()
	if outer.Err() != nil { // Agones need not be told what it has said
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		err := s.say(end, http.MethodPost, "/shutdown", nothing{})
		for err != nil && !s.down && end.Err() == nil { // who did not answer before is not waited for
			s.wait(end)
			err = s.say(end, http.MethodPost, "/shutdown", nothing{})
		}
		if err != nil {
			s.log.Warn("agones does not hear that the server ends", "error", err)
		}
	}
}

// heard logs that the sidecar answers no more, or again.
func (s *Sidecar) heard(ctx context.Context, err error) bool {
	switch {
	case ctx.Err() != nil:
	case err != nil && !s.down:
		s.log.Warn("agones does not answer; it is asked again", "error", err) // it may start after us
	case err == nil && s.down:
		s.log.Warn("agones answers again")
	}
	s.down = err != nil
	return err == nil
}

// lost reports whether Agones has not done what it was told: a call that was answered need not have come to anything,
// as its documentation says. It is for who waited a while.
func (s *Sidecar) lost(said string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch said {
	case Allocated: // somebody must not be led to take the server for a free one
		return s.seen == Ready || s.seen == Reserved
	case Ready:
		return s.seen != "" && s.seen != Ready && s.seen != Allocated && s.seen != Reserved && s.seen != Unhealthy
	}
	return false // what was reserved becomes ready by itself
}

// allocated reports whether Agones takes the server for allocated.
func (s *Sidecar) allocated() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen == Allocated
}

// settled is after how many signs of life what was said has come to something, or has not.
const settled = 5

// report gives signs of life and says what the server does, until ctx ends.
func (s *Sidecar) report(ctx context.Context, up <-chan bool, games func() int) {
	life := time.NewTicker(s.Every)
	defer life.Stop()
	serving, said, since := false, "", 0
	noted, noteAt := -1, time.Time{}
	wanted := time.Now() // when somebody was here, or Agones did not take the server for allocated
	for {
		select {
		case <-ctx.Done():
			return
		case on := <-up:
			serving = serving || on
		case <-life.C:
			since++
		}
		if !s.heard(ctx, s.say(ctx, http.MethodPost, "/health", nothing{})) {
			continue
		}
		path, body, state := "", any(nothing{}), said
		now := games()
		again := since >= settled && s.lost(said)
		if now > 0 || !s.allocated() {
			wanted = time.Now()
		}
		switch busy := now > 0; {
		case !serving:
		case busy && (said != Allocated || again):
			path, state = "/allocate", Allocated
		case !busy && (said == "" || said == Ready && again || time.Since(wanted) > s.Expect):
			path, state = "/ready", Ready
		case !busy && said == Allocated:
			// Numbers of 64 bits are texts in this interface.
			path, state = "/reserve", Reserved
			body = map[string]string{"seconds": strconv.Itoa(int(s.Reserve / time.Second))}
		}
		if path != "" && s.heard(ctx, s.say(ctx, http.MethodPost, path, body)) {
			said, since = state, 0
		}
		if path == "" && serving && now != noted && time.Since(noteAt) >= s.Note {
			note := map[string]string{"key": "games", "value": strconv.Itoa(now)}
			if s.heard(ctx, s.say(ctx, http.MethodPut, "/metadata/annotation", note)) {
				noted, noteAt = now, time.Now()
			}
		}
	}
}
