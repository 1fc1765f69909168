package probe

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/race"
	"github.com/parley-go/parley/runtime/world"
)

// hub is a program with which several peers speak at a time: one machine steps for all of them. Who connects has the
// next number, or the lowest that is free.
type hub struct {
	p     *model.Protocol
	check string
	// quirk, if set, sees each frame that goes out, and may change it or return nil to keep it.
	quirk func(to int, frame []byte) []byte
	// most, if set, is how many it lets in at a time.
	most int
	last int // the highest number that was given
	// late, if set, lets who connects come in before it hears who has closed.
	late chan struct{}

	mu    sync.Mutex
	g     *game
	value interp.Value
	end   world.End[string]
	conns map[int]net.Conn
	side  map[int]*net.UDPAddr // where datagrams go
	udp   *net.UDPConn
	marks map[string]bool // connections of its own, by their address
	wg    sync.WaitGroup
}

func (h *hub) listen(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h.conns, h.side, h.marks = map[int]net.Conn{}, map[int]*net.UDPAddr{}, map[string]bool{}
	h.anew()
	h.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			h.mu.Lock()
			if h.marks[c.RemoteAddr().String()] {
				c.Close()
				h.mu.Unlock()
				continue
			}
			who := h.number()
			if who < 0 {
				c.Close()
				h.mu.Unlock()
				continue
			}
			h.conns[who] = c
			rules, me := h.g.stage.World.Rules, h.g.players[h.g.they]
			h.step(world.LinkUp(rules, h.g.they, h.end, h.value, who, me))
			h.mu.Unlock()
			select {
			case h.late <- struct{}{}:
			default:
			}
			h.wg.Go(func() { h.talk(c, who) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		if h.udp != nil {
			h.udp.Close()
		}
		h.mu.Lock()
		for _, c := range h.conns {
			c.Close()
		}
		h.mu.Unlock()
		h.wg.Wait()
	})
	return l.Addr().String()
}

// number is that of who connects now: the next one, or the lowest that is free if all were given; -1 if there is none.
func (h *hub) number() int {
	free := func(i int) bool { return h.conns[i] == nil && (h.most == 0 || len(h.conns) < h.most) }
	for _, first := range []int{h.last + 1, 0} {
		for _, i := range h.g.us {
			if i >= first && free(i) {
				h.last = max(h.last, i)
				return i
			}
		}
	}
	return -1
}

// listenBeside serves the second channel over UDP. Whose a datagram is says the first field in it.
func (h *hub) listenBeside(t testing.TB, address string) string {
	t.Helper()
	var err error
	if h.udp, err = net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
		t.Fatal(err)
	}
	h.wg.Go(func() {
		wire, buf := model.WithDefaultWire(h.p), make([]byte, 4096)
		for {
			n, from, err := h.udp.ReadFromUDP(buf)
			if err != nil {
				return
			}
			h.catchUp(address)
			h.mu.Lock()
			_, slots, problem := interp.DecodeFrameTo(wire, h.g.strs, buf[:n], h.g.role(h.g.they).Name)
			if problem.Problem == 0 && len(slots) > 0 && h.conns[int(slots[0])] != nil {
				h.side[int(slots[0])] = from
				h.hears(wire, buf[:n], int(slots[0]))
			}
			h.mu.Unlock()
		}
	})
	return "udp:" + h.udp.LocalAddr().String()
}

// catchUp waits until all have come in who connected before: a datagram may be read before its sender's connection is.
func (h *hub) catchUp(address string) {
	h.mu.Lock()
	c, err := net.Dial("tcp", address)
	if err != nil { // it listens no more
		h.mu.Unlock()
		return
	}
	defer c.Close()
	name := c.LocalAddr().String()
	h.marks[name] = true
	h.mu.Unlock()
	c.Read(make([]byte, 1)) // it ends with the listener, too
	h.mu.Lock()
	delete(h.marks, name)
	h.mu.Unlock()
}

// anew begins the machine.
func (h *hub) anew() {
	g, err := newGame(h.p, &Options{Check: h.check})
	if err != nil {
		panic(err)
	}
	g.rng = rand.New(rand.NewPCG(1, 1))
	h.g, h.last, h.value = g, -1, slices.Clone(g.players[g.they].Begin)
	h.end = world.End0[string](g.stage.World.Rules, g.they)
	h.step(world.Begin(g.stage.World.Rules, g.they, h.end, h.value, g.players[g.they]))
}

