package binding_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/runtime/binding"
)

// bed is a program with three protocols and three transports that write down
// what is done with them.
type bed struct {
	*binding.Binding[*system, *carrier]
	log       []string
	failOpen  map[string]error
	failInit  map[string]error
	failKill  error
	connected bool
}

type carrier struct {
	b    *bed
	name string
}

func (c *carrier) Close() error { c.b.note("close %s", c.name); return nil }

type system struct {
	b    *bed
	name string
	c    *carrier
}

func (s *system) Connected(context.Context) (bool, error) { return s.b.connected, nil }
func (s *system) Kill(context.Context) error {
	s.b.note("kill %s", s.name)
	s.b.connected = false
	return errors.Join(s.b.failKill, s.c.Close())
}

func (b *bed) note(format string, args ...any) { b.log = append(b.log, fmt.Sprintf(format, args...)) }

func (b *bed) wrote(t *testing.T, want string) {
	t.Helper()
	if got := strings.Join(b.log, ", "); got != want {
		t.Errorf("done:\n%s\nwant:\n%s", got, want)
	}
	b.log = nil
}

func newBed(t *testing.T) *bed {
	b := &bed{failOpen: map[string]error{}, failInit: map[string]error{}}
	protocol := func(name string, equal bool) binding.Protocol[*system, *carrier] {
		return binding.Protocol[*system, *carrier]{Name: name, PeerToPeer: equal,
			Init: func(_ context.Context, c *carrier) (*system, error) {
				if err := b.failInit[name+c.name]; err != nil {
					return nil, err
				}
				b.note("init %s on %s", name, c.name)
				return &system{b, name, c}, nil
			}}
	}
	medium := func(name string, equal bool) binding.Transport[*carrier] {
		return binding.Transport[*carrier]{Name: name, PeerToPeerOnly: equal,
			Open: func(context.Context) (*carrier, error) {
				if err := b.failOpen[name]; err != nil {
					return nil, err
				}
				b.note("open %s", name)
				return &carrier{b, name}, nil
			}}
	}
	inner, err := binding.New([]binding.Protocol[*system, *carrier]{protocol("peers", true),
		protocol("slots", false), protocol("games", false)},
		[]binding.Transport[*carrier]{medium("udp", false), medium("ipx", true), medium("tcp", false)})
	if err != nil {
		t.Fatal(err)
	}
	b.Binding = inner
	return b
}

func (b *bed) is(t *testing.T, want string) {
	t.Helper()
	if got := b.Bound().String(); got != want {
		t.Errorf("bound is %s, want %s", got, want)
	}
}

// refused switches and wants it refused for a reason, with nothing done.
func (b *bed) refused(t *testing.T, to binding.Pair, why error, text string) {
	t.Helper()
	before := b.Bound()
	err := b.Switch(t.Context(), to)
	var s *binding.SwitchError
	if !errors.As(err, &s) || s.Step != "check" || !errors.Is(err, why) ||
		!strings.Contains(err.Error(), text) || s.Bound != before || b.Bound() != before {
		t.Errorf("switch to %v: %v; want %v with %q", to, err, why, text)
	}
	b.wrote(t, "")
}

