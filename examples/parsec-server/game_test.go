package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/remote"
	"github.com/parley-go/parley/examples/remote/pilot"
	"github.com/parley-go/parley/machines/events"
	"github.com/parley-go/parley/machines/gameserver"
)

// client is a player, and what its program has heard.
type client struct {
	t    *testing.T
	p    *pilot.Pilot
	said chan string
}

func fly(t *testing.T, g *game, address, name string) *client {
	t.Helper()
	c := &client{t: t, said: make(chan string, 4096)}
	var err error
	c.p, err = pilot.Dial(t.Context(), pilot.Options{Lines: address, Game: g.ports.LocalAddr().String(), Name: name,
		Heard: c.heard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.leave() })
	return c
}

func (c *client) heard(r remote.Record) {
	switch r.Kind {
	case remote.ShipRecord:
		ship, _ := remote.ParseShip(r.Data)
		x, _, _ := ship.Position()
		c.said <- fmt.Sprintf("ship of %d at %g", r.Slot, x)
	case remote.HiddenRecord:
		c.said <- fmt.Sprintf("%d hidden", r.Slot)
	case remote.LineRecord:
		c.said <- fmt.Sprintf("%d: %s", r.Slot, r.Data)
	case remote.EventsRecord:
		err := remote.Each(r.Data, r.Slot, func(owner uint8, _ []byte, m *events.Message) {
			c.said <- fmt.Sprint(owner, ": ", m)
		})
		if err != nil {
			c.said <- err.Error()
		}
	}
}

func (c *client) leave() { c.p.Close(context.Background()) }

// until waits until the program has heard this.
func (c *client) until(want string) {
	c.t.Helper()
	stuck := time.After(time.Minute) // ends a test that would hang
	var heard []string
	for {
		select {
		case got := <-c.said:
			if heard = append(heard, got); got == want {
				return
			}
		case <-stuck:
			c.t.Fatalf("never heard %q, but %q", want, heard)
		}
	}
}

// at tells the server where the ship is, with events; without a place the player watches.
func (c *client) at(x float32, flies bool, list ...events.Message) {
	c.t.Helper()
	if c.p.Land(); flies {
		c.p.Fly(remote.Ship{Matrix: [12]float32{3: x}})
	}
	for i := range list {
		c.p.Add(&list[i])
	}
	if err := c.p.Send(); err != nil {
		c.t.Fatal(err)
	}
}

// repeat does something until somebody has heard what comes of it, since datagrams may be lost.
func (c *client) repeat(do func(), want string) {
	c.t.Helper()
	for range 600 {
		do()
		wait := time.After(100 * time.Millisecond)
		for waiting := true; waiting; {
			select {
			case got := <-c.said:
				if got == want {
					return
				}
			case <-wait:
				waiting = false
			}
		}
	}
	c.t.Fatalf("never heard %q", want)
}

// TestGame: ships and events go through the server to who may see them, and disappear when they are not to be seen; who
// is gone is listed no more. The session can be shown again.
func TestGame(t *testing.T) {
	file := filepath.Join(t.TempDir(), "session")
	_, address, g := startWith(t, "", &gameFlags{reach: 100, record: file})
	a, b := fly(t, g, address, "a"), fly(t, g, address, "b")
	a.until("1: add ip: 127.0.0.1 name: b in 1")
	watch := func() { b.at(0, false) }
	watch()
	b.repeat(func() { a.at(1, true) }, "ship of 0 at 1") // who watches sees all
	b.repeat(func() { a.at(2, true, remote.Text("a", "hello")) }, `0: SEND_TEXT{text: "a hello"}`)
	a.repeat(func() { b.at(50, true) }, "ship of 1 at 50")
	b.repeat(func() { b.at(500, true); a.at(3, true) }, "0 hidden") // out of reach
	a.repeat(func() { b.at(500, true, remote.Text("b", "far")) }, `1: SEND_TEXT{text: "b far"}`)
	b.repeat(func() { b.at(60, true); a.at(4, true) }, "ship of 0 at 4")
	b.repeat(func() { b.at(60, true); a.at(0, false) }, "0 hidden") // landed
	b.leave()
	a.until("1: remove ip: 127.0.0.1")
	var shown, errs bytes.Buffer
	if code := show(t.Context(), file, &shown, &errs); code != 0 {
		t.Fatal(errs.String())
	}
	for _, want := range []string{`slot 0   "add ip: 127.0.0.1 name: a in 0"`, `slot 0   at 1 0 0`,
		`slot 0   SEND_TEXT{text: "a hello"}`, `slot 1   SEND_TEXT{text: "b far"}`, "slot 0   has landed",
		`slot 1   "remove ip: 127.0.0.1"`} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("the recording has no %s:\n%s", want, shown.String())
		}
	}
}

