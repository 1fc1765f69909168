package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/machines/registration"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
)

// site starts a script, with its list in a file.
func site(t *testing.T, file string) (*Site, *httptest.Server) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	s := &Site{Path: "/servers", File: file}
	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	return s, web
}

// get asks with net/http.
func get(t *testing.T, address string) (code int, page string) {
	t.Helper()
	res, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// query is a registration, coded as any program for the web does it.
func query(version, name, port, region string) string {
	return "?" + url.Values{"version": {version}, "action": {"reg"}, "name": {name}, "port": {port},
		"cont": {region}}.Encode()
}

// pageOf is a page of these lines.
func pageOf(l ...string) string { return strings.Join(l, "\n") + "\n" }

func listOf(entries ...string) string {
	return pageOf(append(append([]string{"<!-- servers -->"}, entries...), "<!-- end -->", "</html>")...)
}

// TestScript: registering, the list, and taking out, with net/http, and with names that have to be coded.
func TestScript(t *testing.T) {
	s, web := site(t, "")
	at := web.URL + "/servers"
	for _, c := range []struct {
		ask  string
		code int
		page string
	}{
		{"", 200, listOf()},
		{"?version=1.2&action=reg&name=arena&port=4000&cont=EU", 200, pageOf("<!-- done -->", "</html>")},
		{query("1.3", "Müllers <b>Höhle</b>", "4001", "EU/North"), 200, pageOf("<!-- done -->", "</html>")},
		{"", 200, listOf("1.2;127.0.0.1;4000;arena;EU", "1.3;127.0.0.1;4001;Müllers <b>Höhle</b>;EU/North")},
		{"?action=unreg&port=4000", 200, pageOf("<!-- done -->", "</html>")},
		{"", 200, listOf("1.3;127.0.0.1;4001;Müllers <b>Höhle</b>;EU/North")},
		{query("1", strings.Repeat("x", 32), "1", ""), 400, pageOf("a name has at most 31 bytes")},
		{query("1", "a;1.2;10.0.0.1", "1", ""), 400, ""},
		{query("1", "a\r\n1;10.0.0.1;1;b;c", "1", ""), 400, ""},
		{query("1", "a&b", "1", ""), 400, ""},
		{query("1", "\x1b[2J", "1", ""), 400, ""},
		{query("1", "a", "65536", ""), 400, pageOf("a port is a number from 1 to 65535")},
		{query("1 1", "a", "1", ""), 400, ""},
		{"?action=unreg", 400, pageOf("say which server: &port=PORT")},
		{"?action=fly", 400, pageOf("the action is reg or unreg")},
		{"?name=%", 400, pageOf("there is a % too much")},
		{"?action=reg&action=unreg", 400, pageOf(`"action" does not belong here, or comes twice`)},
	} {
		code, page := get(t, at+c.ask)
		if code != c.code || c.page != "" && page != c.page {
			t.Errorf("%q: %d\n%s\nwant %d\n%s", c.ask, code, page, c.code, c.page)
		}
	}
	if code, _ := get(t, web.URL+"/other"); code != 404 {
		t.Errorf("another path: %d", code)
	}
	if res, err := http.Post(at, "text/plain", nil); err != nil || res.StatusCode != 405 {
		t.Errorf("POST: %v %v", res, err)
	}
	if s.Refused() != 13 {
		t.Errorf("%d requests were counted as refused", s.Refused())
	}
	if res, _ := http.Get(at); res.Header.Get("Content-Type") != "text/plain; charset=utf-8" ||
		res.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("a browser may take names for HTML: %v", res.Header)
	}
}

// TestOneAddress: nobody fills the list alone. The ninth server of an address is not listed, and one that is may renew.
func TestOneAddress(t *testing.T) {
	_, web := site(t, "")
	at := web.URL + "/servers"
	done := pageOf("<!-- done -->", "</html>")
	for port := range 8 {
		if _, page := get(t, at+query("1", "a", strconv.Itoa(4000+port), "EU")); page != done {
			t.Fatal(page)
		}
	}
	if _, page := get(t, at+query("1", "a", "5000", "EU")); page != pageOf("</html>") {
		t.Error(page)
	}
	if _, page := get(t, at+query("1", "b", "4000", "EU")); page != done {
		t.Error(page)
	}
	if _, page := get(t, at); strings.Count(page, "127.0.0.1") != 8 || !strings.Contains(page, ";4000;b;EU") {
		t.Error(page)
	}
}

