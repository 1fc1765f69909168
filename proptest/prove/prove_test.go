package prove

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/prove/certify"
	"github.com/parley-go/parley/proptest/race"
)

// specification reads one of the repository's specifications, with texts replaced, and what it imports.
func specification(t testing.TB, name string, replace ...string) Loader {
	t.Helper()
	files := fstest.MapFS{}
	for _, n := range []string{"ready", "update", "confirm", "setup", "startup"} {
		text, err := os.ReadFile("../../specs/" + n + "/spec.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if n == name {
			for i := 0; i < len(replace); i += 2 {
				if strings.Count(string(text), replace[i]) != 1 {
					t.Fatalf("%q is not in the specification once", replace[i])
				}
				text = []byte(strings.Replace(string(text), replace[i], replace[i+1], 1))
			}
		}
		files[n+"/spec.yaml"] = &fstest.MapFile{Data: text}
	}
	return func(check string) (*model.Protocol, error) {
		p, list := compile.Load(name+"/spec.yaml", compile.Options{Check: check, FS: files})
		if p == nil {
			t.Fatalf("%s: %v", name, list)
		}
		return p, nil
	}
}

func proved(t testing.TB, load Loader, check string, o Options) (*Report, *certify.Certificate) {
	t.Helper()
	r, c, err := Check(context.Background(), load, check, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return r, c
}

// TestProved proves the protocols for channels without a bound, with commands at
// any moment and as often as possible. The last takes as long as all others together, and more; it is
// for when tests have all the time they want.
func TestProved(t *testing.T) {
	list := []struct {
		file, check string
		lift        Lift
		method      string
		widest      int
		all         bool
	}{
		{"ready", "pair", LiftNothing, ByClosure, 2, false},
		{"ready", "pair", LiftRules, ByClosure, 2, false},
		{"update", "duel", LiftNothing, ByClosure, 2, true},
		{"update", "duel", LiftRules, ByClosure, 2, true},
		{"confirm", "pair", LiftNothing, ByClosure, 6, false},
		{"confirm", "pair", LiftLengths, ByCollapse, 6, false},
		{"setup", "all", LiftLengths, ByClosure, 6, false},
		{"startup", "disorder", LiftNothing, ByClosure, 9, false},
	}
	if !race.Long() {
		list = list[:len(list)-1]
	}
	for _, c := range list {
		r, cert := proved(t, specification(t, c.file), c.check, Options{Lift: c.lift})
		if r.Verdict != Proved || !r.Verified || r.Method != c.method || r.Widest != c.widest || r.AllValues != c.all {
			t.Errorf("%v: %s", c, r.Text(false))
		}
		for _, x := range r.Claims {
			if x.Result != Proved {
				t.Errorf("%v: %s is %s", c, x.Name, x.Result)
			}
		}
		var file bytes.Buffer
		if err := cert.Write(&file); err != nil {
			t.Fatal(err)
		}
		v, err := certify.Verify(&file, specification(t, c.file))
		if err != nil || v.Configurations != r.Configurations {
			t.Errorf("%v: the certificate as it was written: %v, %v", c, v, err)
		}
	}
}

// TestPlanted takes single receptions away: what is left is not proved, and the counterexample is a
// real run.
func TestPlanted(t *testing.T) {
	for _, c := range []struct{ file, check, line, claim string }{
		{"confirm", "pair", "        CONFIRM1: {goto: cancelRemoteOk}\n", certify.UnspecifiedReception},
		{"confirm", "pair", "        CHANGE: {report: cancelled, goto: cancelWaiting}\n", certify.UnspecifiedReception},
		{"confirm", "pair", "        CANCEL: {send: CANCELACK, goto: cancelWaiting}\n", certify.UnspecifiedReception},
		{"ready", "pair", "        READY: {goto: remoteReady}\n", certify.UnspecifiedReception},
		{"update", "duel", "        UPDATE: {set: {own: value}, send: \"UPDATE{value}\", report: " +
			"\"changed{value}\"}\n", certify.UnspecifiedReception},
	} {
		r, cert := proved(t, specification(t, c.file, c.line, ""), c.check, Options{Lift: LiftLengths})
		if r.Verdict != Violated {
			t.Errorf("without %s the verdict is %s", c.line, r.Verdict)
		}
		i := slices.IndexFunc(r.Claims, func(x Claim) bool { return x.Name == c.claim })
		if x := r.Claims[i]; x.Result != Violated || x.Counterexample == nil || len(x.Counterexample.Steps) == 0 {
			t.Errorf("without %s: %s is %s", c.line, c.claim, x.Result)
		}
		if cert != nil && slices.Contains(cert.Claims, c.claim) {
			t.Errorf("without %s the certificate still names %s", c.line, c.claim)
		}
	}
}

// TestTampered removes and changes parts of certificates, one after the other: none is accepted.
func TestTampered(t *testing.T) {
	for _, c := range []struct {
		file, check string
		lift        Lift
	}{{"ready", "pair", LiftNothing}, {"confirm", "pair", LiftLengths}} {
		load := specification(t, c.file)
		_, cert := proved(t, load, c.check, Options{Lift: c.lift})
		rejected := func(what string, n int) {
			t.Helper()
			var file bytes.Buffer
			if err := cert.Write(&file); err != nil {
				t.Fatal(err)
			}
			if _, err := certify.Verify(&file, load); err == nil {
				t.Errorf("%s: accepted with %s %d", c.file, what, n)
			}
		}
		all := cert.Configurations
		step := max(1, len(all)/25)
		for n := 0; n < len(all); n += step {
			cert.Configurations = slices.Concat(all[:n], all[n+1:])
			rejected("no configuration", n)
			other := slices.Clone(all[n])
			k := len(other) - 1
			other[k] = (other[k] + 1) % len(cert.Words)
			cert.Configurations = slices.Concat(all[:n], [][]int{other}, all[n+1:])
			if !slices.ContainsFunc(all, func(x []int) bool { return slices.Equal(x, other) }) {
				rejected("another word in configuration", n)
			}
		}
		cert.Configurations = all
		for n := range cert.Words {
			word := cert.Words[n]
			for b := range word {
				if word[b].Open() {
					cert.Words[n] = slices.Clone(word)
					cert.Words[n][b] = certify.Block{0, word[b][1]} // no longer any number of them
					rejected("a closed block in word", n)
					cert.Words[n] = word
				}
			}
		}
		cert.Claims = append(cert.Claims, "both-done")
		rejected("a claim that it cannot prove", 0)
	}
}

// TestForeign: a certificate is about one specification.
func TestForeign(t *testing.T) {
	_, cert := proved(t, specification(t, "ready"), "pair", Options{})
	var file bytes.Buffer
	if err := cert.Write(&file); err != nil {
		t.Fatal(err)
	}
	_, err := certify.Verify(&file, specification(t, "ready", "remoteReady:\n",
		"remoteReady:\n        READY: ignore\n"))
	if err == nil || !strings.Contains(err.Error(), "another specification") {
		t.Error(err)
	}
}

func BenchmarkProveConfirm(b *testing.B) {
	load := specification(b, "confirm")
	for b.Loop() {
		if r, _ := proved(b, load, "pair", Options{Lift: LiftLengths}); r.Verdict != Proved {
			b.Fatal(r.Text(false))
		}
	}
}

func BenchmarkVerifyConfirm(b *testing.B) {
	load := specification(b, "confirm")
	_, cert := proved(b, load, "pair", Options{Lift: LiftLengths})
	var file bytes.Buffer
	if err := cert.Write(&file); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := certify.Verify(bytes.NewReader(file.Bytes()), load); err != nil {
			b.Fatal(err)
		}
	}
}

