package tlslink_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/internal/pingpong"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport/mem"
	"github.com/parley-go/parley/runtime/transport/tlslink"
)

// events is a sink that keeps the events of a run.
type events struct{ list []string }

func (e *events) Begin(trace.Header) {}
func (e *events) Flush() error       { return nil }
func (e *events) Step(s *trace.Step) { e.list = append(e.list, string(s.Event)) }

// TestIdentityComesBeforeFrames: a machine hears by a command who its peer is,
// before anything that the peer has sent already, so its guards can go by it.
func TestIdentityComesBeforeFrames(t *testing.T) {
	alice, bob := newPerson(t, "alice"), newPerson(t, "bob")
	synctest.Test(t, func(t *testing.T) {
		a, b := mem.Pair(mem.Config{Stream: true})
		x, y, ex, ey := shake(t, a, b, tlslink.Pin(alice.config(), bob.key), tlslink.Pin(bob.config(), alice.key))
		if err := errors.Join(ex, ey); err != nil {
			t.Fatal(err)
		}
		ping := []byte{0, 7, pingpong.PING, 0, 0, 0, 1}
		for range 3 { // they are there before the machine runs
			if err := errors.Join(x.Send(0, ping), x.Flush()); err != nil {
				t.Fatal(err)
			}
		}
		seen := &events{}
		var d *driver.Driver[*pingpong.Runner]
		d = driver.New(pingpong.New(), driver.Options[*pingpong.Runner]{Trace: []trace.Sink{seen},
			OnLink: func(_ *pingpong.Runner, _ fsm.Peer, up bool, _ error) {
				if up {
					name := y.Identity().Name
					if err := d.Post(func(r *pingpong.Runner) fsm.Result { return r.Say(name) }); err != nil {
						t.Error(err)
					}
				}
			}})
		if err := d.Attach(0, y); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- d.Run(t.Context()) }()
		synctest.Wait()
		d.Stop()
		x.Abort()
		<-ended
		got := strings.Join(seen.list, ", ")
		if want := `start, up, say{text: "alice"}, PING{n: 1}, PING{n: 1}, PING{n: 1}`; !strings.HasPrefix(got, want) {
			t.Errorf("events: %s\nwant: %s", got, want)
		}
	})
}
