package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"image/gif"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/examples/skirmish/match"
	"github.com/parley-go/parley/examples/skirmish/session"
	"github.com/parley-go/parley/runtime/transport/ipx"
)

// Bots play a match over each network, with losses where there are any, and it can be seen again.
func TestHeadless(t *testing.T) {
	for _, x := range []struct{ name, flags string }{
		{"tcp", "-link tcp -bots 4"},
		{"udp", "-link udp -bots 4 -loss 0.1"},
		{"ipx", "-link ipx -bots 4 -loss 0.05 -tunnel " + network(t)},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "match")
			var out, errs bytes.Buffer
			args := append(strings.Fields("-headless -rounds 1 -arena 3 -rate 100 -record "+file),
				strings.Fields(x.flags)...)
			if code := run(args, &out, &errs); code != 0 || !strings.Contains(out.String(), " 0 wrong\n") {
				t.Fatalf("exit code %d\n%s%s", code, &out, &errs)
			}
			moving := filepath.Join(t.TempDir(), "match.gif")
			if code := run([]string{"-replay", file, "-film", moving, "-for", "2s"}, &out, &errs); code != 0 {
				t.Fatalf("exit code %d\n%s", code, &errs)
			}
			b, err := os.ReadFile(moving)
			if err != nil {
				t.Fatal(err)
			}
			if g, err := gif.DecodeAll(bytes.NewReader(b)); err != nil || len(g.Image) != 30 {
				t.Errorf("%v, and no film of the match", err)
			}
			// What can be drawn into no file leaves the files as they are.
			recorded, _ := os.ReadFile(file)
			for _, args := range [][]string{{"-film", file}, {"-film", moving, "-from", "1h"}} {
				if code := run(append(args, "-replay", file), &out, &errs); code == 0 {
					t.Errorf("%q: drawn", args)
				}
			}
			after, _ := os.ReadFile(file)
			if again, _ := os.ReadFile(moving); !bytes.Equal(after, recorded) || !bytes.Equal(again, b) {
				t.Error("a file is another one")
			}
		})
	}
}

// seen waits until a session shows a text, looking as often as a terminal would.
func seen(t *testing.T, s show, want string) {
	t.Helper()
	tick := time.NewTicker(time.Second / game.Rate)
	defer tick.Stop()
	limit := time.After(time.Minute) // only ends a test that would hang
	for all := ""; ; <-tick.C {
		select {
		case <-s.Over():
			t.Fatalf("it is over, and %q was not shown but\n%s", want, all)
		case <-limit:
			t.Fatalf("%q was not shown in a minute but\n%s", want, all)
		default:
		}
		all = ""
		for _, row := range s.Frame(0) {
			for _, c := range row {
				all += string(c.Rune)
			}
			all += "\n"
		}
		if strings.Contains(all, want) {
			return
		}
	}
}

// parsed are the settings of a command line.
func parsed(t *testing.T, args string) *settings {
	t.Helper()
	s := new(settings)
	f := s.flags()
	if err := f.Parse(strings.Fields(args)); err != nil {
		t.Fatal(err)
	}
	if err := s.check(f); err != nil {
		t.Fatal(err)
	}
	return s
}

