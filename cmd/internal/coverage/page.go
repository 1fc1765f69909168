package coverage

import (
	"html/template"
	"io"

	"github.com/parley-go/parley/proptest/check"
)

type page struct {
	Legend string
	Specs  []spec
}

type spec struct {
	Summary string
	Percent float64
	Hash    string
	Checks  []string
	Head    string
	Unused  []string
	Files   []pageFile
}

type pageFile struct {
	Name  string
	Lines []line
}

// HTML writes one page for all specifications. It needs nothing from elsewhere.
func HTML(w io.Writer, reports []*check.SuiteReport) error {
	p := page{Legend: legend}
	for _, r := range reports {
		c := r.Coverage
		s := spec{Summary: summary(r), Percent: c.Percent(), Checks: c.Checks, Head: head(c), Unused: unused(c)}
		for _, k := range r.Checks {
			s.Hash = k.Hash
		}
		for i := range c.Files {
			list, err := lines(c, &c.Files[i])
			if err != nil {
				return err
			}
			s.Files = append(s.Files, pageFile{c.Files[i].File, list})
		}
		p.Specs = append(p.Specs, s)
	}
	return pageTemplate.Execute(w, p)
}

var pageTemplate = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>What the checks used</title>
<style>
body { font: 15px/1.45 system-ui, sans-serif; margin: 1.5rem auto; max-width: 90rem; padding: 0 1rem; color: #1c2733; background: #fff; }
h1 { font-size: 1.15rem; margin: 2rem 0 .4rem; }
h2 { font: 600 .95rem ui-monospace, monospace; margin: 1.4rem 0 .3rem; }
p.legend { color: #51606e; max-width: 60rem; }
.bar { height: .5rem; width: 20rem; max-width: 100%; background: #f3b5ae; border-radius: .25rem; overflow: hidden; }
.bar span { display: block; height: 100%; background: #4fa36b; }
.wrap { overflow-x: auto; border: 1px solid #d5dce3; border-radius: .3rem; }
table { border-collapse: collapse; font: 12.5px/1.5 ui-monospace, monospace; width: 100%; }
th { text-align: right; font-weight: 600; padding: .2rem .6rem; position: sticky; top: 0; background: #eef2f5; }
td { padding: 0 .6rem; white-space: pre; }
td.n { text-align: right; color: #51606e; user-select: none; border-right: 1px solid #e3e8ed; }
td.no { text-align: right; color: #8a97a3; user-select: none; }
td.code { width: 100%; }
tr.used { background: #e4f4e8; }
tr.partly { background: #fdf3cf; }
tr.never { background: #fbe0dd; }
tr.never td.n { color: #a5271b; }
ul { margin: .3rem 0; }
.key span { padding: .05rem .5rem; margin-right: .5rem; border-radius: .2rem; }
footer { color: #8a97a3; margin-top: .5rem; font-size: .8rem; overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) {
body { background: #14191e; color: #d9e0e6; } .wrap { border-color: #333d47; } th { background: #20272e; }
td.n, p.legend { color: #9aa7b3; } td.n { border-color: #2a333b; }
tr.used { background: #17331f; } tr.partly { background: #3b3413; } tr.never { background: #45201c; } tr.never td.n { color: #ff9a8d; }
}
</style>
{{range .Specs}}<h1>{{.Summary}}</h1>
<div class="bar"><span style="width: {{printf "%.1f" .Percent}}%"></span></div>
{{if .Unused}}<p>By the checks {{.Head}}:</p>
<ul>{{range .Unused}}<li>{{.}}</li>{{end}}</ul>
{{end}}<p class="legend">Beside each line, for each check: {{$.Legend}}.</p>
<p class="key"><span style="background: #4fa36b55">used</span><span style="background: #e8c53a66">partly</span><span style="background: #e5685b55">not used</span></p>
{{$checks := .Checks}}{{range .Files}}<h2>{{.Name}}</h2>
<div class="wrap"><table><tr>{{range $checks}}<th>{{.}}</th>{{end}}<th></th><th></th></tr>
{{range .Lines}}<tr{{if .Class}} class="{{.Class}}" title="{{.Title}}"{{end}}>{{range .Counts}}<td class="n">{{.}}</td>{{end}}<td class="no">{{.No}}</td><td class="code">{{.Text}}</td></tr>
{{end}}</table></div>
{{end}}{{if .Hash}}<footer>specification {{.Hash}}</footer>{{end}}
{{end}}</html>
`))
