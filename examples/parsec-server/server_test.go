package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/internal/process"
	"github.com/parley-go/parley/examples/remote"
	"github.com/parley-go/parley/examples/remote/pilot"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// both runs a test for a slotserver and for a gameserver, whose lines are the same.
func both(t *testing.T, test func(*testing.T, bool)) {
	t.Run("slot", func(t *testing.T) { test(t, false) })
	t.Run("game", func(t *testing.T) { test(t, true) })
}

// start runs a slotserver on loopback, where all clients have one address.
func start(t *testing.T, bans string) (s *server, address string) {
	t.Helper()
	s, address, _ = startWith(t, bans, nil)
	return s, address
}

// startWith is start for a gameserver, if there are flags for one.
func startWith(t *testing.T, bans string, f *gameFlags) (s *server, address string, g *game) {
	t.Helper()
	listener, err := tcp.Listen("tcp4", "127.0.0.1:0",
		tcp.Config{MaxLinks: maxParties, PerAddress: -1, AddressRate: -1})
	if err != nil {
		t.Fatal(err)
	}
	return startBehind(t, bans, f, listener)
}

// startBehind is startWith behind a listener.
func startBehind(t *testing.T, bans string, f *gameFlags, listener *tcp.Listener) (s *server, address string, g *game) {
	t.Helper()
	s = &server{handshake: time.Minute, log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	if bans != "" {
		s.bans.file = bans
	}
	if err := s.prepare("Test_Server", "one|two|three|four"); err != nil {
		t.Fatal(err)
	}
	serve := s.serve
	if f != nil {
		var err error
		f.udp = "127.0.0.1:0"
		if g, err = f.open(s); err != nil {
			t.Fatal(err)
		}
		serve = g.serve
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s, listener.Addr().String(), g
}

// visitor is a plain connection.
type visitor struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
}

func dial(t *testing.T, address string) *visitor {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &visitor{t, conn, bufio.NewReader(conn)}
}

// says sends a line and expects exactly these lines back.
func (p *visitor) says(sent string, want ...string) {
	p.t.Helper()
	if _, err := io.WriteString(p.conn, sent+"\n"); err != nil {
		p.t.Fatal(err)
	}
	p.hears(want...)
}

func (p *visitor) hears(want ...string) {
	p.t.Helper()
	p.conn.SetReadDeadline(time.Now().Add(time.Minute)) // ends a test that would hang
	for _, w := range want {
		got, err := p.r.ReadString('\n')
		if strings.HasPrefix(got, "key: ") { // of a gameserver
			got, err = p.r.ReadString('\n')
		}
		if got != w+"\n" {
			p.t.Fatalf("got %q (%v), want %q", got, err, w)
		}
	}
}

func flagsOf(game bool) *gameFlags {
	if game {
		return &gameFlags{}
	}
	return nil
}

func join(name string) string { return "version: 1.0 join me: " + name + " os: linux" }

func accepted(name string, slot int) []string {
	return []string{fmt.Sprintf("join from %s accepted, slot: %d, server name: Test_Server", name, slot),
		"one", "two", "three", "four"}
}

// TestDialogue is the document's, with all that can be said instead.
func TestDialogue(t *testing.T) { both(t, testDialogue) }

func testDialogue(t *testing.T, game bool) {
	s, address, _ := startWith(t, "", flagsOf(game))
	a, b := dial(t, address), dial(t, address)
	a.says("remove me", "you're not even joined")
	a.says("my new name: a", "you sent an invalid request")
	a.says("hello", "you sent an invalid request")
	a.says("server full", "you sent an invalid request")
	a.says("version: 2.0 join me: sid os: linux", "server version incompatible")
	a.says(join("sid"), accepted("sid", 0)...)
	a.says(join("sid"), "you sent an invalid request")
	b.says(join("sid"), "you sent an invalid request")
	b.says(join("msh")+"\r", append(accepted("msh", 1), "add ip: 127.0.0.1 name: sid in 0")...)
	a.hears("add ip: 127.0.0.1 name: msh in 1")
	b.says("my new name: sid", "name already taken")
	b.says("my new name: maverick", "new name accepted")
	a.hears("remove ip: 127.0.0.1", "add ip: 127.0.0.1 name: maverick in 1") // they share an address
	c := dial(t, address)
	c.says(join("<b>c"), append(accepted("<b>c", 2), "add ip: 127.0.0.1 name: sid in 0",
		"add ip: 127.0.0.1 name: maverick in 1")...)
	a.hears("add ip: 127.0.0.1 name: <b>c in 2")
	page := string(s.page(time.Unix(0, 0)))
	for _, want := range []string{"<h1>Which clients are currently connected to this Parsec server ?</h1>",
		"Name: Test Server<br>",
		"<tr><td>2</td><td>maverick</td><td>127.0.0.1</td><td>linux</td></tr>", "<td>&lt;b&gt;c</td>",
		`<tr><td>16</td><td colspan="3">---&gt; Slot available &lt;---</td></tr>`, "by Parsec Server v0.10"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q:\n%s", want, page)
		}
	}
	if got := string(s.json()); !strings.Contains(got, `{"slot":2,"name":"maverick","ip":"127.0.0.1","os":"linux"}`) {
		t.Errorf("the list: %s", got)
	}
	a.says("remove me", "removing you")
	// Who still plays behind the address is named again.
	c.hears("remove ip: 127.0.0.1", "add ip: 127.0.0.1 name: maverick in 1")
	b.hears("add ip: 127.0.0.1 name: <b>c in 2", "remove ip: 127.0.0.1", "add ip: 127.0.0.1 name: <b>c in 2")
	b.conn.Close() // as if it had said remove me
	c.hears("remove ip: 127.0.0.1")
	a.says(join("sid"), append(accepted("sid", 0), "add ip: 127.0.0.1 name: <b>c in 2")...)
}

