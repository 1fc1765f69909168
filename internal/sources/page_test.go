package sources

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A row is one row of a table, or a line of text: then it has one cell and no head.
type row struct {
	at    string // file and line
	head  []string
	cells []string
}

// cell returns what stands in a column; "" without such a column.
func (r row) cell(column string) string {
	if i := slices.Index(r.head, column); i >= 0 && i < len(r.cells) {
		return r.cells[i]
	}
	return ""
}

// has reports whether the row's table has all of these columns.
func (r row) has(columns ...string) bool {
	for _, c := range columns {
		if !slices.Contains(r.head, c) {
			return false
		}
	}
	return true
}

var rule = regexp.MustCompile(`^\|[ :|-]+\|$`)

// rows takes a page apart.
func (f *folder) rows() (list []row) {
	var head []string
	code := false
	for i, line := range f.page {
		at := fmt.Sprintf("%s/SOURCES.md:%d", f.dir, i+1)
		switch {
		case strings.HasPrefix(line, "```"):
			code = !code
		case code || rule.MatchString(line):
		case !strings.HasPrefix(line, "|"):
			head = nil
			list = append(list, row{at: at, cells: []string{line}})
		case head == nil:
			head = cells(line)
			list = append(list, row{at: at, cells: head})
		default:
			list = append(list, row{at: at, head: head, cells: cells(line)})
		}
	}
	return list
}

// cells cuts a line of a table; a bar behind a backslash is part of a cell.
func cells(line string) (list []string) {
	const bar = "\x00"
	line = strings.Trim(strings.ReplaceAll(line, `\|`, bar), " |")
	for _, c := range strings.Split(line, "|") {
		list = append(list, strings.TrimSpace(strings.ReplaceAll(c, bar, "|")))
	}
	return list
}
