package campaign

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/race"
)

// mixture writes a specification in which peers of the startup found a game together. Each is a letter, from the
// lowest address on: s for one of ours, o for an original.
func mixture(letters string) string {
	var instances, own, one, known, all []string
	for i, x := range letters {
		a := fmt.Sprintf("p%d", i)
		role := `"peer(plays: false)"`
		if x == 'o' {
			role = "original"
		}
		instances, all = append(instances, a+": "+role), append(all, a+".game")
		for j := range letters {
			b := fmt.Sprintf("p%d", j)
			if i == j {
				continue
			}
			both, sees := a+".game && "+b+".game", b+".table["+a+".own] == "+a
			own = append(own, "("+both+" && some(s in Slot: "+b+".table[s] == "+a+") => "+sees+")")
			known = append(known, "("+both+" => "+sees+")")
			if i < j {
				one = append(one, "("+both+" => "+a+".own != "+b+".own)")
			}
		}
	}
	and := func(list []string) string { return `"` + strings.Join(list, " && ") + `"` }
	n := len(letters)
	return fmt.Sprintf(`protocol: startup
extends: mixed-founding.yaml
checks:
  mixture:
    like: ooos
    instances: {%s}
    consts: {slots: %d, unheard: %d, requests: %d}
    claims:
      own-slot: {always: %s, quiescent: true}
      one-each: {always: %s}
      known: {leadsTo: %s, when: %s, fair: messages}
      all-play: {sometimes: %s}
    expect: [never-fires, unreachable-state]
`, strings.Join(instances, ", "), n, n-1, n, and(own), and(one), and(known), and(all), and(all))
}

// TestMixtures founds games of five, ours and originals in every mixture in which the keeper is ours, or no
// original is beside an original keeper: nobody gets the slot of another, and all come to know each other.
func TestMixtures(t *testing.T) {
	race.Skip(t)
	dir := t.TempDir()
	for _, name := range []string{"spec.yaml", "mixed.yaml", "mixed-founding.yaml"} {
		text, err := os.ReadFile(filepath.Join("../../specs/startup", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runs := uint64(15)
	if race.Nightly() {
		runs = 20_000
	}
	mixtures := []string{"sssso"}
	for n := range 15 { // not sssss
		letters := strings.NewReplacer("0", "o", "1", "s").Replace(fmt.Sprintf("%04b", n)) + "s"
		mixtures = append(mixtures, letters)
	}
	played := uint64(0)
	for _, letters := range mixtures {
		file := filepath.Join(dir, letters+".yaml")
		if err := os.WriteFile(file, []byte(mixture(letters)), 0o600); err != nil {
			t.Fatal(err)
		}
		p, list := compile.Load(file, compile.Options{Check: "mixture"})
		if p == nil {
			t.Fatal(list)
		}
		i := slices.IndexFunc(p.Checks, func(x *model.Check) bool { return x.Name == "mixture" })
		c := Campaign{Models: []*model.Protocol{p}, Checks: p.Checks[i : i+1]}
		r, err := c.Run(t.Context(), Options{Seed: 1, Runs: runs})
		if err != nil {
			t.Fatal(letters, err)
		}
		for _, x := range r.Checks {
			played += x.Runs
			for _, f := range x.Found {
				t.Errorf("%s: %s with seed %d\n%s", letters, f.Claim, f.Seed, f.Run.Text())
			}
		}
	}
	t.Logf("%d mixtures, %d runs", len(mixtures), played)
}
