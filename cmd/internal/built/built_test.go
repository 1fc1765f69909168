package built

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/machines/confirm"
	"github.com/parley-go/parley/proptest/campaign"
	"github.com/parley-go/parley/proptest/conform/sample/gne"
	"github.com/parley-go/parley/proptest/race"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/fsmtest/stepper"
)

// wrong is a generated machine with a bug.
type wrong struct {
	*confirm.PeerRunner
	frame func(r *confirm.PeerRunner, from fsm.Peer, frame []byte) (fsm.Result, error)
}

func (w wrong) Frame(from fsm.Peer, frame []byte) (fsm.Result, error) {
	return w.frame(w.PeerRunner, from, frame)
}

// two are the machines of the check pair of specs/confirm.
func two(runner func(*confirm.PeerRunner) fsm.Commander) (list []stepper.Machine) {
	for range 2 {
		r := confirm.NewPeerRunner()
		list = append(list, stepper.Machine{Runner: runner(r), Value: &r.Machine})
	}
	return list
}

// serve answers for the machines of a check in this process.
func serve(t *testing.T, check string, list ...stepper.Machine) *Machines {
	t.Helper()
	requests, in := io.Pipe()
	out, answers := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- stepper.Serve(requests, answers, list...)
		answers.Close()
	}()
	m := &Machines{first: map[string]int{check: 0}, from: map[string]*model.Protocol{}, errs: &bytes.Buffer{},
		in: json.NewEncoder(in), out: json.NewDecoder(out)}
	m.stop = func() {
		in.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	return m
}

// TestCompare: what differs in a generated machine is found in runs of a campaign, and made short.
func TestCompare(t *testing.T) {
	c := load(t, "../../../specs/confirm/spec.yaml")
	pair := slices.IndexFunc(c.Checks, func(x *model.Check) bool { return x.Name == "pair" })
	c.Models, c.Checks = c.Models[pair:pair+1], c.Checks[pair:pair+1]
	plain := func(r *confirm.PeerRunner) fsm.Commander { return r }
	type frame = func(*confirm.PeerRunner, fsm.Peer, []byte) (fsm.Result, error)
	broken := func(f frame) func(*confirm.PeerRunner) fsm.Commander {
		return func(r *confirm.PeerRunner) fsm.Commander { return wrong{r, f} }
	}
	for _, x := range []struct {
		name   string
		runner func(*confirm.PeerRunner) fsm.Commander
		want   string
	}{
		{"the generated machine", plain, ""},
		{"another state", broken(func(r *confirm.PeerRunner, from fsm.Peer, b []byte) (fsm.Result, error) {
			res, err := r.Frame(from, b)
			if r.Machine.State == confirm.StateCommitted {
				r.Machine.State = confirm.StateWaiting
			}
			return res, err
		}), "next is waiting, the interpreter says committed"},
		{"a panic", broken(func(r *confirm.PeerRunner, from fsm.Peer, b []byte) (fsm.Result, error) {
			if r.Machine.State == confirm.StateCancelWaiting {
				panic("out of range")
			}
			return r.Frame(from, b)
		}), "it panics: out of range"},
		{"unread", broken(func(r *confirm.PeerRunner, from fsm.Peer, b []byte) (fsm.Result, error) {
			return r.Frame(from, b[1:])
		}), "generated code: "},
	} {
		m := serve(t, "pair", two(x.runner)...)
		m.from["pair"] = model.WithDefaultWire(c.Models[0])
		r, err := c.Run(t.Context(), campaign.Options{Seed: 1, Runs: 40, Workers: 1, Compare: m.Compare})
		m.Close()
		switch {
		case err != nil:
			t.Errorf("%s: %v", x.name, err)
		case x.want == "" && (r.Failed() || r.Compared < 50):
			t.Errorf("%s: %+v, %d compared", x.name, r.Checks[0].Found, r.Compared)
		case x.want != "" && !r.Failed():
			t.Errorf("%s is not found", x.name)
		case x.want != "":
			f := r.Checks[0].Found[0]
			if f.Claim != campaign.DiffersClaim || !strings.Contains(f.Trouble, x.want) || f.Run == nil ||
				len(f.Run.Steps) > 6 {
				t.Errorf("%s: %+v", x.name, f)
			}
		}
	}
}

// deaf hides that a runner tells channels apart.
type deaf struct{ fsm.Commander }