func TestSwitchBothAxes(t *testing.T) {
	b := newBed(t)
	b.is(t, "nothing")
	steps := []struct {
		to       binding.Pair
		is, done string
	}{
		{binding.Pair{Protocol: "peers", Transport: "udp"}, "peers over udp", "open udp, init peers on udp"},
		{binding.Pair{Transport: "ipx"}, "peers over ipx", "kill peers, close udp, open ipx, init peers on ipx"},
		{binding.Pair{Transport: "ipx"}, "peers over ipx", ""},
		{binding.Pair{}, "peers over ipx", ""},
		{binding.Pair{Protocol: "slots", Transport: "udp"}, "slots over udp",
			"kill peers, close ipx, open udp, init slots on udp"},
		{binding.Pair{Protocol: "games"}, "games over udp", "kill slots, close udp, open udp, init games on udp"},
	}
	for _, s := range steps {
		if err := b.Switch(t.Context(), s.to); err != nil {
			t.Fatal(err)
		}
		b.is(t, s.is)
		b.wrote(t, s.done)
	}
	b.connected = true
	if err := b.Unbind(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.is(t, "nothing")
	b.wrote(t, "kill games, close udp")
	if err := b.Use(func(*system) error { return nil }); !errors.Is(err, binding.ErrUnbound) {
		t.Errorf("use of nothing: %v", err)
	}
}

func TestRefused(t *testing.T) {
	b := newBed(t)
	b.refused(t, binding.Pair{Transport: "udp"}, binding.ErrUnbound,
		"a protocol must be given, one of peers, slots, games")
	b.refused(t, binding.Pair{Protocol: "peers"}, binding.ErrUnbound, "a transport must be given, one of udp, ipx, tcp")
	b.refused(t, binding.Pair{Protocol: "slots", Transport: "ipx"}, binding.ErrPeerToPeerOnly,
		"slots has a server, ipx cannot carry it")
	if err := b.Switch(t.Context(), binding.Pair{Protocol: "peers", Transport: "ipx"}); err != nil {
		t.Fatal(err)
	}
	b.wrote(t, "open ipx, init peers on ipx")
	b.refused(t, binding.Pair{Transport: "spx"}, binding.ErrUnknown, "transport spx; there are udp, ipx, tcp")
	b.refused(t, binding.Pair{Protocol: "chess"}, binding.ErrUnknown, "protocol chess; there are peers, slots, games")
	b.refused(t, binding.Pair{Protocol: "games"}, binding.ErrPeerToPeerOnly, "games has a server, ipx cannot carry it")
	b.connected = true
	b.refused(t, binding.Pair{Transport: "udp"}, binding.ErrConnected,
		"only possible while disconnected: peers over ipx is connected, disconnect first")
	b.connected = false
	if err := b.Switch(t.Context(), binding.Pair{Transport: "udp"}); err != nil {
		t.Errorf("after the disconnect: %v", err)
	}
}

func TestFailureBringsTheFormerBack(t *testing.T) {
	b := newBed(t)
	if err := b.Switch(t.Context(), binding.Pair{Protocol: "peers", Transport: "udp"}); err != nil {
		t.Fatal(err)
	}
	b.log = nil
	away, bad := errors.New("no such device"), errors.New("port taken")
	b.failOpen["tcp"] = away
	b.failInit["gamesudp"] = bad
	check := func(to binding.Pair, step string, cause error, bound, done string) {
		t.Helper()
		err := b.Switch(t.Context(), to)
		var s *binding.SwitchError
		if !errors.As(err, &s) || s.Step != step || !errors.Is(err, cause) || s.Bound != b.Bound() ||
			s.Bound.String() != bound {
			t.Errorf("switch to %v: %v; want it to fail at %s with %v, bound %s", to, err, step, cause, bound)
		}
		b.wrote(t, done)
	}
	check(binding.Pair{Transport: "tcp"}, "open", away, "peers over udp",
		"kill peers, close udp, open udp, init peers on udp")
	check(binding.Pair{Protocol: "games"}, "init", bad, "peers over udp",
		"kill peers, close udp, open udp, close udp, open udp, init peers on udp")
	b.failInit["peersudp"] = bad
	check(binding.Pair{Transport: "tcp"}, "open", away, "nothing", "kill peers, close udp, open udp, close udp")
	delete(b.failInit, "peersudp")
	if err := b.Switch(t.Context(), binding.Pair{Protocol: "peers", Transport: "ipx"}); err != nil {
		t.Fatal(err)
	}
	b.log = nil
	b.failKill = bad
	check(binding.Pair{Transport: "udp"}, "kill", bad, "nothing", "kill peers, close ipx")
}

func TestUseKeepsTheSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t)
		if err := b.Switch(t.Context(), binding.Pair{Protocol: "peers", Transport: "udp"}); err != nil {
			t.Fatal(err)
		}
		b.log = nil
		release, used := make(chan struct{}), make(chan error, 1)
		go func() {
			used <- b.Use(func(s *system) error {
				<-release
				b.note("used %s", s.c.name)
				return nil
			})
		}()
		synctest.Wait()
		switched := make(chan error, 1)
		go func() { switched <- b.Switch(t.Context(), binding.Pair{Transport: "ipx"}) }()
		synctest.Wait()
		if err := b.Use(func(*system) error { return nil }); !errors.Is(err, binding.ErrSwitching) {
			t.Errorf("use during a switch: %v", err)
		}
		if err := b.Switch(t.Context(), binding.Pair{Transport: "tcp"}); !errors.Is(err, binding.ErrSwitching) {
			t.Errorf("switch during a switch: %v", err)
		}
		close(release)
		if err := errors.Join(<-used, <-switched); err != nil {
			t.Error(err)
		}
		b.wrote(t, "used udp, kill peers, close udp, open ipx, init peers on ipx")

		// From within Use a switch waits for itself: it gives up.
		start := time.Now()
		err := b.Use(func(*system) error { return b.Switch(t.Context(), binding.Pair{Transport: "udp"}) })
		if !errors.Is(err, binding.ErrInUse) || time.Since(start) != binding.Patience {
			t.Errorf("switch within use: %v after %v", err, time.Since(start))
		}
		b.wrote(t, "")
		b.is(t, "peers over ipx")
		if err := b.Switch(t.Context(), binding.Pair{Transport: "udp"}); err != nil {
			t.Errorf("after giving up: %v", err)
		}
	})
}

func TestParse(t *testing.T) {
	b := newBed(t)
	for text, want := range map[string]string{"": "{ }", "udp": "{ udp}", " peers ipx ": "{peers ipx}",
		"games": "{games }", "what": "{ what}"} {
		if p, err := b.Parse(text); err != nil || "{"+p.Protocol+" "+p.Transport+"}" != want {
			t.Errorf("Parse(%q) = %v, %v; want %s", text, p, err, want)
		}
	}
	if _, err := b.Parse("a b c"); err == nil {
		t.Error("three words are taken")
	}
}

func TestNamesMustDiffer(t *testing.T) {
	open := func(context.Context) (*carrier, error) { return nil, nil }
	_, err := binding.New([]binding.Protocol[*system, *carrier]{{Name: "a b"}, {Name: "x"}},
		[]binding.Transport[*carrier]{{Name: "u", Open: open}, {Name: "u", Open: open}})
	for _, want := range []string{`protocol "a b": a name has`, "protocol x: its function is missing",
		"transport u is given twice"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q in it", err, want)
		}
	}
}
