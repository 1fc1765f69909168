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
}

// State of a game server, as Agones calls them.
const (
	Ready     = "Ready"
	Allocated = "Allocated"
	Reserved  = "Reserved"
	Shutdown  = "Shutdown"
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
	return &Sidecar{url: url, log: log, client: http.Client{Timeout: 5 * time.Second}, Every: 2 * time.Second,
		Pause: time.Second, Reserve: 30 * time.Second}
}

// maxAnswer is how much of an answer is read: a GameServer has annotations of anybody.
const maxAnswer = 1 << 20

// say posts something.
func (s *Sidecar) say(ctx context.Context, path string, body any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, bytes.NewReader(b))
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

// watch calls f with each change of the game server, until ctx ends or f returns false. Where the stream ends it is
// asked for again.
func (s *Sidecar) watch(ctx context.Context, f func(GameServer) bool) {
	endless := http.Client{Transport: s.client.Transport} // a stream lasts
	for ctx.Err() == nil {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/watch/gameserver", nil)
		if err != nil {
			return
		}
		if answer, err := endless.Do(r); err == nil {
			lines := bufio.NewScanner(answer.Body)
			lines.Buffer(nil, maxAnswer)
			for answer.StatusCode == http.StatusOK && lines.Scan() {
				var change struct {
					Result *GameServer `json:"result"`
				}
				if json.Unmarshal(lines.Bytes(), &change) == nil && change.Result != nil && !f(*change.Result) {
					answer.Body.Close()
					return
				}
			}
			answer.Body.Close()
		}
		s.wait(ctx)
	}
}

func (s *Sidecar) wait(ctx context.Context) {
	select {
	case <-time.After(s.Pause):
	case <-ctx.Done():
	}
}

// Keep tells Agones what a server does, until ctx ends or Agones shuts the server down. The server is ready when it
// is up for the first time, allocated while it has games, and reserved for a while when it has none any more; then
// Agones takes it for ready by itself. At the end Agones is told that it is over.
func (s *Sidecar) Keep(ctx context.Context, up <-chan bool, games func() int) {
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	var others sync.WaitGroup
	others.Go(func() {
		s.watch(ctx, func(g GameServer) bool {
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
		if err := s.say(end, "/shutdown", nothing{}); err != nil {
			s.log.Warn("agones does not hear that the server ends", "error", err)
		}
	}
}

// report gives signs of life and says what the server does, until ctx ends.
func (s *Sidecar) report(ctx context.Context, up <-chan bool, games func() int) {
	life := time.NewTicker(s.Every)
	defer life.Stop()
	serving, said := false, ""
	for {
		select {
		case <-ctx.Done():
			return
		case on := <-up:
			serving = serving || on
		case <-life.C:
		}
		if err := s.say(ctx, "/health", nothing{}); err != nil {
			if ctx.Err() == nil {
				s.log.Warn("agones", "error", err) // it may start after us
			}
			continue
		}
		path, body, state := "", any(nothing{}), said
		switch busy := games() > 0; {
		case !serving:
		case busy && said != Allocated:
			path, state = "/allocate", Allocated
		case !busy && said == "":
			path, state = "/ready", Ready
		case !busy && said == Allocated:
			// Numbers of 64 bits are texts in this interface.
			path, state = "/reserve", Reserved
			body = map[string]string{"seconds": strconv.Itoa(int(s.Reserve / time.Second))}
		}
		if path == "" {
			continue
		}
		if err := s.say(ctx, path, body); err != nil {
			s.log.Warn("agones", "error", err)
			continue
		}
		said = state
	}
}
