package check

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/proptest/explore"
	"pgregory.net/rapid"
)

// TestRuleBoxes sees that a rule over two channels and kinds of messages, cut
// into boxes, allows exactly what it says, and never twice.
func TestRuleBoxes(t *testing.T) {
	p, c := load(t, "testdata/media/spec.yaml", "plain")
	s, err := New(p, c)
	if err != nil {
		t.Fatal(err)
	}
	a := s.Procs[0]
	rule := a.Commands[0].Rule
	boxes := rule.Boxes(a.Initial, []int64{1})
	for out := range 4 {
		for in := range 4 {
			n := 0
			for _, b := range boxes {
				inside := true
				for _, r := range b {
					l := out
					if s.System.Channels[r.Channel].From == 1 {
						l = in
					}
					inside = inside && l >= r.Lo && (r.Hi < 0 || l <= r.Hi)
				}
				if inside {
					n++
				}
			}
			if want := map[bool]int{true: 1, false: 0}[out+in < 2]; n != want {
				t.Errorf("with %d out and %d in %d boxes hold, want %d", out, in, n, want)
			}
		}
	}
	if got := rule.Boxes(a.Initial, []int64{0}); len(got) != 0 {
		t.Errorf("word != last is false, but there are boxes %v", got)
	}
}

// TestPacking sees that local values, messages and notes survive as bytes.
func TestPacking(t *testing.T) {
	p, c := load(t, "testdata/media/spec.yaml", "bad")
	s, err := New(p, c)
	if err != nil {
		t.Fatal(err)
	}
	a := s.Procs[0]
	rapid.Check(t, func(rt *rapid.T) {
		l := codec.Local{Started: rapid.Bool().Draw(rt, "started"), Used: []int64{rapid.Int64().Draw(rt, "used")}}
		for range a.Role.Size {
			l.Value = append(l.Value, rapid.Int64().Draw(rt, "slot"))
		}
		got := a.Unpack(a.Pack(l, l.Value))
		if got.Started != l.Started || !slices.Equal(got.Used, l.Used) || !got.Value.Equal(l.Value) {
			rt.Fatalf("%v came back as %v", l, got)
		}
		m := p.Messages[0]
		slots := []int64{rapid.Int64().Draw(rt, "word")}
		if m2, slots2 := codec.UnpackMessage(p, codec.PackMessage(m, slots)); m2 != m ||
			!slices.Equal(slots, slots2) {
			rt.Fatalf("%v came back as %v", slots, slots2)
		}
		ev := interp.Event{Event: a.Commands[0].Event, Args: slots}
		if ev2 := codec.UnpackNote(a.Role, codec.PackNote(ev)); ev2.Event != ev.Event ||
			!slices.Equal(ev2.Args, slots) {
			rt.Fatalf("%v came back as %v", ev, ev2)
		}
	})
}

// TestWorkers sees that the whole report does not depend on the number of workers.
func TestWorkers(t *testing.T) {
	var first string
	for _, workers := range []int{1, 2, 5} {
		text := ""
		for _, file := range []string{"testdata/faults/spec.yaml", "testdata/media/spec.yaml",
			"../../specs/setup/coded.yaml"} {
			r, list, err := Suite(context.Background(), file, Config{Explore: explore.Options{Workers: workers}})
			if err != nil || r == nil {
				t.Fatal(err, list)
			}
			for _, c := range r.Checks {
				text += c.Text(false)
			}
		}
		if first == "" {
			first = text
		} else if text != first {
			t.Errorf("with %d workers:\n%s\nwith 1:\n%s", workers, text, first)
		}
	}
}

// TestJSON pins the names that programs read.
func TestJSON(t *testing.T) {
	r, _, err := Suite(context.Background(), "testdata/faults/spec.yaml", Config{Only: Only{"fault"}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(r.Checks[0])
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Verdict, Check, Hash string
		Passes               bool
		Configurations       uint64
		Steps                uint64
		Depth                int
		WidestChannel        int `json:"widest_channel"`
		Seconds              *float64
		Claims               []struct {
			Name, Result   string
			Counterexample *struct{ Steps []map[string]any }
		}
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if got.Verdict != "violated" || !got.Passes || got.Configurations != 21 || got.Steps != 33 ||
		got.Depth != 6 || got.WidestChannel != 1 ||
		got.Seconds == nil || got.Check != "fault" || len(got.Hash) != 64 {
		t.Errorf("%+v", got)
	}
	for _, c := range got.Claims {
		if c.Name == "fault" && (c.Result != "violated" || len(c.Counterexample.Steps) != 5 ||
			c.Counterexample.Steps[4]["fault"] == nil) {
			t.Errorf("%+v", c)
		}
	}
}

// TestLimits sees that a search that is cut short never says holds.
func TestLimits(t *testing.T) {
	r, _, err := Suite(context.Background(), "../../specs/setup/spec.yaml",
		Config{Explore: explore.Options{MaxConfigurations: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	c := r.Checks[0]
	if c.Verdict != Incomplete || c.Passes || !c.Open || r.Complete || r.Judged ||
		!strings.Contains(c.Text(true), "the search is incomplete") {
		t.Errorf("%s", c.Text(true))
	}
	for _, cl := range c.Claims {
		if cl.Result == Holds && cl.Kind != "sometimes" {
			t.Errorf("%s holds after a search that was cut short", cl.Name)
		}
	}
}

// TestNeverFires judges lines and states over all checks together.
func TestNeverFires(t *testing.T) {
	r, _, err := Suite(context.Background(), "testdata/never/spec.yaml", Config{})
	if err != nil {
		t.Fatal(err)
	}
	text := func(list []Place) string {
		b, _ := json.Marshal(list)
		return string(b)
	}
	if got, want := text(r.NeverFires),
		`[{"role":"peer","name":"idle PONG","where":"spec.yaml:20"},{"role":"peer","name":"over part.said/2","where":"spec.yaml:26"}]`; got != want {
		t.Errorf("never fires %s, want %s", got, want)
	}
	if got, want := text(r.Unreachable), `[{"role":"peer","name":"nowhere","where":"spec.yaml:29"}]`; got != want {
		t.Errorf("unreachable %s, want %s", got, want)
	}
	if !r.Passes || !r.Judged {
		t.Errorf("%v", r.Why)
	}
	r, _, err = Suite(context.Background(), "testdata/never/spec.yaml", Config{Only: Only{"one"}})
	if err != nil || r.Judged {
		t.Errorf("judged with one of two checks: %v", err)
	}
}

// TestDefensive sees that a defence may not fire, that what it leads to may not either, and that it
// must not fire among honest instances.
func TestDefensive(t *testing.T) {
	r, _, err := Suite(context.Background(), "testdata/never/defence.yaml", Config{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.NeverFires) > 0 || len(r.Unreachable) > 0 || !r.Passes || !r.Judged {
		t.Errorf("%v %v %v", r.NeverFires, r.Unreachable, r.Why)
	}
	want := []Place{{Role: "peer", Name: "idle PING", Where: "defence.yaml:13"}}
	if !slices.Equal(r.DefensiveFires, want) {
		t.Errorf("%v fire, want %v", r.DefensiveFires, want)
	}
}