// TestCurl: the program that everybody has speaks with the script.
func TestCurl(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	_, web := site(t, "")
	curl := func(ask string) string {
		t.Helper()
		out, err := exec.Command("curl", "-sS", "--max-time", "60", web.URL+"/servers"+ask).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	got := curl("?version=1&action=reg&name=my%20arena&port=4000&cont=EU")
	if got != pageOf("<!-- done -->", "</html>") {
		t.Errorf("registered: %q", got)
	}
	if got := curl(""); got != listOf("1;127.0.0.1;4000;my arena;EU") {
		t.Errorf("the list: %q", got)
	}
}

// TestKept: a script that stops without a word begins again with its list; a list that is none is told of.
func TestKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "list.json")
	_, web := site(t, file)
	for i := range 3 {
		code, page := get(t, web.URL+"/servers"+query("1", fmt.Sprint("s", i), fmt.Sprint(4000+i), "EU"))
		if code != 200 {
			t.Fatal(page)
		}
	}
	get(t, web.URL+"/servers?action=unreg&port=4001")
	_, again := site(t, file) // the first one has written nothing since it answered
	want := listOf("1;127.0.0.1;4000;s0;EU", "1;127.0.0.1;4002;s2;EU")
	if _, page := get(t, again.URL+"/servers"); page != want {
		t.Errorf("the list after a crash:\n%s\nwant\n%s", page, want)
	}
	for _, bad := range []string{"[", `[{"place": 64}]`, `[{"place": 0, "ip": "::1", "port": 1}]`,
		`[{"place": 0, "ip": "1.2.3.4", "port": 1, "name": "a;b"}]`} {
		if err := os.WriteFile(file, []byte(bad), 0o644); err != nil {
			t.Fatal(err)
		}
		err := (&Site{File: file}).Start(t.Context())
		if err == nil || !strings.Contains(err.Error(), "list.json: ") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestUnwritten: what cannot be written into the file does not happen: neither does a server come, nor does it change
// or go. That is said once, and over when there is room again.
func TestUnwritten(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "lists")
	mend := func() {
		t.Helper()
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mend()
	file := filepath.Join(folder, "list.json")
	s, web := site(t, file)
	var log bytes.Buffer
	s.Log = slog.New(slog.NewTextHandler(&log, nil))
	at := web.URL + "/servers"
	ask := func(question string, want int) {
		t.Helper()
		if code, page := get(t, at+question); code != want {
			t.Errorf("%s: %d\n%s", question, code, page)
		}
	}
	lists := func(want ...string) {
		t.Helper()
		if _, page := get(t, at); page != listOf(want...) {
			t.Errorf("the list is\n%s\nnot\n%s", page, listOf(want...))
		}
	}
	ask(query("1", "a", "4000", "EU"), 200)
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	ask(query("1", "b", "4001", "EU"), 503)
	lists("1;127.0.0.1;4000;a;EU")
	ask(query("2", "other", "4000", "US"), 503)
	lists("1;127.0.0.1;4000;a;EU")
	ask("?action=unreg&port=4000", 503)
	lists("1;127.0.0.1;4000;a;EU")
	ask(query("1", "a", "4000", "EU"), 200) // is in the list already
	if strings.Count(log.String(), "cannot be written") != 1 {
		t.Errorf("it is not said once: %s", &log)
	}
	mend()
	ask(query("1", "b", "4001", "EU"), 200)
	lists("1;127.0.0.1;4000;a;EU", "1;127.0.0.1;4001;b;EU")
	_, again := site(t, file)
	if _, page := get(t, again.URL+"/servers"); page != listOf("1;127.0.0.1;4000;a;EU", "1;127.0.0.1;4001;b;EU") {
		t.Error(page)
	}
	for _, bad := range []string{filepath.Join(folder, "no", "list.json"), folder, "/dev/zero"} {
		if err := (&Site{File: bad}).Start(t.Context()); err == nil {
			t.Errorf("a list can be kept in %s", bad)
		}
	}
}

// TestMoved: the script gives no answer, and the file says where another is. A server registers there, and who looks
// for servers finds it. Without the file, and where the file names the same place, there is none.
func TestMoved(t *testing.T) {
	_, web := site(t, "")
	script := web.URL + "/servers"
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/where":
			fmt.Fprintln(w, "We have moved.\nscript: "+script)
		case "/same":
			fmt.Fprintf(w, "script: http://%s/gone\n", r.Host)
		case "/redirected":
			http.Redirect(w, r, "/where", http.StatusFound)
		case "/marked": // a page of another kind, with an error code
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprintln(w, "<!-- servers -->\n<!-- end -->")
		default:
			http.NotFound(w, r)
		}
	}))
	defer page.Close()
	ctx, cancel := context.WithCancel(t.Context())
	listed, ended := make(chan bool, 8), make(chan error, 1)
	about := About{Version: "1.0", Name: "Arena one", Region: "EU", Port: 4000}
	go func() {
		ended <- Register(ctx, Where{page.URL + "/gone", page.URL + "/where"}, about, func(l bool) { listed <- l })
	}()
	if !<-listed {
		t.Fatal("the server could not be registered")
	}
	want := []Server{{Version: "1.0", IP: "127.0.0.1", Name: "Arena one", Region: "EU", Port: 4000}}
	for _, w := range []Where{{page.URL + "/gone", page.URL + "/where"},
		{page.URL + "/marked", page.URL + "/redirected"}, {script, ""}} {
		got, err := Look(t.Context(), w)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v: %v, %v", w, got, err)
		}
	}
	for _, w := range []Where{{page.URL + "/gone", page.URL + "/same"}, {page.URL + "/gone", page.URL + "/gone"},
		{page.URL + "/marked", "http://127.0.0.1:1/nobody"}} {
		if got, err := Look(t.Context(), w); !errors.Is(err, ErrNone) {
			t.Errorf("%v: %v, %v", w, got, err)
		}
	}
	// Who finds no script is told why it did not answer, and not that there is no page.
	if _, err := Look(t.Context(), Where{page.URL + "/gone", ""}); !errors.Is(err, ErrNone) ||
		!strings.Contains(err.Error(), "404") {
		t.Error(err)
	}
	cancel() // the server shuts down, and says so
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got, err := Look(t.Context(), Where{script, ""}); err != nil || len(got) != 0 {
		t.Errorf("after the server has shut down: %v, %v", got, err)
	}
}

