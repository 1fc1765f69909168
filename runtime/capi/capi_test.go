package capi

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/machines/confirm"
	"github.com/parley-go/parley/machines/ready"
	"github.com/parley-go/parley/machines/update"
	"github.com/parley-go/parley/runtime/fsm"
)

func init() {
	Register("confirm.peer", func(*Params) (fsm.Commander, error) { return confirm.NewPeerRunner(), nil })
	Register("ready.peer", func(*Params) (fsm.Commander, error) { return ready.NewPeerRunner(), nil })
	Register("update.peer", func(p *Params) (fsm.Commander, error) { return update.NewPeerRunner(p.Bool("wins")), nil })
}

func mustOpen(t *testing.T, name, params string) *Machine {
	t.Helper()
	m, err := Open(name, params)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// next waits for the next event, as text.
func next(t *testing.T, m *Machine) string {
	t.Helper()
	e, err := m.Poll(time.Minute, 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	kind := []string{"none", "report", "state", "up", "lost", "refused", "frame", "stopped"}[e.Kind]
	if e.Kind == Frame {
		return fmt.Sprintf("%s %x", kind, e.Data)
	}
	return strings.TrimSpace(kind + " " + e.Text)
}

func expect(t *testing.T, m *Machine, want ...string) {
	t.Helper()
	for _, w := range want {
		if got := next(t, m); got != w {
			t.Fatalf("event %q, want %q", got, w)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestHandshakeOverTCP(t *testing.T) {
	a, b := mustOpen(t, "ready.peer", ""), mustOpen(t, "ready.peer", ".idle: 20000")
	at, err := a.Listen(0, "tcp:127.0.0.1:0")
	must(t, err)
	must(t, b.Connect(0, "tcp:"+at))
	for _, m := range []*Machine{a, b} {
		if up := next(t, m); !strings.HasPrefix(up, "up 127.0.0.1:") {
			t.Errorf("%q has no address", up)
		}
	}
	must(t, a.Step("ready"))
	expect(t, a, "state localReady")
	expect(t, b, "state remoteReady")
	if err := a.Step("ready"); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "localReady") {
		t.Errorf("ready twice: %v", err)
	}
	must(t, b.Step("ready"))
	expect(t, b, "report passed", "state notReady")
	expect(t, a, "report passed", "state notReady")
	text, err := a.Text()
	if must(t, err); text != "notReady" {
		t.Errorf("the machine is %s", text)
	}
	must(t, a.Disconnect(0))
	if got := next(t, b); !strings.HasPrefix(got, "lost") {
		t.Error(got)
	}
}

// TestOwnLink: the program carries the frames itself.
func TestOwnLink(t *testing.T) {
	a, b := mustOpen(t, "update.peer", "wins: true"), mustOpen(t, "update.peer", "{wins: false}")
	must(t, a.Connect(0, "own"))
	must(t, b.Connect(0, "own"))
	expect(t, a, "up")
	expect(t, b, "up")
	must(t, a.Step("change{value: 7}"))
	for {
		e, err := a.Poll(time.Minute, 1<<16)
		must(t, err)
		if e.Kind == Frame {
			must(t, b.Deliver(e.Peer, e.Data))
			break
		}
	}
	text, err := "", error(nil)
	for !strings.Contains(text, "value: 7") {
		e, err := b.Poll(time.Minute, 1<<16)
		must(t, err)
		text = e.Text
	}
	if n, err := FieldInt(text, "value"); err != nil || n != 7 {
		t.Errorf("%d, %v", n, err)
	}
	must(t, err)
	if err := a.Connect(1, "own:datagrams"); err == nil || !strings.Contains(err.Error(), "promises too little") {
		t.Errorf("a link that is too weak: %v", err)
	}
	if err := a.Deliver(5, []byte("x")); err == nil {
		t.Error("delivered to nobody")
	}
}

func TestWrongCalls(t *testing.T) {
	for _, tt := range []struct{ name, params, want string }{
		{"chess.peer", "",
			`no machine "chess.peer"; there are confirm.peer, faulty.peer, masterserver.master, ready.datagrams, ready.peer, update.peer`},
		{"update.peer", "", "update.peer: the parameter wins is missing: true or false"},
		{"update.peer", "wins: 1", "the parameter wins is 1, not true or false"},
		{"update.peer", "wins: true, more: 2", "there is no parameter more"},
		{"update.peer", "wins: true wins", "the parameter wins is true wins"},
		{"update.peer", "wins", "want `name: value, …`"},
		{"update.peer", "wins: true, wins: true", "wins is given twice"},
		{"update.peer", "wins: true, .idle: -1", "the parameter .idle is -1, not a number in 0..2147483648"},
	} {
		if _, err := Open(tt.name, tt.params); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %q: %v; want %q in it", tt.name, tt.params, err, tt.want)
		}
	}
	m := mustOpen(t, "update.peer", "wins: true")
	for link, want := range map[string]string{
		"":                           "a link begins with",
		"tcp:127.0.0.1:1 {peers: 3}": "there is no parameter peers",
		"udp:127.0.0.1:0 {peers: 0}": "the parameter peers is 0, not a number in 1..1024",
		"udp:127.0.0.1:0":            "promises too little",
		"tls:127.0.0.1:1":            "a link begins with",
		"own {peers: 3}":             "there is no parameter peers",
		"tcp:127.0.0.1:1 {":          "want `name: value, …`",
		"ipx:127.0.0.1:1":            "want ipx:",
		"own:x":                      "a link begins with",
	} {
		if err := m.Connect(0, link); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", link, err)
		}
	}
	if _, err := m.Listen(0, "udp:1"); err == nil {
		t.Error("listening on UDP")
	}
	for command, want := range map[string]string{"": "is no command", "change{}": "the field value is missing",
		"change{value: x}": `not "x"`} {
		if err := m.Step(command); err == nil || errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", command, err, want)
		}
	}
	if _, err := m.Poll(0, 10); !errors.Is(err, ErrTimeout) {
		t.Errorf("nothing has happened: %v", err)
	}
}

// TestShortBuffer: an event that does not fit stays.
func TestShortBuffer(t *testing.T) {
	m := mustOpen(t, "ready.peer", "")
	must(t, m.Connect(0, "own"))
	expect(t, m, "up")
	must(t, m.Step("ready"))
	if e, err := m.Poll(time.Minute, 1); !errors.Is(err, ErrShort) || len(e.Data)+len(e.Text) < 2 {
		t.Errorf("%+v, %v", e, err)
	}
	if got := next(t, m); !strings.HasPrefix(got, "frame") && !strings.HasPrefix(got, "state") {
		t.Error(got)
	}
}

// TestNobodyPolls: a machine whose events nobody takes is stopped, with a reason, and keeps those
// it had.
func TestNobodyPolls(t *testing.T) {
	m := mustOpen(t, "ready.peer", "")
	must(t, m.Connect(0, "own"))
	answer, err := ready.AppendMessage(nil, &ready.Message{Kind: ready.MessageReady})
	must(t, err)
	for {
		err := m.Step("ready")
		if err == nil {
			err = m.Deliver(0, answer)
		}
		if err != nil && !errors.Is(err, ErrRefused) { // refused: the answer has not been taken yet
			break
		}
	}
	var last Event
	n := 0
	for {
		e, err := m.Poll(time.Minute, 1<<16)
		must(t, err)
		last = e
		if n++; e.Kind == Stopped {
			break
		}
	}
	if n != MaxEvents+1 || !strings.Contains(last.Text, "nobody takes them") {
		t.Errorf("%d events, the last %+v", n, last)
	}
}

func TestField(t *testing.T) {
	const text = `changed{item: 3, own: true, by: "ann, \"the\" {2}", at: {x: -4, y: [1, 2]}, big: 18446744073709551615, last: none}`
	for name, want := range map[string]string{"item": "3", "own": "true", "by": `ann, "the" {2}`,
		"at": "{x: -4, y: [1, 2]}", "at.x": "-4", "at.y": "[1, 2]", "last": "none"} {
		if got, err := Field(text, name); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	for name, want := range map[string]int64{"item": 3, "own": 1, "at.x": -4, "big": -1} {
		if got, err := FieldInt(text, name); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", name, got, err, want)
		}
	}
	for _, name := range []string{"", "x", "at.z", "item.x", "by.x", "it", "em"} {
		if got, err := Field(text, name); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
	if _, err := FieldInt(text, "by"); err == nil {
		t.Error("a text is a number")
	}
}

// FuzzTexts: neither parser minds what it is given.
func FuzzTexts(f *testing.F) {
	f.Add(`changed{item: 3, by: "ann", at: {x: [1, {}]}}`, "at.x")
	f.Add(`wins: true, index: 1`, "index")
	f.Fuzz(func(t *testing.T, text, name string) {
		Field(text, name)
		FieldInt(text, name)
		if p, err := ParseParams(text); err == nil {
			p.Bool(name)
			p.Int(name, 0, 3)
			p.Text(name, 5)
			p.End()
		}
	})
}
