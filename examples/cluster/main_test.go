package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/cluster/internal/seek"
	"github.com/parley-go/parley/examples/cluster/internal/store"
	"github.com/parley-go/parley/examples/cluster/machines/tenure"
	"github.com/parley-go/parley/examples/internal/process"
	"github.com/parley-go/parley/examples/internal/waits"
	"github.com/parley-go/parley/internal/doctest"
)

// TestMain is also the program: a trial starts itself.
func TestMain(m *testing.M) {
	process.Main(main)
	if len(os.Args) > 1 && os.Args[1] == "-serve" {
		main()
	}
	if len(os.Args) > 1 && os.Args[1] == "-nats-node" {
		natsNode(os.Args[2], os.Args[3], os.Args[4], os.Args[5:])
	}
	os.Exit(waits.Main(m))
}

// natsNode is one NATS server of a cluster, until standard input ends.
func natsNode(name, dir, route string, peers []string) {
	e, err := store.Embed(store.EmbedConfig{Name: name, Dir: dir, Route: route, Peers: peers})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(e.URL())
	_, _ = io.Copy(io.Discard, os.Stdin)
	e.Shutdown()
	os.Exit(0)
}

// TestPage does what docs/SCALE.md shows: a trial, smaller, with real processes of which one is killed, and the
// servers, on other ports.
func TestPage(t *testing.T) {
	t.Parallel()
	blocks := doctest.Page(t, "../../docs/SCALE.md")
	trials, url := 0, ""
	for _, b := range blocks {
		for line := range strings.Lines(b.Text) {
			args, ok := strings.CutPrefix(strings.TrimSpace(line), "go -C examples/cluster run . ")
			switch {
			case !ok:
				t.Errorf("what is %q?", line)
			case strings.HasPrefix(args, "-serve"):
				url = serve(t, strings.Fields(args), url)
			default:
				trials++
				smallTrial(t, strings.Fields(args))
			}
		}
	}
	if trials != 1 || url == "" || !strings.Contains(fmt.Sprint(blocks), "-status") {
		t.Errorf("%d trials, and servers at %q", trials, url)
	}
}

func smallTrial(t *testing.T, args []string) {
	t.Helper()
	var out, errs bytes.Buffer
	small := strings.Fields("-lobbies 24 -joins 40 -matches 3 -players 8 -lease 2s")
	if code := run(t.Context(), append(args, small...), &out, &errs); code != 0 {
		t.Fatalf("%d\n%s%s", code, out.String(), errs.String())
	}
	for _, want := range []string{`(?m)^3 servers at `, `(?m)^24 lobbies made, with a player in each in .* a second`,
		`(?m)^40 players joined and left`, `(?m)^3 matches of two were a second old`} {
		if !regexp.MustCompile(want).Match(out.Bytes()) {
			t.Errorf("nothing like %s in\n%s", want, out.String())
		}
	}
	t.Log("\n" + out.String())
}

// lines is a writer that gives each line to who waits for it.
type lines struct {
	rest  []byte
	there chan string
}

func (l *lines) Write(b []byte) (int, error) {
	l.rest = append(l.rest, b...)
	for {
		i := bytes.IndexByte(l.rest, '\n')
		if i < 0 {
			return len(b), nil
		}
		l.there <- string(l.rest[:i])
		l.rest = l.rest[i+1:]
	}
}

// serve starts a server as the page does, but on free ports and with the NATS of the one before, and returns where
// its NATS is.
func serve(t *testing.T, args []string, url string) string {
	t.Helper()
	own := slices.Contains(args, "-nats-listen")
	for i := range args[:len(args)-1] {
		switch args[i] {
		case "-listen", "-nats-listen", "-script", "-status":
			args[i+1] = "127.0.0.1:0"
		case "-nats":
			args[i+1] = url
		case "-dir":
			args[i+1] = t.TempDir()
		}
	}
	out, errs := &lines{there: make(chan string, 8)}, &bytes.Buffer{}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, args, out, errs) }()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != 0 {
			t.Errorf("%v ends with %d: %s", args, code, errs.String())
		}
	})
	at := map[string]string{}
	for at["listening on"] == "" {
		select {
		case line := <-out.there:
			i := strings.LastIndexByte(line, ' ')
			at[line[:i]] = line[i+1:]
		case code := <-ended:
			ended <- code
			t.Fatalf("%v: %d %s", args, code, errs.String())
		}
	}
	if s := at["registration script at"]; (s != "") != slices.Contains(args, "-script") {
		t.Errorf("%v: the script is at %q", args, s)
	}
	s, err := seek.New([]string{at["listening on"]}, tenure.KindLobby, "shown", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	h := holder{Seeker: s}
	if err := h.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	if at := at["status at"]; at != "" {
		checkStatus(t, at)
	}
	if at := at["registration script at"]; at != "" {
		crowd(t, at)
	}
	h.conn.Close()
	if own {
		return at["nats at"]
	}
	return url
}

