package probe

import (
	"bytes"
	"flag"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestMain is also the program that some tests start: PARLEY_PROBE says what is wrong with it, and where it listens.
func TestMain(m *testing.M) {
	if text := os.Getenv("PARLEY_PROBE"); text != "" {
		wrong, address, _ := strings.Cut(text, " ")
		faulty(wrong, address)
		return
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "32"); err != nil { // they wait for programs, and need no processor
		panic(err)
	}
	os.Exit(m.Run())
}

// faulty is a peer of confirm with a mistake that it makes with who is hostile.
func faulty(wrong, address string) {
	var t outside
	p := load(&t, "specs/confirm/spec.yaml")
	l, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	v := &server{p: p, seed: 1, quiet: true}
	stop := func() {
		fmt.Fprintln(os.Stderr, "out of luck")
		os.Exit(3)
	}
	switch wrong {
	case "dies-of-noise":
		v.noise = stop
	case "dies-of-repetition":
		var last []byte
		v.quirk = func(n int, frame []byte) ([]byte, bool) {
			if n > 3 && bytes.Equal(frame, last) {
				stop()
			}
			last = bytes.Clone(frame)
			return nil, true
		}
	case "ends":
		v.quirk = func(n int, frame []byte) ([]byte, bool) {
			if frame[3] == 4 { // CHANGE
				os.Exit(0)
			}
			return nil, true
		}
	}
	v.serve(l)
}

// outside is a testing.TB for a program that is no test.
type outside struct{ testing.TB }

func (*outside) Helper() {}
func (*outside) TempDir() string {
	dir, err := os.MkdirTemp("", "probe")
	if err != nil {
		panic(err)
	}
	return dir
}
func (*outside) Fatal(args ...any)            { panic(fmt.Sprint(args...)) }
func (*outside) Fatalf(f string, args ...any) { panic(fmt.Sprintf(f, args...)) }

// port is a port of this computer that is free.
func port(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestDying: a program that dies of something hostile is found dead, with its status and its last words, and with a
// script that shows it again. It is started anew.
func TestDying(t *testing.T) {
	t.Parallel()
	has := func(text string) func([]string) bool {
		return func(script []string) bool { return strings.Contains(strings.Join(script, "\n"), text) }
	}
	for _, x := range []struct {
		wrong, says string
		shows       func(script []string) bool
	}{
		{"dies-of-noise", "it ended with exit status 3; it wrote last: out of luck", has("malformed a -> b")},
		{"dies-of-repetition", "it ended with exit status 3; it wrote last: out of luck", repeats},
		{"ends", "it ended with status 0", has("a change")},
	} {
		t.Run(x.wrong, func(t *testing.T) {
			t.Parallel()
			p := load(t, "specs/confirm/spec.yaml")
			address := port(t)
			o := options()
			o.Findings, o.Passive, o.Sessions = 1, true, 300
			o.Start = fmt.Sprintf("env PARLEY_PROBE='%s %s' %s", x.wrong, address, os.Args[0])
			r, err := Run(t.Context(), p, address, o)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Findings) != 1 {
				t.Fatalf("%+v", r)
			}
			f := r.Findings[0]
			script := strings.Join(f.Script, "\n")
			if f.Kind != Died || !strings.Contains(f.Why, x.says) || !x.shows(f.Script) || !f.Steady || r.Starts < 2 {
				t.Errorf("%s: %s, steady %t, %d starts\n%s", f.Kind, f.Why, f.Steady, r.Starts, script)
			}
			if len(f.Script) > 6 {
				t.Errorf("the script is long:\n%s", script)
			}
		})
	}
}

// repeats reports whether the last line of a script says again what an earlier one has said.
func repeats(script []string) bool {
	said := func(line string) string { // confirm and CONFIRM1 are the same message
		line, _, _ = strings.Cut(line, "{")
		words := strings.Fields(line)
		return strings.ToLower(strings.TrimRight(words[len(words)-1], "0123456789"))
	}
	if len(script) < 2 {
		return false
	}
	last, before := script[len(script)-1], script[:len(script)-1]
	return strings.Contains(last, "again ") || slices.ContainsFunc(before, func(line string) bool {
		return said(line) == said(last)
	})
}

// TestAftermath: what a program does to the next session is found, and so are floods and silence.
func TestAftermath(t *testing.T) {
	t.Parallel()
	p := load(t, "specs/confirm/spec.yaml")
	var mu sync.Mutex
	broken := false
	set := func(b bool) {
		mu.Lock()
		broken = b
		mu.Unlock()
	}
	get := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return broken
	}
	ask := load(t, "specs/confirm/spec.yaml")
	for _, x := range []struct {
		name  string
		v     *server
		kind  Kind
		after bool // something hostile
	}{
		{"deaf after noise", &server{noise: func() { set(true) }, quirk: func(int, []byte) ([]byte, bool) {
			if get() {
				select {} // for ever
			}
			return nil, true
		}}, Hung, true},
		{"flood", &server{quirk: func(n int, frame []byte) ([]byte, bool) {
			if n < 2 {
				return nil, true
			}
			return bytes.Repeat([]byte{0, 4, 0, 4}, 3*mostArrivals), true
		}}, Flooded, false},
		{"no message", &server{quirk: func(int, []byte) ([]byte, bool) {
			return []byte("HTTP/1.1 400\r\n"), true
		}}, Left, false},
		{"mute", &server{quirk: func(int, []byte) ([]byte, bool) { return []byte{}, true }}, Hung, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			set(false)
			x.v.p, x.v.quiet, x.v.seed = p, true, 1
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go x.v.serve(l) // what hangs is left behind
			o := options()
			o.Findings, o.Passive, o.Patience, o.Sessions = 1, true, patienceWith(x.kind), 300
			r, err := Run(t.Context(), ask, l.Addr().String(), o)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Findings) != 1 || r.Findings[0].Kind != x.kind {
				for _, f := range r.Findings {
					t.Logf("%s: %s %q", f.Kind, f.Why, f.Script)
				}
				t.Fatalf("%+v", r)
			}
			if f := r.Findings[0]; (f.After != "") != x.after || f.Stays != x.after ||
				x.after != strings.Contains(strings.Join(f.Script, "\n"), "malformed") {
				t.Errorf("after %q, stays %t: %q", f.After, f.Stays, f.Script)
			}
			t.Logf("%s %q", r.Findings[0].Why, r.Findings[0].Script)
		})
	}
}