// TestFull: sixteen play, the next one is told so, and gets the slot of whoever leaves.
func TestFull(t *testing.T) { both(t, testFull) }

func testFull(t *testing.T, game bool) {
	_, address, _ := startWith(t, "", flagsOf(game))
	players := make([]*visitor, 16)
	for i := range players {
		players[i] = dial(t, address)
		name := fmt.Sprint("p", i)
		players[i].says(join(name), accepted(name, i)...)
	}
	last := dial(t, address)
	last.says(join("last"), "server full")
	players[7].says("remove me", func() (adds []string) {
		for i := range players { // what it has heard since it joined comes first
			if i < 7 {
				adds = append(adds, fmt.Sprintf("add ip: 127.0.0.1 name: p%d in %d", i, i))
			} else if i > 7 {
				adds = append(adds, fmt.Sprintf("add ip: 127.0.0.1 name: p%d in %d", i, i))
			}
		}
		return append(adds, "removing you")
	}()...)
	last.says(join("last"), accepted("last", 7)...)
}

// TestBans: the list on disk counts as it is when somebody asks, by address and by prefix; one that cannot be read
// changes nothing.
func TestBans(t *testing.T) { both(t, testBans) }

func testBans(t *testing.T, game bool) {
	file := filepath.Join(t.TempDir(), "bans")
	stamp := time.Unix(1, 0)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		stamp = stamp.Add(time.Second) // two writes may fall into one tick of the disk's clock
		if err := os.Chtimes(file, stamp, stamp); err != nil {
			t.Fatal(err)
		}
	}
	write("# nobody yet\n10.0.0.0/8\n")
	s, address, _ := startWith(t, file, flagsOf(game))
	a := dial(t, address)
	a.says(join("a"), accepted("a", 0)...)
	a.says("remove me", "removing you")
	write("127.0.0.0/24 # all of them\n")
	a.says(join("a"), "you're banned from this server")
	write("127.0.0.1\n")
	a.says(join("a"), "you're banned from this server")
	write("127.0.0.2\n127.0.0.300\n")
	a.says(join("a"), "you're banned from this server") // the list before
	if _, err := s.bans.read(); err == nil || !strings.Contains(err.Error(), `bans:2: "127.0.0.300" is no address`) {
		t.Errorf("a mistake in the list: %v", err)
	}
	write("127.0.0.2\n")
	a.says(join("a"), accepted("a", 0)...)
}

