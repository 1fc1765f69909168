package prove

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
)

// TestChannelsProved: a check with two channels is proved, where one of them loses and finds no room;
// and its certificate needs each of its configurations, also those to which only a loss leads.
func TestChannelsProved(t *testing.T) {
	load := func(file string) Loader {
		return func(check string) (*model.Protocol, error) {
			p, list := compile.Load("../check/testdata/channels/"+file, compile.Options{Check: check})
			if p == nil {
				return nil, list
			}
			return p, nil
		}
	}
	for _, x := range []struct {
		file, check, method string
		proved              []string
	}{
		{"spec.yaml", "pair", ByClosure, []string{"newer", "both", "counts", "ends", "deadlock", "orphan-message"}},
		{"overtaken.yaml", "plain", ByCollapse,
			[]string{"unspecified-reception", "fault", "deadlock", "orphan-message"}},
	} {
		r, cert, err := Check(context.Background(), load(x.file), x.check, nil, Options{MaxConfigurations: 50_000})
		if err != nil || r.Verdict != Proved || r.Method != x.method || !r.Verified {
			t.Fatalf("%s: %+v, %v", x.file, r, err)
		}
		for _, name := range x.proved {
			if !slices.ContainsFunc(r.Claims, func(c Claim) bool { return c.Name == name && c.Result == Proved }) {
				t.Errorf("%s: %s is not proved", x.file, name)
			}
		}
		if r.Method != ByClosure {
			continue
		}
		for n := range cert.Configurations {
			proto, err := load(x.file)(x.check)
			if err != nil {
				t.Fatal(err)
			}
			hole := *cert
			hole.Configurations = slices.Delete(slices.Clone(cert.Configurations), n, n+1)
			if _, _, err := hole.Audit(proto); err == nil {
				t.Errorf("%s: the certificate is accepted without configuration %d, %v", x.file, n,
					cert.Configurations[n])
			}
		}
	}
}

// tells says again and again where it stands. Some way leads to a listener that has heard it, as long
// as there is room.
const tells = `protocol: tells
messages: {HERE: }
channel: {order: fifo, lossy: true, capacity: 2, full: FULL}
roles:
  speaker:
    commands: {tell: null}
    initial: on
    states: {on: {tell: {send: HERE}}}
  listener:
    initial: waiting
    states: {waiting: {HERE: {goto: told}}, told: {final: true, ignore: [HERE]}}
checks:
  pair:
    instances: {s: speaker, l: listener}
    claims: {heard: {reachable: l.told, why: it is said again}}
    quiet: true
`

// TestFullLoses: where a message that finds no room is lost, no way that needs one is proved.
func TestFullLoses(t *testing.T) {
	for full, want := range map[string]string{"fault": Proved, "lose": NotEstablished} {
		files := fstest.MapFS{"s.yaml": {Data: []byte(strings.Replace(tells, "FULL", full, 1))}}
		r, _, err := Check(context.Background(), func(check string) (*model.Protocol, error) {
			p, list := compile.Load("s.yaml", compile.Options{Check: check, FS: files})
			if p == nil {
				return nil, list
			}
			return p, nil
		}, "pair", nil, Options{})
		if err != nil || r.Method != ByCollapse {
			t.Fatal(err, r)
		}
		for _, c := range r.Claims {
			if c.Name == "heard" && c.Result != want || c.Name == "deadlock" && c.Result != Proved {
				t.Errorf("full: %s: %s is %s: %s", full, c.Name, c.Result, c.Note)
			}
		}
	}
}
