package conform

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/proptest/conform/sample/alarms"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
)

// noLink is a carrier that carries nothing.
type noLink struct{}

func (noLink) Send(fsm.Peer, []byte) error         { return nil }
func (noLink) Close(fsm.Peer, *driver.Error) error { return nil }

// expireAll lets a node's timers expire for 13 s and says when each first did.
func expireAll(c *driver.Core[*alarms.NodeRunner]) []string {
	var out []string
	seen := map[string]bool{}
	for {
		at, ok := c.NextTimer()
		if !ok || at > 13*time.Second {
			return out
		}
		c.Expire(at)
		if name := string(c.Runner().AppendEvent(nil)); !seen[name] {
			seen[name] = true
			out = append(out, fmt.Sprintf("%v %s", at, name))
		}
	}
}

// TestAlarmsDriven sees that a driver keeps timers with keys and lengths apart, and that a snapshot
// does.
func TestAlarmsDriven(t *testing.T) {
	begin := func() *driver.Core[*alarms.NodeRunner] {
		c := driver.NewCore(alarms.NewNodeRunner(), driver.Options[*alarms.NodeRunner]{}, noLink{})
		c.Start(time.Time{})
		for k, by := range []alarms.Rank{3, 1} { // the first raises turns, which gives the second its length
			c.Command(time.Duration(k)*10*time.Millisecond,
				func(r *alarms.NodeRunner) fsm.Result { return r.Begin(by) }, true)
		}
		frame, err := alarms.AppendMessage(nil,
			&alarms.Message{Kind: alarms.MessageHello, Hello: alarms.HelloMessage{Rank: 2}})
		if err != nil {
			t.Fatal(err)
		}
		for peer := range fsm.Peer(3) {
			c.Frame((20+time.Duration(peer))*time.Millisecond, peer, frame)
		}
		return c
	}
	want := []string{"17ms watch[right].plain", "28ms grid{side: right, rank: 2}",
		"110ms watch[right].turn{rank: 1}", "300ms watch[right].turn{rank: 3}",
		"310ms delay", "12.02s alive{p: 0}", "12.021s alive{p: 1}", "12.022s alive{p: 2}"}
	if got := expireAll(begin()); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	at := func(r *alarms.NodeRunner) *alarms.Node { return &r.Machine }
	s := driver.Save(begin(), 24*time.Millisecond, at)
	text, _ := json.Marshal(s)
	read := new(driver.Snapshot[alarms.Node])
	if err := json.Unmarshal(text, read); err != nil {
		t.Fatal(err)
	}
	c := driver.NewCore(alarms.NewNodeRunner(), driver.Options[*alarms.NodeRunner]{}, noLink{})
	if err := driver.Restore(c, 24*time.Millisecond, time.Time{}, read, at, 0); err != nil {
		t.Fatal(err)
	}
	if got := expireAll(c); !slices.Equal(got[1:], want[1:]) { // the first was due before and is late
		t.Errorf("restored: %q", got)
	}
	// Ten seconds away: what the specification says is absolute has run on, the rest has stood still.
	c = driver.NewCore(alarms.NewNodeRunner(), driver.Options[*alarms.NodeRunner]{}, noLink{})
	if err := driver.Restore(c, 24*time.Millisecond, time.Time{}, read, at, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	away := append(slices.Clone(want[1:5]), "2.02s alive{p: 0}", "2.021s alive{p: 1}", "2.022s alive{p: 2}")
	if got := expireAll(c); !slices.Equal(got[1:], away) {
		t.Errorf("restored after ten seconds: %q", got)
	}
}

// TestAlarmsText reads events and effects of such timers as generated code writes them.
func TestAlarmsText(t *testing.T) {
	p, list := compile.Load("testdata/alarms/spec.yaml", compile.Options{})
	if p == nil {
		t.Fatal(list)
	}
	m, strs := p.Roles[1], &interp.Strings{}
	for _, text := range []string{"alive{p: 3}", "grid{side: right, rank: 2}", "delay", "watch[right].turn{rank: 3}"} {
		ev, err := interp.ParseEvent(m, strs, text)
		if got := string(interp.AppendEvent(nil, strs, ev)); err != nil || got != text {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"start alive[3]", "stop alive[0]", "start delay for 0",
		"start grid[left, 3] for 20", "stop delay", "start watch[right].turn[2] for 101", "stop watch[left].plain"} {
		e, err := interp.ParseEffect(m, strs, text)
		if got := string(interp.AppendEffect(nil, strs, &e)); err != nil || got != text {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	v, err := interp.NewValue(m, strs)
	if err != nil {
		t.Fatal(err)
	}
	v[m.Timers[0].Offset+2], v[m.Timers[1].Offset+7] = 1, 1
	text := interp.AppendMachine(nil, strs, m, v)
	if back, err := interp.ParseMachine(m, strs, string(text)); err != nil || !back.Equal(v) {
		t.Errorf("%s: %v, %v", text, back, err)
	}
	for _, bad := range []string{"start alive", "start alive[4]", "start grid[left] for 5"} {
		if _, err := interp.ParseEffect(m, strs, bad); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}
