package demo

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/parley-go/parley/cmd/internal/picture"
	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/gen/graph"
	"github.com/parley-go/parley/runtime/run"
	"github.com/parley-go/parley/runtime/trace"
)

// drawn is a picture that was written, for the page.
type drawn struct {
	File, Title, Doc string
}

// draw writes a state diagram of each protocol, a sequence chart of a shortest
// counterexample, and one of the beginning of the match.
func (t *tour) draw() error {
	for _, dir := range Protocols {
		p, diags := compile.Load(dir+"/spec.yaml", options())
		if p == nil {
			return diags
		}
		for _, m := range p.Roles {
			svg, err := picture.Render(m, picture.SVG, graph.Options{Protocol: p})
			if err != nil {
				return err
			}
			if err := t.picture(dir+".svg", "State diagram: "+p.Name, p.Doc, svg); err != nil {
				return err
			}
		}
	}
	if err := t.drawCounterexample(); err != nil {
		return err
	}
	return t.drawMatch()
}

func (t *tour) picture(name, title, doc string, svg []byte) error {
	t.files = append(t.files, drawn{name, title, doc})
	fmt.Fprintf(t.out, "     %s\n", filepath.Join(t.dir, name))
	return files.Write(filepath.Join(t.dir, name), svg)
}

// shortRun is the least number of steps a counterexample needs to be worth a picture.
const shortRun = 4

// drawCounterexample draws a short counterexample of the literal specifications.
func (t *tour) drawCounterexample() error {
	var best *run.Run
	var title, why string
	for _, spec := range t.literal {
		for _, c := range spec.Checks {
			for _, cl := range c.Claims {
				r := cl.Counterexample
				if r == nil || len(r.Stem()) < shortRun || len(cl.Conflicts) > 0 {
					continue
				}
				if best == nil || len(r.Stem()) < len(best.Stem()) {
					best, title, why = r, spec.Spec+": "+cl.Name, cl.Why
				}
			}
		}
	}
	if best == nil {
		return nil
	}
	if err := best.Validate(); err != nil {
		return err
	}
	chart := best.Chart()
	chart.Title = title
	return t.picture("counterexample.svg", "Shortest counterexample: "+title, why, []byte(graph.ChartSVG(chart)))
}

// chartSteps is how much of the match is drawn.
const chartSteps = 60

func (t *tour) drawMatch() error {
	if len(t.match.traces) == 0 {
		return nil
	}
	name := t.match.traces[0]
	f, err := files.Open(filepath.Join(t.dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := trace.NewReader(f)
	if err != nil {
		return err
	}
	match, err := run.Merge([]*trace.Reader{r}, 1, chartSteps)
	if err != nil {
		return err
	}
	doc := fmt.Sprintf("The first %d steps of %s, as that side saw them.", chartSteps,
		strings.TrimSuffix(name, ".jsonl"))
	return t.picture("match.svg", "Sequence chart: the match", doc, []byte(graph.ChartSVG(match.Chart())))
}