func (h *hub) step(res result) bool {
	if res.What == world.Blocked || res.Fault != world.NoFault {
		return false
	}
	h.value, h.end = slices.Clone(res.Value), res.End
	for _, x := range res.Sends {
		c := h.conns[x.To]
		switch {
		case c == nil:
		case x.Item.News != world.NoNews:
			c.Close()
		default:
			b, err := h.g.frame(x.Item.Message)
			if err == nil && h.quirk != nil {
				b = h.quirk(x.To, b)
			}
			if err != nil || b == nil {
				continue
			}
			if to := h.side[x.To]; h.g.class(x.Item.Message) == 1 && to != nil {
				h.udp.WriteToUDP(b, to)
			} else if h.g.class(x.Item.Message) == 0 {
				c.Write(b)
			}
		}
	}
	return true
}

// talk hears one peer until its connection ends.
func (h *hub) talk(c net.Conn, who int) {
	wire := model.WithDefaultWire(h.p)
	var pending []byte
	buf := make([]byte, 4096)
	for ok := true; ok; {
		n, err := c.Read(buf)
		pending = append(pending, buf[:n]...)
		for ok {
			size, problem := interp.FrameSizeTo(wire, pending, h.g.role(h.g.they).Name)
			if ok = problem.Problem == 0; !ok || size == 0 || size > len(pending) {
				break
			}
			h.mu.Lock()
			ok = h.hears(wire, pending[:size], who)
			h.mu.Unlock()
			pending = pending[size:]
		}
		ok = ok && err == nil
	}
	if h.late != nil {
		select {
		case <-h.late:
		case <-time.After(mostLate):
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	rules, me := h.g.stage.World.Rules, h.g.players[h.g.they]
	h.step(world.Deliver(rules, h.g.they, h.end, h.value, who, world.Item[string]{News: world.Cut}, me))
	delete(h.conns, who)
	delete(h.side, who)
	c.Close()
	if len(h.conns) == 0 { // links come up once
		h.anew()
	}
}

// mostLate is how long a hub that is late waits for others to come.
const mostLate = 100 * time.Millisecond

// hears gives the machine a frame of a peer. It reports whether it has taken it.
func (h *hub) hears(wire *model.Protocol, frame []byte, who int) bool {
	msg, slots, problem := interp.DecodeFrameTo(wire, h.g.strs, frame, h.g.role(h.g.they).Name)
	if problem.Problem != 0 {
		return false
	}
	rules, me := h.g.stage.World.Rules, h.g.players[h.g.they]
	text := h.g.tell(h.p.Messages[msg.Index], slots)
	ok := h.step(world.Deliver(rules, h.g.they, h.end, h.value, who, world.Item[string]{Message: text}, me))
	for ok && world.Due(rules, &h.end, h.value, me) >= 0 {
		ok = h.step(world.Offer(rules, h.g.they, h.end, h.value, me))
	}
	return ok
}

// token is a server that gives one thing to one client at a time, and says to the others who has it.
const token = `protocol: token
parties: 3
messages: {WANT: , GIVE: , BUSY: , BACK: , FREE: }
roles:
  server:
    vars: {who: {type: instance?}}
    initial: up
    states:
      up:
        WANT:
          - {when: who == none, set: {who: sender}, send: GIVE, to: sender}
          - {send: BUSY, to: sender}
        BACK:
          - {when: who == sender, set: {who: none}, send: FREE, to: "[p for p in instance if p != sender && p != self]"}
          - {doc: it has none}
        lost:
          - {when: who == sender, set: {who: none}}
          - {doc: it has none}
  client:
    commands: {want: , back: }
    initial: idle
    states:
      idle: {want: {send: WANT, to: 0, goto: asking}, FREE: {}}
      asking: {GIVE: {goto: has}, BUSY: {goto: idle}, FREE: {}}
      has: {back: {send: BACK, to: 0, goto: idle}, FREE: {}}
checks:
  two: {instances: {server: server, "c[1..2]": client}}
`

// found probes a program. Which peer comes first is chance, and so is whether a mistake shows: where there is one,
// other seeds are tried until it does.
func found(t *testing.T, p *model.Protocol, like *hub, o Options, mistaken bool) *Report {
	t.Helper()
	for ; ; o.Seed++ {
		h := &hub{p: like.p, check: like.check}
		r, err := Run(t.Context(), p, h.listen(t), o)
		if err != nil {
			t.Fatal(err)
		}
		if !mistaken || r.Failed() || o.Seed == 6 {
			return r
		}
	}
}

// TestSeveral: of a program that speaks with several peers at a time what it says to each is explained by one run.
// Mistakes that one peer alone does not meet are found, with a script in which both act.
func TestSeveral(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name, old, new string
		kind           Kind
		both           bool
	}{
		{"right", "", "", "", false},
		{"given twice", "when: who == none, set", "when: who == none || who != sender, set", Left, true},
		{"nobody is told", `send: FREE, to: "[p for p in instance if p != sender && p != self]"}`, `doc: free}`, Hung, true},
		{"who gives back is told", `if p != sender && p != self]"`, `if p == sender]"`, Left, false},
		{"it is kept for who has gone", `lost:
          - {when: who == sender, set: {who: none}}
          - {doc: it has none}`, "lost: {doc: it is kept}", Left, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			p := loadText(t, token) // a model belongs to one test at a time
			target := loadText(t, token)
			if x.old != "" {
				target = loadText(t, token, x.old, x.new)
			}
			h := &hub{p: target}
			o := options()
			o.Passive, o.Findings, o.Sessions, o.Hostile = true, 1, 120, 20
			if x.kind != "" {
				o.Patience = patienceWith(x.kind)
			}
			r := found(t, p, h, o, x.kind != "")
			if r.Failed() != (x.kind != "") {
				t.Errorf("%d findings, %v, %v", len(r.Findings), r.Transitions, r.Uncovered)
			}
			for _, f := range r.Findings {
				t.Logf("%s: %s %q", f.Kind, f.Why, f.Script)
				script := strings.Join(f.Script, "\n")
				both := strings.Contains(script, "c[1]") && strings.Contains(script, "c[2]")
				if f.Kind != x.kind || x.both && !both {
					t.Errorf("%s: %s %q, steady %t", f.Kind, f.Why, f.Script, f.Steady)
				}
			}
			if x.kind == "" && (r.Transitions[0] < 5 || r.Hostile == 0) {
				t.Errorf("%v transitions, not seen %v, %d hostile", r.Transitions, r.Uncovered, r.Hostile)
			}
		})
	}
}

