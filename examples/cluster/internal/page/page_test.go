package page_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/cluster/internal/page"
	"github.com/parley-go/parley/examples/cluster/internal/store"
)

// Two scripts have one list, whichever of them is asked.
func TestPage(t *testing.T) {
	e, err := store.Embed(store.EmbedConfig{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Shutdown)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	var at []string
	for range 2 {
		nc, err := store.Connect(e.URL(), t.Name())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		st, err := store.Open(t.Context(), nc, store.Config{Patience: 20 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		s := httptest.NewServer(page.New(st))
		t.Cleanup(s.Close)
		at = append(at, s.URL)
	}
	get := func(i int, query string) (int, string) {
		t.Helper()
		r, err := http.Get(at[i] + "/servers?" + query)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, string(b)
	}
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
		listed := func() bool { _, l := get(0, ""); return strings.Count(l, ";x;") == min(i+1, 15) }
		for !listed() { // the script hears of it from NATS
			if ctx.Err() != nil {
				t.Fatal("it is not listed")
			}
		}
	}
}