// network serves an IPX network until the test ends.
func network(t *testing.T) string {
	server, err := ipx.Listen("udp", "127.0.0.1:0", ipx.ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { server.Serve(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	return server.Addr().String()
}

// unused is a port that is free on this computer, for TCP and for UDP.
func unused(t *testing.T) string {
	for range 100 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		at := l.Addr().String()
		l.Close()
		if c, err := net.ListenPacket("udp", at); err == nil {
			c.Close()
			_, port, _ := net.SplitHostPort(at)
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}

// Two who find each other by broadcast play over UDP, and then switch the network between matches, while they run.
func TestBound(t *testing.T) {
	if os.Getenv("PARLEY_LONG") == "" {
		t.Skip("with PARLEY_LONG=1 alone: startup waits for those who do not answer")
	}
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	flags := "-meet peer-to-peer -link udp -rounds 1 -rate 100 -bots 2 -arena 3 -tunnel " + network(t) +
		" -listen 127.0.0.1:" + unused(t) + " -broadcast 127.255.255.255:" + unused(t)
	var both []show
	for _, name := range []string{"Ann", "Bob"} {
		s, err := parsed(t, flags+" -name "+name).session(ctx)
		if err != nil {
			t.Fatal(err)
		}
		both = append(both, s)
		seen(t, s, "Ann") // whoever is first is the host
	}
	defer func() {
		cancel()
		for _, s := range both {
			<-s.Over()
		}
	}()
	for i, network := range []string{"udp", "tcp", "ipx"} {
		for _, s := range both {
			seen(t, s, "[4] meet peer-to-peer, [5] over "+network)
		}
		for _, s := range both {
			seen(t, s, "■ Ann")
			seen(t, s, "■ Bob")
		}
		if i == 0 {
			for _, s := range both {
				s.Type(ctx, '\r')
			}
			seen(t, both[0], "- 1 -")
			both[0].Type(ctx, '5')
			seen(t, both[1], "points") // the lobby after the match
			seen(t, both[0], "disconnected")
		}
		for _, s := range both {
			s.Type(ctx, '5')
		}
	}
	seen(t, both[0], "over udp")
	both[0].Type(ctx, '5')
	both[0].Type(ctx, '5')
	seen(t, both[0], "over ipx")
	both[0].Type(ctx, '4') // the rule for IPX
	seen(t, both[0], "protocols only")
}

// If the host goes in the middle of a match the others find each other again, and go on with it.
func TestNextHost(t *testing.T) {
	if os.Getenv("PARLEY_LONG") == "" {
		t.Skip("with PARLEY_LONG=1 alone: startup waits for those who do not answer")
	}
	t.Parallel()
	flags := "-meet peer-to-peer -link udp -rounds 9 -bots 1 -arena 3 -listen 127.0.0.1:" + unused(t) +
		" -broadcast 127.255.255.255:" + unused(t)
	var all []show
	var quit []context.CancelFunc
	for _, name := range []string{"Ann", "Bob", "Cy"} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s, err := parsed(t, flags+" -name "+name).session(ctx)
		if err != nil {
			t.Fatal(err)
		}
		all, quit = append(all, s), append(quit, cancel)
		seen(t, s, "■ Ann") // whoever is first is the host
		seen(t, s, "■ "+name)
	}
	for _, s := range all {
		seen(t, s, "■ Cy")
		s.Type(t.Context(), '\r')
	}
	for _, s := range all {
		seen(t, s, "1/9")
	}
	playing := func(s show) (o *session.Online) {
		s.(*bound).b.Use(func(y *system) error { o = y.current(); return nil })
		if o != nil && o.View().Phase == match.Playing && o.View().State != nil {
			return o
		}
		return nil
	}
	before := []*session.Online{nil, playing(all[1]), playing(all[2])}
	frame := before[1].View().State.Frame
	quit[0]()
	limit := time.After(time.Minute) // only ends a test that would hang
	tick := time.NewTicker(time.Second / game.Rate)
	defer tick.Stop()
	for i := 1; i < 3; {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("nobody goes on with the match in a minute")
		}
		o := playing(all[i])
		if o == nil || o == before[i] {
			continue
		}
		if v := o.View(); v.State.Frame < frame || v.Names[v.Slot] != []string{"", "Bob", "Cy"}[i] {
			t.Errorf("%q plays in frame %d, and it was %d before", v.Names[v.Slot], v.State.Frame, frame)
		}
		i++
	}
	<-all[0].Over()
	for i, s := range all[1:] {
		quit[i+1]()
		<-s.Over()
	}
}

// parsec runs a server of Parsec until the test ends, and returns its address, and that of its game if it has one.
func parsec(t testing.TB, args ...string) (at, game string) {
	program := filepath.Join(t.TempDir(), "parsec-server")
	if out, err := exec.Command("go", "build", "-o", program, "../parsec-server").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, append(args, "-listen", "127.0.0.1:0")...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); cmd.Wait() })
	for said := bufio.NewReader(out); at == ""; {
		line, err := said.ReadString('\n')
		if err != nil {
			t.Fatalf("%q, %v", line, err)
		}
		if s, ok := strings.CutPrefix(line, "the game is at "); ok {
			game = strings.TrimSpace(s)
		}
		if s, ok := strings.CutPrefix(line, "listening on "); ok {
			at = strings.TrimSpace(s)
		}
	}
	return at, game
}

// Players whom a slotserver brings together play with each other. If the host goes another one is it, and goes on; so a
// host need not be in the first slot.
func TestSlotserver(t *testing.T) {
	t.Parallel()
	at, _ := parsec(t)
	meets(t, "-meet slotserver -slotserver "+at, "127.0.0.1:")
}

