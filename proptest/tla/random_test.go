package tla_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	export "github.com/parley-go/parley/gen/export/tla"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/draw"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/proptest/race"
)

// troubled adds to a random protocol what may go wrong in its check: faults, time, and rules of the environment that
// keep it small.
func troubled(r *rand.Rand, text string) string {
	var list []string
	sets := [][]string{
		{"lose: 1", "duplicate: 1", "overtake: 1"}, {"crash: {a: 1}"}, {"crash: {a: 1}", "restart: {a: 1}"},
		{"crash: 1", "atomic: true", "restart: {a: 1, b: 1}"}, {"break: 1"}, {"break: 1", "return: 1"},
		{"partition: 1"},
	}
	for range r.IntN(3) {
		for _, x := range sets[r.IntN(len(sets))] {
			if name, _, _ := strings.Cut(x, ":"); !strings.Contains(strings.Join(list, " "), name+":") &&
				r.IntN(6) > 0 {
				list = append(list, x)
			}
		}
	}
	with := "environment: {go: {times: 1}, off: {times: 1}}"
	faults := strings.Join(list, ", ")
	if faults != "" {
		with += ", faults: {" + faults + "}"
	}
	if r.IntN(4) == 0 {
		with += fmt.Sprintf(", time: {beat: 1, delay: %d}", 1+r.IntN(2))
	}
	return strings.Replace(text, "claims: {c:", with+", claims: {c:", 1)
}

// TestRandom: modules of protocols drawn at random have the configurations of the checker, with faults and all.
// PARLEY_TLA=500 draws five hundred, PARLEY_SEED says from where.
func TestRandom(t *testing.T) {
	race.Skip(t)
	runs, same, refused := race.Draws(12, 40), 0, 0
	if n, err := strconv.Atoi(os.Getenv("PARLEY_TLA")); err == nil {
		runs = n
	}
	from, _ := strconv.Atoi(os.Getenv("PARLEY_SEED"))
	most := uint64(bound())
	for seed := uint64(from); same < runs && seed < uint64(from+40*runs); seed++ {
		r := rand.New(rand.NewPCG(seed, 7))
		beside := ""
		if r.IntN(3) == 0 {
			beside = draw.Besides[r.IntN(len(draw.Besides))]
		}
		text := troubled(r, draw.Protocol(r, r.IntN(4) == 0, beside))
		fsys := fstest.MapFS{"spec.yaml": {Data: []byte(text)}}
		p, _ := compile.Load("spec.yaml", compile.Options{FS: fsys, Check: "pair"})
		if p == nil {
			refused++ // faults that do not go together
			continue
		}
		sys, err := check.New(p, p.Checks[0])
		if err != nil {
			continue
		}
		first, err := sys.Run(t.Context(), explore.Options{MaxConfigurations: most, KeepGoing: true}, nil)
		if err != nil || first.Ended != "" || first.Configurations < 8 || first.Steps > 20*most {
			continue
		}
		files, err := export.Export(p, p.Checks[0], "Model")
		if err != nil {
			t.Errorf("seed %d: %v\n%s", seed, err, text)
			continue
		}
		same++
		if t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { compare(t, "pair", first, files) }); t.Failed() {
			t.Log(text)
			return
		}
	}
	t.Logf("%d are the same, %d are no specifications", same, refused)
	if same < runs/2 {
		t.Errorf("only %d protocols were compared", same)
	}
}