// TestPilot: a player keeps its slot while its ship lands and flies again, has another name unless somebody has it, is
// told in the server's words why it may not play, and leaves its slot to the next one. Who plays is the same at all.
func TestPilot(t *testing.T) {
	bans := filepath.Join(t.TempDir(), "bans")
	write := func(text string) {
		if err := os.WriteFile(bans, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	_, address, g := startWith(t, bans, &gameFlags{})
	a, b := fly(t, g, address, "a"), fly(t, g, address, "b")
	a.until("255: four")
	b.at(0, false)
	b.repeat(func() { a.at(1, true) }, "ship of 0 at 1")
	b.repeat(func() { a.at(0, false) }, "0 hidden")
	a.until("0 hidden") // its own, as a recording has it
	b.repeat(func() { a.at(2, true) }, "ship of 0 at 2")
	if err := a.p.Rename(t.Context(), "b"); err == nil || err.Error() != "name already taken" {
		t.Error(err)
	}
	if err := a.p.Rename(t.Context(), "two words"); err == nil {
		t.Error("a name has a blank")
	}
	if err := a.p.Rename(t.Context(), "anna"); err != nil {
		t.Error(err)
	}
	b.until("0: add ip: 127.0.0.1 name: anna in 0")
	refused := func(name, want string) {
		t.Helper()
		p, err := pilot.Dial(t.Context(), pilot.Options{Lines: address, Name: name})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, not %q", name, err, want)
		}
		if p != nil {
			p.Close(t.Context())
		}
	}
	refused("anna", "somebody has this name")
	refused("", "is no name")
	write("127.0.0.0/8")
	refused("c", "you're banned from this server")
	write("")
	for i := range 14 {
		fly(t, g, address, fmt.Sprint("p", i))
	}
	refused("late", "server full")
	b.leave()
	a.until("1: remove ip: 127.0.0.1")
	if c := fly(t, g, address, "late"); c.p.Slot() != 1 {
		t.Errorf("slot %d was free, and slot 1", c.p.Slot())
	}
	a.until("1: add ip: 127.0.0.1 name: late in 1")
	var who []string
	for _, p := range a.p.Players() {
		who = append(who, fmt.Sprint(p.Slot, p.Name, p.Me))
	}
	if len(who) != 16 || who[0] != "0annatrue" || who[1] != "1latefalse" {
		t.Error(who)
	}
	if err := b.p.Send(); err == nil {
		t.Error("who has left still sends")
	}
}

// TestPilotStays: what bounds the joining does not end the session, and several goroutines send.
func TestPilotStays(t *testing.T) {
	_, address, g := startWith(t, "", &gameFlags{})
	join, cancel := context.WithCancel(t.Context())
	defer cancel()
	where := g.ports.LocalAddr().String()
	p, err := pilot.Dial(join, pilot.Options{Lines: address, Game: where, Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(t.Context())
	cancel()
	sent := make(chan error)
	for range 2 {
		go func() { sent <- p.Send() }()
	}
	if err := errors.Join(<-sent, <-sent, p.Rename(t.Context(), "b")); err != nil {
		t.Errorf("it has left: %v", err)
	}
	_, err = pilot.Dial(join, pilot.Options{Lines: address, Game: where, Name: "c"})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v: it joins though it was told not to", err)
	}
}

// TestRenameLate: an answer that comes when nobody waits for it any more is told, and the next request has its own.
func TestRenameLate(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	told := make(chan string, 64)
	dialed := make(chan *pilot.Pilot)
	go func() {
		heard := func(r remote.Record) { told <- fmt.Sprintf("%d: %s", r.Slot, r.Data) }
		p, err := pilot.Dial(t.Context(), pilot.Options{Lines: l.Addr().String(), Name: "a", Heard: heard})
		if err != nil {
			t.Error(err)
		}
		dialed <- p
	}()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	server := &visitor{t, conn, bufio.NewReader(conn)}
	defer conn.Close()
	server.hears("version: 1.0 join me: a os: ")
	server.says(strings.Join(accepted("a", 0), "\n"))
	p := <-dialed
	if p == nil {
		return
	}
	until := func(want string) {
		t.Helper()
		late := time.After(time.Minute)
		for {
			var got string
			select {
			case got = <-told:
			case <-late:
				t.Fatalf("it is never told: %s", want)
			}
			if got == want {
				return
			}
			if strings.Contains(got, "taken") || strings.Contains(got, "name: late") {
				t.Fatalf("%s before %s", got, want)
			}
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct{ name, answer, told string }{
		{"evil", "name already taken", "255: name already taken"},
		{"late", "new name accepted", "0: add ip: 0.0.0.0 name: late in 0"},
	} {
		if err := p.Rename(over, c.name); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, though nobody has answered", c.name, err)
		}
		server.hears("my new name: " + c.name)
		if err := p.Rename(t.Context(), "again"); err == nil || !strings.Contains(err.Error(), "the last request") {
			t.Errorf("%s: %v, though the last one is not answered", c.name, err)
		}
		server.says(c.answer)
		until(c.told)
	}
	answered := make(chan error)
	go func() { answered <- p.Rename(t.Context(), "third") }()
	server.hears("my new name: third")
	server.says("new name accepted")
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if who := p.Players(); len(who) != 1 || who[0].Name != "third" {
		t.Error(who)
	}
	conn.Close()
	<-p.Done()
	if err := p.Rename(t.Context(), "fourth"); err == nil {
		t.Error("there is no server any more, and it has another name")
	}
	p.Close(t.Context())
}

// TestDatagrams: what is forged, damaged or too much disturbs nobody and takes no place.
func TestDatagrams(t *testing.T) {
	_, address, g := startWith(t, "", &gameFlags{})
	a, b := fly(t, g, address, "a"), fly(t, g, address, "b")
	b.at(0, false)
	b.repeat(func() { a.at(1, true) }, "ship of 0 at 1")
	evil, err := net.Dial("udp", g.ports.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer evil.Close()
	m := gameserver.Message{Kind: gameserver.MessageState}
	s := remote.Ship{Matrix: [12]float32{3: 666}}
	m.State.Ship, _ = gameserver.NewShip(string(s.Append(nil)))
	for n := range 2000 {
		m.State.Number, m.State.Key = gameserver.Number(n+1000), gameserver.Key(n)
		frame, err := gameserver.AppendMessage(nil, &m)
		if err != nil {
			t.Fatal(err)
		}
		if n%3 == 1 {
			frame = frame[:n%len(frame)]
		}
		evil.Write(frame)
	}
	// The key of a, and a checksum that is wrong: the frame is dropped, and a plays on.
	m.State.Key = gameserver.Key(g.ports.Key(0))
	frame, _ := gameserver.AppendMessage(nil, &m)
	binary.LittleEndian.PutUint32(frame[8:], 1)
	evil.Write(frame)
	b.repeat(func() { a.at(2, true) }, "ship of 0 at 2")
	for len(b.said) > 0 {
		if got := <-b.said; strings.Contains(got, "666") {
			t.Error(got)
		}
	}
}

// TestBroken: a line that is none ends the connection, which nobody else can have sent; the others hear of it.
func TestBroken(t *testing.T) { both(t, testBroken) }

func testBroken(t *testing.T, game bool) {
	_, address, _ := startWith(t, "", flagsOf(game))
	a, b := dial(t, address), dial(t, address)
	a.says(join("a"), accepted("a", 0)...)
	b.says(join("b"), append(accepted("b", 1), "add ip: 127.0.0.1 name: a in 0")...)
	a.hears("add ip: 127.0.0.1 name: b in 1")
	a.says("my new name: \xff")
	b.hears("remove ip: 127.0.0.1")
	if _, err := a.r.ReadByte(); err == nil {
		t.Error("the connection is still there")
	}
}

// TestJoins: a second join is refused, and so is a name that is too long.
func TestJoins(t *testing.T) {
	_, address, g := startWith(t, "", &gameFlags{})
	a := fly(t, g, address, "a")
	b := dial(t, address)
	b.says(join("a"), "you sent an invalid request")
	b.says(join("<script>"), append(accepted("<script>", 1), "add ip: 127.0.0.1 name: a in 0")...)
	b.says(join("again"), "you sent an invalid request")
	b.says("version: 1.0 join me: "+strings.Repeat("x", 32)+" os: linux", "you sent an invalid request")
	a.until("1: add ip: 127.0.0.1 name: <script> in 1")
}

// TestHalfOpen: 2,000 connections that say nothing, or begin a request and do not end it, come with the limits of a
// real server. Who plays hears nothing of them, and who comes later gets a slot.
func TestHalfOpen(t *testing.T) { both(t, testHalfOpen) }

func testHalfOpen(t *testing.T, game bool) {
	listener, err := listen("127.0.0.1:0", perAddress, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	_, address, _ := startBehind(t, "", flagsOf(game), listener)
	early := dial(t, address)
	early.says(join("early"), accepted("early", 0)...)
	turnedAway := func() uint64 {
		s := listener.Stats()
		return s.Crowded + s.Hasty + s.Rejected + s.Flooded
	}
	var began uint64
	for n := range 2000 {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+n%200))}}
		conn, err := d.Dial("tcp4", address)
		if err != nil {
			continue // it is full just now, or this computer has no such address
		}
		began++
		t.Cleanup(func() { conn.Close() })
		if n%2 == 0 {
			io.WriteString(conn, "version: 1.0 join me: h")
		}
	}
	if began == 0 {
		t.Skip("this computer has no address 127.0.1.1")
	}
	for end := time.Now().Add(time.Minute); listener.Stats().Accepted+turnedAway() < began; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d came, %+v", began, listener.Stats())
		}
	}
	if s := listener.Stats(); s.Open > maxParties {
		t.Errorf("%+v", s)
	}
	var late *visitor
	for end := time.Now().Add(time.Minute); late == nil; { // all connections a second are used up: it tries again
		if time.Now().After(end) {
			t.Fatalf("nobody can join: %+v", listener.Stats())
		}
		conn, err := net.Dial("tcp4", address)
		if err != nil {
			continue
		}
		t.Cleanup(func() { conn.Close() })
		v := &visitor{t, conn, bufio.NewReader(conn)}
		if _, err = io.WriteString(conn, join("late")+"\n"); err == nil {
			_, err = v.r.Peek(1)
		}
		if err == nil {
			late = v
		}
	}
	late.hears(append(accepted("late", 1), "add ip: 127.0.0.1 name: early in 0")...)
	early.hears("add ip: 127.0.0.1 name: late in 1")
	early.says("my new name: still", "new name accepted")
}

