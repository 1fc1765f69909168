package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"

	"github.com/parley-go/parley/examples/ssr-server/internal/player"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// patience ends a test that would hang.
const patience = 2 * time.Minute

// build makes a program of this module or the one above.
func build(t *testing.T, name, pkg string, env ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), name)
	cmd := exec.Command("go", "build", "-o", out, pkg)
	cmd.Env = append(os.Environ(), env...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, text)
	}
	return out
}

// start runs a game server and the page, and returns where they are.
func start(t *testing.T, wasm string) (server string, page *httptest.Server) {
	t.Helper()
	cmd := exec.Command(build(t, "ssr-server", "github.com/parley-go/parley/examples/ssr-server"),
		"-listen", "127.0.0.1:0", "-per-address", "57")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	server, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok {
		t.Fatalf("the server says %q (%v)", line, err)
	}
	g := &gateway{server: server, free: make(chan struct{}, 2), log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	h, err := g.handler(wasm)
	if err != nil {
		t.Fatal(err)
	}
	page = httptest.NewServer(h)
	t.Cleanup(page.Close)
	return server, page
}

// TestBrowser: in a browser the same machine plays with one outside of it. What others say is text there.
func TestBrowser(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	server, page := start(t, build(t, "player.wasm", "./player", "GOOS=js", "GOARCH=wasm"))

	link, err := tcp.Dial(t.Context(), "tcp", server, tcp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 1000)
	other := player.New(func(k player.Kind, l string) { lines <- l })
	go other.Run(t.Context(), link)
	hears := func(want string) {
		t.Helper()
		for late := time.After(patience); ; {
			select {
			case l := <-lines:
				if strings.HasPrefix(l, want) {
					return
				}
			case <-late:
				t.Fatalf("nobody heard %q", want)
			}
		}
	}
	types := func(line string) {
		t.Helper()
		if err := other.Type(t.Context(), line); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	hears("you are in the general chat")
	types("/name Ann <i>")

	alloc, end := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(browser), chromedp.NoSandbox, chromedp.WindowSize(900, 600))...)
	defer end()
	ctx, end := chromedp.NewContext(alloc)
	defer end()
	ctx, end = context.WithTimeout(ctx, patience)
	defer end()
	do := func(what string, actions ...chromedp.Action) {
		t.Helper()
		if err := chromedp.Run(ctx, actions...); err != nil {
			var log string
			chromedp.Run(ctx, chromedp.Text("#log", &log))
			t.Fatalf("%s: %v\n%s", what, err, log)
		}
	}
	shows := func(text string) chromedp.Action {
		return chromedp.Poll(fmt.Sprintf("document.body.innerText.includes(%q)", text), nil)
	}
	say := func(text string) chromedp.Action { return chromedp.SendKeys("#line", text+"\r") }
	do("connected", chromedp.Navigate(page.URL), shows("you are in the general chat"))
	do("says", say("/name Bea"), say("hello from the browser"))
	hears("Bea: hello from the browser")
	types("<img src=x onerror=alert(1)> & <b>bold</b>")
	do("hears", shows("Ann <i>: <img src=x onerror=alert(1)> & <b>bold</b>"))
	var elements int
	do("is text", chromedp.Evaluate("document.querySelectorAll('#log img, #log b, #log i').length", &elements))
	if elements != 0 {
		t.Errorf("what a player said has become %d elements of the page", elements)
	}
	do("makes a game", say("/new"), shows("you are in game 0, which is yours"))
	types("/join 0")
	hears("you are in game 0")
	do("starts it", say("/start"), shows("the game has begun"))
	types("/act left")
	do("sees and has the time", shows("does left"), shows("at the server between"))
	if file := os.Getenv("PARLEY_SHOT"); file != "" {
		var picture []byte
		do("picture", chromedp.FullScreenshot(&picture, 90))
		if err := os.WriteFile(file, picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	do("leaves", chromedp.Navigate("about:blank"))
	hears("you are in the general chat") // the administrator is gone
}

// TestGateway: pages of other sites get no connection, nor does anybody when all places are taken;
// what is no frame ends the connection that it came over.
func TestGateway(t *testing.T) {
	wasm := filepath.Join(t.TempDir(), "player.wasm")
	if err := os.WriteFile(wasm, []byte("\x00asm"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, page := start(t, wasm)
	url := "ws" + strings.TrimPrefix(page.URL, "http") + "/play"
	ctx, end := context.WithTimeout(t.Context(), patience)
	defer end()
	evil := http.Header{"Origin": {"http://evil.example"}}
	_, res, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPHeader: evil})
	if err == nil || res.StatusCode != http.StatusForbidden {
		t.Errorf("another site's page: %v, %v", res, err)
	}
	dial := func() (*websocket.Conn, error) { ws, _, err := websocket.Dial(ctx, url, nil); return ws, err }
	a, err := dial()
	if err != nil {
		t.Fatal(err)
	}
	b, err := dial()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dial(); err == nil {
		t.Error("a third one got one of two places")
	}
	if err := a.Write(ctx, websocket.MessageBinary, []byte("no frame at all")); err != nil {
		t.Fatal(err)
	}
	if _, text, err := a.Read(ctx); err == nil {
		t.Errorf("what is no frame was answered with %q", text)
	}
	if err := b.Write(ctx, websocket.MessageBinary, []byte{0, 3, 2}); err != nil { // GAME_INFO
		t.Fatal(err)
	}
	if _, got, err := b.Read(ctx); err != nil || !bytes.Equal(got, []byte{0, 4, 65, 0}) {
		t.Errorf("the other one got % x, %v", got, err)
	}
	b.Close(websocket.StatusNormalClosure, "")
	for _, path := range []string{"/", "/style.css", "/start.js", "/wasm_exec.js", "/player.wasm"} {
		res, err := http.Get(page.URL + path)
		if err != nil || res.StatusCode != 200 || res.Header.Get("Content-Security-Policy") != policy {
			t.Errorf("%s: %v, %v", path, res, err)
		}
	}
}

// TestUsage: what can be wrong with the command line is said in one line, with exit code 2.
func TestUsage(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"-wasm", "nowhere"}, &out, &errs); code != 2 ||
		!strings.HasPrefix(errs.String(), "web: -wasm: ") {
		t.Errorf("exit code %d, %q", code, errs.String())
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	wasm := filepath.Join(t.TempDir(), "player.wasm")
	os.WriteFile(wasm, nil, 0o644)
	if code := run(t.Context(), []string{"-wasm", wasm, "-listen", l.Addr().String()}, &out, &errs); code != 2 {
		t.Errorf("a port that is taken: exit code %d", code)
	}
}
