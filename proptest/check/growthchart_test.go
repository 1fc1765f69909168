package check_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Sizes of the chart, in points.
const (
	panelW, panelH = 190.0, 150.0
	leftW, topH    = 74.0, 84.0
	gapW, gapH     = 26.0, 46.0
)

// metric is what a row of the chart shows.
type metric struct {
	name string
	of   func(Point) float64
	tick func(float64) string
}

var metrics = []metric{
	{"configurations", func(p Point) float64 { return float64(p.Configurations) }, short},
	{"processor seconds", func(p Point) float64 { return max(p.Seconds, 0.01) },
		func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }},
	{"peak memory", func(p Point) float64 { return float64(p.Resident) / (1 << 20) },
		func(v float64) string { return strings.Replace(short(v)+" MB", "k MB", " GB", 1) }},
}

// short writes 1000 as 1k and 1000000 as 1M.
func short(v float64) string {
	switch {
	case v >= 1e6:
		return strconv.FormatFloat(v/1e6, 'g', -1, 64) + "M"
	case v >= 1e3:
		return strconv.FormatFloat(v/1e3, 'g', -1, 64) + "k"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// style has the colours twice: pages are light or dark, and the reader's system says which.
const style = `<style>
.b{fill:#ffffff}.t{fill:#24292f}.f{fill:#57606a}.g{stroke:#d8dee4}.x{stroke:#8c959f}
.c0{stroke:#0550ae;fill:#0550ae}.c1{stroke:#bc4c00;fill:#bc4c00}
@media (prefers-color-scheme: dark){
.b{fill:#0d1117}.t{fill:#e6edf3}.f{fill:#9198a1}.g{stroke:#2a313c}.x{stroke:#656c76}
.c0{stroke:#79c0ff;fill:#79c0ff}.c1{stroke:#ffa657;fill:#ffa657}
}
path{fill:none!important;stroke-width:1.8}
</style>
`

// span is an axis with logarithmic steps, from lo to hi.
type span struct{ lo, hi float64 }

func (s *span) take(v float64) { s.lo, s.hi = min(s.lo, v), max(s.hi, v) }

// at gives where v lies, from 0 to 1.
func (s span) at(v float64) float64 {
	if s.hi <= s.lo {
		return 0.5
	}
	return math.Log(v/s.lo) / math.Log(s.hi/s.lo)
}

// Chart draws d: a column for each thing that grows, a row for configurations, time and memory, all
// axes logarithmic.
func (d *Data) Chart() string {
	var groups []string
	for _, s := range All {
		if !slices.Contains(groups, s.Group) {
			groups = append(groups, s.Group)
		}
	}
	c := &chart{d: d}
	for k, m := range metrics {
		c.y = span{math.Inf(1), math.Inf(-1)}
		for _, p := range d.Points {
			c.y.take(m.of(p))
		}
		c.y = span{math.Pow(10, math.Floor(math.Log10(c.y.lo))), math.Pow(10, math.Ceil(math.Log10(c.y.hi)))}
		top := topH + float64(k)*(panelH+gapH)
		c.text("t", leftW, top-10, "start", 12, ` font-weight="bold"`, m.name)
		for i, g := range groups {
			c.panel(g, m, leftW+float64(i)*(panelW+gapW), top, i == 0, k == 0, k == len(metrics)-1)
		}
	}
	width, height := leftW+float64(len(groups))*(panelW+gapW), topH+float64(len(metrics))*(panelH+gapH)+22
	c.text("f", leftW, 18, "start", 12, "", "solid: every configuration; dashed: with --reduce auto")
	return fmt.Sprintf(
		`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s" font-family="Helvetica, Arial, sans-serif">
<title>How checks grow with values, properties, instances and capacity</title>
%s<rect class="b" width="100%%" height="100%%"/>
%s</svg>
`, num(width), num(height), style, c.b.String())
}

// chart collects the elements of a drawing.
type chart struct {
	d *Data
	b strings.Builder
	y span
}

// panel draws what one thing that grows does to one metric.
func (c *chart) panel(group string, m metric, left, top float64, ticks, names, bottom bool) {
	x := span{math.Inf(1), math.Inf(-1)}
	var sizes []int64
	var lines []Series
	for _, s := range All {
		if s.Group == group {
			lines = append(lines, s)
			sizes = append(sizes, s.Sizes...)
		}
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	for _, n := range sizes {
		x.take(float64(n))
	}
	for v := c.y.lo; v < c.y.hi*1.01; v *= 10 {
		y := top + panelH*(1-c.y.at(v))
		fmt.Fprintf(&c.b, `<line class="g" x1="%s" y1="%s" x2="%s" y2="%[2]s"/>`+"\n", num(left), num(y),
			num(left+panelW))
		if ticks {
			c.text("f", left-6, y+4, "end", 10.5, "", m.tick(math.Round(v*100)/100))
		}
	}
	inner := func(n int64) float64 { return left + 12 + (panelW-24)*x.at(float64(n)) }
	fmt.Fprintf(&c.b, `<line class="x" x1="%s" y1="%s" x2="%s" y2="%[2]s"/>`+"\n", num(left), num(top+panelH),
		num(left+panelW))
	for _, n := range sizes {
		c.text("f", inner(n), top+panelH+14, "middle", 10.5, "", strconv.FormatInt(n, 10))
	}
	if bottom {
		c.text("t", left+panelW/2, top+panelH+31, "middle", 12, "", group)
	}
	for i, s := range lines {
		if names {
			fmt.Fprintf(&c.b, `<circle class="c%d" cx="%s" cy="%s" r="3.5"/>`+"\n", i, num(left+4),
				num(36+16*float64(i)))
			c.text("t", left+13, 40+16*float64(i), "start", 11, "", s.Name)
		}
		c.line(s, i, false, m, inner, top)
		c.line(s, i, true, m, inner, top)
	}
}

// line draws one series.
func (c *chart) line(s Series, colour int, reduced bool, m metric, x func(int64) float64, top float64) {
	var path []string
	for _, n := range s.Sizes {
		p, ok := c.d.find(s.key(), n, reduced)
		if !ok {
			continue
		}
		at := num(x(n)) + " " + num(top+panelH*(1-c.y.at(m.of(p))))
		path = append(path, at)
		fmt.Fprintf(&c.b, `<circle class="c%d" cx="%s" cy="%s" r="2.4"/>`+"\n", colour, strings.Fields(at)[0],
			strings.Fields(at)[1])
	}
	dash := ""
	if reduced {
		dash = ` stroke-dasharray="5 4"`
	}
	if len(path) > 1 {
		fmt.Fprintf(&c.b, `<path class="c%d" d="M%s"%s/>`+"\n", colour, strings.Join(path, "L"), dash)
	}
}

func (c *chart) text(class string, x, y float64, anchor string, size float64, extra, s string) {
	fmt.Fprintf(&c.b, `<text class="%s" x="%s" y="%s" text-anchor="%s" font-size="%s"%s>%s</text>`+"\n", class,
		num(x), num(y), anchor, num(size), extra, s)
}

// num writes a length with at most one decimal, always the same way.
func num(v float64) string { return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0") }

// Table returns the measurements as a table of Markdown, with a row for each size.
func (d *Data) Table() string {
	var b strings.Builder
	b.WriteString("| what grows | | configurations | steps | processor s | bytes each | peak MB | reduced " +
		"to | processor s | peak MB |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, s := range All {
		for i, n := range s.Sizes {
			name := ""
			if i == 0 {
				name = s.key()
			}
			fmt.Fprintf(&b, "| %s | %d |", name, n)
			p, ok := d.find(s.key(), n, false)
			row(&b, ok, grouped(p.Configurations), grouped(p.Steps), seconds(p.Seconds), each(p), megabytes(p.Resident))
			p, ok = d.find(s.key(), n, true)
			row(&b, ok, grouped(p.Configurations), seconds(p.Seconds), megabytes(p.Resident))
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// row writes cells, empty ones where nothing was measured.
func row(b *strings.Builder, ok bool, cells ...string) {
	for _, c := range cells {
		if !ok {
			c = ""
		}
		fmt.Fprintf(b, " %s |", c)
	}
}

// each is the memory kept for one configuration, where there are enough that tables for messages
// and machines do not drown it.
func each(p Point) string {
	if p.Configurations < 100000 {
		return ""
	}
	return strconv.FormatFloat(float64(p.Kept)/float64(p.Configurations), 'f', 1, 64)
}

func seconds(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

func megabytes(n uint64) string { return strconv.FormatUint((n+1<<19)>>20, 10) }

// grouped writes thousands apart.
func grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Marks are around the table in the page.
const (
	beginMark = "<!-- growth: from docs/growth.json -->\n"
	endMark   = "<!-- end of growth -->\n"
)

// Page gives a page with the table of d between its marks; ok is false if they are not there.
func (d *Data) Page(page string) (text string, ok bool) {
	before, rest, ok1 := strings.Cut(page, beginMark)
	_, after, ok2 := strings.Cut(rest, endMark)
	about := "\nMeasured on " + d.Machine + ", one worker, each size in a process of its own, from the text " +
		"of the specification to the verdict; a best of three where it took less than 20 s. The whole " +
		"process takes part in peak MB; a check of a few configurations takes 13 to 16.\n\n"
	return before + beginMark + d.Table() + about + endMark + after, ok1 && ok2
}