// TestBudget: a modem gets as many bytes as it can take, the newest states, and critical events first.
func TestBudget(t *testing.T) {
	c := crowd{rate: 3600}
	c.enter(0, 1)
	c.enter(1, 2)
	ship := remote.Ship{}
	bytesOut, lasers, texts := 0, 0, 0
	for i := range 600 { // ten seconds at 60 a second
		now := time.Duration(i) * time.Second / 60
		ship.Matrix[3] = float32(i)
		s, _ := gameserver.NewShip(string(ship.Append(nil)))
		c.fly(0, s, &ship)
		if i%60 == 0 {
			text := remote.Text("a", strings.Repeat("x", 200))
			laser := events.Message{Kind: events.MessageCreateLaser}
			for _, m := range []events.Message{text, laser} {
				b, _ := events.AppendMessage(nil, &m)
				c.hear(now, 0, b)
			}
		}
		for more := true; more; more = c.left() > 0 {
			j := c.next(now)
			if !j.seen.Has(1) || j.sight {
				continue
			}
			bytesOut += overhead + int(j.events.Len)
			kinds := ""
			remote.Each(j.events.Data[:j.events.Len], 0, func(_ uint8, _ []byte, m *events.Message) {
				if kinds += m.Kind.String() + " "; m.Kind == events.MessageCreateLaser {
					lasers++
				} else {
					texts++
				}
			})
			if strings.HasPrefix(kinds, "SEND_TEXT CREATE") {
				t.Errorf("a text goes before a laser: %s", kinds)
			}
		}
	}
	if limit := 3600*10 + overhead + remote.MaxList; bytesOut > limit || bytesOut < 3600*8 {
		t.Errorf("%d bytes in ten seconds", bytesOut)
	}
	if lasers != 10 || texts < 9 || c.spared == 0 {
		t.Errorf("%d lasers, %d texts, %d states left out", lasers, texts, c.spared)
	}
}

