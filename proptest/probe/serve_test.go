package probe

import (
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/world"
)

// load compiles a specification, with pieces of its text replaced: old, new, and so on.
func load(t testing.TB, path string, edits ...string) *model.Protocol {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../..", path))
	if err != nil {
		t.Fatal(err)
	}
	return loadText(t, string(data), edits...)
}

func loadText(t testing.TB, text string, edits ...string) *model.Protocol {
	t.Helper()
	for i := 0; i+1 < len(edits); i += 2 {
		if !strings.Contains(text, edits[i]) {
			t.Fatalf("the specification has no %q", edits[i])
		}
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}
	file := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p, diags := compile.Load(file, compile.Options{})
	if p == nil {
		t.Fatalf("%v", diags)
	}
	return p
}

// server is a program that is an instance of a check: the interpreter steps its machine, over real sockets, once for
// each connection or host that speaks to it.
type server struct {
	p      *model.Protocol
	target string
	seed   uint64
	// quirk, if set, is given each frame before the machine is; it may panic, to die, or return other bytes, none at
	// all, or ok false for a program that says nothing any more.
	quirk func(n int, frame []byte) (out []byte, ok bool)
	// noise, if set, is told of bytes that are no frame, and of half a frame at the end of a connection.
	noise func()
	// quiet: the program does nothing by itself. Else it gives a command that is drawn now and then.
	quiet bool
	// timers: they run in real time. Else they never expire.
	timers bool

	mu    sync.Mutex
	conns []net.Conn
	wg    sync.WaitGroup
}

// listen serves over TCP until the test ends.
func (v *server) listen(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	v.wg.Go(func() { v.serve(l) })
	t.Cleanup(func() {
		l.Close()
		v.mu.Lock()
		for _, c := range v.conns {
			c.Close()
		}
		v.mu.Unlock()
		v.wg.Wait()
	})
	return l.Addr().String()
}

// serve serves whoever comes, until the listener is closed.
func (v *server) serve(l net.Listener) {
	for n := uint64(0); ; n++ {
		c, err := l.Accept()
		if err != nil {
			return
		}
		v.mu.Lock()
		v.conns = append(v.conns, c)
		v.mu.Unlock()
		v.wg.Go(func() { v.talk(c, n) })
	}
}

// listenUDP serves over UDP until the test ends: each address that speaks to it has a machine of its own, which begins
// with the first datagram.
func (v *server) listenUDP(t testing.TB) string {
	t.Helper()
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	v.wg.Go(func() {
		wire, all, counts := model.WithDefaultWire(v.p), map[string]*machine{}, map[string]int{}
		buf := make([]byte, 1<<16)
		for n := uint64(0); ; n++ {
			size, from, err := l.ReadFrom(buf)
			if err != nil {
				return
			}
			name := from.String()
			if all[name] == nil {
				all[name] = v.machine(n, func(b []byte) { l.WriteTo(b, from) })
			}
			if m := all[name]; !m.over() {
				v.frame(m, wire, buf[:size], counts[name])
				counts[name]++
			}
		}
	})
	t.Cleanup(func() {
		l.Close()
		v.wg.Wait()
	})
	return "udp:" + l.LocalAddr().String()
}

// machine is one run of the server's machine.
type machine struct {
	*game
	value interp.Value
	end   world.End[string]
	rng   *rand.Rand
	out   func(frame []byte)
	done  bool
	quiet bool
	// timers: they run in real time.
	timers bool
	mu     sync.Mutex
	armed  []int // how often each timer was started
}

func (v *server) machine(n uint64, out func([]byte)) *machine {
	g, err := newGame(v.p, &Options{Target: v.target, Seed: v.seed})
	if err != nil {
		panic(err)
	}
	m := &machine{game: g, value: slices.Clone(g.players[g.they].Begin),
		end: world.End0[string](g.stage.World.Rules, g.they), rng: rand.New(rand.NewPCG(v.seed, n)), out: out,
		quiet: v.quiet, timers: v.timers}
	m.armed = make([]int, len(m.players[m.they].Alarms))
	m.mu.Lock()
	defer m.mu.Unlock()
	rules, me := m.stage.World.Rules, m.me()
	m.step(world.Begin(rules, m.they, m.end, m.value, me))
	m.step(world.LinkUp(rules, m.they, m.end, m.value, m.us[0], me))
	m.acts()
	return m
}

