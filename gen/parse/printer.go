package parse

import (
	"strings"

	"github.com/parley-go/parley/gen/ast"
)

// printer writes a tree line by line. It writes a comment when it has come to what follows it.
type printer struct {
	src      *ast.Source
	comments []comment
	done     int // comments written
	lines    []outLine
	cur      strings.Builder
	open     bool // cur holds a line
	item     bool // cur ends with a dash whose item follows
	// last is the source line on which the latest output ends.
	last int
	// cols relates source columns of the open blocks to indentations.
	cols []block
	ok   bool // false: something was met that cannot be printed
	// keepQuotes leaves scalars as they are written.
	keepQuotes bool
}

type block struct{ col, indent int }

type outLine struct {
	text, comment string
	verbatim      bool // a line of a block scalar
}

func newPrinter(root *ast.Node) *printer {
	return &printer{src: root.Src, comments: findComments(root), ok: true}
}

func (p *printer) start(indent int) {
	if p.item {
		p.item = false
		return
	}
	p.end()
	p.cur.WriteString(strings.Repeat(" ", indent))
	p.open = true
}

func (p *printer) end() {
	if p.open {
		p.lines = append(p.lines, outLine{text: strings.TrimRight(p.cur.String(), " ")})
		p.cur.Reset()
		p.open = false
	}
}

func (p *printer) blank() {
	p.end()
	if n := len(p.lines); n > 0 && p.lines[n-1] != (outLine{}) {
		p.lines = append(p.lines, outLine{})
	}
}

// trailing puts comments that stand on the line just written at its end.
func (p *printer) trailing() {
	for p.done < len(p.comments) && !p.comments[p.done].own && p.comments[p.done].line <= p.last {
		c := p.comments[p.done]
		p.done++
		p.end()
		if n := len(p.lines) - 1; n >= 0 && p.lines[n].comment == "" && !p.lines[n].verbatim && p.lines[n].text != "" {
			p.lines[n].comment = c.text
		} else {
			p.lines = append(p.lines, outLine{text: c.text})
		}
	}
}

// flush writes what stands before the offset: comments, and one blank line where the source
// has any. indent and col belong to what follows.
func (p *printer) flush(before, indent, col int) {
	p.trailing()
	for p.done < len(p.comments) && p.comments[p.done].start < before {
		c := p.comments[p.done]
		p.done++
		if p.gap(c.line) {
			p.blank()
		}
		p.end()
		p.lines = append(p.lines, outLine{text: strings.Repeat(" ",
			p.indentOf(c.col, indent, col)) + c.text})
		p.last = c.line
	}
	line := p.src.Pos(before).Line
	if before < len(p.src.Text) && p.gap(line) {
		p.blank()
	}
	for len(p.cols) > 0 && p.cols[len(p.cols)-1].col >= col {
		p.cols = p.cols[:len(p.cols)-1]
	}
	p.cols = append(p.cols, block{col, indent})
}

// gap reports whether the source has a blank line right before a line.
func (p *printer) gap(line int) bool {
	return p.last > 0 && line > p.last+1 && strings.TrimSpace(p.src.Line(line-1)) == ""
}

// indentOf returns the indentation of a comment: that of what follows, or, if the comment stands
// deeper, that of the block before with which it lines up.
func (p *printer) indentOf(at, indent, col int) int {
	if at <= col {
		return indent
	}
	for i := len(p.cols) - 1; i >= 0; i-- {
		if p.cols[i].col <= at {
			return max(indent, p.cols[i].indent)
		}
	}
	return indent
}

// value writes a block or a single line's value; for blocks the cursor is at the end of
// the line of their key.
func (p *printer) value(n *ast.Node, indent int) {
	switch {
	case n.Kind == ast.Map && !n.Flow && len(n.Entries) > 0:
		p.blockMap(n, indent)
	case n.Kind == ast.List && !n.Flow && len(n.Items) > 0:
		p.blockList(n, indent)
	default:
		p.start(indent)
		p.inline(n, indent)
	}
}

