package versions

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/proptest/race"
)

// TestMixedWithItself: a specification with itself is the same; and a check in which some instances come from a second
// reading of the same file has the same configurations, steps and results as the check itself. Nothing is lost or
// added between versions, and each claim and rule of the check is carried over whole.
func TestMixedWithItself(t *testing.T) {
	race.Skip(t)
	const most = 500
	specs, err := filepath.Glob("../../specs/*/*.yaml")
	if err != nil || len(specs) < 30 {
		t.Fatal(specs, err)
	}
	library, err := filepath.Glob("../../specs/library/*/spec.yaml")
	if err != nil {
		t.Fatal(err)
	}
	mixes := 0
	for _, path := range append(specs, library...) {
		if strings.Contains(path, "startup") && filepath.Base(path) != "spec.yaml" {
			continue // many variants of one
		}
		t.Run(strings.TrimPrefix(filepath.ToSlash(path), "../../specs/"), func(t *testing.T) {
			src := Source{Path: path}
			base, err := src.load("")
			if err != nil {
				t.Fatal(err)
			}
			r, err := Compare(context.Background(), src, src, Options{})
			if err != nil || r.Verdict != Same {
				t.Fatalf("%+v %v", r, err)
			}
			for _, ch := range base.Checks {
				list := assignments(ch)
				if len(list) == 0 || ch.HasHostile() {
					continue
				}
				p, err := src.load(ch.Name)
				if err != nil {
					t.Fatal(err)
				}
				s, err := check.New(p, checkOf(p, ch.Name))
				if err != nil {
					t.Fatal(err)
				}
				o := explore.Options{MaxConfigurations: most, Workers: 1}
				want, err := s.Run(context.Background(), o, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, version := range list[:1] {
					a, _ := src.load(ch.Name)
					b, _ := src.load(ch.Name)
					x, err := newMix(a, b, ch.Name, version)
					if err != nil {
						t.Fatalf("%s %v: %v", ch.Name, version, err)
					}
					if len(x.left) > 0 {
						t.Errorf("%s: left out: %+v", ch.Name, x.left)
					}
					m, err := x.system()
					if err != nil {
						t.Fatal(err)
					}
					got, err := m.Run(context.Background(), o, nil)
					if err != nil {
						t.Fatal(err)
					}
					if a, b := summary(got), summary(want); a != b {
						t.Errorf("%s, %s: got\n%s\nwant\n%s", ch.Name, x.label(), a, b)
					}
					mixes++
				}
			}
		})
	}
	if mixes < 150 {
		t.Errorf("%d mixes were tried", mixes)
	}
	t.Logf("%d mixes", mixes)
}

// summary is what two reports of one check have in common.
func summary(r *check.Report) string {
	text := fmt.Sprintln(r.Configurations, r.Steps, r.Depth, r.Ended)
	for _, c := range r.Claims {
		steps := -1
		if c.Counterexample != nil {
			steps = len(c.Counterexample.Steps)
		}
		text += fmt.Sprintln(c.Name, c.Result, steps)
	}
	return text
}

// literals are variants that a document or a program has literally, with what becomes of them beside the sound
// specification, and a claim that the variant violates by itself and that does not count.
var literals = []struct{ variant, verdict, known string }{
	{"ready/documented", Breaking, ""},
	{"ready/coded", Breaking, "same-barrier"},
	{"confirm/documented", Compatible, ""},
	{"confirm/coded", Compatible, "no-late-change"},
	{"reset/coded", Compatible, ""},
	{"update/coded-names", Compatible, "same-value"},
	{"clock/documented", Breaking, ""},
	{"snapshot/documented", Compatible, ""},
}

// TestLiteral: a literal variant as the old version, and the sound specification as the new one.
func TestLiteral(t *testing.T) {
	race.Skip(t)
	for _, x := range literals {
		t.Run(x.variant, func(t *testing.T) {
			path := "../../specs/" + x.variant + ".yaml"
			now := Source{Path: filepath.Dir(path) + "/spec.yaml"}
			r, err := Compare(context.Background(), Source{Path: path}, now, Options{Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			text := r.Text()
			if r.Verdict != x.verdict || len(r.Pairs) == 0 {
				t.Errorf("%s, want %s:\n%s", r.Verdict, x.verdict, text)
			}
			if x.known != "" && !strings.Contains(text, "OLD alone violates it, too: "+x.known) {
				t.Errorf("%s is not known:\n%s", x.known, text)
			}
		})
	}
}