// TestExpiry: an entry that is not renewed is taken out after 1000 seconds, in time of the test's own.
func TestExpiry(t *testing.T) {
	r := registration.NewScriptRunner()
	c := driver.NewCore(r, driver.Options[*registration.ScriptRunner]{}, nowhere{})
	c.Start(time.Unix(0, 0))
	c.LinkUp(0, 1, "")
	reg := func(at time.Duration) {
		m, err := question(&url.URL{RawQuery: "version=1&action=reg&name=a&port=1&cont=b"})
		if err != nil {
			t.Fatal(err)
		}
		frame, _ := registration.AppendMessage(nil, &m)
		c.Frame(at, 1, frame)
	}
	reg(0)
	c.Expire(999 * time.Second)
	reg(999 * time.Second) // renewed
	c.Expire(1998 * time.Second)
	if !r.Machine.List[0].Present {
		t.Error("the entry is gone before its time")
	}
	c.Expire(1999 * time.Second)
	if r.Machine.List[0].Present {
		t.Error("the entry is there for ever")
	}
}

type nowhere struct{}

func (nowhere) Send(fsm.Peer, []byte) error         { return nil }
func (nowhere) Close(fsm.Peer, *driver.Error) error { return nil }

// FuzzQuestion: whatever stands behind the question mark is refused, or is a message that comes back as it is.
func FuzzQuestion(f *testing.F) {
	f.Add("version=1.2&action=reg&name=arena&port=4000&cont=EU")
	f.Add("action=unreg&port=4000")
	f.Add("")
	f.Add("name=%")
	f.Add("version=1&action=reg&name=a%3B1&port=1&cont=%0d%0a")
	f.Fuzz(func(t *testing.T, q string) {
		m, err := question(&url.URL{RawQuery: q})
		if err != nil {
			return
		}
		frame, err := registration.AppendMessage(nil, &m)
		if err != nil {
			t.Fatalf("%q is %s, which has no line: %v", q, m.String(), err)
		}
		var back registration.Message
		if err := registration.DecodeMessage(frame, &back); err != nil || back.String() != m.String() {
			t.Fatalf("%q is %s, and comes back as %s (%v)", q, m.String(), back.String(), err)
		}
	})
}

// FuzzPage: no line of a page makes more of it than one message.
func FuzzPage(f *testing.F) {
	f.Add("1.2;10.0.0.1;4000;arena;EU\r\n")
	f.Add("<!-- done -->")
	f.Add("script: http://a/b\n")
	f.Fuzz(func(t *testing.T, line string) {
		if line, _, _ = strings.Cut(line, "\n"); meant(line+"\n") == nil {
			return
		}
		var m registration.Message
		if err := registration.DecodeMessage(meant(line+"\n"), &m); err != nil || m.Kind == registration.MessageOther {
			t.Fatalf("%q: %v, %v", line, m.String(), err)
		}
	})
}
