package body

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// TestCosts holds the estimate of what Go inlines against the compiler: a shared function that is
// small enough by the estimate is inlined.
func TestCosts(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the compiler")
	}
	for _, name := range []string{"netplay", "lobby", "startup", "negotiation"} {
		p, list := compile.Load("../../../specs/"+name+"/spec.yaml", compile.Options{})
		if p == nil {
			t.Fatal(list)
		}
		g := New(types.New(model.WithDefaultWire(p), base.Options{}))
		g.Prepare()
		build := exec.Command("go", "build", "-gcflags=-m=2", ".")
		build.Dir = "../../../machines/" + name
		out, err := build.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		small := 0
		for _, r := range g.Roles {
			g.Step(r)
			for _, m := range append([]*types.Machine{r}, types.AllParts(r)...) {
				for _, f := range m.Methods {
					if !g.shared[f] || inlineCost(f) > inlined {
						continue
					}
					small++
					if s := "can inline (*" + m.Typ + ")." + f.Name + " "; !strings.Contains(string(out), s) {
						t.Errorf("%s: Go does not inline (*%s).%s, whose cost was estimated at %d", name, m.Typ,
							f.Name, inlineCost(f))
					}
				}
			}
		}
		if small == 0 {
			t.Errorf("%s has no small function", name)
		}
	}
}
