package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/parley-go/parley/examples/startup/peer"
)

// display shows views: as a table that is drawn over on a terminal, as a line for each change
// elsewhere.
type display struct {
	w        io.Writer
	terminal bool
	last     string
	lines    int // of the table drawn last
}

func newDisplay(w io.Writer) *display {
	d := &display{w: w}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		d.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
	}
	return d
}

// view shows a view if it differs from the one before.
func (d *display) view(v peer.View) {
	s := v.String() + "\n"
	if d.terminal {
		s = table(v)
	}
	if s == d.last {
		return
	}
	d.last = s
	if d.lines > 0 {
		fmt.Fprintf(d.w, "\x1b[%dA\x1b[J", d.lines)
	}
	if d.terminal {
		d.lines = strings.Count(s, "\n")
	}
	io.WriteString(d.w, s)
}

func (d *display) end() { fmt.Fprintln(d.w, "left") }

// table is a view as several lines.
func table(v peer.View) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s", v.Address, v.State)
	if v.Founder != "" {
		fmt.Fprintf(&b, "  game of %s, attempt %d", v.Founder, v.Round)
	} else if v.Waiting > 0 {
		fmt.Fprintf(&b, "  holding %d requests", v.Waiting)
	}
	b.WriteString("\n\n slot  player\n")
	for i, p := range v.Players {
		name := p.Address
		switch {
		case !p.Taken:
			name = "-"
		case p.Unresolved:
			name = "(vanished)"
		}
		fmt.Fprintf(&b, "%5d  %-28s", i, name)
		if p.Self {
			b.WriteString("  me")
		}
		if p.Keeper {
			b.WriteString("  gives slots")
		}
		b.WriteString("\n")
	}
	return b.String()
}