func isBlock(n *ast.Node) bool {
	return !n.Flow && (n.Kind == ast.Map && len(n.Entries) > 0 || n.Kind == ast.List && len(n.Items) > 0)
}

func (p *printer) blockMap(n *ast.Node, indent int) {
	for _, e := range n.Entries {
		pos := p.src.Pos(e.Key.Start)
		if !p.item {
			p.flush(e.Key.Start, indent, pos.Col)
		}
		p.start(indent)
		p.scalar(e.Key, indent+2, false)
		p.cur.WriteByte(':')
		p.last = p.src.Pos(e.Key.End).Line
		if isBlock(e.Value) {
			p.trailing()
			p.value(e.Value, indent+2)
			continue
		}
		if !(e.Value.Kind == ast.Scalar && e.Value.Style == ast.Plain && e.Value.Text == "") {
			p.cur.WriteByte(' ')
		}
		p.inline(e.Value, indent)
		p.last = max(p.last, p.lineOfEnd(e.Value))
		p.trailing()
	}
}

func (p *printer) lineOfEnd(n *ast.Node) int {
	if n.End == n.Start {
		return 0 // an empty value stands somewhere behind its key
	}
	return p.src.Pos(n.End).Line
}

func (p *printer) blockList(n *ast.Node, indent int) {
	for _, it := range n.Items {
		pos := p.src.Pos(it.Start)
		p.flush(it.Start, indent, p.dash(it))
		p.start(indent)
		p.cur.WriteString("- ")
		if isBlock(it) {
			p.item = true
			p.last = pos.Line
			p.value(it, indent+2)
			continue
		}
		p.inline(it, indent)
		p.last = max(pos.Line, p.lineOfEnd(it))
		p.trailing()
	}
}

// dash returns the column of the dash before an item of a block list.
func (p *printer) dash(it *ast.Node) int {
	col := p.src.Pos(it.Start).Col
	for i := it.Start - 1; i >= 0 && p.src.Text[i] != '\n'; i-- {
		if col--; p.src.Text[i] == '-' {
			return col
		}
	}
	return max(1, p.src.Pos(it.Start).Col-2)
}

// inline writes a scalar or a bracketed collection at the cursor. Lines that it
// continues on are indented one level deeper than indent.
func (p *printer) inline(n *ast.Node, indent int) {
	if n.Kind == ast.Scalar {
		p.scalar(n, indent+2, false)
		return
	}
	p.flow(n, indent+2)
}

func (p *printer) flow(n *ast.Node, indent int) {
	opening, closing := "{", "}"
	if n.Kind == ast.List {
		opening, closing = "[", "]"
	} else if !n.Flow || len(n.Entries) == 1 && p.src.Text[n.Start] != '{' {
		opening, closing = "", "" // a pair among the items of a list
	}
	p.cur.WriteString(opening)
	p.last = p.src.Pos(n.Start).Line
	count := max(len(n.Entries), len(n.Items))
	for i := range count {
		var start, end int
		if n.Kind == ast.Map {
			start, end = n.Entries[i].Key.Start, max(n.Entries[i].Key.End, n.Entries[i].Value.End)
		} else {
			start, end = n.Items[i].Start, n.Items[i].End
		}
		p.between(start, indent, i > 0)
		if n.Kind == ast.Map {
			p.pair(n.Entries[i], indent)
		} else {
			p.flowValue(n.Items[i], indent)
		}
		p.last = max(p.last, p.src.Pos(end).Line)
		if i+1 < count {
			p.cur.WriteByte(',')
		}
	}
	if p.done < len(p.comments) && p.comments[p.done].start < n.End && closing != "" {
		p.comment(n.End, indent)
		p.start(indent)
	}
	p.cur.WriteString(closing)
}

func (p *printer) pair(e ast.Entry, indent int) {
	p.scalar(e.Key, indent, true)
	p.cur.WriteString(": ")
	p.flowValue(e.Value, indent)
}