// Through a gameserver, too: nobody has a port open then. Over TCP it only tells who is there.
func TestGameserver(t *testing.T) {
	t.Parallel()
	at, game := parsec(t, "-mode", "game", "-udp", "127.0.0.1:0")
	_, port, _ := net.SplitHostPort(game)
	flags := "-meet gameserver -gameserver " + at + " -packets " + port + " -link "
	meets(t, flags+"udp", "slot 0, through the gameserver")
	if os.Getenv("PARLEY_LONG") != "" { // the same as with a slotserver, but for the finder
		meets(t, flags+"tcp", "127.0.0.1:")
	}
}

// meets lets two play who meet by a server of Parsec; the host is then at an address that begins so.
func meets(t *testing.T, flags, where string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	flags += " -rounds 9 -rate 100 -bots 1 -listen 127.0.0.1:"
	sit := func(name string) (show, context.CancelFunc) {
		own, quit := context.WithCancel(ctx)
		s, err := parsed(t, flags+unused(t)+" -name "+name).session(own) // each has a port of its own
		if err != nil {
			t.Fatal(err)
		}
		return s, quit
	}
	ann, leave := sit("Ann")
	seen(t, ann, "you are the host")
	bob, _ := sit("Bob")
	seen(t, bob, "with the host at "+where)
	seen(t, ann, "■ Bob")
	if !strings.Contains(flags, "-link udp") {
		bob.Type(ctx, '5') // IPX comes behind TCP
		seen(t, bob, "protocols only")
	}
	for _, s := range []show{ann, bob} {
		s.Type(ctx, '\r')
	}
	seen(t, bob, "1/9")
	seen(t, bob, "▸Bob")
	leave()
	<-ann.Over()
	seen(t, bob, "▸Bob") // and goes on as the host
	cy, _ := sit("Cy")   // comes to the first slot, which is free, and finds that host
	seen(t, cy, "A match is on.")
	cancel()
	<-bob.Over()
	<-cy.Over()
}

// The lobby says with which flags others join, of another link than the usual one, too.
func TestTitle(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	host, err := parsed(t, "-link udp -listen 127.0.0.1:0 -rate 100").session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	title := host.(*session.Online).Title()
	flags, ok := strings.CutPrefix(title, "others join with ")
	if !ok {
		t.Fatal(title)
	}
	guest, err := parsed(t, "-name Bob "+flags).session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	seen(t, host, "Bob")
	cancel()
	<-guest.Over()
	<-host.Over()
}

// A player plays at once; who joins meanwhile waits, and who looks on sees it.
func TestSessions(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := parsed(t, "-listen 127.0.0.1:0 -name Ann -rounds 2 -rate 100")
	host, err := s.session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	seen(t, host, "▸Ann")
	at := strings.TrimPrefix(host.(*session.Online).Title(), "others join with -join ")
	watcher, err := parsed(t, "-watch "+at).session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	seen(t, watcher, "you look on")
	guest, err := parsed(t, "-name Bob -join "+at).session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	seen(t, guest, "A match is on.")
	seen(t, guest, "Ann ")        // it looks on meanwhile
	seen(t, guest, "Enter: play") // once it is over
	seen(t, host, "last match")
	guest.Type(ctx, '1')
	seen(t, host, "Enter: play")
	seen(t, host, "The Ford")
	host.Type(ctx, '\r')
	seen(t, host, "You agree")
	guest.Type(ctx, '\r')
	seen(t, host, "Bob 0")
	seen(t, guest, "▸Bob")
	cancel()
	<-host.Over()
	<-guest.Over()
	<-watcher.Over()
}

