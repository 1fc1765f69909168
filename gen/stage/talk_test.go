package stage_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
)

// clients is a server and two clients, who hear what they themselves say.
const clients = `protocol: talk
messages: {SAY: }
parties: 3
channel: {order: fifo, capacity: 2}
roles:
  server:
    initial: open
    states:
      open:
        doc: it listens
        up: ignore
        lost: ignore
        SAY: {do: [{send: SAY, to: %s}]}
  client:
    params: {home: instance}
    commands: {say: {}}
    initial: inside
    states:
      inside:
        doc: it talks
        up: ignore
        lost: ignore
        say: {do: [{send: SAY, to: %s}]}
        SAY: ignore
checks:
  three:
    instances: {s: server, a: "client(home: 0)", b: "client(home: 0)"}
    claims: {c: {always: s.open, why: it has to claim something}}
`

// TestLinks: there is a link between those alone who can send to each other.
func TestLinks(t *testing.T) {
	for _, x := range []struct{ server, client, want string }{
		{"sender", "0", "0-1 0-2 "},
		{"sender", "home", "0-1 0-2 "},
		{"all", "home", "0-1 0-2 "},
		{"sender", "all", "0-1 0-2 1-2 "},
		{"sender", `"first(x in instance: x != self)"`, "0-1 0-2 1-2 "},
	} {
		text := fmt.Sprintf(clients, x.server, x.client)
		p, list := compile.Load("spec.yaml", compile.Options{Check: "three",
			FS: fstest.MapFS{"spec.yaml": &fstest.MapFile{Data: []byte(text)}}})
		if p == nil {
			t.Fatal(list)
		}
		got := ""
		for _, l := range stage.Rules(p.Checks[0]).Links {
			got += fmt.Sprintf("%d-%d ", l.A, l.B)
		}
		if got != x.want {
			t.Errorf("server to %s, client to %s: links %s, want %s", x.server, x.client, got, x.want)
		}
	}
}

// parted is a server and two clients, each with a part that speaks for it.
const parted = `protocol: talk
messages: {SAY: }
parties: 3
channel: {order: fifo, capacity: 2}
roles:
  voice:
    commands: {say: {}}
    initial: inside
    states:
      inside: {say: {send: SAY%s}, SAY: ignore}
  server:
    initial: open
    states: {open: {up: ignore, lost: ignore, SAY: ignore}}
  client:
    params: {home: instance}
    commands: {say: {}}
    parts: {voice: {machine: voice, to: 0}}
    initial: inside
    states: {inside: {up: ignore, lost: ignore, say: {run: voice.say}, SAY: ignore}}
checks:
  three:
    instances: {s: server, a: "client(home: 0)", b: "client(home: 0)"}
    claims: {c: {always: s.open, why: it has to claim something}}
`

// TestPartLinks: what a part sends goes to the peer that its parent names for it, unless the part says so itself.
func TestPartLinks(t *testing.T) {
	for _, x := range []struct{ to, want string }{
		{"", "0-1 0-2 "},
		{", to: all", "0-1 0-2 1-2 "},
	} {
		p, list := compile.Load("spec.yaml", compile.Options{Check: "three",
			FS: fstest.MapFS{"spec.yaml": &fstest.MapFile{Data: []byte(fmt.Sprintf(parted, x.to))}}})
		if p == nil {
			t.Fatal(list)
		}
		got := ""
		for _, l := range stage.Rules(p.Checks[0]).Links {
			got += fmt.Sprintf("%d-%d ", l.A, l.B)
		}
		if got != x.want {
			t.Errorf("in a part%s: links %s, want %s", x.to, got, x.want)
		}
	}
}

// TestReach: a hostile client speaks to the server, and to another client only where clients speak to
// each other; there is no link where nobody speaks.
func TestReach(t *testing.T) {
	for _, x := range []struct {
		client string
		want   int
	}{{"0", 0}, {"home", 0}, {"all", 1}} {
		text := strings.Replace(fmt.Sprintf(clients, "sender", x.client), "    claims:",
			"    hostile: a\n    claims:", 1)
		p, list := compile.Load("spec.yaml", compile.Options{Check: "three",
			FS: fstest.MapFS{"spec.yaml": &fstest.MapFile{Data: []byte(text)}}})
		if p == nil {
			t.Fatal(list)
		}
		c := p.Checks[0]
		s, a, b := c.Instances[0], c.Instances[1], c.Instances[2]
		hostile := stage.NewHostile(p, c, &interp.Strings{})
		for to, want := range map[*model.Instance]int{s: 1, b: x.want} {
			if got, _, err := hostile.Forgeries(a, to); err != nil || len(got) != want {
				t.Errorf("to %s: %d messages reach %s, not %d, %v", x.client, len(got), to.Name, want, err)
			}
		}
		if r := stage.Rules(c); r.Peers(1)>>2&1 != uint64(x.want) || r.Peers(0) != 6 {
			t.Errorf("to %s: links %v", x.client, r.Links)
		}
	}
}
