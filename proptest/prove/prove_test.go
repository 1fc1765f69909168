package prove

import (
	"context"
	"errors"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
)

func loader(file string) Loader {
	return func(name string) (*model.Protocol, error) {
		p, list := compile.Load(file, compile.Options{Check: name})
		if p == nil {
			return nil, errors.New(list[0].Message)
		}
		return p, nil
	}
}

func TestTry(t *testing.T) {
	for _, c := range []struct {
		file, check string
		lift        Lift
	}{{"ready", "pair", ""}, {"ready", "pair", "rules"}, {"update", "duel", ""}, {"update", "duel", "rules"}, {"confirm", "pair", ""}, {"confirm", "pair", "lengths"}, {"setup", "all", "lengths"}, {"setup", "own", "lengths"}} {
		r, cert, err := Check(context.Background(), loader("../../specs/"+c.file+"/spec.yaml"), c.check, nil, Options{Lift: c.lift})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		if cert != nil {
			n = len(cert.Configurations)
		}
		t.Logf("%v: %s by %s, %d confs %d steps widest %d, collapsed %v, values %d live %d all %v verified %v %.2fs cert %d %v", c, r.Verdict, r.Method, r.Configurations, r.Steps, r.Widest, r.Collapsed, r.Values, r.Live, r.AllValues, r.Verified, r.Seconds, n, r.Why)
		for _, x := range r.Claims {
			if x.Result != Proved {
				t.Logf("   %s %s %s", x.Name, x.Result, x.Note)
			}
		}
	}
}