// Wrong flags and files that are none are told in a line.
func TestUsage(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	if err := os.WriteFile(none, []byte("this is no recording"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		args string
		want string
	}{
		{"-arena 9", "-arena 9: it is a number from 0 to 3"},
		{"-rounds 0", "-rounds 0: it is a number from 1 to 20"},
		{"-bots 8", "-bots 8: it is a number from 0 to 7"},
		{"-link wire", "-link wire: it is tcp, udp or ipx"},
		{"-loss 2", "-loss 2: it is a number from 0 to 0.5"},
		{"-rate 200", "-rate 200: it is a number from 13 to 100"},
		{"-name 12345678901234567", "it has more than 16 bytes"},
		{"-headless -listen nowhere", "nowhere"},
		{"-headless -join 127.0.0.1", "-join has no meaning with -headless"},
		{"-serve -name Ann", "-name has no meaning with -serve"},
		{"-watch 127.0.0.1 -bots 2", "-bots has no meaning with -watch"},
		{"-join 127.0.0.1 -arena 2", "-arena has no meaning with -join"},
		{"-film x.gif -replay y -bots 2", "-bots has no meaning with -film and -replay"},
		{"-meet peer-to-peer -join 127.0.0.1", "-join has no meaning with -meet peer-to-peer"},
		{"-meet slotserver", "needs the address of one"},
		{"-bind 127.0.0.1", "-bind has no meaning with the own host"},
		{"-headless -duel", "-duel is for two bots"},
		{"-headless -bots 1", "has at least 2"},
		{"-headless -seed 3", "-seed has no meaning"},
		{"-headless -fast -link udp", "-link has no meaning with -headless -fast"},
		{"-headless -loss 0.1", "-loss has no meaning with -link tcp"},
		{"-tunnel 127.0.0.1:2130", "-tunnel has no meaning with -link tcp"},
		{"-headless -record " + none + "/x", "not a directory"},
		{"-record " + none + "/x", "not a directory"}, // and nothing of a terminal
		{"-replay " + none + " -film " + none + ".gif", "replay"},
	} {
		var out, errs bytes.Buffer
		if code := run(strings.Fields(x.args), &out, &errs); code != 2 || !strings.Contains(errs.String(), x.want) {
			t.Errorf("%s: exit code %d, %q", x.args, code, errs.String())
		}
	}
}

// A league in virtual time is the same for equal seeds, and can be seen again.
func TestFast(t *testing.T) {
	file := filepath.Join(t.TempDir(), "match")
	league := func(args ...string) string {
		var out, errs bytes.Buffer
		args = append(strings.Fields("-headless -fast -rounds 2 -matches 9"), args...)
		if code := run(args, &out, &errs); code != 0 {
			t.Fatalf("exit code %d\n%s%s", code, &out, &errs)
		}
		matches, _, _ := strings.Cut(out.String(), "9 matches of 3 bots in virtual time")
		return matches
	}
	first := league("-seed", "5", "-record", file)
	if n := strings.Count(first, "\nmatch "); n != 8 || league("-seed", "5") != first || league("-seed", "6") == first {
		t.Errorf("%s", first)
	}
	var out, errs bytes.Buffer
	if code := run([]string{"-replay", file, "-film", file + ".gif", "-for", "1s"}, &out, &errs); code != 0 {
		t.Errorf("exit code %d\n%s", code, &errs)
	}
}

// Bots play duels over real sockets.
func TestHeadlessDuel(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	args := strings.Fields("-headless -duel -rate 100 -rounds 1 -arena 3 -bots 2 -link udp -loss 0.05")
	if code := run(args, &out, &errs); code != 0 || !strings.Contains(out.String(), "1 matches of 2 bots over udp") {
		t.Errorf("exit code %d\n%s%s", code, &out, &errs)
	}
}

// Who has asked for a duel and is not one of two is told that it is none.
func TestDuelForTwo(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := parsed(t, "-duel -listen 127.0.0.1:0 -rate 100 -rounds 9 -bots 1")
	h, at, err := s.host(ctx, s.carrier())
	if err != nil {
		t.Fatal(err)
	}
	go h.Run(ctx)
	ann := s.online(ctx, "", false, s.player(s.dialer(at, s.carrier())))
	seen(t, ann, "-duel is for two who are here, and there are 1")
	bob, err := parsed(t, "-name Bob -join "+at).session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	seen(t, bob, "■ Bob")
	ann.Type(ctx, '\r')
	bob.Type(ctx, '\r')
	seen(t, ann, "1/9")
	seen(t, bob, "1/9")
	watcher, err := parsed(t, "-watch "+at).session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	seen(t, watcher, "Bob ") // a duel is seen, too
	bob.(talker).Say(ctx, "hello")
	for _, s := range []show{ann, bob, watcher} {
		seen(t, s, "Bob: hello")
	}
	cancel()
	<-ann.Over()
	<-bob.Over()
	<-watcher.Over()
}

// An interrupt is no defect, and is not taken for a match that has been played.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := parsed(t, "-headless -bots 2 -matches 1000 -rate 100 -rounds 1")
	var out bytes.Buffer
	first := make(chan struct{})
	s.ready = func() { close(first) }
	go func() { <-first; cancel() }()
	err := s.run(ctx, &out, &out)
	if !errors.Is(err, errInterrupted) || !strings.Contains(out.String(), " 0 wrong\n") {
		t.Errorf("%v\n%s", err, &out)
	}
}