// TestComingAnew: who comes again has the number that it had, also after an end that nobody has waited for, and with a
// program that lets others in first.
func TestComingAnew(t *testing.T) {
	t.Parallel()
	p := loadText(t, token)
	h := &hub{p: p, late: make(chan struct{})}
	script := "malformed c[1] -> server 0004\nat once close c[1] -> server\nreturn c[1] -> server\nc[2] want\n" +
		"----\nserver: nothing is wrong\n"
	o := options()
	o.Patience = 20 * time.Second
	list, err := Repeat(t.Context(), p, h.listen(t), []byte(script), o)
	if err != nil || len(list) != 1 || list[0].Shows != list[0].Wants || len(list[0].Skipped) > 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestUnheard: what is wrong once, after connections of whose end the program may not have heard, and not again, is no
// finding but is told. After others it is one.
func TestUnheard(t *testing.T) {
	t.Parallel()
	p := loadText(t, token)
	for _, unheard := range []bool{true, false} {
		h := &hub{p: p}
		pr, err := newProber(p, h.listen(t), options())
		if err != nil {
			t.Fatal(err)
		}
		pr.target.unheard = unheard
		s, err := pr.session(t.Context(), nil)
		if err != nil || s == nil {
			t.Fatal(err)
		}
		s.do(act{kind: event, who: 2, text: "want"})
		s.find(Left, "nothing", "this is wrong")
		pr.close(t.Context(), s, "")
		told := strings.Contains(strings.Join(pr.report.Open, "\n"), "once this is wrong")
		if told != unheard || pr.report.Failed() == unheard {
			t.Errorf("unheard %t: %d findings, %q", unheard, len(pr.report.Findings), pr.report.Open)
		}
	}
}

// TestAttacker: one of ours attacks, also in a state that waiting has led to, where the program has the first number.
func TestAttacker(t *testing.T) {
	pr, err := newProber(loadText(t, token), "127.0.0.1:1", options())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for range 100 {
		for _, last := range []act{{kind: wait}, {kind: event, who: 2}} {
			seen[pr.attacker([]act{{kind: event, who: 1}, last})] = true
		}
	}
	if len(seen) != 2 || !seen[1] || !seen[2] {
		t.Errorf("%v attack", seen)
	}
}

// TestLobby: mistakes in a server that is a lobby, which nobody meets who is alone there. In the game's own words.
func TestLobby(t *testing.T) {
	race.Skip(t)
	t.Parallel()
	const path = "specs/lobby/spec.yaml"
	small := []string{"parties: 62", "parties: 4", "games: {value: 16", "games: {value: 2", "players: 0..62",
		"players: 0..4"}
	list := []struct{ name, old, new string }{
		{"right", "", ""},
		{"what is said in the chat is heard in games", `if p != c && session[p].chat]`, `if p != c && !session[p].away]`},
		{"a game that has begun can be joined", "game in rooms && !rooms[game].started &&", "game in rooms &&"},
		{"a game ends for its administrator alone", "        session.ends:\n          do:\n            - {set: " +
			`{"rooms[game]": none}}` + "\n            - {each: {p: instance}, do: [{if: \"(session[p].open || " +
			"session[p].running) && session[p].at == game\", then: [{run: \"session[p].end\"}]}]}\n",
			"        session.ends: {set: {\"rooms[game]\": none}}\n"},
	}
	for i, x := range list {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			if i > 1 {
				race.SkipShort(t, "the mistake before")
			}
			right := load(t, path, small...)
			target := right
			if x.old != "" {
				target = load(t, path, append(slices.Clone(small), x.old, x.new)...)
			}
			h := &hub{p: target, check: "two"}
			o := options()
			o.Check, o.Passive, o.Findings, o.Sessions, o.Hostile = "two", true, 1, 40, 10
			o.Values = map[string][]string{"text": {"a"}, "own": {"a"}, "params": {"x"}, "data": {"d"}, "into": {"0"}}
			if x.old != "" {
				o.Patience, o.Sessions, o.Hostile = patienceWith(Left), 200, -1
			}
			r := found(t, right, h, o, x.old != "")
			t.Logf("%d sessions, %v transitions, %v pairs, %.1fs", r.Sessions, r.Transitions, r.Pairs, r.Seconds)
			for _, f := range r.Findings {
				t.Logf("%s: %s %q, steady %t", f.Kind, f.Why, f.Script, f.Steady)
				script := strings.Join(f.Script, "\n")
				if !strings.Contains(script, "p[1]") || !strings.Contains(script, "p[2]") {
					t.Errorf("one alone has shown it: %q", f.Script)
				}
			}
			if r.Failed() != (x.old != "") {
				t.Errorf("%d findings, not seen: %v", len(r.Findings), r.Uncovered)
			}
		})
	}
}

