package traffic

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/replay"
	netplayer "github.com/parley-go/parley/machines/netplay"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
)

// nowhere is where a core sends to when nobody listens.
type nowhere struct{}

func (nowhere) Send(fsm.Peer, []byte) error         { return nil }
func (nowhere) Close(fsm.Peer, *driver.Error) error { return nil }

// TestADriverThatDefers: INIT comes early and is deferred by two states, and the record of the
// driver is a run. One message too many is told as the peer's doing, and a record in which the
// message is not handled is no run.
func TestADriverThatDefers(t *testing.T) {
	p := netplay(t)
	strs := &interp.Strings{}
	var init []byte
	for _, m := range p.Messages {
		if m.Name == "INIT" {
			ev, err := interp.ParseEvent(p.Roles[0], strs,
				"INIT{protoMajor: 0, protoMinor: 4, major: 0, minor: 7, patch: 0}")
			if err != nil {
				t.Fatal(err)
			}
			frame, fault := interp.AppendFrame(p, strs, nil, m, ev.Args)
			if fault.Problem != 0 {
				t.Fatal(fault)
			}
			init = frame
		}
	}
	early := func(times int) string {
		var out bytes.Buffer
		type runner = *netplayer.PeerRunner
		c := driver.NewCore(netplayer.NewPeerRunner(true),
			driver.Options[runner]{Trace: []trace.Sink{trace.NewWriter(&out)}}, nowhere{})
		c.Start(time.Unix(0, 0))
		for range times {
			c.Frame(0, 0, init)
		}
		for _, f := range []func(runner) fsm.Result{runner.Connect, runner.Connected} {
			c.Command(0, f, true)
		}
		c.End(0, "done")
		return out.String()
	}
	check := func(record string) *replay.Trace {
		r, err := trace.NewReader(strings.NewReader(record))
		if err != nil {
			t.Fatal(err)
		}
		out, err := replay.Check(p, r)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	good := early(1)
	if n := strings.Count(good, `"again":true`); n != 1 {
		t.Errorf("%d offers, expected that of init\n%s", n, good)
	}
	if out := check(good); out.Deviation != nil || out.Refused != 0 || out.State[:7] != "inSetup" {
		t.Errorf("%s: %+v\n%s", out.State, out.Deviation, good)
	}
	full := early(p.Roles[0].DeferredMost() + 1)
	if out := check(full); out.Deviation != nil || out.Refused != 1 {
		t.Errorf("%d refused, %+v\n%s", out.Refused, out.Deviation, full)
	}
	lines := strings.SplitAfter(good, "\n")
	for i, line := range lines {
		if strings.Contains(line, `"again":true`) {
			forged := append(lines[:i:i], lines[i+1:]...)
			for k := i; k < len(forged); k++ {
				forged[k] = strings.Replace(forged[k], fmt.Sprintf(`"seq":%d,`, k+1), fmt.Sprintf(`"seq":%d,`, k), 1)
				forged[k] = strings.ReplaceAll(forged[k], `"inSetup"`, `"init"`)
			}
			out := check(strings.Join(forged, ""))
			if d := out.Deviation; d == nil || !strings.Contains(d.Reason, "no longer defers it") {
				t.Errorf("without the line in which INIT is handled: %+v", d)
			}
		}
	}
}