// Where the usual port is somebody else's a host says where it is, and why.
func TestElsewhere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:"+usual)
	if err == nil { // else somebody has it already
		defer l.Close()
	}
	s := parsed(t, "-serve")
	s.listen = "127.0.0.1:" + usual
	if _, at, err := s.host(t.Context(), s.carrier()); err != nil || strings.HasSuffix(at, ":"+usual) ||
		!strings.Contains(s.elsewhere, usual) {
		t.Errorf("%q, %q, %v", at, s.elsewhere, err)
	}
}

// Who looks on is told where nobody answers, where there is no match, and sees the names of those who play.
func TestWatch(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	port := unused(t)
	watcher, err := parsed(t, "-watch 127.0.0.1:"+port).session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	seen(t, watcher, "No host answers at 127.0.0.1:"+port)
	host := parsed(t, "-rounds 1 -rate 100 -bots 1 -listen 127.0.0.1:"+port)
	h, at, err := host.host(ctx, host.carrier())
	if err != nil {
		t.Fatal(err)
	}
	go h.Run(ctx)
	seen(t, watcher, "There is no match at")
	ann, err := parsed(t, "-name Ann -join "+at).session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	seen(t, ann, "■ Ann")
	ann.(talker).Say(ctx, "here we go")
	seen(t, ann, "Ann: here we go")
	ann.Type(ctx, '\r')
	seen(t, watcher, "Ann 0")
	ann.(talker).Say(ctx, "I\x1b[2J see you")
	seen(t, watcher, "Ann: I?[2J see you")
	cancel()
	<-ann.Over()
	<-watcher.Over()
}

// A file without room keeps the match from nothing. What it does not take is
// kept and tried again, and it is said in the end if it is not there then.
func TestRecordingFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	r, err := openRecording("/dev/full")
	if err != nil {
		t.Fatal(err)
	}
	if r.begin() == nil {
		t.Error("there is no recorder")
	}
	if n, err := r.Write([]byte("turn")); n != 4 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	for limit := time.After(time.Minute); r.trouble() == ""; { // only ends a test that would hang
		select {
		case <-limit:
			t.Fatal("nobody tells that there is no room")
		case <-time.After(time.Millisecond):
		}
	}
	r.mu.Lock() // room again: another file in its place
	room, err := os.Create(filepath.Join(t.TempDir(), "match"))
	r.file.Close()
	r.file = room
	r.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.end(); err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(room.Name()); !strings.HasPrefix(string(b), "parley lockstep replay") ||
		!strings.HasSuffix(string(b), "turn") {
		t.Errorf("there is %q", b)
	}

	r, err = openRecording("/dev/full")
	if err != nil {
		t.Fatal(err)
	}
	r.begin()
	if _, err := r.end(); err == nil || !strings.Contains(err.Error(), "not recorded to its end: write /dev/full") {
		t.Error(err)
	}
}

// A pipe that nobody reads is refused, and one whose reader does not take anything holds nobody up.
func TestRecordingPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if out, err := exec.Command("mkfifo", path).CombinedOutput(); err != nil {
		t.Skip(err, string(out))
	}
	if _, err := openRecording(path); err == nil || !strings.Contains(err.Error(), "nobody reads from this pipe") {
		t.Error(err)
	}
	reader, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	r, err := openRecording(path)
	if err != nil {
		t.Fatal(err)
	}
	r.begin()
	for range 1000 { // more than a pipe holds
		if n, err := r.Write(make([]byte, 1000)); n != 1000 || err != nil {
			t.Fatal(n, err)
		}
	}
	if _, err := r.end(); err == nil || !strings.Contains(err.Error(), "not recorded to its end") {
		t.Error(err)
	}
}

// The recording is of the first match, also if the network was switched and a player begins anew. Where none begins the
// file is as it was.
func TestRecordingOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "match")
	if r, err := openRecording(path); err != nil {
		t.Fatal(err)
	} else if note, err := r.end(); err != nil || !strings.Contains(note, "nothing was recorded") {
		t.Error(note, err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a file without a match")
	}
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := openRecording(path)
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "old" {
		t.Errorf("before the first match there is %q", b)
	}
	s := &settings{recording: r, hz: 10}
	first, second := s.player(nil).Record(), s.player(nil).Record()
	if note, err := r.end(); err != nil || note != "" {
		t.Error(note, err)
	}
	if b, _ := os.ReadFile(path); first == nil || second != nil || len(b) == 0 || string(b) == "old" {
		t.Errorf("%v, %v and %q", first, second, b)
	}
}