// TestCompareChannels: a frame is given to the machine over its channel, where each has a format of its own. A machine
// that reads all as those of one is found.
func TestCompareChannels(t *testing.T) {
	text, err := os.ReadFile("../../../specs/library/gne/spec.yaml")
	if err != nil {
		t.Fatal(err)
	}
	// Its own checks change the machines: they count to less, and remember what was reported.
	machines, _, _ := strings.Cut(string(text), "\nchecks:")
	file := filepath.Join(t.TempDir(), "spec.yaml")
	machines += "\nchecks: {game: {instances: {c: client, s: server}, quiet: \"true\"}}\n"
	if err := os.WriteFile(file, []byte(machines), 0o644); err != nil {
		t.Fatal(err)
	}
	c := load(t, file)
	for _, hidden := range []bool{false, true} {
		client, server := gne.NewClientRunner(), gne.NewServerRunner()
		list := []stepper.Machine{{Runner: client, Value: &client.Machine}, {Runner: server, Value: &server.Machine}}
		for i := range list {
			if hidden {
				list[i].Runner = deaf{list[i].Runner}
			}
		}
		m := serve(t, "game", list...)
		m.from["game"] = model.WithDefaultWire(c.Models[0])
		r, err := c.Run(t.Context(), campaign.Options{Seed: 1, Runs: 40, Workers: 1, Compare: m.Compare})
		m.Close()
		if err != nil || !hidden && r.Compared < 50 {
			t.Fatalf("%v, %d compared, %+v", err, r.Compared, r.Checks[0].Found)
		}
		found := r.Checks[0].Found
		if right := len(found) == 0; right == hidden {
			t.Errorf("it hides its channels: %t; found %+v", hidden, found)
		} else if hidden && !strings.Contains(found[0].Trouble, "generated code: bad frame") {
			t.Errorf("%+v", found[0])
		}
	}
}

func load(t *testing.T, file string) *campaign.Campaign {
	t.Helper()
	c := &campaign.Campaign{}
	full, list := compile.Load(file, compile.Options{})
	if full == nil {
		t.Fatal(list)
	}
	for _, x := range full.Checks {
		p, _ := compile.Load(file, compile.Options{Check: x.Name})
		for _, y := range p.Checks {
			if y.Name == x.Name {
				c.Models, c.Checks = append(c.Models, p), append(c.Checks, y)
			}
		}
	}
	return c
}

const texts = `protocol: named
types: {name: text 6}
messages: {HELLO: {fields: {n: name, k: 0..9}}}
channel: {capacity: 4}
roles:
  caller:
    params: {who: name}
    vars: {times: {type: 0..3, kept: true}}
    commands: {call: {fields: {k: 0..9}}}
    initial: idle
    states:
      idle:
        call: [{when: times < 3, set: {times: times + 1}, send: "HELLO{n: who, k: k}"}, {when: times == 3}]
  called:
    vars: {last: name}
    initial: idle
    states:
      idle: {HELLO: {set: {last: n}}}
checks:
  c:
    instances: {a: "caller(who: 'ann')", b: called}
    faults: {crash: 2, restart: 2}
    quiet: "true"
    claims: {short: {always: a.times < 4}}
`

// TestFramed: steps are compared in the format of the specification, unless a value of the check has no frame in it:
// "a" stands for addresses of four bytes.
func TestFramed(t *testing.T) {
	for spec, own := range map[string]bool{"library/tftp": true, "library/socks5": false, "confirm": false} {
		c := load(t, "../../../specs/"+spec+"/spec.yaml")
		p := framed(c.Models[0])
		if (p.Wire != nil) != own {
			t.Errorf("%s: the format is its own: %t", spec, p.Wire != nil)
		}
		strs := &interp.Strings{}
		strs.InternDomains(p)
		p = model.WithDefaultWire(p)
		for _, m := range p.Messages {
			values, err := interp.Domains(&model.Event{Name: m.Name, Fields: m.Fields}, 100_000)
			if err != nil {
				t.Fatal(err)
			}
			for _, slots := range values {
				if _, err := interp.AppendFrame(p, strs, nil, m, slots); err.Problem != 0 {
					t.Fatalf("%s: %s", spec, err.Error())
				}
			}
		}
	}
}

// TestBuild builds the machines of a user's own specification in the user's module, in which nothing is
// left behind.
func TestBuild(t *testing.T) {
	if !race.Long() {
		t.Skip("it calls the Go tool")
	}
	t.Setenv("GOFLAGS", "-mod=mod") // in place of go mod tidy
	repository, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": fmt.Sprintf("module example.com/own\n\ngo 1.26\n\nrequire github.com/parley-go/parley v0.0.0\n\n"+
			"replace github.com/parley-go/parley => %s\n", repository),
		"spec.yaml": texts,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := load(t, filepath.Join(dir, "spec.yaml"))
	m, err := Build(t.Context(), Module{dir, "example.com/own"}, c.Models, c.Checks)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	r, err := c.Run(t.Context(), campaign.Options{Seed: 1, Runs: 200, Compare: m.Compare})
	if err != nil || r.Failed() || r.Compared < 30 {
		t.Error(err, r.Text("spec.yaml", func(string, uint64) string { return "" }, true, false))
	}
	if r.Checks[0].Faults[0].Times == 0 {
		t.Error("no machine crashes:", r.Checks[0].Faults)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 3 {
		t.Error(left, err) // a go.sum may be added
	}
	if _, err := Build(t.Context(), Module{t.TempDir(), "example.com/none"}, c.Models, c.Checks); err == nil ||
		!strings.Contains(err.Error(), "cannot be built in the module example.com/none") {
		t.Error(err)
	}
}