// places is a server with two channels: events over TCP, and over UDP where somebody is. It answers with where the one
// before was.
const places = `protocol: places
parties: 3
channels:
  events: {order: fifo, capacity: 4}
  places: {order: any, lossy: true, duplicates: true, capacity: 2, full: lose}
messages:
  ASK: {channel: events}
  LAST: {channel: events, fields: {n: 0..3}}
  AT: {channel: places, fields: {who: instance, n: 0..3}}
  WAS: {channel: places, fields: {n: 0..3}}
roles:
  server:
    vars: {last: {type: 0..3}}
    initial: up
    states:
      up:
        ASK: {send: "LAST{n: last}", to: sender}
        AT: {do: [{send: "WAS{n: last}", to: sender}, {set: {last: n}}]}
  client:
    commands: {ask: , go: {fields: {n: 0..3}}}
    initial: idle
    states:
      idle: {ask: {send: ASK, to: 0}, go: {send: "AT{who: self, n}", to: 0}, LAST: {}, WAS: {}}
checks:
  two: {instances: {server: server, "c[1..2]": client}}
`

// TestChannels: the channels of a protocol are connections of their own, and one run explains what comes over all of
// them.
func TestChannels(t *testing.T) {
	t.Parallel()
	p := loadText(t, places)
	for _, x := range []struct{ name, old, new string }{
		{"right", "", ""},
		{"it forgets", `AT: {do: [{send: "WAS{n: last}", to: sender}, {set: {last: n}}]}`,
			`AT: {send: "WAS{n: last}", to: sender}`},
		{"it says where one is oneself", `{do: [{send: "WAS{n: last}", to: sender}, {set: {last: n}}]}`,
			`{do: [{set: {last: n}}, {send: "WAS{n: last}", to: sender}]}`},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			p := loadText(t, places)
			target := p
			if x.old != "" {
				target = loadText(t, places, x.old, x.new)
			}
			h := &hub{p: target}
			address := h.listen(t)
			o := options()
			o.Passive, o.Findings, o.Sessions, o.Hostile = true, 1, 40, 12
			if x.old != "" {
				o.Patience = patienceWith(Left)
			}
			o.Channels = map[string]string{"places": h.listenBeside(t, address)}
			r, err := Run(t.Context(), p, address, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.Findings {
				t.Logf("%s: %s %q", f.Kind, f.Why, f.Script)
				if f.Kind != Left {
					t.Errorf("%s: %s", f.Kind, f.Why)
				}
				var b bytes.Buffer
				if err := f.WriteCapture(&b); err != nil || b.Len() == 0 {
					t.Errorf("no capture: %v", err)
				}
			}
			if r.Failed() != (x.old != "") || !r.Failed() && (r.Transitions[0] != 2 || r.Hostile == 0) {
				t.Errorf("%d findings, %v transitions, %d hostile", len(r.Findings), r.Transitions, r.Hostile)
			}
		})
	}
	if _, err := Run(t.Context(), p, "127.0.0.1:1", options()); err == nil ||
		!strings.Contains(err.Error(), "--channel places=ADDRESS") {
		t.Errorf("without an address of the second channel: %v", err)
	}
	o := options()
	o.Channels = map[string]string{"places": "udp:127.0.0.1:1", "other": "udp:127.0.0.1:2"}
	if _, err := Run(t.Context(), p, "127.0.0.1:1", o); err == nil || !strings.Contains(err.Error(), "no channel") {
		t.Errorf("with a channel that there is not: %v", err)
	}
}

