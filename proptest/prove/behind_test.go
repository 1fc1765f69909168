package prove

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/proptest/prove/certify"
)

func racy(t *testing.T) Loader {
	return func(name string) (*model.Protocol, error) {
		p, list := compile.Load("../check/testdata/behind/spec.yaml", compile.Options{Check: name})
		if p == nil {
			t.Fatal(list)
		}
		return p, nil
	}
}

// unsaid checks that nothing of a report is proved but what has a run to show.
func unsaid(t *testing.T, r *Report, cert *certify.Certificate, method string) {
	t.Helper()
	for _, c := range r.Claims {
		want := NotEstablished
		switch {
		case c.Kind == "sometimes" && c.Name != "robbed":
			want = Proved
		case c.Name == certify.UnspecifiedReception:
			want = Violated
		}
		if c.Result != want || want == NotEstablished && method == ByClosure &&
			!strings.Contains(c.Note, "was not looked at") {
			t.Errorf("%s: %s (%s), want %s", c.Name, c.Result, c.Note, want)
		}
	}
	if cert != nil || r.Verified || r.Method != method {
		t.Errorf("a certificate of nothing: %s", r.Text(false))
	}
}

// TestBehindErrors: where runs end at errors nothing is proved but what has a run to show.
func TestBehindErrors(t *testing.T) {
	r, cert := proved(t, racy(t), "racy", Options{})
	unsaid(t, r, cert, ByClosure)
	if r.Verdict != NotEstablished { // all that is violated is expected
		t.Errorf("%s", r.Text(false))
	}
	r, cert = proved(t, specification(t, "confirm", "        CONFIRM1: {goto: cancelRemoteOk}\n", ""), "pair",
		Options{Lift: LiftLengths})
	unsaid(t, r, cert, ByCollapse)
}

// TestCertificateBehindErrors: a certificate that is silent about the errors proves nothing of
// other claims.
func TestCertificateBehindErrors(t *testing.T) {
	proto, _ := racy(t)("racy")
	sys, err := check.New(proto, proto.Checks[0])
	if err != nil {
		t.Fatal(err)
	}
	res, err := explore.Run(context.Background(), sys.System, explore.Options{KeepGoing: true, Checks: sys.Checks})
	if err != nil {
		t.Fatal(err)
	}
	cert := spaceCertificate(sys, res.Space, header(sys, LiftNothing, 0, safety))
	cert.Claims = []string{"no-thief"}
	var file bytes.Buffer
	if err := cert.Write(&file); err != nil {
		t.Fatal(err)
	}
	if _, err := certify.Verify(&file, racy(t)); err == nil ||
		!strings.Contains(err.Error(), "it does not prove no-thief") {
		t.Errorf("accepted: %v", err)
	}
}