// checkStatus reads how a server is that one player has found, in the form that Prometheus reads. A busy machine
// loses a session now and then; the server has another one soon.
func checkStatus(t *testing.T, at string) {
	t.Helper()
	text, values := statusOf(t, at)
	for end := time.Now().Add(30 * time.Second); values["parley_cluster_session"] != "1"; {
		if time.Now().After(end) {
			t.Fatalf("there is no session:\n%s", text)
		}
		text, values = statusOf(t, at)
	}
	if values["parley_cluster_turned_total"] != "0" {
		t.Errorf("somebody was turned away:\n%s", text)
	}
	// Somebody else may have the lobby that the player asked for.
	joins, moves := values["parley_cluster_joins_total"], values["parley_cluster_moves_total"]
	if joins+moves != "10" && joins+moves != "01" {
		t.Errorf("one player came, and %s were let in and %s sent on", joins, moves)
	}
}

// statusOf reads the page and its numbers.
func statusOf(t *testing.T, at string) (text []byte, values map[string]string) {
	t.Helper()
	answer, err := http.Get("http://" + at + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err = io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer.Status, err)
	}
	values = map[string]string{}
	form := regexp.MustCompile(`^(# (HELP|TYPE) [a-z_]+ .+|([a-z_]+) (\d+))$`)
	for line := range strings.Lines(string(text)) {
		m := form.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			t.Fatalf("the status has the line %q", line)
		}
		values[m[3]] = m[4]
	}
	return text, values
}

// crowd has one address open more connections to a page than it may have. Those beyond are closed, and the page is
// still there for who goes first.
func crowd(t *testing.T, at string) {
	t.Helper()
	const most = 16
	var open []net.Conn
	for range most + 1 {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		open = append(open, conn)
	}
	_ = open[most].SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := open[most].Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("connection %d of one address: %v", most+1, err)
	}
	_, _ = io.WriteString(open[0], "GET / HTTP/1.0\r\n\r\n")
	if answer, err := io.ReadAll(open[0]); err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.0 200")) {
		t.Errorf("the first is answered with %.80q, %v", answer, err)
	}
}

// Who interrupts a trial is told that it is a part, with the code of an interrupt.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	out, errs := &lines{there: make(chan string, 8)}, &bytes.Buffer{}
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, strings.Fields("-nodes 1 -lobbies 1 -joins 10000000 -matches 0"), out, errs)
	}()
	for line := range out.there {
		if strings.Contains(line, "lobbies made") {
			break
		}
	}
	cancel()
	if c := <-code; c != 130 || !strings.Contains(errs.String(), "interrupted: what is said above is a part") {
		t.Errorf("%d %s", c, errs.String())
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for args, want := range map[string]string{
		"-nodes 0":                "-nodes 0: 1 to 64",
		"-kill -nodes 1":          "-kill: another server has to be there",
		"-serve -lobbies 3":       "-lobbies has no meaning with -serve",
		"-listen :1":              "-listen has no meaning with a trial",
		"-lobbies 0":              "-lobbies are 1 to 100,000",
		"-players -1":             "-players -1: it is not negative",
		"-nats nats://x:1 -dir d": "-nats names another",
		"-burst -1":               "-burst -1: it is not negative",
		"-dir " + file:            "not a directory",
		"-serve -dir " + file:     "not a directory",
		"-serve -nats-listen " + taken.Addr().String(): "address already in use",
		"-serve -listen nowhere":                       "missing port in address",
		"-serve -listen 192.0.2.1:1":                   "cannot assign requested address",
		"-serve -nats nats://127.0.0.1:1":              "",
	} {
		var out, errs bytes.Buffer
		code := run(context.Background(), strings.Fields(args), &out, &errs)
		if want == "" {
			if code != 1 || !strings.Contains(errs.String(), "nats at nats://127.0.0.1:1") {
				t.Errorf("%s: %d %s", args, code, errs.String())
			}
			continue
		}
		if code != 2 || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: %d %s", args, code, errs.String())
		}
	}
}