func (m *machine) me() world.Machine[interp.Value, string] { return m.players[m.they] }

// step takes what comes of a step. A refusal closes.
func (m *machine) step(res result) bool {
	if res.Fault != world.NoFault {
		m.done = true
	}
	if res.What == world.Blocked || m.done {
		return false
	}
	m.value, m.end = slices.Clone(res.Value), res.End
	for i := range m.players[m.they].Effects {
		if e := &m.players[m.they].Effects[i]; m.timers && e.Kind == fsm.StartTimer {
			m.arm(stage.AlarmOf(m.players[m.they].Alarms, e), time.Duration(e.Ticks)*m.protocol.Tick)
		}
	}
	for _, x := range res.Sends {
		if x.Item.News != world.NoNews {
			m.done = true
			continue
		}
		if b, err := m.frame(x.Item.Message); err == nil {
			m.out(b)
		}
	}
	return true
}

// over reports whether the machine has finished or was given up; giveUp gives it up.
func (m *machine) over() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.done
}

func (m *machine) giveUp() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done = true
}

// arm has a timer expire after a while, unless it is started again or stopped before.
func (m *machine) arm(k int, after time.Duration) {
	m.armed[k]++
	n := m.armed[k]
	time.AfterFunc(after, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if n == m.armed[k] && m.end.Left[k].Runs() && !m.done {
			m.step(world.Expire(m.stage.World.Rules, m.they, m.end, m.value, k, m.me()))
		}
	})
}

func (m *machine) gets(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rules := m.stage.World.Rules
	m.step(world.Deliver(rules, m.they, m.end, m.value, m.us[0], world.Item[string]{Message: text}, m.me()))
	for !m.done && world.Due(rules, &m.end, m.value, m.me()) >= 0 {
		m.step(world.Offer(rules, m.they, m.end, m.value, m.me()))
	}
	m.acts()
}

// acts gives the machine a command now and then.
func (m *machine) acts() {
	for !m.quiet && !m.done && m.rng.IntN(2) == 0 {
		list := m.players[m.they].Commands(m.value)
		if len(list) == 0 {
			return
		}
		m.step(world.Give(m.stage.World.Rules, m.they, m.end, m.value, list[m.rng.IntN(len(list))], m.me()))
	}
}

func (v *server) talk(c net.Conn, n uint64) {
	defer c.Close()
	m := v.machine(n, func(b []byte) { c.Write(b) })
	defer m.giveUp()
	wire := model.WithDefaultWire(v.p)
	var pending []byte
	buf := make([]byte, 4096)
	for frames := 0; !m.over(); {
		size, problem := interp.FrameSizeTo(wire, pending, m.role(m.they).Name)
		if problem.Problem != 0 {
			if v.noise != nil {
				v.noise()
			}
			return
		}
		if size == 0 || size > len(pending) {
			n, err := c.Read(buf)
			if err != nil {
				if len(pending) > 0 && v.noise != nil {
					v.noise()
				}
				return
			}
			pending = append(pending, buf[:n]...)
			continue
		}
		frame := pending[:size]
		pending = pending[size:]
		if !v.frame(m, wire, frame, frames) {
			return
		}
		frames++
	}
}

// frame gives a machine a frame. It reports whether it is one.
func (v *server) frame(m *machine, wire *model.Protocol, frame []byte, n int) bool {
	if v.quirk != nil {
		out, ok := v.quirk(n, frame)
		if !ok {
			return false
		}
		if out != nil {
			m.out(out)
			return true
		}
	}
	msg, slots, problem := interp.DecodeFrameTo(wire, m.strs, frame, m.role(m.they).Name)
	if problem.Problem != 0 {
		return false
	}
	m.gets(m.tell(v.p.Messages[msg.Index], slots))
	return true
}