const stream = `protocol: stream
messages: {A: }
channel: {capacity: 3}
roles:
  source:
    commands: {send: {}}
    initial: open
    states:
      open:
        send: {send: A}
  sink:
    initial: s0
    states:
      s0:
        A: {goto: s1}
      s1:
        A: {goto: s2}
      s2:
        A: {}
checks:
  pair:
    instances: {a: source, b: sink}
    claims:
      one: {reachable: b.s1 && empty(), why: with two under way it is too late}
      all: {reachable: b.s2 && empty(), why: more can be sent and everything received}
      early: {reachable: b.s1 && empty(), when: b.s0 && empty(), why: at the beginning it is not too late}
      never: {reachable: b.s1 && empty(), when: a.open && b.s2 && b.s0, why: nobody is asked}
      late: {reachable: b.s1 && empty(), when: b.s0, why: but later it is}
      two: {reachable: b.s1 && empty(), when: len(a -> b) == 2, why: and with two under way}
`

// TestStrategy: a way must exist whatever the length of the channel is. With one message under way
// the goal of the first claim is near, with two it is lost. A claim with a condition asks only
// where that may hold.
func TestStrategy(t *testing.T) {
	load := func(name string) (*model.Protocol, error) {
		p, list := compile.Load("spec.yaml", compile.Options{Check: name,
			FS: fstest.MapFS{"spec.yaml": &fstest.MapFile{Data: []byte(stream)}}})
		if p == nil {
			t.Fatal(list)
		}
		return p, nil
	}
	r, _ := proved(t, load, "pair", Options{})
	for name, want := range map[string]string{"one": NotEstablished, "all": Proved, "early": Proved,
		"never": Proved, "late": NotEstablished, "two": NotEstablished} {
		i := slices.IndexFunc(r.Claims, func(c Claim) bool { return c.Name == name })
		if r.Claims[i].Result != want || r.Method != ByCollapse {
			t.Errorf("%s: %s", name, r.Text(false))
		}
	}
}
