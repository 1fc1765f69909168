package page_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/cluster/internal/page"
	"github.com/parley-go/parley/examples/cluster/internal/store"
)

// scripts are several of them, with one NATS.
func scripts(t *testing.T, url string, n, atOnce int) (at []string) {
	t.Helper()
	for range n {
		nc, err := store.Connect(url, t.Name())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		st, err := store.Open(t.Context(), nc, store.Config{Patience: 20 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		p := page.New(st)
		p.AtOnce = atOnce
		s := httptest.NewServer(p)
		t.Cleanup(s.Close)
		at = append(at, s.URL)
	}
	return at
}

// ask asks a script.
func ask(t *testing.T, at, query string) (code int, page string) {
	t.Helper()
	r, err := http.Get(at + "/servers?" + query)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	return r.StatusCode, string(b)
}

func embed(t *testing.T, cfg store.EmbedConfig) *store.Embedded {
	t.Helper()
	e, err := store.Embed(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Shutdown)
	return e
}

// One address has sixteen places, however many scripts it asks at the same time, and another one is not in their way.
func TestPlaces(t *testing.T) {
	t.Parallel()
	at := scripts(t, embed(t, store.EmbedConfig{Dir: t.TempDir()}).URL(), 3, 1000)
	reg := func(i int) bool {
		code, b := ask(t, at[i%len(at)], fmt.Sprintf("action=reg&version=1&name=%s&cont=EU&port=%d",
			url.QueryEscape(strings.Repeat("<", 31)), 4000+i))
		if code != http.StatusOK {
			t.Errorf("entry %d: %d %q", i, code, b)
		}
		return strings.HasPrefix(b, "<!-- done -->")
	}
	var done atomic.Int64
	var asking sync.WaitGroup
	for i := range 40 {
		asking.Go(func() {
			if reg(i) {
				done.Add(1)
			}
		})
	}
	asking.Wait()
	if done.Load() != 16 {
		t.Errorf("one address has registered %d servers", done.Load())
	}
	again := 0
	for i := range 40 { // those that are there may say so again
		if reg(i) {
			again++
		}
	}
	if again != 16 {
		t.Errorf("%d of them are still there", again)
	}
}

// Who asks all the time is told to wait, and served again.
func TestOften(t *testing.T) {
	t.Parallel()
	at := scripts(t, embed(t, store.EmbedConfig{Dir: t.TempDir()}).URL(), 1, 3)
	answers := map[int]int{}
	for range 20 {
		code, _ := ask(t, at[0], "")
		answers[code]++
	}
	if answers[http.StatusOK] < 3 || answers[http.StatusTooManyRequests] == 0 {
		t.Errorf("answers: %v", answers)
	}
	for code := 0; code != http.StatusOK; {
		if code, _ = ask(t, at[0], ""); t.Context().Err() != nil {
			t.Fatal("it is not served again")
		}
	}
}

// What was registered outlives NATS, and what is registered then is heard of.
func TestNATSBeginsAgain(t *testing.T) {
	t.Parallel()
	cfg := store.EmbedConfig{Dir: t.TempDir()}
	e := embed(t, cfg)
	at := scripts(t, e.URL(), 2, 1<<20)
	const reg = "action=reg&version=1&name=x&cont=EU&port="
	if code, b := ask(t, at[0], reg+"4000"); code != 200 || !strings.HasPrefix(b, "<!-- done -->") {
		t.Fatalf("%d %q", code, b)
	}
	cfg.Address = strings.TrimPrefix(e.URL(), "nats://")
	e.Shutdown()
	embed(t, cfg)
	for {
		if code, b := ask(t, at[0], reg+"4001"); code == 200 && strings.HasPrefix(b, "<!-- done -->") {
			break
		}
		if t.Context().Err() != nil {
			t.Fatal("nothing can be registered")
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for list := ""; strings.Count(list, ";x;") != 2; {
		if _, list = ask(t, at[1], ""); ctx.Err() != nil {
			t.Fatalf("the list is %q", list)
		}
	}
}

// Two scripts have one list, whichever of them is asked.
func TestPage(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	at := scripts(t, embed(t, store.EmbedConfig{Dir: t.TempDir()}).URL(), 2, 1<<20)
	get := func(i int, query string) (int, string) { return ask(t, at[i], query) }
	lists := func(i int, want string) {
		t.Helper()
		for {
			_, got := get(i, "")
			if got == "<!-- servers -->\n"+want+"<!-- end -->\n</html>\n" {
				return
			}
			if ctx.Err() != nil {
				t.Fatalf("the list is %q", got)
			}
		}
	}
	lists(0, "")
	lists(1, "")
	reg := "action=reg&version=1&cont=EU&port="
	for i, port := range []string{"4000", "4001"} {
		code, b := get(i, reg+port+"&name="+url.QueryEscape("<b>Größe"))
		if code != 200 || !strings.HasPrefix(b, "<!-- done -->") {
			t.Errorf("%d %q", code, b)
		}
	}
	const both = "1;127.0.0.1;4000;<b>Größe;EU\n1;127.0.0.1;4001;<b>Größe;EU\n"
	lists(0, both)
	lists(1, both)
	if code, _ := get(1, "action=unreg&port=4000"); code != 200 {
		t.Error(code)
	}
	lists(0, "1;127.0.0.1;4001;<b>Größe;EU\n")
	for _, bad := range []string{"action=reg&port=0&name=a&version=1&cont=EU", "action=reg&port=1&name=a%3Bb",
		"action=reg&port=1&name=a%0Ab", "port=1", "action=list&port=1", "action=reg&action=reg&port=1", "x=1", "%zz",
		"action=reg&port=1&name=" + strings.Repeat("n", 32)} {
		if code, b := get(0, bad); code != http.StatusBadRequest || b == "" {
			t.Errorf("%s: %d %q", bad, code, b)
		}
	}
	// One address has sixteen places, and one of them is taken.
	for i := range 20 {
		code, b := get(0, reg+strconv.Itoa(5000+i)+"&name=x")
		if done := strings.HasPrefix(b, "<!-- done -->"); code != 200 || done != (i < 15) {
			t.Errorf("entry %d: %d %q", i, code, b)
		}
	}
}
