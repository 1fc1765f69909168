package growth

import (
	"fmt"
	"strconv"
	"strings"
)

// Table is what was measured as a table of Markdown, with a row for each size.
func (d *Data) Table() string {
	var b strings.Builder
	b.WriteString("| what grows | | configurations | steps | processor s | bytes each | peak MB | reduced to | processor s | peak MB |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
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

// each is the memory kept for one configuration, where there are enough that tables for messages and machines do not
// drown it.
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
	about := "\nMeasured on " + d.Machine + ", one worker, each size in a process of its own, from the text of the specification to the verdict; a best of three where it took less than 20 s. The whole process takes part in peak MB; a program in Go that does nothing takes about ten.\n\n"
	return before + beginMark + d.Table() + about + endMark + after, ok1 && ok2
}