// TestBansFile: a file of bans that is none, or is too large, keeps the server from beginning, and one that runs has
// the bans as they were.
func TestBansFile(t *testing.T) {
	dir := t.TempDir()
	good, pipe, large := filepath.Join(dir, "bans"), filepath.Join(dir, "pipe"), filepath.Join(dir, "large")
	if err := os.WriteFile(good, []byte("127.0.0.0/8\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(large, bytes.Repeat([]byte("10.0.0.1\n"), maxBans/9+1), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := map[string]string{dir: "is no plain file", large: "are read at most"}
	if exec.Command("mkfifo", pipe).Run() == nil {
		broken[pipe] = "is no plain file"
	}
	_, address := start(t, good)
	for file, want := range broken {
		var errs bytes.Buffer
		args := []string{"-listen", "127.0.0.1:0", "-bans", file}
		if code := run(t.Context(), args, io.Discard, &errs); code != 2 || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: exit code %d\n%s", file, code, &errs)
		}
		if err := errors.Join(os.Rename(good, good+".old"), os.Symlink(file, good)); err != nil {
			t.Fatal(err)
		}
		dial(t, address).says(join("a"), "you're banned from this server")
		if err := os.Rename(good+".old", good); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKilled: a server that is killed has lost nothing: the bans hold when it begins again, the masterserver lists it
// again, its page is whole, and the recording has all that was heard before.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(file("bans"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	begin := func(want []string, args ...string) (kill func(), got []string) {
		t.Helper()
		p := process.Start(t, args, want...)
		return p.Kill, p.Got
	}
	listening := []string{"listening on "}
	page := func(name, what string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; runtime.Gosched() {
			b, err := os.ReadFile(name)
			if err != nil || !bytes.HasSuffix(b, []byte("</html>\n")) {
				t.Fatalf("the page is %q (%v)", b, err)
			}
			if bytes.Contains(b, []byte(what)) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("the page never has %s", what)
			}
		}
	}
	masterserver, door := begin(listening, "-mode", "master", "-page", file("page"), "-listen", "127.0.0.1:0")
	serve := func(recording string) (kill func(), at []string) {
		return begin([]string{"the game is at ", "listening on "}, "-mode", "game", "-listen", "127.0.0.1:0", "-udp",
			"127.0.0.1:0", "-name", "Sturdy", "-bans", file("bans"), "-record", recording, "-master", door[0])
	}
	first, where := serve(file("one"))
	page(file("page"), "Sturdy")
	p, err := pilot.Dial(t.Context(), pilot.Options{Game: where[0], Lines: where[1], Name: "sid"})
	if err != nil {
		t.Fatal(err)
	}
	recorded := func(recording, what string) bool {
		var out, errs bytes.Buffer
		show(t.Context(), recording, &out, &errs)
		return strings.Contains(out.String(), what)
	}
	end := time.Now().Add(time.Minute)
	for n := 0; !recorded(file("one"), `SEND_TEXT{text: "sid hello"}`); n++ {
		p.Fly(remote.Ship{Matrix: [12]float32{3: float32(n)}})
		p.Say("hello")
		if err := p.Send(); err != nil || time.Now().After(end) {
			t.Fatal("never recorded: ", err)
		}
	}
	// A ban is a line in a file, which is written before it counts.
	if err := os.WriteFile(file("bans"), []byte("127.0.0.0/8\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dial(t, where[1]).says(join("evil"), "you're banned from this server")
	masterserver()
	first()
	<-p.Done()
	p.Close(t.Context())
	if !recorded(file("one"), `"add ip: 127.0.0.1 name: sid in 0"`) {
		t.Error("the recording has lost who played")
	}
	page(file("page"), "Sturdy") // as it was
	again := file("again")
	begin(listening, "-mode", "master", "-page", again, "-listen", door[0])
	_, where = serve(file("two"))
	dial(t, where[1]).says(join("evil"), "you're banned from this server")
	page(again, "Sturdy")
}

// TestTerminated: each server ends by itself when it is asked to, with players and a masterserver there, and leaves
// whole files.
func TestTerminated(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list, recording := filepath.Join(dir, "page"), filepath.Join(dir, "session")
	local := []string{"-listen", "127.0.0.1:0", "-http", "127.0.0.1:0"}
	where := []string{"listening on ", "the list is at "}
	m := process.Start(t, append(local, "-mode", "master", "-page", list), where...)
	slot := process.Start(t, append(local, "-name", "Slots", "-master", m.Got[0]), where...)
	game := process.Start(t, append(local, "-mode", "game", "-udp", "127.0.0.1:0", "-record", recording),
		"the game is at ", where[0], where[1])
	dial(t, slot.Got[0]).says(join("sid"), "join from sid accepted, slot: 0, server name: Slots")
	p, err := pilot.Dial(t.Context(), pilot.Options{Game: game.Got[0], Lines: game.Got[1], Name: "anna"})
	if err != nil {
		t.Fatal(err)
	}
	game.Terminate()
	<-p.Done()
	p.Close(t.Context())
	var out, errs bytes.Buffer
	code := show(t.Context(), recording, &out, &errs)
	if code != 0 || !strings.Contains(out.String(), "name: anna in 0") {
		t.Errorf("the recording: exit code %d, %s%s", code, &out, &errs)
	}
	slot.Terminate()
	m.Terminate()
	if b, err := os.ReadFile(list); err != nil || !bytes.HasSuffix(b, []byte("</html>\n")) {
		t.Errorf("the page is %q (%v)", b, err)
	}
}

// TestRegister: the server is in the masterserver's list with its players, also after that has begun again.
func TestRegister(t *testing.T) {
	t.Parallel()
	s, address := start(t, "")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.master = registration{address: l.Addr().String(), url: "http://example.org/", again: time.Millisecond}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.register(ctx)
	}()
	accept := func() *visitor {
		t.Helper()
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		m := &visitor{t, conn, bufio.NewReader(conn)}
		m.hears("version: 1.0 join me: Test_Server os: go maxplayers: 16 url: http://example.org/")
		return m
	}
	m := accept()
	m.says("join accepted")
	a := dial(t, address)
	a.says(join("a"), accepted("a", 0)...)
	m.hears("players: 1 max: 16")
	m.says("players acknowledged.")
	m.conn.Close() // it ends, and begins again
	m = accept()
	m.says("join accepted", "players: 1 max: 16")
	m.says("players acknowledged.")
	a.says("remove me", "removing you")
	m.hears("players: 0 max: 16")
	m.says("players acknowledged.")
	m.conn.Close()
	for _, no := range []string{"masterserver full", "masterserver version incompatible",
		"illegal request not processed"} {
		m = accept() // who is refused asks again
		m.says(no)
		m.conn.Close()
	}
	m = accept()
	m.says("join accepted")
	b := dial(t, address)
	b.says(join("b"), accepted("b", 0)...)
	m.hears("players: 1 max: 16")
	m.says("players acknowledged.")
	b.says("remove me", "removing you")
	m.hears("players: 0 max: 16")
	m.says("players acknowledged.")
	cancel()
	m.hears("remove me")
	m.says("removing you")
	<-ended
}

// A masterserver that is not there yet is asked again and again, less and less often, and each time this is said.
func TestRegisterRetries(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close() // nobody is there
	r, w := io.Pipe()
	s := server{name: "Early", changed: make(chan struct{}, 1), log: slog.New(slog.NewTextHandler(w, nil)),
		master: registration{address: address, again: time.Millisecond}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.register(ctx)
		w.Close()
	}()
	lines := bufio.NewScanner(r)
	for _, wait := range []string{"1ms", "2ms", "4ms", "8ms", "16ms"} {
		if !lines.Scan() || !strings.Contains(lines.Text(), "not listed") || !strings.Contains(lines.Text(), address) ||
			!strings.HasSuffix(lines.Text(), `"again in"=`+wait) {
			t.Fatalf("%q does not say that it asks again in %s", lines.Text(), wait)
		}
	}
	if l, err = net.Listen("tcp", address); err != nil {
		t.Skip(err) // somebody else has the port now
	}
	defer l.Close()
	go io.Copy(io.Discard, r)
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	m := &visitor{t, conn, bufio.NewReader(conn)}
	m.hears("version: 1.0 join me: Early os: go maxplayers: 16 url: ")
	cancel()
	conn.Close()
	<-ended
}

// TestPipes: no pipe holds the program up, neither one that nobody reads nor one whose other end says nothing.
func TestPipes(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		t.Skip(err)
	}
	var errs bytes.Buffer
	args := []string{"-mode", "master", "-listen", "127.0.0.1:0", "-page", pipe}
	code := run(t.Context(), args, io.Discard, &errs)
	if code != 2 || !strings.Contains(errs.String(), "nobody reads from this pipe") {
		t.Errorf("exit code %d, %s", code, &errs)
	}
	end, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer end.Close()
	if err := replace(pipe, make([]byte, 1<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v: more than a pipe holds was written to it, and nobody reads", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	silent := filepath.Join(t.TempDir(), "silent")
	if err := exec.Command("mkfifo", silent).Run(); err != nil {
		t.Fatal(err)
	}
	other, err := os.OpenFile(silent, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	done := make(chan int)
	go func() { done <- run(ctx, []string{"-play", silent}, io.Discard, io.Discard) }()
	cancel()
	if code := <-done; code != 0 {
		t.Errorf("interrupted: exit code %d", code)
	}
}

// TestLink: a page is written where a symbolic link leads, and the link stays.
func TestLink(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	for _, want := range []string{"first", "second"} {
		if err := replace(link, []byte(want)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("the file has %q, not %q (%v)", got, want, err)
		}
	}
}

// TestUsage: what can be wrong with the command line is said in one line, with exit code 2.
func TestUsage(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bans")
	if err := os.WriteFile(bad, []byte("10.0.0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for args, want := range map[string]string{
		"-nonsense":                                     "flag provided but not defined: -nonsense",
		"-name a,b|c -greeting a|b":                     "-greeting: 2 lines, and there are 4",
		"-name " + strings.Repeat("x", 32):              "-name: 1 to 31 characters",
		"-greeting server|full|remove|\xff":             "-greeting: line 4: ",
		"-bans /nowhere/bans":                           "-bans: stat /nowhere/bans",
		"-bans " + bad:                                  `bans:1: "10.0.0" is no address`,
		"-listen 127.0.0.1:0 -http nowhere":             "-http: ",
		"-listen 127.0.0.1":                             "there is no port; write HOST:PORT",
		"here":                                          `unexpected argument "here"`,
		"-listen":                                       "flag needs an argument: -listen",
		"-mode many":                                    `-mode: "many" is neither slot, game nor master`,
		"-record x":                                     "-record has no meaning with -mode slot",
		"-mode master -bans x":                          "-bans has no meaning with -mode master",
		"-mode game -page x":                            "-page has no meaning with -mode game",
		"-url http://x/":                                "-url has no meaning with no -master",
		"-idle -1s":                                     "-idle -1s: it is not negative",
		"-play x -mode game":                            "-mode has no meaning with -play",
		"-mode master -listen 127.0.0.1":                "there is no port; write HOST:PORT",
		"-mode master -listen 127.0.0.1:99999":          "it is a number from 0 to 65535",
		"-mode master -listen 203.0.113.77:1":           "does not have the address 203.0.113.77; it has 127.0.0.1",
		"-mode master -listen " + taken.Addr().String(): "another program of this computer has port",
		"-mode master -listen 127.0.0.1:0 -page /nowhere/x": "-page: write /nowhere/x: " +
			"its folder does not exist",
		"-mode master -listen 127.0.0.1:0 -http " + taken.Addr().String(): "-http: ",
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), strings.Fields(args), &out, &errs)
		if code != 2 || !strings.Contains(errs.String(), want) || !strings.HasPrefix(errs.String(), "parsec-server: ") {
			t.Errorf("%s: exit code %d, %q", args, code, errs.String())
		}
	}
}

// program runs the command until the test ends, which is no error, and returns what follows each of the words in its
// first lines.
func program(t *testing.T, args string, words ...string) (found []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	ended := make(chan int, 1)
	var errs bytes.Buffer
	go func() {
		ended <- run(ctx, strings.Fields(args), w, &errs)
		w.Close()
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != 0 {
			t.Errorf("%s: exit code %d, %s", args, code, errs.String())
		}
	})
	lines := bufio.NewScanner(r)
	for _, word := range words {
		if !lines.Scan() || !strings.Contains(lines.Text(), word) {
			cancel()
			t.Fatalf("%s: no %q in %q", args, word, lines.Text())
		}
		_, after, _ := strings.Cut(lines.Text(), word)
		found = append(found, after)
	}
	go io.Copy(io.Discard, r)
	return found
}

// TestModes: a slotserver and a gameserver are in the list of a masterserver, with who plays.
func TestModes(t *testing.T) {
	t.Parallel()
	m := program(t, "-mode master -listen 127.0.0.1:0 -http 127.0.0.1:0", "listening on ", "the list is at ")
	at := func(args string, words ...string) string {
		found := program(t, args+" -listen 127.0.0.1:0 -url http://example.org/ -master "+m[0], words...)
		return found[len(found)-1]
	}
	slot := at("-mode slot -name One", "listening on ")
	at("-mode game -name Two -udp 127.0.0.1:0", "the game is at ", "listening on ")
	a := dial(t, slot)
	a.says(join("sid"), "join from sid accepted, slot: 0, server name: One", "Welcome.", "Have fun.", "Be fair.",
		"Good luck.")
	want := []string{`"name":"One","url":"http://example.org/","players":1,"max":16`,
		`"name":"Two","url":"http://example.org/","players":0,"max":16`}
	late := time.Now().Add(time.Minute)
	for list := ""; ; runtime.Gosched() { // the registrations come when they come
		if time.Now().After(late) {
			t.Fatal(list)
		}
		answer, err := http.Get(m[1] + "list.json")
		if err != nil { // more in a second than one address may ask for
			list = err.Error()
			continue
		}
		b, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if list = string(b); strings.Contains(list, want[0]) && strings.Contains(list, want[1]) {
			return
		}
	}
}
