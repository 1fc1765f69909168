package drive

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/proptest/campaign"
	"github.com/parley-go/parley/proptest/conform"
	"github.com/parley-go/parley/proptest/conform/shipped"
	"github.com/parley-go/parley/proptest/race"
)

// TestCampaigns plays random runs of each shipped specification that has a generated package: of all
// its checks if it plays many, of a third of them otherwise. The
// generated machine repeats each different step that the interpreter takes in them.
func TestCampaigns(t *testing.T) {
	var files []string
	for _, target := range shipped.Targets {
		if !slices.Contains(files, target.Spec) {
			files = append(files, target.Spec)
		}
	}
	each := 1
	if race.Nightly() {
		each = 20
	}
	if race.Enabled {
		each = 2 // enough for two workers to meet
	}
	checks, runs, steps, compared := 0, uint64(0), uint64(0), uint64(0)
	for n, file := range files {
		if race.Enabled && n%5 != 0 {
			continue
		}
		full := load(t, file, "")
		c := &campaign.Campaign{}
		for _, x := range full.Checks {
			if checks++; !allChecks() && checks%3 != 0 {
				continue
			}
			p := load(t, file, x.Name)
			i := slices.IndexFunc(p.Checks, func(y *model.Check) bool { return y.Name == x.Name })
			c.Models, c.Checks = append(c.Models, p), append(c.Checks, p.Checks[i])
		}
		if len(c.Checks) == 0 {
			continue
		}
		r, err := c.Run(t.Context(), campaign.Options{Seed: 1, Runs: uint64(draws(each * len(c.Checks))),
			Compare: generated(full, file)})
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if r.Failed() || r.Compared == 0 {
			t.Error(r.Text(file, func(string, uint64) string { return "" }, false, true))
		}
		runs, steps, compared = runs+r.Runs, steps+r.Steps, compared+r.Compared
	}
	t.Logf("%d runs, %d steps, %d different ones compared with generated code", runs, steps, compared)
}

// generated compares with the generated machines of a specification.
func generated(full *model.Protocol, file string) campaign.Compare {
	return func(s *stage.Stage, i int) (campaign.Comparison, error) {
		role, strs := s.Parties[i].Machine, s.Strings
		for _, target := range shipped.Targets {
			if target.Spec != file || target.Role != role.Name {
				continue
			}
			pair, err := conform.New(full, conform.Target(target))
			if err != nil {
				return nil, err
			}
			return pair.Lifted(strs, role), nil
		}
		return nil, nil
	}
}

var errDiffers = errors.New("it does something else")

// TestCampaignDiffers plants a generated machine that behaves differently. The campaign must find it
// and name the seed.
func TestCampaignDiffers(t *testing.T) {
	file := "specs/confirm/spec.yaml"
	p, list := compile.Load(filepath.Join("../..", file), compile.Options{Check: "pair"})
	if p == nil {
		t.Fatal(list)
	}
	c := &campaign.Campaign{Models: []*model.Protocol{p}, Checks: p.Checks[:1]}
	differs := func(s *stage.Stage, i int) (campaign.Comparison, error) {
		role := s.Parties[i].Machine
		return func(v interp.Value, ev interp.Event) error {
			if ev.Event.Name == "CONFIRM2" && role.States[v[0]].Name == "committed" {
				return errDiffers
			}
			return nil
		}, nil
	}
	r, err := c.Run(t.Context(), campaign.Options{Seed: 1, Runs: 50, Compare: differs})
	if err != nil {
		t.Fatal(err)
	}
	f := r.Checks[0].Found
	if !r.Failed() || len(f) != 1 || f[0].Claim != campaign.DiffersClaim || f[0].Trouble != errDiffers.Error() {
		t.Fatalf("%+v", f)
	}
	steps := f[0].Run.Steps
	if n := len(steps); n == 0 || n >= f[0].Moves || !strings.Contains(f[0].Run.Problem, errDiffers.Error()) ||
		steps[n-1].Event != "CONFIRM2" {
		t.Errorf("of %d steps there are\n%s", f[0].Moves, f[0].Run.Text())
	}
	again, err := c.Repeat(f[0].Run, differs)
	if err != nil || len(again) != 1 || again[0].Claim != campaign.DiffersClaim {
		t.Errorf("repeated: %+v, %v", again, err)
	}
}