func (p *printer) flowValue(n *ast.Node, indent int) {
	if n.Kind == ast.Scalar {
		p.scalar(n, indent, true)
		return
	}
	p.flow(n, indent)
}

// between goes on to the next item of a bracketed collection: on the same line,
// or on a new one where the source has a line end or a comment.
func (p *printer) between(start, indent int, blank bool) {
	if p.done < len(p.comments) && p.comments[p.done].start < start {
		p.comment(start, indent)
		p.start(indent)
		return
	}
	switch line := p.src.Pos(start).Line; {
	case line > p.last:
		p.end()
		p.start(indent)
		p.last = line
	case blank:
		p.cur.WriteByte(' ')
	}
}

// comment writes the comments before an offset inside brackets.
func (p *printer) comment(before, indent int) {
	p.trailing()
	for p.done < len(p.comments) && p.comments[p.done].start < before {
		c := p.comments[p.done]
		p.done++
		p.end()
		p.lines = append(p.lines, outLine{text: strings.Repeat(" ", indent) + c.text})
		p.last = c.line
	}
	p.end()
	p.last = p.src.Pos(before).Line
}

// scalar writes a scalar at the cursor; further lines of it are indented by indent.
func (p *printer) scalar(n *ast.Node, indent int, flow bool) {
	if n.End == n.Start && n.Text != "" {
		p.ok = false // its extent is not known
		return
	}
	raw := string(p.src.Text[n.Start:n.End])
	switch {
	case n.Style >= ast.Literal:
		p.blockScalar(n, indent)
	case strings.Contains(raw, "\n"):
		for i, line := range strings.Split(raw, "\n") {
			if i > 0 {
				p.end()
				if n := len(p.lines) - 1; i > 1 && p.lines[n].text == "" {
					p.lines[n].verbatim = true
				}
				p.cur.WriteString(strings.Repeat(" ", indent))
				p.open = true
			}
			p.cur.WriteString(strings.TrimSpace(line))
		}
	case p.keepQuotes:
		p.cur.WriteString(raw)
	default:
		p.cur.WriteString(quoted(n, flow))
	}
}

// blockScalar writes a literal or folded text: its header as it is, its lines indented anew.
func (p *printer) blockScalar(n *ast.Node, indent int) {
	lines := strings.Split(string(p.src.Text[n.Start:n.End]), "\n")
	header := strings.TrimRight(lines[0], " \t\r")
	if strings.ContainsAny(strings.SplitN(header, "#", 2)[0], "123456789") {
		p.ok = false
		return
	}
	p.cur.WriteString(header)
	p.end()
	first := -1
	for _, line := range lines[1:] {
		line = strings.TrimRight(line, "\r")
		content := strings.TrimLeft(line, " ")
		if first < 0 && content != "" {
			first = len(line) - len(content)
		}
		if content == "" && (first < 0 || len(line) <= first) {
			p.lines = append(p.lines, outLine{verbatim: true})
			continue
		}
		p.lines = append(p.lines, outLine{text: strings.Repeat(" ",
			indent) + line[min(first, len(line)):], verbatim: true})
	}
}

// commentColumn is the widest line that others align their comments with.
const commentColumn = 100

// bytes joins the lines, with comments of neighbouring lines below each other.
func (p *printer) bytes() []byte {
	p.end()
	for len(p.lines) > 0 && p.lines[len(p.lines)-1].text == "" {
		p.lines = p.lines[:len(p.lines)-1]
	}
	var b strings.Builder
	for i := 0; i < len(p.lines); {
		j, width := i, 0
		for ; j < len(p.lines) && p.lines[j].comment != ""; j++ {
			if w := len([]rune(p.lines[j].text)); w <= commentColumn {
				width = max(width, w)
			}
		}
		if j == i {
			b.WriteString(p.lines[i].text + "\n")
			i++
			continue
		}
		for ; i < j; i++ {
			l := p.lines[i]
			pad := max(2, width+2-len([]rune(l.text)))
			b.WriteString(l.text + strings.Repeat(" ", pad) + l.comment + "\n")
		}
	}
	return []byte(b.String())
}
