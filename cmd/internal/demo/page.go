package demo

import (
	"bytes"
	"fmt"
	"html/template"
	"path/filepath"
	"strings"
	"time"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/proptest/check"
)

// page writes index.html, which shows everything, and returns its name.
func (t *tour) page() (string, error) {
	name := filepath.Join(t.dir, "index.html")
	var page bytes.Buffer
	var real strings.Builder
	t.real.WriteText(&real, false)
	data := struct {
		Sound, Literal []row
		Real           string
		Match          []string
		Pictures       []drawn
	}{rows(t.sound), rows(t.literal), real.String(), t.match.lines, t.files}
	if err := pageTemplate.Execute(&page, data); err != nil {
		return "", err
	}
	return name, files.Write(name, page.Bytes())
}

// row is a line of a verdict table, with a counterexample if there is one.
type row struct {
	Name, Verdict  string
	Configurations string
	Found          []finding
}

type finding struct{ Claim, Why, Text string }

func rows(reports []*check.SuiteReport) []row {
	var list []row
	for _, r := range reports {
		x := row{Name: strings.TrimSuffix(r.Spec, ".yaml"), Configurations: diag.Thousands(total(r).configurations),
			Verdict: verdict(r)}
		if !strings.HasSuffix(r.Spec, "/spec.yaml") {
			x.Verdict = literalVerdict(r)
		}
		known := map[string]bool{}
		for _, c := range r.Checks {
			for _, cl := range c.Claims {
				if run := cl.Counterexample; run != nil && !known[cl.Name] {
					known[cl.Name] = true
					x.Found = append(x.Found, finding{cl.Name, cl.Why, run.Text()})
				}
			}
		}
		list = append(list, x)
	}
	return list
}

var pageTemplate = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Parley: the demo</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
h1 { margin-bottom: 0 } h2 { margin-top: 2.5rem; border-bottom: 1px solid #ccc }
table { border-collapse: collapse } td, th { text-align: left; padding: .2rem 1rem .2rem 0; vertical-align: top }
td.n { text-align: right; font-variant-numeric: tabular-nums }
pre { background: #f5f5f2; padding: .8rem; overflow-x: auto; font-size: 12.5px; line-height: 1.35; white-space: pre-wrap; overflow-wrap: anywhere }
figure { margin: 1.5rem 0 } figure img { max-width: 100%; max-height: 60rem; border: 1px solid #ddd } figcaption { color: #555 }
summary { cursor: pointer }
</style></head><body>
<h1>Parley: the demo</h1>
<p>Everything on this page was computed by one run of <code>fsmgen demo</code>.
<a href="#checked">What was checked</a> · <a href="#games">What two real games did</a> · <a href="#ran">What ran here</a> · Pictures:
{{range $i, $p := .Pictures}}{{if $i}}, {{end}}<a href="#{{$p.File}}">{{$p.Title}}</a>{{end}}</p>
<h2 id="checked">What was checked</h2>
<p>Every interleaving of two endpoints was searched. These specifications ship:</p>
<table><tr><th>specification</th><th>configurations</th><th>verdict</th></tr>
{{range .Sound}}<tr><td>{{.Name}}</td><td class="n">{{.Configurations}}</td><td>{{.Verdict}}</td></tr>
{{end}}</table>
<p>The same protocols read literally, from the document and from the game's code:</p>
<table><tr><th>specification</th><th>configurations</th><th>verdict</th></tr>
{{range .Literal}}<tr><td>{{.Name}}</td><td class="n">{{.Configurations}}</td><td>{{.Verdict}}
{{range .Found}}<details><summary>{{.Claim}}{{with .Why}}: {{.}}{{end}}</summary><pre>{{.Text}}</pre></details>{{end}}</td></tr>
{{end}}</table>
<h2 id="games">What two real games did</h2>
<pre>{{.Real}}</pre>
<h2 id="ran">What ran here</h2>
<p>A whole match between two generated endpoints over TCP, as one of them tells it:</p>
<details><summary>{{len .Match}} lines</summary><pre>{{range .Match}}{{.}}
{{end}}</pre></details>
<h2>Pictures</h2>
{{range .Pictures}}<figure id="{{.File}}"><a href="{{.File}}"><img src="{{.File}}" alt="{{.Title}}"></a><figcaption><b>{{.Title}}.</b> {{.Doc}}</figcaption></figure>
{{end}}</body></html>
`))

// sum prints the last screen.
func (t *tour) sum(page string) {
	var all sums
	for _, r := range t.sound {
		n := total(r)
		all.configurations += n.configurations
		all.steps += n.steps
		all.claims += n.claims
	}
	found := 0
	for _, r := range t.literal {
		found += len(broken(r))
	}
	p := func(format string, args ...any) { fmt.Fprintf(t.out, format+"\n", args...) }
	p("────────────────────────────────────────────────────────────────────────")
	if len(t.failed) > 0 {
		p("Something does not hold that should:")
		for _, f := range t.failed {
			p("  ✗ %s", f)
		}
	}
	p("Checked   %d protocols: %d claims over %s configurations and %s steps, every interleaving,",
		len(t.sound), all.claims, diag.Thousands(all.configurations), diag.Thousands(all.steps))
	p("          with a verdict that names its assumptions (fsmgen check specs/confirm prints one).")
	p("          %d violations in %d literal readings, each with a shortest run that shows it.", found, len(t.literal))
	frames := 0
	for _, c := range t.real.Conns {
		frames += len(c.Recording.Frames)
	}
	p("Replayed  a match of two real games: %s frames, %s.", diag.Thousands(uint64(frames)), t.real.Verdict())
	p("Ran       a match between two generated endpoints over TCP: %s frames in %s;",
		diag.Thousands(uint64(t.match.frames)), t.match.took.Round(time.Millisecond))
	p("          its own recordings were held against the specification again.")
	p("Look at   %s  (verdicts, counterexamples, diagrams, the match)", page)
	p("          %s  opens in a packet analyser; its comments name the transitions.",
		filepath.Join(t.dir, t.match.capture))
	p("Next      docs/START.md: your own protocol, in fifteen minutes.")
	p("%s in all.", time.Since(t.began).Round(100*time.Millisecond))
}
