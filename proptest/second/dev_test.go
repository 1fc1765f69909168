package second_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/proptest/second"
)

type first struct {
	File, Check string
	N           int
	Complete    bool
	Violated    map[string]int
	Witness     map[string]int
}

func TestDevFirst(t *testing.T) {
	if os.Getenv("DEVFIRST") == "" {
		t.Skip()
	}
	files, _ := filepath.Glob("../../specs/*/*.yaml")
	more, _ := filepath.Glob("../../specs/library/*/*.yaml")
	var out []first
	for _, f := range append(files, more...) {
		r, list, err := check.Suite(context.Background(), f, check.Config{Explore: explore.Options{MaxConfigurations: 200000}})
		if r == nil {
			t.Log(f, list, err)
			continue
		}
		for _, c := range r.Checks {
			x := first{File: f, Check: c.Check, N: int(c.Configurations), Complete: c.Ended == "", Violated: map[string]int{}, Witness: map[string]int{}}
			for _, cl := range c.Claims {
				if cl.Result == "violated" {
					n := -1
					if cl.Counterexample != nil {
						n = len(cl.Counterexample.Steps)
					}
					x.Violated[cl.Name] = n
				}
				if cl.Witness != nil {
					x.Witness[cl.Name] = len(cl.Witness.Steps)
				}
			}
			out = append(out, x)
		}
	}
	data, _ := json.Marshal(out)
	os.WriteFile("/tmp/s/first.json", data, 0o644)
}

func TestDev(t *testing.T) {
	data, err := os.ReadFile("/tmp/s/first.json")
	if err != nil {
		t.Skip()
	}
	var all []first
	json.Unmarshal(data, &all)
	re := regexp.MustCompile(os.Getenv("DEV"))
	most := 3000
	fmt.Sscan(os.Getenv("MOST"), &most)
	kinds := map[string]int{}
	reasons := map[string]int{}
	slow := 0.0
	for _, f := range all {
		name := strings.TrimPrefix(f.File, "../../specs/") + " " + f.Check
		if !f.Complete || f.N > most || !re.MatchString(name) {
			continue
		}
		sp, err := second.Load(f.File)
		if err != nil {
			t.Error(err)
			continue
		}
		t0 := time.Now()
		r, err := sp.Run(f.Check, second.Options{Most: most * 2})
		d := time.Since(t0).Seconds()
		slow += d
		if d > 1 {
			fmt.Println("SLOW", name, d, f.N)
		}
		if err != nil {
			kinds["refused"]++
			first, _, _ := strings.Cut(err.Error(), "\n")
			reasons[first]++
			if os.Getenv("V") != "" {
				fmt.Println("REFUSED", name, err)
			}
			continue
		}
		diff := ""
		if r.Configurations != f.N {
			diff += fmt.Sprintf(" n=%d/%d", r.Configurations, f.N)
		}
		if a, b := keys(r.Violated), keys(f.Violated); a != b {
			diff += " VERDICT " + a + " / " + b
		} else {
			for k, v := range f.Violated {
				if v != r.Violated[k] && r.Violated[k] != 0 {
					diff += fmt.Sprintf(" len %s %d/%d", k, r.Violated[k], v)
				}
			}
		}
		for k, v := range f.Witness {
			if r.Witness[k] != v {
				diff += fmt.Sprintf(" wit %s %d/%d", k, r.Witness[k], v)
			}
		}
		switch {
		case diff == "":
			kinds["same"]++
		case strings.Contains(diff, "VERDICT"):
			kinds["verdict"]++
		default:
			kinds["differ"]++
		}
		if diff != "" {
			fmt.Printf("%-40s %s\n", name, diff)
		}
	}
	fmt.Println(kinds, slow, "s")
	var rs []string
	for k, v := range reasons {
		rs = append(rs, fmt.Sprintf("%4d %s", v, k))
	}
	sort.Strings(rs)
	fmt.Println(strings.Join(rs, "\n"))
}

func keys(m map[string]int) string {
	var ks []string
	for k := range m {
		ks = append(ks, k)
	}
	sort.Strings(ks)
	return strings.Join(ks, ",")
}