// TestOwners: nobody makes objects for somebody else, nor speaks for one.
func TestOwners(t *testing.T) {
	var c crowd
	c.enter(0, 1)
	c.enter(1, 2)
	var list []byte
	for _, m := range []events.Message{
		{Kind: events.MessageCreateMissile, CreateMissile: events.CreateMissileMessage{Object: 1 << 16}},
		{Kind: events.MessageOwnerSection, OwnerSection: events.OwnerSectionMessage{Owner: 1}},
		remote.Text("b", "I give up"),
	} {
		list, _ = events.AppendMessage(list, &m)
	}
	if got := c.hear(0, 0, list); len(got) != 0 || c.refused != 2 || c.pilots[1].queue.Len() != 0 {
		t.Errorf("% x was taken, %d refused", got, c.refused)
	}
}

// TestRecordingBroken: a server whose recording lacks its end says so. One that cannot begin is an error.
func TestRecordingBroken(t *testing.T) {
	if _, err := remote.NewRecorder(full{}); !errors.Is(err, errFull) {
		t.Errorf("a recording began on a full disk: %v", err)
	}
	f := gameFlags{udp: "127.0.0.1:0", record: filepath.Join(t.TempDir(), "session")}
	g, err := f.open(&server{log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer g.ports.Abort()
	g.record, _ = remote.NewRecorder(io.MultiWriter(g.file, &after{len: 20}))
	g.keep(remote.LineRecord, 3, []byte("all that is said is kept"))
	if err := g.finish(); !errors.Is(err, errFull) || !strings.Contains(err.Error(), "the end is missing") {
		t.Errorf("the recording lacks its end: %v", err)
	}
	if err := g.file.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after the server the recording is still open: %v", err)
	}
}

var errFull = errors.New("no space left")

// full is a disk on which there is no room; after is one that has some.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

type after struct{ len int }

func (w *after) Write(b []byte) (int, error) {
	if w.len -= len(b); w.len < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// TestRecordingEnds: the recording is closed when the server ends, and one that never began can be begun again.
func TestRecordingEnds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "session")
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, x := range [][]string{
		{"-listen", taken.Addr().String(), "-udp", "127.0.0.1:0"},
		{"-listen", "127.0.0.1:0", "-udp", "127.0.0.1:0", "-http", taken.Addr().String()},
		{"-listen", "127.0.0.1:0", "-udp", "nowhere"},
	} {
		var errs bytes.Buffer
		args := append([]string{"-mode", "game", "-record", file}, x...)
		if code := run(t.Context(), args, io.Discard, &errs); code != 2 {
			t.Errorf("%v: exit code %d\n%s", x, code, &errs)
		}
		if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%v: the recording is still there: %v", x, err)
			os.Remove(file)
		}
	}
	var g *game
	t.Run("server", func(t *testing.T) { _, _, g = startWith(t, "", &gameFlags{record: file}) })
	if err := g.file.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after the server the recording is still open: %v", err)
	}
}