// TestLimit: a program that lets in few at a time is not at fault when it closes one more. The probe says so, goes on
// with fewer, and still finds what two of them meet. Who says how many there may be is told nothing.
func TestLimit(t *testing.T) {
	t.Parallel()
	four := strings.NewReplacer("parties: 3", "parties: 5", "c[1..2]", "c[1..4]").Replace(token)
	mistake := []string{"when: who == none, set", "when: who == none || who != sender, set"}
	for _, x := range []struct {
		name        string
		edits       []string
		most, given int
		limit       int
		kind        Kind
	}{
		{"no limit", nil, 0, 0, 0, ""},
		{"two", nil, 2, 0, 2, ""},
		{"one", nil, 1, 0, 1, ""},
		{"two, as we say", nil, 2, 2, 0, ""},
		{"two, and we say three", nil, 2, 3, 2, ""},
		{"two, and a mistake", mistake, 2, 0, 2, Left},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			p := loadText(t, four)
			h := &hub{p: loadText(t, four, x.edits...), most: x.most}
			o := options()
			o.Passive, o.Findings, o.Sessions, o.Hostile, o.Connections = true, 1, 30, 6, x.given
			if x.most > 0 {
				o.Patience = patienceWith(Left)
			}
			if x.kind != "" {
				o.Sessions, o.Hostile = 120, -1
			}
			r, err := Run(t.Context(), p, h.listen(t), o)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.Findings {
				if f.Kind != x.kind {
					t.Errorf("%s: %s %q", f.Kind, f.Why, f.Script)
				}
			}
			told := strings.Join(r.Open, "; ")
			if r.Limit != x.limit || r.Failed() != (x.kind != "") || x.kind == "" && r.Transitions[0] == 0 ||
				(x.limit > 0) != strings.Contains(told, fmt.Sprintf("--connections %d", x.limit)) {
				t.Errorf("limit %d, %d findings, %v, told: %s", r.Limit, len(r.Findings), r.Transitions, told)
			}
			if x.given == x.most && strings.Contains(r.Us, "c[4]") != (x.most == 0 && x.limit == 0) {
				t.Errorf("we are %s", r.Us)
			}
			if n := strings.Count(r.Us, "c["); x.limit > 0 && n != x.limit {
				t.Errorf("%d of ours go on: %s", n, r.Us)
			}
			if x.limit > 0 && !strings.Contains(r.Ended, fmt.Sprintf("let in %d at a time", x.limit)) && !r.Failed() &&
				r.Ended != "the sessions were used up" {
				t.Errorf("ended: %s", r.Ended)
			}
		})
	}
}
